/* SPDX-License-Identifier: BSD-3-Clause */
/* Submits tasks to the fabric in order, once it accepts them. */
#include "rdma/submit.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "rdma/completion.h"
#include "rdma/connection.h"
#include "rdma/operands.h"
#include "rdma/rdma.h"
#include "rdma/request.h"
#include "rdma/rnr.h"
#include "validation/validation.h"

/* ---- on its way ---- */

/* A read or write of no bytes touches no memory, and completes when all earlier tasks have. */
static bool is_nothing(const struct rdma_request *request)
{
	return request->len == 0 && (request->op.kind == SF_OP_WRITE || request->op.kind == SF_OP_READ);
}

/* The status of a task that can never be sent. */
static doca_error_t request_failure(const struct rdma_request *request, doca_error_t why)
{
	const char *name = request->base.cls->name;

	return rdma_connection_send_failure(request->connection, name, name, request->len, why);
}

/* SUCCESS: it was sent, or is complete. AGAIN: retry later. Others: it failed, and no earlier task is in flight. */
static doca_error_t send_out(struct doca_rdma_connection *connection, struct rdma_request *request)
{
	doca_error_t result;

	if (__builtin_expect(connection->state != RDMA_CONNECTION_CONNECTED && request->verdict == DOCA_SUCCESS, 0))
		request->verdict = connection->state == RDMA_CONNECTION_LOST ? request_failure(request, DOCA_ERROR_NOT_CONNECTED)
									     : DOCA_ERROR_BAD_STATE;
	if (__builtin_expect(request->verdict != DOCA_SUCCESS, 0))
		return connection->num_out != 0 ? DOCA_ERROR_AGAIN : request->verdict;
	if (__builtin_expect(is_nothing(request), 0)) {
		if (connection->num_out != 0)
			return DOCA_ERROR_AGAIN;
		rdma_request_succeed(request);
		return DOCA_SUCCESS;
	}
	request->op.status = DOCA_SUCCESS;
	result = sf_conn_submit(connection->out, &request->op);
	if (__builtin_expect(result == DOCA_SUCCESS, 1)) {
		connection->num_out++;
		if (__builtin_expect(sf_op_status(&request->op) != DOCA_SUCCESS, 0))
			connection->state = RDMA_CONNECTION_FAILING;
	} else if (result != DOCA_ERROR_AGAIN) {
		request->verdict = request_failure(request, result);
	}
	return request->verdict != DOCA_SUCCESS && connection->num_out != 0 ? DOCA_ERROR_AGAIN
	       : request->verdict != DOCA_SUCCESS			    ? request->verdict
									    : result;
}

static void wait_for_room(struct doca_rdma_connection *connection, struct doca_task *task)
{
	task->next = NULL;
	if (connection->waiting != NULL) {
		assert(connection->waiting_last != NULL);
		connection->waiting_last->next = task;
	} else {
		connection->waiting = task;
		connection->not_ready_since = 0;
		connection->next_waiting = NULL;
		assert(*connection->rdma->waiting_end == NULL);
		*connection->rdma->waiting_end = connection;
		connection->rdma->waiting_end = &connection->next_waiting;
	}
	connection->waiting_last = task;
}

