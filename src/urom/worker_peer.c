/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker context's connection to its process. */
#include "urom/worker_peer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log_rate.h"
#include "urom/domain_notify.h"
#include "urom/worker.h"
#include "urom/service.h"
#include "urom/worker_task_cmd.h"

/* ---- the time that joining may take ---- */

static doca_error_t begin_join(struct doca_urom_worker *worker)
{
	const uint64_t interval = sf_liveness_interval(UROM_JOIN_NS);
	const struct timespec each = {(time_t)(interval / 1000000000), (long)(interval % 1000000000)};
	const struct itimerspec time = {.it_interval = each, .it_value = each};

	sf_liveness_begin(&worker->join);
	worker->phase = UROM_WORKER_JOINING;
	sf_status_conn_open(&worker->status_conn, &worker->ctx, worker->request.process, false);
	worker->join_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (worker->join_fd < 0)
		return DOCA_ERROR_OPERATING_SYSTEM;
	(void)timerfd_settime(worker->join_fd, 0, &time, NULL);
	return sf_ctx_watch_fd(&worker->ctx, worker->join_fd);
}

void urom_worker_end_join(struct doca_urom_worker *worker)
{
	if (worker->join_fd < 0)
		return;
	sf_ctx_unwatch_fd(&worker->ctx, worker->join_fd);
	close(worker->join_fd);
	worker->join_fd = -1;
}

void urom_worker_lose(struct doca_urom_worker *worker, doca_error_t why, const char *reason)
{
	if (worker->phase == UROM_WORKER_RELEASING)
		return; /* which the service's answer ends */
	char id[24] = "";
	if (worker->id != DOCA_UROM_WORKER_ID_ANY)
		snprintf(id, sizeof(id), " %llu", (unsigned long long)worker->id);
	if (!worker->logged)
		SF_LOG_ERR_LIMITED("urom worker%s: %s (%s)", id, reason, doca_error_get_name(why));
	worker->logged = true;
	urom_worker_end_join(worker);
	sf_status_conn_close(&worker->status_conn);
	worker->phase = UROM_WORKER_LOST;
	sf_ctx_kick(&worker->ctx);
	urom_domains_kick(worker);
}

bool urom_worker_check_join(struct doca_urom_worker *worker)
{
	uint64_t expirations;

	if (worker->join_fd < 0 || read(worker->join_fd, &expirations, sizeof(expirations)) != sizeof(expirations))
		return false;
	if (!sf_liveness_lost(&worker->join, worker->request.process, UROM_JOIN_NS))
		return false;
	urom_worker_lose(worker, DOCA_ERROR_TIME_OUT, "its process has not admitted this program: is it stopped?");
	return true;
}

/* ---- what arrives ---- */

static void handle_joined(struct doca_urom_worker *worker, const struct urom_head *head, const void *body, size_t len)
{
	char reason[UROM_TEXT_MAX];

	urom_worker_end_join(worker);
	if (head->status == DOCA_SUCCESS) {
		worker->addresses = (uint8_t *)malloc(len + 1);
		if (worker->addresses == NULL) {
			urom_worker_lose(worker, DOCA_ERROR_NO_MEMORY, "no memory for its plugins' addresses");
			return;
		}
		memcpy(worker->addresses, body, len);
		worker->addresses_len = len;
		worker->phase = UROM_WORKER_ON;
		sf_status_conn_open(&worker->status_conn, &worker->ctx, worker->request.process, true);
		sf_ctx_started(&worker->ctx);
		return;
	}
	urom_text_parse(body, len, reason);
	urom_worker_lose(worker, (doca_error_t)head->status, reason);
}

static void peer_message(void *user, struct sf_comm_peer *peer, const void *head_data, size_t head_len, const void *body,
			 size_t len)
{
	struct doca_urom_worker *worker = (struct doca_urom_worker *)user;
	struct urom_head head;

	(void)peer;
	if (worker->phase != UROM_WORKER_JOINING && worker->phase != UROM_WORKER_ON)
		return;
	if (urom_head_parse(head_data, head_len, &head) != DOCA_SUCCESS)
		head.kind = UROM_KINDS;
	if (head.kind == UROM_NOTIFY && worker->phase == UROM_WORKER_ON)
		urom_cmd_task_answered(worker, body, len);
	else if (head.kind == UROM_JOINED && worker->phase == UROM_WORKER_JOINING)
		handle_joined(worker, &head, body, len);
	else if ((head.kind == UROM_DOMAIN_READY || head.kind == UROM_DOMAIN_WANTED) && worker->phase == UROM_WORKER_ON)
		urom_domain_answered(worker, &head, body, len);
	else
		urom_worker_lose(worker, DOCA_ERROR_UNEXPECTED, "its process sent an invalid or unexpected message");
}

static void peer_lost(void *user, struct sf_comm_peer *peer, doca_error_t why)
{
	struct doca_urom_worker *worker = (struct doca_urom_worker *)user;

	(void)peer;
	(void)why;
	worker->peer = NULL;
	urom_worker_lose(worker, DOCA_ERROR_CONNECTION_ABORTED, "its process is gone; the daemon's log says why");
}

static doca_error_t peer_key(void *user, struct sf_comm_key *out)
{
	const struct doca_urom_worker *worker = (const struct doca_urom_worker *)user;

	_Static_assert(sizeof(out->bytes) == UROM_KEY_SIZE, "the service gives the whole key");
	memcpy(out->bytes, worker->request.spawned.key, sizeof(out->bytes));
	return DOCA_SUCCESS;
}

static const struct sf_comm_handler handler = {.message = peer_message, .lost = peer_lost, .key = peer_key};

doca_error_t urom_worker_open_comm(struct doca_urom_worker *worker)
{
	const struct sf_comm_options options = {
		.handler = &handler,
		.user = worker,
		.body_max = worker->message_max > UROM_CONTROL_MAX ? worker->message_max : UROM_CONTROL_MAX,
		.one_a_poll = true, /* published programs lose the result of a command if a progress call completes two */
	};

	return sf_comm_open(&options, &worker->comm);
}

doca_error_t urom_worker_connect(struct doca_urom_worker *worker)
{
	const struct urom_head head = urom_head_make(UROM_JOIN, DOCA_SUCCESS, 0, worker->id);
	const struct urom_request *request = &worker->request;
	char devices[UROM_NET_DEVICES_MAX];

	pthread_mutex_lock(&worker->service->lock);
	memcpy(devices, worker->service->net_devices, sizeof(devices));
	pthread_mutex_unlock(&worker->service->lock);
	const struct sf_comm_target target = {(const struct sockaddr *)&request->service, request->service_len, worker->id,
					      devices};
	doca_error_t result = sf_comm_connect(worker->comm, &target, NULL, &worker->peer);
	if (result == DOCA_SUCCESS)
		result = sf_comm_send(worker->comm, worker->peer, &head, sizeof(head), request->spawned.token, UROM_TOKEN_SIZE);
	return result == DOCA_SUCCESS ? begin_join(worker) : result;
}
