/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects stalls. */
#include "core/stall.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/status_private.h"

uint32_t sf_stall_limit_ms(bool *is_wrong)
{
	const char *text = secure_getenv("SOFTFIELD_STALL_MS");
	unsigned long limit;
	char *end;

	*is_wrong = false;
	if (text == NULL || text[0] == '\0')
		return SF_STALL_DEFAULT_MS;
	errno = 0;
	limit = strtoul(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && limit <= SF_STALL_MAX_MS)
		return (uint32_t)limit;
	*is_wrong = true;
	return SF_STALL_DEFAULT_MS;
}

/* ---- progress engine ---- */

static bool is_readable(const struct doca_pe *pe)
{
	struct pollfd handle = {.fd = pe->epoll_fd, .events = POLLIN};

	return poll(&handle, 1, 0) == 1;
}

/* Returns whether a callback keeps a progress call from returning. A thread that runs may also copy a large message. */
static bool is_blocked(const struct sf_status_pe *status, uint32_t limit_ms)
{
	return status->asleep_ms >= limit_ms || status->inside_ms >= SF_STALL_CALL_FACTOR * (uint64_t)limit_ms;
}

/* A program that requested a notification may sleep until it arrives. */
static void engine_fill(struct sf_stall_case *stall, const struct doca_pe *pe, uint32_t limit_ms)
{
	const struct sf_status_pe *status = &pe->status;

	stall->was_called = status->last_call_ns != 0;
	stall->last_ms = status->idle_ms;
	stall->is_idle = status->idle_ms >= limit_ms && (!status->is_armed || is_readable(pe));
	stall->is_blocked = is_blocked(status, limit_ms);
}

/* ---- peers ---- */

static void peer_add(struct sf_stall_case *stall, int pid)
{
	for (uint32_t i = 0; i < stall->num_peers; i++) {
		if (stall->peers[i] == pid)
			return;
	}
	if (stall->num_peers < SF_STALL_PEERS_MAX)
		stall->peers[stall->num_peers++] = pid;
}

/* A context in STARTING waits only for the peers of connections that are not ready. */
static void peers_fill(struct sf_stall_case *stall, const struct sf_status_ctx *status)
{
	const struct sf_status_conn *conn;

	LIST_FOREACH (conn, &status->conns, entry) {
		if (stall->stall != SF_STALL_STARTING || !conn->is_ready)
			peer_add(stall, conn->pid);
	}
}

/* ---- the cases ---- */

static void case_fill(struct sf_stall_case *stall, enum sf_stall kind, const struct sf_status_ctx *status, uint64_t stalled_ms,
		      uint32_t limit_ms)
{
	const struct doca_ctx *ctx = sf_status_ctx_of((struct sf_status_ctx *)status);
	bool has_name = status->name != NULL;

	memset(stall, 0, sizeof(*stall));
	stall->stall = kind;
	stall->stalled_ms = stalled_ms;
	snprintf(stall->what, sizeof(stall->what), "%s%s%s%s%s%s", ctx->ops->name, has_name ? " \"" : "",
		 has_name ? status->name : "", has_name ? "\"" : "", status->device != NULL ? " on " : "",
		 status->device != NULL ? status->device : "");
	snprintf(stall->name, sizeof(stall->name), "%s", has_name ? status->name : "");
	stall->num_inflight = status->num_submitted - status->num_ended;
	stall->num_allocated = status->num_allocated;
	stall->num_owed = status->num_owed;
	stall->num_again = status->num_again;
	stall->object = ctx;
	stall->type = ctx->ops->name;
	engine_fill(stall, ctx->pe, limit_ms);
	peers_fill(stall, status);
}

/* How long the program has been in one call that polls the context, if a callback blocks there, else 0. */
static uint64_t call_ms(const struct sf_status_ctx *status, uint32_t limit_ms)
{
	const struct sf_status_pe *pe = &sf_status_ctx_of((struct sf_status_ctx *)(uintptr_t)status)->pe->status;

	return is_blocked(pe, limit_ms) && status->is_in_call ? pe->inside_ms : 0;
}

/* The context's first unreported stall, or 0. */
static enum sf_stall stall_of(const struct sf_status_ctx *status, uint32_t limit_ms, uint64_t *stalled_ms)
{
	bool is_running = status->state == DOCA_CTX_STATE_RUNNING;
	const struct {
		enum sf_stall stall;
		bool is_on;
		uint64_t ms;
	} all[] = {
		{SF_STALL_CALL, true, call_ms(status, limit_ms)},
		{SF_STALL_STOPPING, status->state == DOCA_CTX_STATE_STOPPING, status->state_ms},
		{SF_STALL_STARTING, status->state == DOCA_CTX_STATE_STARTING, status->state_ms},
		{SF_STALL_TASKS, is_running && (status->reported & SF_STALL_OLD_TASK) == 0, status->quiet_ms},
		{SF_STALL_OLD_TASK, is_running, status->oldest_ms / SF_STALL_OLD_FACTOR},
		{SF_STALL_AGAIN, is_running, status->again_ms},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (all[i].is_on && all[i].ms >= limit_ms && (status->reported & all[i].stall) == 0) {
			*stalled_ms = all[i].ms;
			return all[i].stall;
		}
	}
	return 0;
}

/* The first unreported connection of a running context that is not established in time, or NULL. */
static struct sf_status_conn *conn_of(struct sf_status_ctx *status, uint32_t limit_ms)
{
	struct sf_status_conn *conn;

	if (status->state != DOCA_CTX_STATE_RUNNING)
		return NULL;
	LIST_FOREACH (conn, &status->conns, entry) {
		if (!conn->is_ready && !conn->is_reported && conn->waited_ms >= limit_ms)
			return conn;
	}
	return NULL;
}

uint32_t sf_stalls_collect(struct sf_stall_case *cases, uint32_t limit_ms)
{
	struct sf_status_ctx *status;
	uint32_t num = 0;

	LIST_FOREACH (status, &sf_status_ctxs, entry) {
		struct sf_status_conn *conn = conn_of(status, limit_ms);
		uint64_t stalled_ms = 0;
		enum sf_stall stall = stall_of(status, limit_ms, &stalled_ms);

		if (num == SF_STALL_CASES_MAX)
			break;
		if (conn != NULL) {
			case_fill(&cases[num], SF_STALL_STARTING, status, conn->waited_ms, limit_ms);
			cases[num].peers[0] = conn->pid;
			cases[num++].num_peers = 1;
			conn->is_reported = true;
		} else if (stall != 0) {
			case_fill(&cases[num++], stall, status, stalled_ms, limit_ms);
			status->reported |= stall;
			/* One cause may show in several ways, of which one is reported. */
			if (stall == SF_STALL_OLD_TASK)
				cases[num - 1].stalled_ms = status->oldest_ms;
			else if (stall == SF_STALL_TASKS || stall == SF_STALL_AGAIN)
				status->reported |= SF_STALL_OLD_TASK;
			if (stall == SF_STALL_TASKS && status->again_ms >= limit_ms)
				status->reported |= SF_STALL_AGAIN;
		}
	}
	return num;
}
