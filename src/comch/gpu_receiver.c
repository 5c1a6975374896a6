/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/gpu_receiver.h"

#include <string.h>

void comch_gpu_receiver_init(struct gpu_receiver *receiver, const struct gpu_queue *box)
{
	*receiver = (struct gpu_receiver){.box = *box};
	__atomic_store_n(&box->head->barriers, box->registered, __ATOMIC_RELAXED);
}

bool comch_gpu_receiver_ready(const struct gpu_receiver *receiver)
{
	const struct softfield_line *line = &receiver->box.lines[receiver->seq & (receiver->box.depth - 1)];

	return softfield_tag_gen(softfield_load_slot16(&line->slot16[0]).w[3]) ==
	       softfield_gen(receiver->seq, receiver->box.shift);
}

bool comch_gpu_receiver_arm(struct gpu_receiver *receiver)
{
	__atomic_store_n(&receiver->box.head->armed, 1, __ATOMIC_RELAXED);
	softfield_fence_system(); /* the word before the check; the kernel writes the line before it checks the word */
	comch_gpu_barrier_run(&receiver->box);
	return comch_gpu_receiver_ready(receiver);
}

/* The first n 16-byte slots of an overflow slot: either all are there, or the message has not arrived. Each one overwrites the
 * tag of the one before. */
static bool overflow_load(uint8_t *to, const struct softfield_overflow *from, uint32_t n, uint32_t mark)
{
	for (uint32_t q = 0; q < n; q++) {
		gpu_words words = gpu_words_load(&from->slot16[q]);

		if (words[3] != mark)
			return false;
		memcpy(to + q * SOFTFIELD_SLOT16_PAYLOAD, &words, sizeof(words));
	}
	return true;
}

doca_error_t comch_gpu_receiver_peek(const struct gpu_receiver *receiver, struct gpu_arrival *arrival)
{
	const struct gpu_queue *box = &receiver->box;
	uint32_t slot = receiver->seq & (box->depth - 1), mark = softfield_mark(receiver->seq, box->shift), tag, bytes;
	struct gpu_line line;

	tag = gpu_line_begin(&line, &box->lines[slot]);
	if (softfield_tag_gen(tag) != softfield_gen(receiver->seq, box->shift) || !gpu_line_end(&line, &box->lines[slot], mark))
		return DOCA_ERROR_AGAIN;
	arrival->imm_len = softfield_tag_imm_len(tag);
	if (receiver->seq == receiver->count || arrival->imm_len > SOFTFIELD_IMM_MAX)
		return DOCA_ERROR_IO_FAILED; /* more than the credits, or invalid */
	if (tag & SOFTFIELD_TAG_ARENA) {
		const struct gpu_line imm = {{line.slot16[1], line.slot16[2], line.slot16[3]}};
		const uint32_t offset = line.slot16[0][0];

		gpu_line_store(&imm, arrival->line);
		arrival->len = line.slot16[0][1];
		if (offset > box->arena_size || arrival->len > box->arena_size - offset || arrival->len > receiver->len)
			return DOCA_ERROR_IO_FAILED;
		arrival->arena = box->arena + offset;
		return DOCA_SUCCESS;
	}
	arrival->len = softfield_tag_len(tag);
	arrival->arena = NULL;
	bytes = arrival->len + arrival->imm_len;
	if (bytes > SOFTFIELD_INLINE_MAX || arrival->len > receiver->len)
		return DOCA_ERROR_IO_FAILED;
	gpu_line_store(&line, arrival->line);
	return overflow_load(arrival->line + SOFTFIELD_LINE_PAYLOAD, softfield_overflow_of(box->lines, box->depth, slot),
			     softfield_inline_slots16(bytes) - SOFTFIELD_LINE_SLOTS16, mark)
		       ? DOCA_SUCCESS
		       : DOCA_ERROR_AGAIN;
}

void comch_gpu_receiver_copy_overflow(const struct gpu_receiver *receiver, uint8_t *to, uint32_t len)
{
	const struct gpu_queue *box = &receiver->box;
	const uint32_t slots = box->depth - 1, seq = receiver->seq;

	__builtin_prefetch(softfield_overflow_of(box->lines, box->depth, (seq + GPU_RECEIVER_AHEAD) & slots));
	gpu_overflow_store(softfield_overflow_of(box->lines, box->depth, seq & slots), to, len);
}

void comch_gpu_receiver_give_credits(struct gpu_receiver *receiver, uint32_t count, uint32_t len)
{
	uint32_t open = receiver->count - receiver->seq, wanted = count < receiver->box.depth ? count : receiver->box.depth;
	struct softfield_slot16 credits;

	if (open == 0)
		receiver->len = len;
	if (len == receiver->len && wanted > open)
		open = wanted;
	if (receiver->seq + open == receiver->count && receiver->released == receiver->published)
		return;
	receiver->count = receiver->seq + open;
	receiver->published = receiver->released;
	credits = (struct softfield_slot16){{receiver->count, receiver->len, receiver->released, 0}};
	softfield_published(&receiver->box.head->credits);
	softfield_store_slot16(&receiver->box.head->credits, credits);
	gpu_queue_wake(&receiver->box, false);
}

void comch_gpu_receiver_close(struct gpu_receiver *receiver)
{
	struct softfield_slot16 credits = {{receiver->count, receiver->len, receiver->released, 1}};

	softfield_store_slot16(&receiver->box.head->credits, credits);
	gpu_queue_wake(&receiver->box, false);
}
