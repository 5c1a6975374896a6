/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <doca_log.h>

#include "base/log_rate.h"
#include "clients.h"
#include "clock.h"
#include "domains.h"
#include "notify.h"
#include "parent.h"
#include "plugin.h"
#include "plugins.h"

DOCA_LOG_REGISTER(UROM_WORKER);

/* If all plugins return a descriptor (softfield/urom_plugin.h), an idle worker sleeps. Otherwise it cannot wait for their
 * networks, so it polls with growing intervals: an event is delayed by a part of the idle time before it. */
#define SPIN_NS UINT64_C(1000000)
#define SPIN_WAITING_NS UINT64_C(20000)
#define NAP_WAITING_NS UINT64_C(100000000)
#define NAP_PART 16		      /* divisor of the idle time so far */
#define NAP_BUSY_NS UINT64_C(1000000) /* longest interval while commands are unanswered */
#define NAP_IDLE_NS UINT64_C(10000000)
#define PARENT_EVERY 1024 /* iterations between reads from the daemon */

/* Sleeps until an event or until the time is over. */
static void worker_sleep(struct worker *worker, uint64_t ns)
{
	struct pollfd fds[2 + UROM_PLUGINS_MAX] = {{sf_comm_fd(worker->comm), POLLIN, 0}, {worker->parent_fd, POLLIN, 0}};
	const struct timespec time = {0, (long)ns};
	nfds_t num = 2;

	if (sf_comm_arm(worker->comm) || plugins_arm(worker, fds, &num))
		return;
	if (ppoll(fds, num, &time, NULL) > 0 && fds[1].revents != 0)
		(void)parent_read(worker);
}

static uint64_t nap_time(const struct worker *worker, uint64_t idle_ns)
{
	uint64_t part = idle_ns / NAP_PART, longest = worker->num_outstanding != 0 ? NAP_BUSY_NS : NAP_IDLE_NS;

	return part < longest ? part : longest;
}

/* True until the daemon ends the worker and, if it drains, commands in flight are answered or the time is over. */
static bool goes_on(struct worker *worker, uint64_t *drain_until)
{
	if (__builtin_expect(worker->failure[0] != '\0', 0))
		return false;
	if (__builtin_expect(!worker->ending, 1))
		return true;
	if (!worker->drains || worker->num_outstanding == 0)
		return false;
	uint64_t now = worker_now_ns();
	if (*drain_until == 0)
		*drain_until = now + WORKER_DRAIN_NS;
	return now < *drain_until;
}

static void worker_loop(struct worker *worker)
{
	uint64_t idle_since = 0, drain_until = 0;

	for (uint32_t turn = 0; goes_on(worker, &drain_until); turn++) {
		sf_comm_cork(worker->comm);
		bool any = sf_comm_poll(worker->comm);
		any |= plugins_run(worker);
		any |= domains_run(worker);
		any |= notifications_send(worker);
		sf_comm_uncork(worker->comm);
		if (turn % PARENT_EVERY == 0) {
			any |= parent_read(worker);
			clients_expire(worker);
			sf_log_rate_report(false);
		}
		if (any) {
			idle_since = 0;
			continue;
		}
		uint64_t now = worker_now_ns();
		if (idle_since == 0)
			idle_since = now;
		if (now - idle_since < (worker->waits ? SPIN_WAITING_NS : SPIN_NS))
			continue;
		clients_expire(worker);
		sf_log_rate_report(false);
		worker_sleep(worker, worker->waits ? NAP_WAITING_NS : nap_time(worker, now - idle_since));
	}
}

static doca_error_t worker_start(struct worker *worker, char reason[UROM_TEXT_MAX])
{
	const struct sf_comm_options options = {
		.handler = &clients_handler,
		.user = worker,
		.backlog_max = WORKER_BACKLOG_MAX,
		.body_max = worker->message_max > UROM_CONTROL_MAX ? worker->message_max : UROM_CONTROL_MAX,
	};

	for (uint32_t i = 0; i < worker->num_plugins; i++) {
		doca_error_t result = plugin_load(&worker->plugins[i], reason);

		if (result == DOCA_SUCCESS)
			result = plugin_open(worker, &worker->plugins[i], reason);
		if (result != DOCA_SUCCESS)
			return result;
	}
	worker->packed = (uint8_t *)malloc(worker->message_max);
	snprintf(reason, UROM_TEXT_MAX, "no memory or no descriptor: see the worker's log");
	if (worker->packed == NULL || sf_comm_open(&options, &worker->comm) != DOCA_SUCCESS ||
	    sf_comm_listen_behind(worker->comm, worker->door_fd) != DOCA_SUCCESS)
		return DOCA_ERROR_OPERATING_SYSTEM;
	parent_ready(worker);
	return DOCA_SUCCESS;
}

int worker_run(struct worker *worker)
{
	TAILQ_INIT(&worker->clients);
	TAILQ_INIT(&worker->answered);
	LIST_INIT(&worker->domains);
	LIST_INIT(&worker->directories);
	ucs_list_head_init(&worker->notifications);
	doca_error_t result = worker_start(worker, worker->failure);
	if (result == DOCA_SUCCESS) {
		worker->failure[0] = '\0';
		worker->waits = plugins_all_arm(worker);
		worker_loop(worker);
	}
	bool failed = worker->failure[0] != '\0';
	if (failed) {
		DOCA_LOG_ERR("%s", worker->failure);
		parent_failed(worker->parent_fd, worker->failure);
	}
	for (uint32_t i = 0; i < worker->num_plugins; i++)
		plugin_close(&worker->plugins[i]);
	if (worker->comm != NULL)
		sf_comm_close(worker->comm);
	clients_drop_all(worker);
	sf_log_rate_report(true);
	free(worker->packed);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
