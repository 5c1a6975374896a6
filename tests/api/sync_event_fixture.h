/* SPDX-License-Identifier: BSD-3-Clause */
/* A host function, the DPU port behind which it is, another port, and an event of the host. Include it after cmocka. */
#ifndef SYNC_EVENT_FIXTURE_H
#define SYNC_EVENT_FIXTURE_H

#include <stdlib.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "base/clock.h"
#include "support/check.h"
#include "support/test_dev.h"

struct fixture {
	struct doca_dev *host, *dpu, *other;
	struct doca_sync_event *event; /* on the host: publisher remote PCI, subscriber CPU; not started */
};

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->host = test_dev_open_pci("d8:00.0");
	f->dpu = test_dev_open_pci("03:00.0");
	f->other = test_dev_open_pci("03:00.1");
	CHECK_OK(doca_sync_event_create(&f->event));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_pci(f->event));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(f->event, f->host));
	*state = f;
	return 0;
}

/* The devices can be closed only if no object uses them any more. */
static inline int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->event != NULL) {
		doca_sync_event_stop(f->event);
		CHECK_OK(doca_sync_event_destroy(f->event));
	}
	CHECK_OK(doca_dev_close(f->host));
	CHECK_OK(doca_dev_close(f->dpu));
	CHECK_OK(doca_dev_close(f->other));
	free(f);
	return 0;
}

/* Imports the host's event, which is started, on the DPU; not started. */
static inline struct doca_sync_event *import_event(struct fixture *f)
{
	struct doca_sync_event *imported;
	const uint8_t *data;
	size_t sz;

	CHECK_OK(doca_sync_event_export_to_remote_pci(f->event, f->host, &data, &sz));
	CHECK_OK(doca_sync_event_create_from_export(f->dpu, data, sz, &imported));
	return imported;
}

static inline void end_event(struct doca_sync_event *event)
{
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
}

static inline uint64_t value_of(struct doca_sync_event *event)
{
	uint64_t value;

	CHECK_OK(doca_sync_event_get(event, &value));
	return value;
}

#endif
