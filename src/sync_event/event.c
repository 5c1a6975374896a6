/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a sync event: create, memory, start, stop, destroy. */
#include "sync_event/event.h"

#include <stdlib.h>

#include "base/log.h"
#include "mem/buf.h"
#include "mem/mmap.h"

#define TICK_MS 500   /* the program may store to its own memory; a stopped peer may not report its device's writes */
#define TICK_GPU_MS 1 /* a kernel's store rings no doorbell */
#define TICK_FAR_MS 5 /* nor does a store of the owner on another machine */

doca_error_t sf_event_check(const struct doca_sync_event *event, const char *function)
{
	if (event != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: event is NULL", function);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t sf_event_check_stopped(const struct doca_sync_event *event, const char *function)
{
	if (event == NULL)
		return sf_event_check(event, function);
	if (!sf_event_is_open(event))
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s: the sync event is started: call it before doca_sync_event_start", function);
	return DOCA_ERROR_BAD_STATE;
}

/* ---- create and destroy ---- */

/* A buf's memory belongs to its mmap, which the event holds. Memory of set_addr is the program's to keep valid. */
static void buf_drop(struct doca_sync_event *event)
{
	if (event->mmap == NULL)
		return;
	sf_mmap_release(event->mmap);
	event->mmap = NULL;
	event->user_word = NULL;
}

struct doca_sync_event *sf_event_new(void)
{
	struct doca_sync_event *event = calloc(1, sizeof(*event));

	if (event == NULL) {
		SF_LOG_ERR("no memory for a sync event");
		return NULL;
	}
	sf_ctx_init(&event->ctx, &sf_event_ctx_ops, event->pools, SF_EVENT_TASKS);
	event->watch.cell = &event->cell;
	return event;
}

void sf_event_free(struct doca_sync_event *event)
{
	sf_event_place_clear(&event->publisher);
	sf_event_place_clear(&event->subscriber);
	free(event);
}

doca_error_t doca_sync_event_create(struct doca_sync_event **event)
{
	struct doca_sync_event *created;

	if (event == NULL) {
		SF_LOG_ERR("event is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	created = sf_event_new();
	if (created == NULL)
		return DOCA_ERROR_NO_MEMORY;
	sf_ctx_created(&created->ctx);
	*event = created;
	return DOCA_SUCCESS;
}

doca_error_t doca_sync_event_destroy(struct doca_sync_event *event)
{
	doca_error_t result = sf_event_check(event, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (event->synchronous) {
		SF_LOG_ERR("the sync event is started and cannot be destroyed: call doca_sync_event_stop first");
		return DOCA_ERROR_BAD_STATE;
	}
	if (sf_ctx_fini(&event->ctx) != DOCA_SUCCESS)
		return DOCA_ERROR_BAD_STATE;
	if (event->imported_by != NULL)
		sf_event_import_drop(event);
	buf_drop(event);
	sf_event_free(event);
	return DOCA_SUCCESS;
}

/* ---- the user's memory ---- */

static doca_error_t check_memory(const struct doca_sync_event *event, const void *word, const char *function)
{
	if (word == NULL || (uintptr_t)word % sizeof(uint64_t) != 0) {
		SF_LOG_ERR("%s: %p cannot hold a sync event: align it to 8 bytes", function, word);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return sf_event_check_stopped(event, function);
}

doca_error_t doca_sync_event_set_addr(struct doca_sync_event *event, uint64_t *addr)
{
	doca_error_t result = check_memory(event, addr, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (event->imported_by != NULL || event->publisher.location == SF_EVENT_AT_GPU ||
	    event->subscriber.location == SF_EVENT_AT_GPU) {
		SF_LOG_ERR("the sync event was made from an export, or is used by a GPU: its memory cannot be set");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	buf_drop(event);
	event->user_word = addr;
	return DOCA_SUCCESS;
}

/* Why the buf's memory cannot hold an event's value, or NULL. */
static const char *buf_unfit(const struct doca_sync_event *event, const struct doca_buf *buf)
{
	uint8_t from_export = 0;

	if (event->imported_by != NULL || event->publisher.location == SF_EVENT_AT_GPU ||
	    event->subscriber.location == SF_EVENT_AT_GPU)
		return "the sync event was made from an export, or is used by a GPU: its memory cannot be set";
	if (doca_mmap_get_from_export(buf->mmap, &from_export) != DOCA_SUCCESS || from_export != 0)
		return "the buffer's mmap was made from an export; create the sync event on the node that owns the memory";
	if (sf_mmap_is_gpu_memory(buf->mmap))
		return "the buffer is GPU memory; use host memory";
	if (sf_mmap_permissions(buf->mmap) == DOCA_ACCESS_FLAG_LOCAL_READ_ONLY)
		return "the buffer's mmap is read-only; set DOCA_ACCESS_FLAG_LOCAL_READ_WRITE in its permissions";
	return NULL;
}

doca_error_t doca_sync_event_set_doca_buf(struct doca_sync_event *event, struct doca_buf *buf)
{
	const char *unfit;
	doca_error_t result;

	if (buf == NULL || (size_t)(buf->head + buf->len - buf->data) < sizeof(uint64_t)) {
		SF_LOG_ERR("%s: %s", __func__,
			   buf == NULL ? "buf is NULL" : "the buffer has fewer than 8 bytes from the start of its data");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = check_memory(event, buf->data, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	unfit = buf_unfit(event, buf);
	if (unfit != NULL) {
		SF_LOG_ERR("%s: %s", __func__, unfit);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	result = sf_mmap_hold(buf->mmap);
	if (result != DOCA_SUCCESS)
		return result;
	buf_drop(event);
	event->user_word = (uint64_t *)(void *)buf->data;
	event->mmap = buf->mmap;
	return DOCA_SUCCESS;
}

/* ---- start and stop ---- */

static doca_error_t check_places(const struct doca_sync_event *event)
{
	const struct sf_event_place *publisher = &event->publisher, *subscriber = &event->subscriber;
	bool gpu = publisher->location == SF_EVENT_AT_GPU || subscriber->location == SF_EVENT_AT_GPU;
	const char *wrong = NULL;

	if (publisher->location == SF_EVENT_NOWHERE || subscriber->location == SF_EVENT_NOWHERE)
		wrong = publisher->location == SF_EVENT_NOWHERE
				? "has no publisher location; call a doca_sync_event_add_publisher_location function first"
				: "has no subscriber location; call a doca_sync_event_add_subscriber_location function first";
	else if (gpu && event->user_word != NULL)
		wrong = "has a GPU location, so its value cannot be in memory that the program set";
	else if (publisher->gpu != NULL && subscriber->gpu != NULL && publisher->gpu != subscriber->gpu)
		wrong = "has locations on two GPUs: use one GPU";
	if (wrong == NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("the sync event cannot be started: it %s", wrong);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t open_own(struct doca_sync_event *event)
{
	doca_error_t result = check_places(event);

	if (result == DOCA_SUCCESS)
		result = sf_cell_open(&event->cell, event->user_word);
	if (result != DOCA_SUCCESS)
		return result;
	sf_event_doorbell_init(event, event->cell.page);
	result = sf_event_gpu_map(event);
	if (result != DOCA_SUCCESS)
		sf_cell_close(&event->cell);
	return result;
}

static void open_imported(struct doca_sync_event *event)
{
	struct sf_event_import *import = &event->import;
	bool far = import->own != NULL;

	event->cell = (struct sf_cell){
		.page = far ? import->own : import->mapped,
		.word = far || import->word != NULL ? NULL : &import->mapped->value,
		.page_region = import->page,
		.word_region = far && import->word == NULL ? import->page : import->word,
		.word_addr = import->word_addr,
	};
}

static void doorbell_ring(struct sf_region_doorbell *doorbell)
{
	sf_cell_ring(((struct sf_event_doorbell *)doorbell)->page);
}

void sf_event_doorbell_init(struct doca_sync_event *event, struct sf_cell_page *page)
{
	event->doorbell = (struct sf_event_doorbell){.base = {.ring = doorbell_ring}, .page = page};
}

static bool doorbell_arm(struct doca_sync_event *event, struct sf_region *region)
{
	return region == NULL || sf_region_arm(region, &event->doorbell.base) == DOCA_SUCCESS;
}

void sf_event_doorbell_arm(struct doca_sync_event *event)
{
	bool heard = doorbell_arm(event, event->import.page);

	for (int kind = 0; kind < SF_EVENT_EXPORTS; kind++) {
		heard = doorbell_arm(event, event->exports[kind].page_region) && heard;
		heard = doorbell_arm(event, event->exports[kind].word_region) && heard;
	}
	event->unheard = !heard;
	sf_event_set_tick(event);
}

doca_error_t sf_event_open(struct doca_sync_event *event)
{
	doca_error_t result = DOCA_SUCCESS;

	if (event->imported_by != NULL)
		open_imported(event);
	else
		result = open_own(event);
	event->unheard = false;
	if (result == DOCA_SUCCESS)
		sf_event_set_tick(event);
	return result;
}

void sf_event_close(struct doca_sync_event *event)
{
	if (event->imported_by != NULL) {
		event->cell = (struct sf_cell){.page = NULL};
		return;
	}
	sf_cell_end(&event->cell);
	sf_event_exports_drop(event);
	sf_event_gpu_unmap(event);
	sf_cell_close(&event->cell);
	buf_drop(event);
}

void sf_event_set_tick(struct doca_sync_event *event)
{
	uint32_t tick_ms = 0;

	if (event->user_word != NULL || event->import.word != NULL || event->unheard)
		tick_ms = TICK_MS;
	if (event->publisher.location == SF_EVENT_AT_GPU)
		tick_ms = TICK_GPU_MS;
	if (event->import.own != NULL)
		tick_ms = TICK_FAR_MS;
	if (atomic_exchange(&event->watch.tick_ms, tick_ms) != tick_ms)
		sf_watch_refresh(&event->watch);
}

doca_error_t doca_sync_event_start(struct doca_sync_event *event)
{
	doca_error_t result = sf_event_check_stopped(event, __func__);

	if (result == DOCA_SUCCESS)
		result = sf_event_open(event);
	if (result == DOCA_SUCCESS)
		event->synchronous = true;
	return result;
}

doca_error_t doca_sync_event_stop(struct doca_sync_event *event)
{
	doca_error_t result = sf_event_check(event, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (!sf_event_is_open(event))
		return DOCA_SUCCESS;
	if (!event->synchronous) {
		SF_LOG_ERR("the sync event was started as a context: stop it with doca_ctx_stop");
		return DOCA_ERROR_BAD_STATE;
	}
	sf_event_close(event);
	event->synchronous = false;
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_sync_event_as_ctx(struct doca_sync_event *event)
{
	if (sf_event_check(event, __func__) != DOCA_SUCCESS)
		return NULL;
	if (event->synchronous) {
		SF_LOG_ERR("the sync event was started with doca_sync_event_start: call doca_sync_event_as_ctx before that");
		return NULL;
	}
	return &event->ctx;
}
