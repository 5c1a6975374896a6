/* SPDX-License-Identifier: BSD-3-Clause */
/* A GPU queue in which another process wrote every byte: neither side may leave its memory. */
#include <stdlib.h>
#include <string.h>

#include <softfield/gpu_consumer.h>

#include "comch/gpu_receiver.h"
#include "comch/gpu_sender.h"

#define SIZE 16384u
#define STEPS 32
#define RECV_SIZE 512u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void copy_in(const struct gpu_arrival *arrival)
{
	uint8_t *copy = malloc(arrival->len + 1);

	memcpy(copy, arrival->arena != NULL ? arrival->arena : arrival->line, arrival->len);
	free(copy);
}

/* The short way to receive takes no message that the long one rejects, and the same bytes. */
static void check_inline(const struct gpu_receiver *receiver)
{
	struct gpu_arrival arrival;
	struct gpu_line line;
	uint8_t *copy;
	uint32_t len;

	if (!gpu_receiver_peek_inline(receiver, &line, &len))
		return;
	copy = malloc(len + 1);
	gpu_receiver_copy_inline(receiver, &line, copy, len);
	if (comch_gpu_receiver_peek(receiver, &arrival) != DOCA_SUCCESS || arrival.arena != NULL || arrival.imm_len != 0 ||
	    arrival.len != len || memcmp(arrival.line, copy, len) != 0)
		abort();
	free(copy);
}

/* The CPU's two sides. The memory changes between calls until the input ends. */
static void cpu_sides(uint8_t *memory, const uint8_t *data, size_t size)
{
	struct gpu_receiver receiver = {0};
	struct gpu_sender sender;
	struct gpu_arrival arrival;
	struct gpu_queue box;
	uint8_t bytes[300] = {1};
	struct sf_iov iov = {bytes, sizeof(bytes)};

	if (comch_gpu_queue_view(memory, SIZE, 0, false, &receiver.box) == DOCA_SUCCESS) {
		for (int i = 0; i < STEPS; i++) {
			comch_gpu_receiver_give_credits(&receiver, 4, RECV_SIZE);
			if (size > 256)
				memcpy(memory + 256, data + 256, size - 256);
			check_inline(&receiver);
			if (comch_gpu_receiver_peek(&receiver, &arrival) != DOCA_SUCCESS)
				break;
			copy_in(&arrival);
			gpu_receiver_next(&receiver);
		}
	}
	if (comch_gpu_queue_view(memory, SIZE, 0, true, &box) == DOCA_SUCCESS &&
	    comch_gpu_sender_init(&sender, &box) == DOCA_SUCCESS) {
		for (int i = 0; i < STEPS; i++) {
			iov.len = i % 3 == 0 ? sizeof(bytes) : i % 3 == 1 ? 100 : 20;
			(void)comch_gpu_sender_send(&sender, NULL, &iov, 1, bytes, i % 5);
			if (size > 80)
				memcpy(memory + 64, data + (size_t)i % (size - 80), 16); /* another credits */
		}
		comch_gpu_sender_fini(&sender);
	}
}

/* The kernel's side: its own host sets the geometry, the peer writes the lines. */
static void kernel_side(uint8_t *memory, const uint8_t *data, size_t size)
{
	enum { DEPTH = 16, ARENA = 4096, LINES = DEPTH * (sizeof(struct softfield_line) + sizeof(struct softfield_overflow)) };
	static struct doca_comch_gpu_consumer consumer;
	struct softfield_gpu_recv recvs[DEPTH];
	uint8_t imm[DEPTH * SOFTFIELD_IMM_MAX], *buffer = malloc(RECV_SIZE);
	uint32_t mkey, len;
	uintptr_t addr;

	memset(memory, 0, SIZE);
	memcpy(memory + 256, data, size < LINES ? size : LINES);
	memset(&consumer, 0, sizeof(consumer));
	memset(recvs, 0, sizeof(recvs));
	consumer.gpu_queue = (struct softfield_gpu_queue *)memory;
	consumer.lines = (struct softfield_line *)(memory + 256);
	consumer.arena = memory + SIZE - ARENA;
	consumer.recvs = recvs;
	consumer.imm = imm;
	consumer.arena_size = ARENA;
	consumer.depth = consumer.recv_max = DEPTH;
	consumer.shift = 4;
	for (int i = 0; i < DEPTH; i++)
		softfield_consumer_post(&consumer, 0, (uintptr_t)buffer, RECV_SIZE);
	while (softfield_consumer_try(&consumer, &mkey, &addr, &len, NULL, NULL) == DOCA_SUCCESS)
		;
	free(buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *memory = aligned_alloc(4096, SIZE);

	if (size > SIZE)
		size = SIZE;
	memset(memory, 0, SIZE);
	memcpy(memory, data, size);
	cpu_sides(memory, data, size);
	kernel_side(memory, data, size);
	free(memory);
	return 0;
}
