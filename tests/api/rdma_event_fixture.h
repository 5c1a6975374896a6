/* SPDX-License-Identifier: BSD-3-Clause */
/* An event of b, and a remote event that a made of its export. */
#ifndef SF_RDMA_EVENT_FIXTURE_H
#define SF_RDMA_EVENT_FIXTURE_H

#include <doca_sync_event.h>

#include "rdma_fixture.h"

struct event {
	struct doca_sync_event *own;
	struct doca_sync_event_remote_net *remote;
};

static uint64_t word; /* for an event in the program's memory */

static inline void create_event(struct rdma_fixture *f, struct event *event)
{
	CHECK_OK(doca_sync_event_create(&event->own));
	CHECK_OK(doca_sync_event_add_publisher_location_remote_net(event->own));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(event->own, f->b.dev));
}

static inline void import_event(struct rdma_fixture *f, struct event *event)
{
	const uint8_t *data;
	size_t len;

	CHECK_OK(doca_sync_event_export_to_remote_net(event->own, &data, &len));
	CHECK_OK(doca_sync_event_remote_net_create_from_export(f->a.dev, data, len, &event->remote));
}

static inline void open_event(struct rdma_fixture *f, struct event *event, bool in_word)
{
	create_event(f, event);
	word = 0;
	if (in_word)
		CHECK_OK(doca_sync_event_set_addr(event->own, &word));
	CHECK_OK(doca_sync_event_start(event->own));
	import_event(f, event);
}

static inline void close_event(struct event *event)
{
	CHECK_OK(doca_sync_event_remote_net_destroy(event->remote));
	CHECK_OK(doca_sync_event_stop(event->own));
	CHECK_OK(doca_sync_event_destroy(event->own));
}

static inline uint64_t value_of(const struct event *event)
{
	uint64_t value;

	CHECK_OK(doca_sync_event_get(event->own, &value));
	return value;
}

static inline uint64_t number_at(const struct rdma_rig *rig, size_t offset)
{
	uint64_t value;

	memcpy(&value, rig->memory + offset, sizeof(value));
	return value;
}

static inline void put_number(struct rdma_rig *rig, size_t offset, uint64_t value)
{
	memcpy(rig->memory + offset, &value, sizeof(value));
}

#endif
