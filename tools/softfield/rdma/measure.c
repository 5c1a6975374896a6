/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
#include "rdma/measure.h"

#include <string.h>

#include "timing.h"

#define SLOTS 4	   /* latency: a submit may precede the completion of the last one */
#define WARM_UP 10 /* divisor of count */
#define IDLE_CALLS 200000

/* ---- latency ---- */

static inline struct bench_slot *take_slot(struct bench_side *side)
{
	while (side->free == NULL)
		bench_side_progress(side);
	return bench_side_take(side);
}

static void post_again(struct bench_side *side)
{
	while (side->to_post != NULL) {
		struct bench_slot *slot = side->to_post;

		side->to_post = slot->next;
		bench_receive_post(side, slot);
	}
}

/* Waits for the peer's byte. The loop without progress is separate, because all its work is part of the result. */
static void await_memory(struct bench_side *side, const volatile uint8_t *seen, uint8_t number)
{
	uint64_t spins = 0;

	while (side->plan.progress && *seen != number) {
		(void)doca_pe_progress(side->pe);
		if (++spins % (1 << 22) == 0)
			bench_channel_check(side->channel);
	}
	while (*seen != number) {
		if (++spins % (1 << 22) == 0)
			bench_channel_check(side->channel);
	}
}

/* Each side waits for the other's byte at the end of its target, and then writes its own to the other. */
static void ping_pong_memory(struct bench_side *side, uint64_t rounds, uint64_t *turn, struct timing *timing)
{
	const volatile uint8_t *seen = side->target + side->size_now - 1;
	uint8_t *sent = side->local + side->size_now - 1;

	for (uint64_t i = 0; i < rounds; i++) {
		uint8_t number = (uint8_t)(++*turn % 255 + 1);

		if (side->client) {
			*sent = number;
			bench_slot_submit(side, take_slot(side));
			(void)doca_pe_progress(side->pe);
		}
		await_memory(side, seen, number);
		if (side->client) {
			timing_add(timing);
			continue;
		}
		*sent = number;
		bench_slot_submit(side, take_slot(side));
		(void)doca_pe_progress(side->pe);
	}
}

/* Each side waits for the other's message. */
static void ping_pong_messages(struct bench_side *side, uint64_t rounds, struct timing *timing)
{
	uint64_t wanted = side->received;

	for (uint64_t i = 0; i < rounds; i++) {
		if (side->client)
			bench_slot_submit(side, take_slot(side));
		post_again(side);
		wanted++;
		while (side->received < wanted)
			bench_side_progress(side);
		if (side->client)
			timing_add(timing);
		else
			bench_slot_submit(side, take_slot(side));
	}
	post_again(side);
}

static void one_at_a_time(struct bench_side *side, uint64_t rounds, struct timing *timing)
{
	for (uint64_t i = 0; i < rounds; i++) {
		uint64_t completed = side->completed;

		bench_slot_submit(side, take_slot(side));
		while (side->completed == completed)
			bench_side_progress(side);
		timing_add(timing);
	}
}

static void run_latency(struct bench_side *side, uint64_t rounds, uint64_t *turn, struct timing *timing)
{
	if (side->plan.op == BENCH_WRITE)
		ping_pong_memory(side, rounds, turn, timing);
	else if (bench_op_receives((enum bench_op)side->plan.op))
		ping_pong_messages(side, rounds, timing);
	else if (side->client)
		one_at_a_time(side, rounds, timing);
}

static void receives_settle(struct bench_side *side)
{
	uint64_t num = 0;

	for (const struct bench_slot *slot = side->free; slot != NULL; slot = slot->next)
		num++;
	for (uint64_t wanted = side->completed + side->num_slots - num; side->completed < wanted;)
		bench_side_progress(side);
}

void bench_latency(struct bench_side *side, uint32_t size, struct bench_result *result)
{
	uint64_t count = side->plan.count, turn = 0;
	struct timing warm_up = {0}, timing;

	if (!timing_open(&timing, count, side->client))
		bench_die("no memory for %llu samples", (unsigned long long)count);
	side->puts_off = true;
	memset(side->target, 0, side->size);
	bench_side_prepare(side, size, side->plan.depth < SLOTS ? side->plan.depth : SLOTS);
	bench_channel_meet(side->channel);
	run_latency(side, count / WARM_UP + 1, &turn, &warm_up);
	timing_begin(&timing);
	run_latency(side, count, &turn, &timing);
	*result = (struct bench_result){.count = count};
	timing_close(&timing, side->plan.op == BENCH_WRITE || bench_op_receives((enum bench_op)side->plan.op), &result->latency);
	receives_settle(side);
	side->puts_off = false;
	post_again(side);
	bench_side_release(side);
	bench_channel_meet(side->channel);
}

/* ---- bandwidth ---- */

/* Submits count tasks, with all slots in flight. */
static void sends_stream(struct bench_side *side, uint64_t count)
{
	uint64_t wanted = side->completed + count, first = count < side->num_slots ? count : side->num_slots;

	side->to_submit = count - first;
	for (; first > 0; first--)
		bench_slot_submit(side, bench_side_take(side));
	while (side->completed < wanted)
		bench_side_progress(side);
}

/* The receiver's part: returns the ns between the last message of the warm-up and the last of all. */
static uint64_t take_stream(struct bench_side *side, uint64_t warm_up, uint64_t count)
{
	uint64_t begin;

	side->mark = side->received + warm_up;
	while (side->received < side->mark)
		bench_side_progress(side);
	begin = side->marked_ns;
	side->mark += count;
	if (side->received >= side->mark) /* one call received everything */
		return sf_now_ns() - begin;
	while (side->received < side->mark)
		bench_side_progress(side);
	return side->marked_ns - begin;
}

void bench_bandwidth(struct bench_side *side, uint32_t size, struct bench_result *result)
{
	uint64_t count = side->plan.count, warm_up = count / WARM_UP + 1, ns = 0;
	bool receives = bench_op_receives((enum bench_op)side->plan.op);

	bench_side_prepare(side, size, side->plan.depth);
	bench_channel_meet(side->channel);
	if (side->client) {
		uint64_t begin;

		sends_stream(side, warm_up);
		begin = sf_now_ns();
		sends_stream(side, count);
		ns = sf_now_ns() - begin;
		if (receives)
			bench_channel_receive(side->channel, &ns, sizeof(ns));
	} else if (receives) {
		ns = take_stream(side, warm_up, count);
		bench_channel_send(side->channel, &ns, sizeof(ns));
	}
	*result = (struct bench_result){.count = count};
	if (ns != 0) {
		result->ops_per_s = (double)count * 1e9 / (double)ns;
		result->bytes_per_s = result->ops_per_s * size;
	}
	bench_side_release(side);
	bench_channel_meet(side->channel);
}

double bench_idle_progress(struct bench_side *side)
{
	uint64_t begin = sf_now_ns();

	for (uint32_t i = 0; i < IDLE_CALLS; i++)
		(void)doca_pe_progress(side->pe);
	return (double)(sf_now_ns() - begin) / IDLE_CALLS;
}
