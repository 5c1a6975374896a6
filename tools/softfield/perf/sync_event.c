/* SPDX-License-Identifier: BSD-3-Clause */
/* Sync events: the host's process owns one, the DPU's imports it. They answer each other through its value. */
#include <stdio.h>
#include <stdlib.h>

#include <doca_ctx.h>
#include <doca_sync_event.h>

#include "perf/perf.h"

struct sync {
	struct doca_sync_event *event;
	uint64_t value; /* the last value set; both processes count alike */
};

static void create_own(struct perf_side *side, struct sync *sync)
{
	const uint8_t *export;
	size_t len;

	bench_check(doca_sync_event_create(&sync->event), "sync_event: creating an event");
	bench_check(doca_sync_event_add_publisher_location_remote_pci(sync->event), "sync_event: configuring");
	bench_check(doca_sync_event_add_subscriber_location_cpu(sync->event, side->dev), "sync_event: configuring");
	bench_check(doca_sync_event_start(sync->event), "sync_event: starting");
	bench_check(doca_sync_event_export_to_remote_pci(sync->event, side->dev, &export, &len), "sync_event: exporting");
	bench_channel_send_blob(side->channel, export, len);
}

static void create_import(struct perf_side *side, struct sync *sync)
{
	uint8_t blob[BENCH_BLOB_MAX];
	size_t len = bench_channel_receive_blob(side->channel, blob);

	bench_check(doca_sync_event_create_from_export(side->dev, blob, len, &sync->event), "sync_event: importing");
	bench_check(doca_sync_event_start(sync->event), "sync_event: starting");
}

static bool sync_open(struct perf_side *side)
{
	struct sync *sync = calloc(1, sizeof(*sync));

	if (sync == NULL)
		bench_die("no memory");
	side->state = sync;
	side->pe = NULL;
	side->halves = true;
	snprintf(side->what, sizeof(side->what), "set until the wait ends");
	if (side->near)
		create_import(side, sync);
	else
		create_own(side, sync);
	return true;
}

static void no_preparation(struct perf_side *side)
{
	(void)side;
}

static void value_set(struct sync *sync, uint64_t value)
{
	bench_check(doca_sync_event_update_set(sync->event, value), "sync_event: setting");
}

/* Waits for at least this value: the next set may follow already. */
static void value_await(struct sync *sync, uint64_t value)
{
	bench_check(doca_sync_event_wait_gt(sync->event, value - 1, UINT64_MAX), "sync_event: waiting");
}

static void sync_latency(struct perf_side *side, uint64_t rounds, struct timing *timing)
{
	struct sync *sync = (struct sync *)side->state;

	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t asked = sync->value + 1, answer = sync->value + 2;

		sync->value = answer;
		if (side->near) {
			value_set(sync, asked);
			value_await(sync, answer);
			timing_add(timing);
		} else {
			value_await(sync, asked);
			value_set(sync, answer);
		}
	}
}

/* The DPU's process sets the values; the host's waits for the last. */
static void sync_rate(struct perf_side *side, uint64_t operations)
{
	struct sync *sync = (struct sync *)side->state;

	for (uint64_t i = 1; side->near && i <= operations; i++)
		value_set(sync, sync->value + i);
	sync->value += operations;
	if (!side->near)
		value_await(sync, sync->value);
}

static void sync_close(struct perf_side *side)
{
	struct sync *sync = (struct sync *)side->state;

	if (!side->near)
		perf_meet(side); /* the peer has destroyed the import */
	bench_check(doca_sync_event_stop(sync->event), "sync_event: stopping");
	bench_check(doca_sync_event_destroy(sync->event), "sync_event: destroying");
	if (side->near)
		perf_meet(side);
	free(sync);
}

const struct perf_part perf_sync_event = {.name = "sync_event",
					  .fixed_size = sizeof(uint64_t),
					  .open = sync_open,
					  .prepare = no_preparation,
					  .latency = sync_latency,
					  .rate = sync_rate,
					  .release = no_preparation,
					  .close = sync_close};
