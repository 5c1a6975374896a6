/* SPDX-License-Identifier: BSD-3-Clause */
/* The sync event object, for the files of src/sync_event. */
#ifndef SF_SYNC_EVENT_EVENT_H
#define SF_SYNC_EVENT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_sync_event.h>

#include "core/ctx.h"
#include "sync_event/cell.h"
#include "sync_event/descriptor.h"
#include "sync_event/import.h"
#include "sync_event/watch.h"

#define SF_EVENT_TASKS_MAX (1u << 16) /* tasks of one type in one event */

enum sf_event_task {
	SF_EVENT_TASK_GET,
	SF_EVENT_TASK_NOTIFY_SET,
	SF_EVENT_TASK_NOTIFY_ADD,
	SF_EVENT_TASK_WAIT_EQ,
	SF_EVENT_TASK_WAIT_NEQ,
	SF_EVENT_TASK_WAIT_GT,
	SF_EVENT_TASKS,
};

enum sf_event_location {
	SF_EVENT_NOWHERE,
	SF_EVENT_AT_CPU,
	SF_EVENT_AT_REMOTE_PCI,
	SF_EVENT_AT_REMOTE_NET,
	SF_EVENT_AT_GPU,
};

/* What a wait ends with: the value, any other, or a greater one. */
enum sf_event_until { SF_EVENT_UNTIL_EQUAL, SF_EVENT_UNTIL_OTHER, SF_EVENT_UNTIL_GREATER };

/* A wait, for the validation layer. */
struct sf_event_waiting {
	uint64_t begin_ns; /* 0: not begun */
	bool is_reported;
};

/* Where the publisher or the subscriber is. Holds its device or GPU. */
struct sf_event_place {
	enum sf_event_location location;
	struct doca_dev *dev;
	struct doca_gpu *gpu;
};

/* One kind of export: made on first use, valid until stop. */
struct sf_event_exported {
	struct doca_dev *dev;
	struct sf_region *page_region, *word_region;
	uint8_t *bytes;
	size_t len;
};

/* Wakes waiters of the event when the fabric reports a change. */
struct sf_event_doorbell {
	struct sf_region_doorbell base;
	struct sf_cell_page *page;
};

struct doca_sync_event {
	struct doca_ctx ctx;
	struct sf_cell cell; /* page is NULL while stopped */
	bool synchronous;    /* started by doca_sync_event_start */
	struct sf_event_place publisher, subscriber;

	uint64_t *user_word;		     /* the user's memory, or NULL */
	doca_gpu_dev_sync_event_t *gpu_word; /* the value's address for kernels; NULL without a GPU location, or stopped */
	struct doca_mmap *mmap;		     /* of the buf that user_word is in, held; else NULL */
	struct sf_event_exported exports[SF_EVENT_EXPORTS];

	struct doca_dev *imported_by; /* device of an import, which has its regions from create to destroy; else NULL */
	struct sf_event_import import;
	struct sf_event_doorbell doorbell; /* rung by the regions of its exports, or of the import */
	bool unheard;			   /* an importer has a change in flight whose end may not be reported */

	struct sf_task_pool pools[SF_EVENT_TASKS];
	struct doca_task *done, **done_end;   /* done; the next progress call completes them */
	struct doca_task *waits, **waits_end; /* not yet true */
	bool flushing;			      /* waits are to end with an error */
	struct sf_event_waiting waiting;      /* the oldest wait task; while the validation layer is on */
	uint32_t polls;			      /* since the last check that the owner lives */
	bool watch_failed;
	struct sf_watch watch;
};

/* The poll interval of a sleeping waiter, for changes that ring no doorbell. Takes effect immediately. */
void sf_event_set_tick(struct doca_sync_event *event);

/* Initializes a doorbell for that page, not armed. */
void sf_event_doorbell_init(struct doca_sync_event *event, struct sf_cell_page *page);
/* Makes the fabric ring for changes by other processes. Arm the doorbell word before, and check the value after. */
void sf_event_doorbell_arm(struct doca_sync_event *event);

/* INVALID_VALUE, logged with the function's name, for NULL. */
doca_error_t sf_event_check(const struct doca_sync_event *event, const char *function);
/* Also BAD_STATE, logged, when it is started. */
doca_error_t sf_event_check_stopped(const struct doca_sync_event *event, const char *function);

/* Releases what the place holds. */
void sf_event_place_clear(struct sf_event_place *place);
/* Ends all exports. */
void sf_event_exports_drop(struct doca_sync_event *event);
/* Releases an import. The event is stopped. */
void sf_event_import_drop(struct doca_sync_event *event);

/* The ops of the event as a ctx (task.c). */
extern const struct sf_ctx_ops sf_event_ctx_ops;

/* Opens and closes the word, for either mode. */
doca_error_t sf_event_open(struct doca_sync_event *event);
void sf_event_close(struct doca_sync_event *event);

static inline bool sf_event_is_open(const struct doca_sync_event *event)
{
	return event->cell.page != NULL;
}

/* A new event without locations; NULL without memory, logged. */
struct doca_sync_event *sf_event_new(void);
void sf_event_free(struct doca_sync_event *event);

/* Maps the page for the GPU of a location (gpu.c). */
doca_error_t sf_event_gpu_map(struct doca_sync_event *event);
void sf_event_gpu_unmap(struct doca_sync_event *event);

#endif
