/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
#include "sync_event/event.h"
#include "sync_event_puppet.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "support/check.h"
#include "support/test_dev.h"

#define PUPPET_FD 3
#define PATIENCE_S 60

/* ---- sleeping ---- */

static void ended(struct doca_task *task, union doca_data task_data, union doca_data sleeper)
{
	(void)task_data;
	((struct sleeper *)sleeper.ptr)->ended++;
	((struct sleeper *)sleeper.ptr)->status = doca_task_get_status(task);
}

doca_error_t sleeper_start(struct sleeper *s, struct doca_sync_event *event)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(event);
	doca_sync_event_task_notify_set_completion_cb_t set_ended = (doca_sync_event_task_notify_set_completion_cb_t)ended;
	doca_sync_event_task_wait_eq_completion_cb_t wait_ended = (doca_sync_event_task_wait_eq_completion_cb_t)ended;
	union doca_data none = {0};
	doca_error_t status;

	memset(s, 0, sizeof(*s));
	s->event = event;
	CHECK_OK(doca_pe_create(&s->pe));
	CHECK_OK(doca_pe_connect_ctx(s->pe, ctx));
	CHECK_OK(doca_ctx_set_user_data(ctx, (union doca_data){.ptr = s}));
	CHECK_OK(doca_sync_event_task_notify_set_set_conf(event, set_ended, set_ended, 1));
	CHECK_OK(doca_sync_event_task_wait_eq_set_conf(event, wait_ended, wait_ended, 1));
	status = doca_ctx_start(ctx);
	if (status != DOCA_SUCCESS)
		return status;
	CHECK_OK(doca_sync_event_task_notify_set_alloc_init(event, 0, none, &s->set));
	CHECK_OK(doca_sync_event_task_wait_eq_alloc_init(event, 0, UINT64_MAX, none, &s->wait));
	return DOCA_SUCCESS;
}

void sleeper_end(struct sleeper *s)
{
	struct doca_ctx *ctx = doca_sync_event_as_ctx(s->event);
	size_t inflight = 1;

	doca_ctx_stop(ctx);
	while (inflight != 0) {
		doca_pe_progress(s->pe);
		CHECK_OK(doca_ctx_get_num_inflight_tasks(ctx, &inflight));
	}
	doca_task_free(doca_sync_event_task_notify_set_as_doca_task(s->set));
	doca_task_free(doca_sync_event_task_wait_eq_as_doca_task(s->wait));
	while (doca_ctx_stop(ctx) == DOCA_ERROR_IN_PROGRESS)
		doca_pe_progress(s->pe);
	CHECK_OK(doca_sync_event_destroy(s->event));
	CHECK_OK(doca_pe_destroy(s->pe));
}

static void request(struct sleeper *s)
{
	CHECK_OK(doca_pe_request_notification(s->pe));
}

doca_error_t sleeper_finish(struct sleeper *s, double seconds)
{
	double end = sf_now_s() + seconds;
	doca_notification_handle_t handle;
	struct pollfd fd = {.events = POLLIN};
	double left;

	CHECK_OK(doca_pe_get_notification_handle(s->pe, &handle));
	fd.fd = handle;
	while (s->ended == 0) {
		if (doca_pe_progress(s->pe) != 0)
			continue;
		left = end - sf_now_s();
		if (left <= 0)
			return DOCA_ERROR_TIME_OUT;
		request(s);
		poll(&fd, 1, (int)(left * 1000) + 1);
		CHECK_OK(doca_pe_clear_notification(s->pe, 0));
	}
	return s->status;
}

void sleeper_submit_wait(struct sleeper *s, uint64_t value)
{
	s->ended = 0;
	doca_sync_event_task_wait_eq_set_wait_val(s->wait, value);
	doca_sync_event_task_wait_eq_set_mask(s->wait, UINT64_MAX);
	CHECK_OK(doca_task_submit(doca_sync_event_task_wait_eq_as_doca_task(s->wait)));
}

doca_error_t sleeper_set(struct sleeper *s, uint64_t value)
{
	s->ended = 0;
	doca_sync_event_task_notify_set_set_set_val(s->set, value);
	CHECK_OK(doca_task_submit(doca_sync_event_task_notify_set_as_doca_task(s->set)));
	return sleeper_finish(s, PATIENCE_S);
}

/* ---- the other process ---- */

static struct {
	struct doca_dev *dev;
	struct doca_sync_event *event;
	uint64_t word; /* the event's value, if it lies in the program's memory */
} self;

