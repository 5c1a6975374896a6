/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/gpu_sender.h"

#include <assert.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <softfield/gpu_copy.h>

#include "comch/gpu_trace.h"

doca_error_t comch_gpu_sender_init(struct gpu_sender *sender, const struct gpu_queue *box)
{
	memset(sender, 0, sizeof(*sender));
	sender->box = *box;
	sender->shared = !box->registered;
	assert(box->depth != 0 && (box->depth & (box->depth - 1)) == 0);
	sender->arena_end = calloc(box->depth, sizeof(*sender->arena_end));
	return sender->arena_end != NULL ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

void comch_gpu_sender_fini(struct gpu_sender *sender)
{
	free(sender->arena_end);
	sender->arena_end = NULL;
}

/* The process takes part in barriers, so this is one for its own threads too. Where there are none, it was shared
 * from the start. */
void comch_gpu_sender_join(struct gpu_sender *sender)
{
	assert(sender->arena_end != NULL);
	if (sender->producers++ == 0 || sender->shared)
		return;
	__atomic_store_n(&sender->shared, 1, __ATOMIC_RELAXED);
	softfield_fence_system();
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
	while (__atomic_load_n(&sender->busy, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
}

void comch_gpu_sender_leave(struct gpu_sender *sender)
{
	assert(sender->producers > 0);
	sender->producers--;
}

static void lock_shared(struct gpu_sender *sender)
{
	while (__builtin_expect(__atomic_exchange_n(&sender->lock, 1, __ATOMIC_ACQUIRE) != 0, 0))
		softfield_relax();
}

/* @return whether the lock was taken */
static bool sender_take(struct gpu_sender *sender)
{
	if (__builtin_expect(gpu_sender_begin(sender), 1))
		return false;
	gpu_sender_end(sender);
	lock_shared(sender);
	return true;
}

/* The kernel wrote these, so they are bounded: at most a ring of receives, and no more completed than sent. */
static void credits_refresh(struct gpu_sender *sender)
{
	struct softfield_slot16 credits = softfield_load_slot16(&sender->box.head->credits);
	uint32_t done = credits.w[SOFTFIELD_CREDIT_DONE];

	softfield_observed(&sender->box.head->credits);
	sender->closed = credits.w[SOFTFIELD_CREDIT_CLOSED] != 0;
	if (credits.w[SOFTFIELD_CREDIT_COUNT] - sender->seq <= sender->box.depth)
		sender->count = credits.w[SOFTFIELD_CREDIT_COUNT];
	sender->len = credits.w[SOFTFIELD_CREDIT_LEN];
	if (done - sender->done <= sender->seq - sender->done && done != sender->done) {
		sender->done = done;
		sender->arena_tail = sender->arena_end[(done - 1) & (sender->box.depth - 1)];
	}
}

static bool take_arena_now(struct gpu_sender *sender, uint32_t len, uint32_t *offset)
{
	return softfield_arena_take_some(&sender->arena_head, sender->arena_tail, &sender->arena_used, sender->box.arena_size,
					 len, offset);
}

static bool take_arena(struct gpu_sender *sender, uint32_t len, uint32_t *offset)
{
	if (take_arena_now(sender, len, offset))
		return true;
	credits_refresh(sender);
	return take_arena_now(sender, len, offset);
}

static void iov_gather(uint8_t *to, const struct sf_iov *iov, uint32_t iov_num)
{
	for (uint32_t i = 0; i < iov_num; i++) {
		memcpy(to, iov[i].addr, iov[i].len);
		to += iov[i].len;
	}
}

static inline void put_inline(struct gpu_sender *sender, uint32_t slot, uint32_t tag, const uint8_t *bytes, uint32_t total)
{
	struct softfield_line *line = &sender->box.lines[slot];
	uint32_t mark = softfield_mark(sender->seq, sender->box.shift);

	softfield_published(line);
	gpu_slots16_put(line, softfield_overflow_of(sender->box.lines, sender->box.depth, slot), tag, mark, bytes, total);
}

static void send_inline(struct gpu_sender *sender, uint32_t slot, const struct sf_iov *iov, uint32_t iov_num, uint32_t len,
			const void *imm, uint32_t imm_len)
{
	uint32_t tag = softfield_tag(softfield_gen(sender->seq, sender->box.shift), len, imm_len, 0);
	uint32_t ahead = (sender->seq + SOFTFIELD_AHEAD) & (sender->box.depth - 1);
	uint8_t bytes[SOFTFIELD_INLINE_MAX];

	if (len + imm_len > SOFTFIELD_LINE_PAYLOAD)
		softfield_prefetch_write(softfield_overflow_of(sender->box.lines, sender->box.depth, ahead));
	if (iov_num == 1 && imm_len == 0) {
		put_inline(sender, slot, tag, iov[0].addr, len);
		return;
	}
	iov_gather(bytes, iov, iov_num);
	if (imm_len != 0)
		memcpy(bytes + len, imm, imm_len);
	put_inline(sender, slot, tag, bytes, len + imm_len);
}

static doca_error_t send_arena(struct gpu_sender *sender, uint32_t slot, const struct sf_iov *iov, uint32_t iov_num, uint32_t len,
			       const void *imm, uint32_t imm_len)
{
	struct softfield_line *line = &sender->box.lines[slot];
	uint32_t tag = softfield_tag(softfield_gen(sender->seq, sender->box.shift), 0, imm_len, SOFTFIELD_TAG_ARENA), offset;

	if (!take_arena(sender, len, &offset))
		return DOCA_ERROR_AGAIN;
	iov_gather(sender->box.arena + offset, iov, iov_num);
	softfield_arena_prefetch_write(sender->box.arena, sender->box.arena_size, offset, len);
	softfield_published(line); /* and the slot's store is behind all that was stored before */
	softfield_put_arena_line(line, tag, softfield_mark(sender->seq, sender->box.shift), offset, len, imm, imm_len);
	return DOCA_SUCCESS;
}

static doca_error_t send_any(struct gpu_sender *sender, const struct sf_iov *iov, uint32_t iov_num, uint64_t len, const void *imm,
			     uint32_t imm_len)
{
	uint32_t slot = sender->seq & (sender->box.depth - 1);

	if (len > sender->box.arena_size)
		return DOCA_ERROR_TOO_BIG;
	if (len + imm_len > SOFTFIELD_INLINE_MAX)
		return send_arena(sender, slot, iov, iov_num, (uint32_t)len, imm, imm_len);
	send_inline(sender, slot, iov, iov_num, (uint32_t)len, imm, imm_len);
	return DOCA_SUCCESS;
}

static doca_error_t send_locked(struct gpu_sender *sender, const void *object, const struct sf_iov *iov, uint32_t iov_num,
				uint64_t len, const void *imm, uint32_t imm_len)
{
	doca_error_t result;

	if (__builtin_expect(sender->seq == sender->count, 0)) {
		credits_refresh(sender);
		if (sender->closed)
			return DOCA_ERROR_NOT_CONNECTED;
		if (sender->seq == sender->count)
			return DOCA_ERROR_AGAIN;
	}
	softfield_prefetch_write(&sender->box.lines[(sender->seq + SOFTFIELD_AHEAD) & (sender->box.depth - 1)]);
	if (__builtin_expect(len > sender->len, 0))
		return DOCA_ERROR_TOO_BIG;
	result = send_any(sender, iov, iov_num, len, imm, imm_len);
	if (result != DOCA_SUCCESS)
		return result;
	gpu_queue_trace_send(&sender->box, object, sender->seq, (uint32_t)len);
	gpu_sender_advance(sender, sender->seq, sender->seq & (sender->box.depth - 1));
	return DOCA_SUCCESS;
}

static uint64_t iov_total(const struct sf_iov *iov, uint32_t iov_num)
{
	uint64_t len = 0;

	for (uint32_t i = 0; i < iov_num; i++)
		len += iov[i].len;
	return len;
}

doca_error_t comch_gpu_sender_send(struct gpu_sender *sender, const void *object, const struct sf_iov *iov, uint32_t iov_num,
				   const void *imm, uint32_t imm_len)
{
	bool locked;
	doca_error_t result;

	if (iov_num == 1 && imm_len == 0 && gpu_sender_send_inline(sender, object, (const uint8_t *)iov->addr, iov->len)) {
		gpu_sender_wake(sender);
		return DOCA_SUCCESS;
	}
	locked = sender_take(sender);
	result = send_locked(sender, object, iov, iov_num, iov_total(iov, iov_num), imm, imm_len);
	__atomic_store_n(locked ? &sender->lock : &sender->busy, 0, __ATOMIC_RELEASE);
	if (result == DOCA_SUCCESS)
		gpu_sender_wake(sender);
	return result;
}

uint32_t comch_gpu_sender_credits(struct gpu_sender *sender, uint32_t *len)
{
	credits_refresh(sender);
	*len = sender->len;
	return sender->closed ? 0 : sender->count - sender->seq;
}
