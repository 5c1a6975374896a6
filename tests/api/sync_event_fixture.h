/* SPDX-License-Identifier: BSD-3-Clause */
/* A host function, the DPU's port that it is behind, another port, and an event of the host. Include it after cmocka. */
#ifndef SYNC_EVENT_FIXTURE_H
#define SYNC_EVENT_FIXTURE_H

#include <stdlib.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_sync_event.h>

#include "base/clock.h"

#define OK(call) assert_int_equal(call, DOCA_SUCCESS)

struct fixture {
	struct doca_dev *host, *dpu, *other;
	struct doca_sync_event *event; /* of the host: publisher remote PCI, subscriber CPU; not started */
};

static inline struct doca_dev *open_device(const char *pci_addr)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;
	uint8_t equal;

	OK(doca_devinfo_create_list(&list, &num));
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		OK(doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &equal));
		if (equal)
			OK(doca_dev_open(list[i], &dev));
	}
	OK(doca_devinfo_destroy_list(list));
	assert_non_null(dev);
	return dev;
}

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->host = open_device("d8:00.0");
	f->dpu = open_device("03:00.0");
	f->other = open_device("03:00.1");
	OK(doca_sync_event_create(&f->event));
	OK(doca_sync_event_add_publisher_location_remote_pci(f->event));
	OK(doca_sync_event_add_subscriber_location_cpu(f->event, f->host));
	*state = f;
	return 0;
}

/* The devices can be closed only if nothing holds them any more. */
static inline int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->event != NULL) {
		doca_sync_event_stop(f->event);
		OK(doca_sync_event_destroy(f->event));
	}
	OK(doca_dev_close(f->host));
	OK(doca_dev_close(f->dpu));
	OK(doca_dev_close(f->other));
	free(f);
	return 0;
}

/* The DPU's event, not started, of the host's, which is. */
static inline struct doca_sync_event *import_event(struct fixture *f)
{
	struct doca_sync_event *imported;
	const uint8_t *data;
	size_t sz;

	OK(doca_sync_event_export_to_remote_pci(f->event, f->host, &data, &sz));
	OK(doca_sync_event_create_from_export(f->dpu, data, sz, &imported));
	return imported;
}

static inline void end_event(struct doca_sync_event *event)
{
	OK(doca_sync_event_stop(event));
	OK(doca_sync_event_destroy(event));
}

static inline uint64_t value_of(struct doca_sync_event *event)
{
	uint64_t value;

	OK(doca_sync_event_get(event, &value));
	return value;
}

#endif