static doca_error_t do_export(const struct order *order, struct answer *answer)
{
	const uint8_t *data;
	doca_error_t status;

	self.word = 0;
	CHECK_OK(doca_sync_event_create(&self.event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_pci(self.event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(self.event, self.dev));
	if (order->value != 0)
		CHECK_OK(doca_sync_event_set_addr(self.event, &self.word));
	CHECK_OK(doca_sync_event_start(self.event));
	status = doca_sync_event_export_to_remote_pci(self.event, self.dev, &data, &answer->len);
	if (status == DOCA_SUCCESS)
		memcpy(answer->bytes, data, answer->len);
	return status;
}

static doca_error_t do_import(const struct order *order)
{
	doca_error_t status = doca_sync_event_create_from_export(self.dev, order->bytes, order->len, &self.event);

	return status == DOCA_SUCCESS ? doca_sync_event_start(self.event) : status;
}

static doca_error_t do_stop(void)
{
	doca_error_t status = doca_sync_event_stop(self.event);

	return status == DOCA_SUCCESS ? doca_sync_event_destroy(self.event) : status;
}

static doca_error_t add_many(uint64_t num)
{
	uint64_t before;
	doca_error_t status = DOCA_SUCCESS;

	for (uint64_t i = 0; i < num && status == DOCA_SUCCESS; i++)
		status = doca_sync_event_update_add(self.event, 1, &before);
	return status;
}

/* Turns the event into a context: stops the import and starts it again. */
static void sleeper_of_self(struct sleeper *s)
{
	CHECK_OK(doca_sync_event_stop(self.event));
	CHECK_OK(sleeper_start(s, self.event));
}

static doca_error_t answer_many(uint64_t num)
{
	struct sleeper s;
	doca_error_t status = DOCA_SUCCESS;

	sleeper_of_self(&s);
	for (uint64_t i = 0; i < num && status == DOCA_SUCCESS; i++) {
		sleeper_submit_wait(&s, 2 * i + 1);
		status = sleeper_finish(&s, PATIENCE_S);
		if (status == DOCA_SUCCESS)
			status = sleeper_set(&s, 2 * i + 2);
	}
	sleeper_end(&s);
	return status;
}

static void sleep_and_die(uint64_t value)
{
	struct sleeper s;

	sleeper_of_self(&s);
	sleeper_submit_wait(&s, value);
	doca_pe_progress(s.pe);
	request(&s);
	kill(getpid(), SIGKILL);
}

static void obey(const struct order *order, struct answer *answer)
{
	switch (order->kind) {
	case ORDER_EXPORT:
		answer->status = do_export(order, answer);
		break;
	case ORDER_IMPORT:
		answer->status = do_import(order);
		break;
	case ORDER_SET:
		answer->status = doca_sync_event_update_set(self.event, order->value);
		break;
	case ORDER_ADD:
		answer->status = doca_sync_event_update_add(self.event, order->value, &answer->value);
		break;
	case ORDER_GET:
		answer->status = doca_sync_event_get(self.event, &answer->value);
		break;
	case ORDER_WAIT_EQ:
		answer->status = doca_sync_event_wait_eq_yield(self.event, order->value, UINT64_MAX);
		break;
	case ORDER_STOP:
		answer->status = do_stop();
		break;
	case ORDER_SET_AND_DIE:
		doca_sync_event_update_set(self.event, order->value);
		kill(getpid(), SIGKILL);
		break;
	case ORDER_STORE_AND_DIE:
		__atomic_store_n(self.event->cell.word, order->value, __ATOMIC_SEQ_CST);
		kill(getpid(), SIGKILL);
		break;
	case ORDER_SLEEP_AND_DIE:
		sleep_and_die(order->value);
		break;
	case ORDER_ADD_MANY:
		answer->status = add_many(order->value);
		break;
	case ORDER_ANSWER_MANY:
		answer->status = answer_many(order->value);
		break;
	case ORDER_QUIT:
		break;
	}
}

int puppet_main(const char *pci_addr)
{
	struct order order = {.kind = ORDER_SET};

	alarm(4 * PATIENCE_S);
	self.dev = test_dev_open_pci(pci_addr);
	while (order.kind != ORDER_QUIT) {
		struct answer answer = {.status = DOCA_SUCCESS};

		if (recv(PUPPET_FD, &order, sizeof(order), 0) != (ssize_t)sizeof(order))
			return 2;
		obey(&order, &answer);
		CHECK(send(PUPPET_FD, &answer, sizeof(answer), 0) == (ssize_t)sizeof(answer));
	}
	return doca_dev_close(self.dev) == DOCA_SUCCESS ? 0 : 1;
}

/* ---- the test's side ---- */

struct puppet puppet_start(const char *pci_addr)
{
	struct timeval patience = {.tv_sec = PATIENCE_S};
	struct puppet puppet;
	int sockets[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) == 0);
	CHECK(setsockopt(sockets[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) == 0);
	puppet.pid = fork();
	CHECK(puppet.pid >= 0);
	if (puppet.pid == 0) {
		if (sockets[1] == PUPPET_FD || dup2(sockets[1], PUPPET_FD) < 0)
			_exit(126);
		execl("/proc/self/exe", "sync_event_process_test", "puppet", pci_addr, (char *)NULL);
		_exit(127);
	}
	close(sockets[1]);
	puppet.socket = sockets[0];
	return puppet;
}

static void send_order(struct puppet *puppet, const struct order *order)
{
	CHECK(send(puppet->socket, order, sizeof(*order), MSG_NOSIGNAL) == (ssize_t)sizeof(*order));
}

void puppet_order(struct puppet *puppet, enum order_kind kind, uint64_t value)
{
	struct order order = {.kind = kind, .value = value};

	send_order(puppet, &order);
}

struct answer puppet_answer(struct puppet *puppet)
{
	struct answer answer;

	CHECK(recv(puppet->socket, &answer, sizeof(answer), 0) == (ssize_t)sizeof(answer));
	return answer;
}

struct answer puppet_do(struct puppet *puppet, enum order_kind kind, uint64_t value)
{
	puppet_order(puppet, kind, value);
	return puppet_answer(puppet);
}

struct answer puppet_import(struct puppet *puppet, const void *bytes, size_t len)
{
	struct order order = {.kind = ORDER_IMPORT, .len = len};

	CHECK(len <= sizeof(order.bytes));
	memcpy(order.bytes, bytes, len);
	send_order(puppet, &order);
	return puppet_answer(puppet);
}

void puppet_quit(struct puppet *puppet)
{
	int status;

	puppet_do(puppet, ORDER_QUIT, 0);
	CHECK(waitpid(puppet->pid, &status, 0) == puppet->pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(puppet->socket);
}

void puppet_kill(struct puppet *puppet)
{
	kill(puppet->pid, SIGKILL);
	CHECK(waitpid(puppet->pid, NULL, 0) == puppet->pid);
	close(puppet->socket);
}
