/* SPDX-License-Identifier: BSD-3-Clause */
/* The progress engine: polls running contexts, and provides the notification handle of event-driven mode. */
#include "core/pe.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/doorbell.h"
#include "base/log.h"
#include "base/trace.h"
#include "core/ctx.h"
#include "core/ctx_private.h"
#include "core/faults.h"
#include "core/pe_checks.h"
#include "validation/validation.h"

/* Opens the eventfd that contexts and peers write, inside the epoll set that the program waits on. */
static doca_error_t handles_open(struct doca_pe *pe)
{
	pe->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pe->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (pe->event_fd < 0 || pe->epoll_fd < 0) {
		SF_LOG_ERR("progress engine: no file descriptor for its notification handle: %s; raise the limit (ulimit -n)",
			   strerror(errno));
		return DOCA_ERROR_NO_MEMORY;
	}
	doca_error_t result = sf_pe_watch_fd(pe, pe->event_fd);
	pe->num_watched = 0; /* event_fd does not count */
	return result;
}

static void handles_close(struct doca_pe *pe)
{
	if (pe->epoll_fd >= 0)
		close(pe->epoll_fd);
	if (pe->event_fd >= 0)
		close(pe->event_fd);
}

doca_error_t doca_pe_create(struct doca_pe **pe)
{
	if (pe == NULL) {
		SF_LOG_ERR("pe is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	struct doca_pe *created = calloc(1, sizeof(*created));
	if (created == NULL) {
		SF_LOG_ERR("no memory for a progress engine");
		return DOCA_ERROR_NO_MEMORY;
	}
	created->event_fd = -1;
	created->epoll_fd = -1;
	created->cleared = true;
	created->mode = DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE;
	doca_error_t result = handles_open(created);
	if (result != DOCA_SUCCESS) {
		handles_close(created);
		free(created);
		return DOCA_ERROR_NO_MEMORY;
	}
	created->faults = sf_pe_faults_attach(created);
	sf_status_pe_add(created);
	sf_object_add(created, "progress engine", NULL);
	*pe = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_destroy(struct doca_pe *pe)
{
	if (pe == NULL) {
		SF_LOG_ERR("pe is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (pe->connected != NULL) {
		SF_LOG_ERR("progress engine still has connected contexts, such as a %s: destroy them first",
			   pe->connected->ops->name);
		if (sf_validation_is_on)
			sf_pe_report_alive(pe);
		return DOCA_ERROR_IN_USE;
	}
	if (pe->in_progress) {
		SF_LOG_ERR("progress engine cannot be destroyed from a callback that it runs");
		SF_BROKEN(PE_002, pe, "doca_pe_destroy", "it was called from a callback that the engine runs");
		return DOCA_ERROR_IN_USE;
	}
	sf_object_remove(pe);
	sf_status_pe_remove(pe);
	sf_pe_faults_detach(pe->faults);
	handles_close(pe);
	free(pe);
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx)
{
	if (pe == NULL || ctx == NULL) {
		SF_LOG_ERR("%s is NULL: connecting needs a progress engine and a context", pe == NULL ? "pe" : "ctx");
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t result = sf_ctx_check_idle(ctx, "doca_pe_connect_ctx");
	if (result != DOCA_SUCCESS)
		return result;
	if (ctx->pe != NULL) {
		SF_LOG_ERR("%s is connected to a progress engine already, and stays so until it is destroyed", ctx->ops->name);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	ctx->pe = pe;
	ctx->next_in_pe = pe->connected;
	pe->connected = ctx;
	return DOCA_SUCCESS;
}

void sf_pe_detach(struct doca_pe *pe, struct doca_ctx *ctx)
{
	struct doca_ctx **at = &pe->connected;

	while (*at != ctx) {
		assert(*at != NULL);
		at = &(*at)->next_in_pe;
	}
	*at = ctx->next_in_pe;
	ctx->next_in_pe = NULL;
}

/* Inserts at the head, so that a ctx that a callback starts waits for the next call, and no call can run for ever. */
void sf_pe_activate(struct doca_pe *pe, struct doca_ctx *ctx)
{
	assert(ctx->pe == pe);
	ctx->next_active = pe->active;
	pe->active = ctx;
	sf_status_ctx_add(ctx);
	if (pe->armed) /* it was not active when the others were armed */
		sf_pe_kick(pe);
}

void sf_pe_deactivate(struct doca_pe *pe, struct doca_ctx *ctx)
{
	struct doca_ctx **at = &pe->active;

	while (*at != ctx) {
		assert(*at != NULL);
		at = &(*at)->next_active;
	}
	*at = ctx->next_active;
	if (pe->cursor == ctx)
		pe->cursor = ctx->next_active;
	ctx->next_active = NULL;
	sf_status_ctx_remove(ctx);
}

/* The engine whose progress call this thread is in; the innermost one if calls are nested. Each progress call writes it, so it
 * uses static TLS, for which glibc has space even in a library loaded later. */
#ifdef __GLIBC__
static __thread struct doca_pe *in_progress __attribute__((tls_model("initial-exec")));
#else
static __thread struct doca_pe *in_progress;
#endif

static void send_pending(const struct doca_pe *pe)
{
	for (struct doca_ctx *ctx = pe != NULL ? pe->active : NULL; ctx != NULL; ctx = ctx->next_active) {
		if (ctx->ops->send_pending != NULL)
			ctx->ops->send_pending(ctx);
	}
}

void sf_ctx_send_pending(const struct doca_ctx *ctx)
{
	send_pending(ctx->pe);
	if (in_progress != ctx->pe)
		send_pending(in_progress);
}

/* Answers the pending request: makes the handle readable until it is cleared. */
static void pe_notify(struct doca_pe *pe)
{
	pe->armed = false;
	sf_doorbell_ring(pe->event_fd); /* peers also have this descriptor */
}

bool sf_pe_is_inside_here(const struct doca_pe *pe)
{
	return in_progress == pe;
}

bool sf_pe_is_in_no_progress(void)
{
	return in_progress == NULL;
}

static __attribute__((noinline, cold)) uint8_t progress_refused(const struct doca_pe *pe)
{
	if (pe == NULL)
		SF_LOG_ERR("pe is NULL: nothing to progress");
	else if (in_progress == NULL)
		SF_LOG_ERR("doca_pe_progress was called while another thread is in it: one thread at a time uses an engine");
	else
		SF_LOG_ERR("doca_pe_progress was called from a callback that it runs: return from the callback instead");
	if (pe != NULL && in_progress == NULL)
		SF_BROKEN(PE_003, pe, "doca_pe_progress", "another thread is in doca_pe_progress");
	else if (pe != NULL)
		SF_BROKEN(PE_002, pe, "doca_pe_progress", "it was called from a callback that it runs");
	return 0;
}

uint8_t doca_pe_progress(struct doca_pe *pe)
{
	if (__builtin_expect(pe == NULL || pe->in_progress, 0))
		return progress_refused(pe);
	struct doca_pe *outer = in_progress;
	bool moved = false;
	in_progress = pe;
	pe->in_progress = true;
	pe->kicked = false;
	/* A callback may stop and destroy any context, so only the cursor is a valid next pointer. */
	for (struct doca_ctx *ctx = pe->active; ctx != NULL; ctx = pe->cursor) {
		pe->cursor = ctx->next_active;
		moved |= sf_ctx_poll(ctx);
	}
	pe->in_progress = false;
	assert(in_progress == pe);
	pe->num_calls += moved ? SF_PE_MOVED : 1;
	in_progress = outer;
	/* A callback may have left work that no arm detects, so a pending request is answered. */
	if (__builtin_expect(pe->armed && moved, 0))
		pe_notify(pe);
	return moved || pe->kicked ? 1 : 0; /* kicked meanwhile: the next call finds work */
}

doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks)
{
	if (pe == NULL || num_inflight_tasks == NULL) {
		SF_LOG_ERR("%s is NULL", pe == NULL ? "pe" : "num_inflight_tasks");
		return DOCA_ERROR_INVALID_VALUE;
	}
	size_t sum = 0;
	for (const struct doca_ctx *ctx = pe->active; ctx != NULL; ctx = ctx->next_active)
		sum += sf_ctx_num_inflight(ctx);
	*num_inflight_tasks = sum;
	return DOCA_SUCCESS;
}

/* ---- event-driven mode ---- */

/* Returns whether a descriptor that a context watches is readable. */
static bool is_watched_fd_readable(const struct doca_pe *pe)
{
	struct epoll_event event;

	return pe->num_watched > 0 && epoll_wait(pe->epoll_fd, &event, 1, 0) > 0;
}

/* Clears event_fd. If the current request made the handle readable, it counts as answered; the remains of an older request do not
 * count. */
static doca_error_t event_drain(struct doca_pe *pe)
{
	bool fired;

	if (__builtin_expect(pe->faults != NULL, 0))
		sf_pe_faults_show(pe);
	if (!sf_doorbell_clear(pe->event_fd, &fired)) {
		SF_LOG_ERR("progress engine: its notification cannot be cleared: %s", strerror(errno));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	if (pe->armed && !pe->was_readable && (fired || is_watched_fd_readable(pe)))
		pe->armed = false;
	pe->was_readable = false;
	pe->cleared = true;
	SF_TRACE(awake, SF_TRACE_AWAKE, pe, 0, fired, NULL);
	return DOCA_SUCCESS;
}

void sf_pe_kick(struct doca_pe *pe)
{
	pe->kicked = true;
	if (pe->armed)
		pe_notify(pe);
}

doca_error_t sf_pe_watch_fd(struct doca_pe *pe, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (epoll_ctl(pe->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0) {
		pe->num_watched++;
		return DOCA_SUCCESS;
	}
	if (errno == EEXIST)
		return DOCA_ERROR_ALREADY_EXIST;
	SF_LOG_ERR("progress engine: descriptor %d cannot be watched: %s", fd, strerror(errno));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

void sf_pe_unwatch_fd(struct doca_pe *pe, int fd)
{
	if (epoll_ctl(pe->epoll_fd, EPOLL_CTL_DEL, fd, NULL) == 0) /* fails if it was not watched */
		pe->num_watched--;
}

doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe, doca_notification_handle_t *handle)
{
	if (pe == NULL || handle == NULL) {
		SF_LOG_ERR("%s is NULL", pe == NULL ? "pe" : "handle");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (sf_validation_is_on)
		sf_pe_note_handle();
	*handle = pe->epoll_fd;
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle)
{
	(void)handle; /* on Linux there is only one */
	if (pe == NULL) {
		SF_LOG_ERR("pe is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	return event_drain(pe);
}

doca_error_t doca_pe_request_notification(struct doca_pe *pe)
{
	if (pe == NULL) {
		SF_LOG_ERR("pe is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (pe->mode == DOCA_PE_EVENT_MODE_PROGRESS_ALL) {
		doca_error_t result = event_drain(pe);

		if (result != DOCA_SUCCESS)
			return result;
	}
	if (__builtin_expect(pe->faults != NULL, 0))
		sf_pe_faults_show(pe);
	pe->was_readable = !pe->cleared;
	pe->cleared = false;
	/* Arms every ctx, even when one is due, because a program may continue to wait without a progress call. */
	bool due = pe->kicked;
	for (struct doca_ctx *ctx = pe->active; ctx != NULL; ctx = ctx->next_active)
		due |= sf_ctx_arm(ctx);
	pe->armed = true;
	SF_TRACE(arm, SF_TRACE_ARM, pe, 0, due, NULL);
	if (sf_validation_is_on)
		sf_pe_note_request(pe);
	if (due)
		pe_notify(pe);
	if (__builtin_expect(pe->faults != NULL, 0))
		sf_pe_faults_request(pe);
	return DOCA_SUCCESS;
}

doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode)
{
	if (pe == NULL) {
		SF_LOG_ERR("pe is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (event_mode != DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE && event_mode != DOCA_PE_EVENT_MODE_PROGRESS_ALL) {
		SF_LOG_ERR("event mode %d is invalid: use PROGRESS_SELECTIVE or PROGRESS_ALL", (int)event_mode);
		return DOCA_ERROR_INVALID_VALUE;
	}
	pe->mode = event_mode;
	return DOCA_SUCCESS;
}
