/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that go out by a connection: from the submit to the callback. */
#include <string.h>

#include "base/log.h"
#include "rdma/rdma.h"

static const struct rdma_verb *verb_of(const struct doca_task *base)
{
	return (const struct rdma_verb *)base->cls;
}

static struct doca_rdma *rdma_of(const struct doca_task *base)
{
	return (struct doca_rdma *)base->ctx;
}

static struct rdma_request *request_of(struct sf_op *op)
{
	return (struct rdma_request *)(void *)((char *)op - offsetof(struct rdma_request, op));
}

/* ---- the end ---- */

void rdma_end_later(struct doca_rdma *rdma, struct doca_task *task, doca_error_t status)
{
	task->status = status;
	task->next = NULL;
	if (rdma->ended_last != NULL)
		rdma->ended_last->next = task;
	else
		rdma->ended = task;
	rdma->ended_last = task;
}

void rdma_request_settle(struct rdma_request *request)
{
	const struct rdma_verb *verb = verb_of(&request->base);
	enum sf_op_kind kind = verb->kind;
	request->result_len = (uint32_t)request->len;
	if (verb->settle != NULL) {
		verb->settle(request);
	} else if (kind == SF_OP_CAS || kind == SF_OP_FAA) {
		if (request->result->data_len < sizeof(uint64_t))
			request->result->data_len = sizeof(uint64_t);
	} else if (kind == SF_OP_READ || kind == SF_OP_WRITE) {
		if (__builtin_expect(request->dst != NULL && request->len <= sf_buf_tailroom(request->dst), 1))
			request->dst->data_len += request->len;
		else
			sf_reach_grow(request->dst, request->len);
	}
}

static const struct doca_buf *local_of(const struct rdma_request *request)
{
	enum sf_op_kind kind = verb_of(&request->base)->kind;
	if (kind == SF_OP_CAS || kind == SF_OP_FAA)
		return request->result;
	return kind == SF_OP_READ ? request->dst : request->src;
}

static void request_done(struct sf_op *op)
{
	struct rdma_request *request = request_of(op);
	struct doca_rdma_connection *connection = request->connection;
	doca_error_t status = op->status;
	if (__builtin_expect(connection->rdma->at_once != NULL, 0)) /* those of this connection are older */
		(void)rdma_tell_at_once(connection->rdma);
	connection->num_out--;
	if (__builtin_expect(request->mapped, 0) && status == DOCA_SUCCESS &&
	    sf_reach_stands(&connection->rdma->reach, local_of(request)) != DOCA_SUCCESS) {
		status = DOCA_ERROR_IO_FAILED;
		rdma_connection_fail(connection, status);
	} else if (status == DOCA_SUCCESS) {
		rdma_request_settle(request);
	} else if (connection->state == RDMA_CONNECTION_FAILED) {
		status = DOCA_ERROR_BAD_STATE;
	} else {
		SF_LOG_ERR("%s on connection %u: %s, with the task under way", request->base.cls->name, connection->id,
			   request->event != NULL ? "the sync event's owner has stopped it, or is gone"
						  : "the peer is gone, or ended the export of its memory");
		rdma_connection_fail(connection, status);
	}
	sf_task_complete(&request->base, status);
}

/* ---- what a task says ---- */

/* Some pieces are imported memory. */
static doca_error_t take_mapped(struct rdma_request *request, struct sf_reach_list *list)
{
	bool destination = verb_of(&request->base)->kind == SF_OP_READ;
	request->mapped = true;
	return sf_reach_map_list(&rdma_of(&request->base)->reach, local_of(request), destination, list);
}