static bool pump_connection(struct doca_rdma_connection *connection)
{
	bool moved = false;

	while (connection->waiting != NULL) {
		struct rdma_request *request = (struct rdma_request *)connection->waiting;
		struct doca_task *next = request->base.next;
		doca_error_t result = send_out(connection, request);

		if (result == DOCA_ERROR_AGAIN && !rdma_rnr_is_over(connection, request->op.status, &connection->not_ready_since))
			return moved;
		if (result == DOCA_ERROR_AGAIN)
			result = request_failure(request, DOCA_ERROR_TIME_OUT);
		if (result != DOCA_SUCCESS) {
			rdma_task_end_later(connection->rdma, &request->base, result);
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

static void fill_op(struct rdma_request *request)
{
	const struct rdma_verb *verb = rdma_request_verb(request);

	request->op.kind = verb->kind;
	request->op.header_len = verb->immediate ? RDMA_HEADER_SIZE : 0;
	if (!verb->immediate)
		return;
	memcpy(request->header, &request->immediate, sizeof(request->immediate));
	request->header[RDMA_HEADER_SIZE - 1] =
		verb->kind == SF_OP_WRITE ? DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM : DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM;
	if (verb->kind == SF_OP_WRITE && request->len == 0)
		request->op.kind = SF_OP_SEND; /* nothing is written, so no remote memory is named */
}

/* The right that the peer's memory map must grant. */
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

static void report_right(const struct rdma_request *request, bool by_instance, bool by_memory)
{
	const char *whose = by_instance ? "memory map" : by_memory ? "instance" : "instance, and its memory map,";
	char fix[128];

	snprintf(fix, sizeof(fix), "give %s on the peer's side to %s", flag_name(rdma_request_verb(request)->need),
		 by_instance ? "doca_mmap_set_permissions"
		 : by_memory ? "doca_rdma_set_permissions"
			     : "doca_rdma_set_permissions and doca_mmap_set_permissions");
	sf_rule_broken_so(SF_RULE_MMAP_004, &rdma_request_rdma(request)->ctx, "rdma", "doca_task_submit", fix,
			  "%s on connection %u: the peer's %s does not permit it", request->base.cls->name,
			  request->connection->id, whose);
}

/* Both must grant the right: the peer's instance, and its memory map. */
static bool is_permitted(const struct rdma_request *request)
{
	const struct rdma_verb *verb = rdma_request_verb(request);
	const struct doca_rdma_connection *connection = request->connection;

	if (verb->need == 0 || request->len == 0 || connection->state != RDMA_CONNECTION_CONNECTED)
		return true;
	bool by_instance = (connection->peer.permissions & verb->need) == verb->need;
	bool by_memory = verb->resolve != NULL || (request->op.region->rights & region_right(verb->kind)) != 0;
	if (__builtin_expect(by_instance && by_memory, 1))
		return true;
	SF_LOG_ERR_LIMITED("%s on connection %u: the peer's %s not permit it: give %s there to %s", verb->cls.name,
			   connection->id,
			   by_instance ? "memory map does"
			   : by_memory ? "instance does"
				       : "instance and its memory map do",
			   flag_name(verb->need),
			   by_instance ? "doca_mmap_set_permissions"
			   : by_memory ? "doca_rdma_set_permissions"
				       : "doca_rdma_set_permissions and doca_mmap_set_permissions");
	if (sf_validation_is_on)
		report_right(request, by_instance, by_memory);
	return false;
}

static doca_error_t check_connection(const struct rdma_request *request)
{
	const struct doca_rdma_connection *connection = request->connection;

	if (connection == NULL)
		return rdma_request_missing(request, "connection");
	if (connection->rdma == rdma_request_rdma(request) && connection->state >= RDMA_CONNECTION_CONNECTED)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the connection is %s", request->base.cls->name,
		   connection->rdma != rdma_request_rdma(request) ? "another instance's"
		   : connection->state == RDMA_CONNECTION_FREE	  ? "of an earlier run: connect again"
		   : connection->state == RDMA_CONNECTION_ENDED	  ? "closed, and its slot free: connect again"
								  : "not connected yet");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t rdma_request_submit(struct doca_task *base, uint32_t flags)
{
	struct rdma_request *request = (struct rdma_request *)base;
	struct doca_rdma_connection *connection = request->connection;
	doca_error_t result = check_connection(request);

	(void)flags;
	request->mapped = false;
	if (result == DOCA_SUCCESS)
		result = rdma_request_resolve(request);
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
	} else { /* accepted nevertheless: its error callback reports it */
		rdma_task_end_later(connection->rdma, &request->base, result);
		rdma_connection_fail(connection, result);
	}
	if (connection->rdma->ended != NULL)
		sf_ctx_kick(&connection->rdma->ctx);
	return DOCA_SUCCESS;
}