doca_error_t rdma_request_take_list(struct rdma_request *request, struct sf_reach_list *list)
{
	const struct doca_rdma *rdma = rdma_of(&request->base);
	if (list->num > rdma->list_len) {
		SF_LOG_ERR("%s: a list of %u buffers, %u are configured: doca_rdma_set_max_send_buf_list_len",
			   request->base.cls->name, list->num, rdma->list_len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (uint32_t i = 0; i < list->num; i++) {
		if (__builtin_expect(list->pieces[i].region != NULL, 0)) {
			doca_error_t result = take_mapped(request, list);
			if (result != DOCA_SUCCESS)
				return result;
		}
		request->iov[i] = (struct sf_iov){list->pieces[i].addr, list->pieces[i].len};
	}
	request->op.iov_num = list->num;
	request->len = list->len;
	return DOCA_SUCCESS;
}

/* One buffer of memory that is known already, as most are: the whole local operand in a few steps. False: something is out of the
 * ordinary or wrong, and nothing was taken. */
static inline bool take_one(struct rdma_request *request, const struct doca_buf *buf, uint8_t *addr, uint64_t len, bool written)
{
	const struct sf_reach *reach;
	if (buf->next != NULL || len - 1 >= SF_REACH_LEN_MAX)
		return false;
	reach = sf_reach_known(&rdma_of(&request->base)->reach, buf->mmap);
	if (reach == NULL || reach->region != NULL || !(written ? reach->writable : reach->readable) ||
	    !sf_reach_contains(reach, addr, len))
		return false;
	request->iov[0] = (struct sf_iov){addr, len};
	request->op.iov_num = 1;
	request->len = len;
	return true;
}

/* The remote operand: one buffer of imported memory. */
static inline doca_error_t take_remote(struct rdma_request *request, const struct doca_buf *buf, const uint8_t *addr, uint64_t len)
{
	const struct sf_reach *reach;
	doca_error_t result = sf_reach_get(&rdma_of(&request->base)->reach, buf->mmap, &reach);
	if (result != DOCA_SUCCESS)
		return result;
	if (reach->region == NULL) {
		SF_LOG_ERR("%s: the remote buffer is this process's own memory: make it of the peer's export",
			   request->base.cls->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_reach_contains(reach, addr, len) || len > (uint64_t)(buf->head + buf->len - addr)) {
		SF_LOG_ERR("%s: %llu bytes at %p are more than the remote buffer has there", request->base.cls->name,
			   (unsigned long long)len, (const void *)addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	request->op.region = reach->region;
	request->op.remote_addr = (uintptr_t)addr;
	return DOCA_SUCCESS;
}

doca_error_t rdma_request_missing(const struct rdma_request *request, const char *what)
{
	SF_LOG_ERR("%s: the task has no %s", request->base.cls->name, what);
	return DOCA_ERROR_INVALID_VALUE;
}

/* A list's pieces take room on the stack that the usual case does without. */
static __attribute__((noinline)) doca_error_t take_source_list(struct rdma_request *request)
{
	struct sf_reach_list list;
	doca_error_t result = sf_reach_source(&rdma_of(&request->base)->reach, request->src, &list);
	return result == DOCA_SUCCESS ? rdma_request_take_list(request, &list) : result;
}

static __attribute__((noinline)) doca_error_t take_destination_list(struct rdma_request *request, uint64_t len)
{
	struct sf_reach_list list;
	doca_error_t result = sf_reach_destination(&rdma_of(&request->base)->reach, request->dst, len, &list);
	return result == DOCA_SUCCESS ? rdma_request_take_list(request, &list) : result;
}

static inline doca_error_t take_send(struct rdma_request *request)
{
	const struct doca_buf *src = request->src;
	if (__builtin_expect(src != NULL && take_one(request, src, src->data, src->data_len, false), 1))
		return DOCA_SUCCESS;
	return take_source_list(request);
}

static doca_error_t take_write(struct rdma_request *request)
{
	doca_error_t result = take_send(request);
	if (result != DOCA_SUCCESS || request->len == 0)
		return result;
	if (request->dst == NULL)
		return rdma_request_missing(request, "remote destination");
	return take_remote(request, request->dst, request->dst->data + request->dst->data_len, request->len);
}

static doca_error_t take_read(struct rdma_request *request)
{
	uint64_t len = request->src != NULL ? request->src->data_len : 0;
	request->len = 0;
	if (len == 0)
		return DOCA_SUCCESS;
	if (request->dst == NULL)
		return rdma_request_missing(request, "destination");
	struct doca_buf *dst = request->dst;
	if (__builtin_expect(len <= sf_buf_tailroom(dst) && take_one(request, dst, dst->data + dst->data_len, len, true), 1))
		return take_remote(request, request->src, request->src->data, len);
	doca_error_t result = take_destination_list(request, len);
	return result == DOCA_SUCCESS ? take_remote(request, request->src, request->src->data, len) : result;
}

doca_error_t rdma_request_take_result(struct rdma_request *request)
{
	const struct doca_buf *result_buf = request->result;
	const struct sf_reach *reach;
	uint8_t *addr;
	if (result_buf == NULL)
		return rdma_request_missing(request, "result buffer");
	doca_error_t result = sf_reach_get(&rdma_of(&request->base)->reach, result_buf->mmap, &reach);
	if (result != DOCA_SUCCESS)
		return result;
	addr = result_buf->data;
	if (!sf_reach_contains(reach, addr, sizeof(uint64_t)) ||
	    result_buf->head + result_buf->len - addr < (ptrdiff_t)sizeof(uint64_t)) {
		SF_LOG_ERR("%s: the result buffer has no 8 bytes from its data on", request->base.cls->name);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!reach->writable) {
		SF_LOG_ERR("%s: the result buffer's memory map lacks DOCA_ACCESS_FLAG_LOCAL_READ_WRITE", request->base.cls->name);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	request->mapped = reach->region != NULL;
	result = sf_reach_map(reach, &addr);
	if (result != DOCA_SUCCESS)
		return result;
	request->iov[0] = (struct sf_iov){addr, sizeof(uint64_t)};
	request->op.iov_num = 1;
	request->len = sizeof(uint64_t);
	return DOCA_SUCCESS;
}

static doca_error_t take_atomic(struct rdma_request *request)
{
	if (request->dst == NULL)
		return rdma_request_missing(request, "remote destination");
	const struct doca_buf *into = request->result;
	if (__builtin_expect(into == NULL || into->head + into->len - into->data < (ptrdiff_t)sizeof(uint64_t) ||
				     !take_one(request, into, into->data, sizeof(uint64_t), true),
			     0)) {
		doca_error_t result = rdma_request_take_result(request);
		if (result != DOCA_SUCCESS)
			return result;
	}
	if ((uintptr_t)request->dst->data % sizeof(uint64_t) != 0) {
		SF_LOG_ERR("%s: remote address %p is not divisible by 8", request->base.cls->name, (void *)request->dst->data);
		return DOCA_ERROR_INVALID_VALUE;
	}
	request->op.compare = request->compare;
	request->op.value = request->value;
	return take_remote(request, request->dst, request->dst->data, sizeof(uint64_t));
}

static doca_error_t take_apart(struct rdma_request *request)
{
	const struct rdma_verb *verb = verb_of(&request->base);
	if (verb->take != NULL)
		return verb->take(request);
	switch (verb->kind) {
	case SF_OP_SEND:
		return take_send(request);
	case SF_OP_WRITE:
		return take_write(request);
	case SF_OP_READ:
		return take_read(request);
	case SF_OP_CAS:
	case SF_OP_FAA:
		return take_atomic(request);
	}
	return DOCA_ERROR_NOT_SUPPORTED;
}

static void fill_op(struct rdma_request *request)
{
	const struct rdma_verb *verb = verb_of(&request->base);
	request->op.kind = verb->kind;
	request->op.header_len = verb->immediate ? RDMA_HEADER_SIZE : 0;
	if (!verb->immediate)
		return;
	memcpy(request->header, &request->immediate, sizeof(request->immediate));
	request->header[RDMA_HEADER_SIZE - 1] =
		verb->kind == SF_OP_WRITE ? DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM : DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM;
	if (verb->kind == SF_OP_WRITE && request->len == 0)
		request->op.kind = SF_OP_SEND; /* nothing is written, so there is no remote memory to name */
}

/* ---- on its way ---- */

/* A read or write of nothing touches no memory, and is over when all before it is. */
static bool is_nothing(const struct rdma_request *request)
{
	return request->len == 0 && (request->op.kind == SF_OP_WRITE || request->op.kind == SF_OP_READ);
}

/* The status of a task that can never go out; the reason is logged once, here. */
static doca_error_t never(const struct rdma_request *request, doca_error_t why)
{
	const char *name = request->base.cls->name;
	uint32_t id = request->connection->id;
	switch (why) {
	case DOCA_ERROR_TOO_BIG:
		SF_LOG_ERR("%s on connection %u: %llu bytes are more than the peer's receive takes: post larger ones there", name,
			   id, (unsigned long long)request->len);
		return DOCA_ERROR_IO_FAILED;
	case DOCA_ERROR_TIME_OUT:
		SF_LOG_ERR(
			"%s on connection %u: the peer posted no receive in %u retries: post receives there, or raise the retry "
			"count",
			name, id, rdma_of(&request->base)->rnr_retry_count);
		return DOCA_ERROR_IO_FAILED;
	case DOCA_ERROR_NOT_PERMITTED:
	case DOCA_ERROR_INVALID_VALUE:
	case DOCA_ERROR_NOT_SUPPORTED:
		return why; /* the fabric has said what is wrong */
	default:
		SF_LOG_ERR("%s on connection %u: %s", name, id, rdma_loss(request->connection));
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
}

/* SUCCESS: it went out, or has ended. AGAIN: not now. Others: never, and nothing before it is under way any more. */
static doca_error_t send_out(struct doca_rdma_connection *connection, struct rdma_request *request)
{
	doca_error_t result;
	if (__builtin_expect(connection->state != RDMA_CONNECTION_CONNECTED && request->verdict == DOCA_SUCCESS, 0))
		request->verdict = connection->state == RDMA_CONNECTION_LOST ? never(request, DOCA_ERROR_NOT_CONNECTED)
									     : DOCA_ERROR_BAD_STATE;
	if (__builtin_expect(request->verdict != DOCA_SUCCESS, 0))
		return connection->num_out != 0 ? DOCA_ERROR_AGAIN : request->verdict;
	if (__builtin_expect(is_nothing(request), 0)) {
		if (connection->num_out != 0)
			return DOCA_ERROR_AGAIN;
		rdma_succeeded(request);
		return DOCA_SUCCESS;
	}
	request->op.status = DOCA_SUCCESS;
	result = sf_link_submit(connection->out, &request->op);
	if (__builtin_expect(result == DOCA_SUCCESS, 1)) {
		connection->num_out++;
		if (__builtin_expect(request->op.status != DOCA_SUCCESS, 0))
			connection->state = RDMA_CONNECTION_FAILING;
	} else if (result != DOCA_ERROR_AGAIN) {
		request->verdict = never(request, result);
	}
	return request->verdict != DOCA_SUCCESS && connection->num_out != 0 ? DOCA_ERROR_AGAIN
	       : request->verdict != DOCA_SUCCESS			    ? request->verdict
									    : result;
}

static void wait_for_room(struct doca_rdma_connection *connection, struct doca_task *task)
{
	task->next = NULL;
	if (connection->waiting != NULL) {
		connection->waiting_last->next = task;
	} else {
		connection->waiting = task;
		connection->not_ready_since = 0;
		connection->next_waiting = NULL;
		*connection->rdma->waiting_end = connection;
		connection->rdma->waiting_end = &connection->next_waiting;
	}
	connection->waiting_last = task;
}

/* Has the peer gone without a receive for as long as the retry count allows? */
static bool out_of_retries(struct doca_rdma_connection *connection, const struct rdma_request *request)
{
	uint32_t count = connection->rdma->rnr_retry_count;
	if (count == RDMA_RNR_MAX || connection->num_out != 0 || connection->state != RDMA_CONNECTION_CONNECTED)
		return false;
	if (request->op.status != DOCA_ERROR_EMPTY) { /* it waits for something else: a peer that is slow, or stopped */
		connection->not_ready_since = 0;
		return false;
	}
	uint64_t now = rdma_now_ns();
	if (connection->not_ready_since == 0)
		connection->not_ready_since = now;
	return now - connection->not_ready_since >= (count + 1) * RDMA_RNR_WAIT_NS;
}

static bool pump_connection(struct doca_rdma_connection *connection)
{
	bool moved = false;
	while (connection->waiting != NULL) {
		struct rdma_request *request = (struct rdma_request *)connection->waiting;
		struct doca_task *next = request->base.next;
		doca_error_t result = send_out(connection, request);
		if (result == DOCA_ERROR_AGAIN && !out_of_retries(connection, request))
			return moved;
		if (result == DOCA_ERROR_AGAIN)
			result = never(request, DOCA_ERROR_TIME_OUT);
		if (result != DOCA_SUCCESS) {
			rdma_end_later(connection->rdma, &request->base, result);
			rdma_connection_fail(connection, result);
		}
		moved = true;
		connection->not_ready_since = 0;
		connection->waiting = next;
		if (next == NULL)
			connection->waiting_last = NULL;
	}
	return moved;
}

bool rdma_requests_pump(struct doca_rdma *rdma)
{
	struct doca_rdma_connection **at = &rdma->waiting;
	bool moved = false;
	while (*at != NULL) {
		struct doca_rdma_connection *connection = *at;
		moved |= pump_connection(connection);
		if (connection->waiting != NULL)
			at = &connection->next_waiting;
		else
			*at = connection->next_waiting;
	}
	rdma->waiting_end = at;
	return moved;
}

/* ---- submit ---- */

/* The right that the peer's memory map must give. */
static uint32_t region_right(enum sf_op_kind kind)
{
	switch (kind) {
	case SF_OP_READ:
		return SF_RIGHT_READ;
	case SF_OP_WRITE:
		return SF_RIGHT_WRITE;
	case SF_OP_CAS:
	case SF_OP_FAA:
		return SF_RIGHT_ATOMIC;
	case SF_OP_SEND:
		break;
	}
	return 0;
}

static const char *flag_name(uint32_t need)
{
	return need == DOCA_ACCESS_FLAG_RDMA_READ    ? "DOCA_ACCESS_FLAG_RDMA_READ"
	       : need == DOCA_ACCESS_FLAG_RDMA_WRITE ? "DOCA_ACCESS_FLAG_RDMA_WRITE"
						     : "DOCA_ACCESS_FLAG_RDMA_ATOMIC";
}

/* Both must give the right: the peer's instance, and its memory map. */
static bool is_permitted(const struct rdma_request *request)
{
	const struct rdma_verb *verb = verb_of(&request->base);
	const struct doca_rdma_connection *connection = request->connection;
	if (verb->need == 0 || request->len == 0 || connection->state != RDMA_CONNECTION_CONNECTED)
		return true;
	bool by_instance = (connection->peer.permissions & verb->need) == verb->need;
	bool by_memory = verb->take != NULL || (request->op.region->rights & region_right(verb->kind)) != 0;
	if (__builtin_expect(by_instance && by_memory, 1))
		return true;
	SF_LOG_ERR("%s on connection %u: the peer's %s not permit it: give %s there to %s", verb->cls.name, connection->id,
		   by_instance ? "memory map does"
		   : by_memory ? "instance does"
			       : "instance and its memory map do",
		   flag_name(verb->need),
		   by_instance ? "doca_mmap_set_permissions"
		   : by_memory ? "doca_rdma_set_permissions"
			       : "doca_rdma_set_permissions and doca_mmap_set_permissions");
	return false;
}

static doca_error_t check_connection(const struct rdma_request *request)
{
	const struct doca_rdma_connection *connection = request->connection;
	if (connection == NULL)
		return rdma_request_missing(request, "connection");
	if (connection->rdma == rdma_of(&request->base) && connection->state >= RDMA_CONNECTION_CONNECTED)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the connection is %s", request->base.cls->name,
		   connection->rdma != rdma_of(&request->base)	? "another instance's"
		   : connection->state == RDMA_CONNECTION_FREE	? "of an earlier run: connect again"
		   : connection->state == RDMA_CONNECTION_ENDED ? "over, and its place free: connect again"
								: "not connected yet");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t rdma_request_send_out(struct rdma_request *request)
{
	struct doca_rdma_connection *connection = request->connection;
	doca_error_t result = check_connection(request);
	request->mapped = false;
	if (result == DOCA_SUCCESS)
		result = take_apart(request);
	if (__builtin_expect(result != DOCA_SUCCESS, 0))
		return result;
	fill_op(request);
	request->result_len = 0;
	request->verdict = is_permitted(request) ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED;
	result = connection->waiting == NULL ? send_out(connection, request) : DOCA_ERROR_AGAIN;
	if (__builtin_expect(result == DOCA_SUCCESS, 1))
		return DOCA_SUCCESS;
	if (result == DOCA_ERROR_AGAIN) {
		wait_for_room(connection, &request->base);
	} else { /* taken all the same: it ends by its error callback */
		rdma_end_later(connection->rdma, &request->base, result);
		rdma_connection_fail(connection, result);
	}
	if (connection->rdma->ended != NULL)
		sf_ctx_kick(&connection->rdma->ctx);
	return DOCA_SUCCESS;
}

doca_error_t rdma_request_alloc(struct doca_rdma *rdma, enum rdma_pool pool, struct doca_rdma_connection *connection,
				union doca_data user_data, const void *place, struct rdma_request **request)
{
	struct doca_task *base;
	if (rdma == NULL || connection == NULL || place == NULL)
		return rdma_check_given(NULL, rdma == NULL	   ? "instance"
					      : connection == NULL ? "connection"
								   : "place for the task");
	doca_error_t result = rdma_check_tasks(rdma);
	if (result == DOCA_SUCCESS)
		result = sf_task_alloc(&rdma->ctx, &rdma->pools[pool], &base);
	if (result != DOCA_SUCCESS)
		return result;
	struct rdma_request *taken = (struct rdma_request *)base;
	base->user_data = user_data;
	taken->connection = connection;
	taken->src = NULL;
	taken->dst = taken->result = NULL;
	taken->event = NULL;
	taken->immediate = 0;
	taken->compare = taken->value = 0;
	taken->result_len = 0;
	taken->op.done = request_done;
	taken->op.iov = taken->iov;
	taken->op.header = taken->header;
	*request = taken;
	return DOCA_SUCCESS;
}

doca_error_t rdma_pool_configure(struct doca_rdma *rdma, enum rdma_pool pool, const struct sf_task_class *cls,
				 doca_task_completion_cb_t completed, doca_task_completion_cb_t failed, uint32_t num_tasks)
{
	if (rdma == NULL)
		return rdma_check_given(NULL, "instance to configure tasks for");
	return sf_task_pool_configure(&rdma->ctx, &rdma->pools[pool], cls, completed, failed, num_tasks, RDMA_TASKS_MAX);
}
