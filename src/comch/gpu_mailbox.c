/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/gpu_mailbox.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

/* ---- barriers ---- */

static bool registered;

static void register_once(void)
{
	registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool gpu_barriers(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_once);
	return registered;
}

void gpu_barrier_now(const struct gpu_mailbox *mailbox)
{
	if (mailbox->registered)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

/* ---- memory ---- */

/* The fabric moves the pages when it exports them; only then may the GPU pin them. */
static doca_error_t share(struct gpu_memory *memory, struct sf_domain *domain)
{
	size_t descriptor_len = sizeof(memory->descriptor);
	void *gpu_addr;
	doca_error_t result;

	result = sf_region_register(domain, memory->addr, memory->len, SF_RIGHT_READ | SF_RIGHT_WRITE, &memory->region);
	if (result == DOCA_SUCCESS)
		result = sf_region_export(memory->region, memory->descriptor, &descriptor_len);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR("%zu bytes of mailboxes cannot be shared with the peer: %s", memory->len, doca_error_get_name(result));
		return result;
	}
	memory->descriptor_len = (uint32_t)descriptor_len;
	result = memory->gpu->ops->host_map(memory->gpu, memory->addr, memory->len, &gpu_addr);
	if (result == DOCA_SUCCESS)
		memory->gpu_addr = gpu_addr;
	return result;
}

doca_error_t gpu_memory_create(struct gpu_memory *memory, struct doca_gpu *gpu, struct sf_domain *domain, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	doca_error_t result;
	void *addr;

	memset(memory, 0, sizeof(*memory));
	memory->gpu = gpu;
	__atomic_add_fetch(&gpu->users, 1, __ATOMIC_RELAXED);
	len = (len + page - 1) / page * page;
	addr = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (addr == MAP_FAILED) {
		SF_LOG_ERR("no memory for %zu bytes of mailboxes: %s", len, strerror(errno));
		gpu_memory_destroy(memory);
		return DOCA_ERROR_NO_MEMORY;
	}
	memory->addr = addr;
	memory->len = len;
	result = share(memory, domain);
	if (result != DOCA_SUCCESS)
		gpu_memory_destroy(memory);
	return result;
}

void gpu_memory_destroy(struct gpu_memory *memory)
{
	if (memory->gpu_addr != NULL)
		memory->gpu->ops->host_unmap(memory->gpu, memory->addr);
	if (memory->region != NULL)
		sf_region_close(memory->region);
	if (memory->addr != NULL)
		munmap(memory->addr, memory->len);
	if (memory->gpu != NULL)
		__atomic_sub_fetch(&memory->gpu->users, 1, __ATOMIC_RELEASE);
	memset(memory, 0, sizeof(*memory));
}

uint32_t gpu_pow2(uint64_t value, uint32_t min, uint32_t max)
{
	uint32_t p = min;

	while (p < value && p < max)
		p *= 2;
	return p;
}

/* ---- one mailbox ---- */

void gpu_mailbox_init(uint8_t *base, size_t offset, size_t arena_offset, uint32_t arena_size, uint32_t depth, uint32_t flags,
		      uint32_t number, struct gpu_mailbox *mailbox)
{
	struct softfield_mailbox *head = (struct softfield_mailbox *)(base + offset);

	head->version = SOFTFIELD_MAILBOX_VERSION;
	head->flags = flags;
	head->depth = depth;
	head->lines_offset = offset + sizeof(*head);
	head->arena_offset = arena_offset;
	head->arena_size = arena_size;
	head->number = number;
	if ((flags & SOFTFIELD_MAILBOX_TO_KERNEL) != 0 && (flags & SOFTFIELD_MAILBOX_HARDWARE) == 0)
		head->barriers = gpu_barriers();
	head->magic = SOFTFIELD_MAILBOX_MAGIC;
	*mailbox = (struct gpu_mailbox){.head = head, .lines = (struct softfield_line *)(base + head->lines_offset),
					.arena = base + arena_offset, .depth = depth, .shift = (uint32_t)__builtin_ctz(depth),
					.arena_size = arena_size, .flags = flags};
}

static bool power_of_two(uint32_t value, uint32_t min, uint32_t max)
{
	return value >= min && value <= max && (value & (value - 1)) == 0;
}

static bool inside(uint64_t offset, uint64_t size, size_t len, size_t align)
{
	return offset % align == 0 && offset <= len && size <= len - offset;
}

doca_error_t gpu_mailbox_view(uint8_t *base, size_t len, size_t offset, bool to_kernel, struct gpu_mailbox *mailbox)
{
	struct softfield_mailbox head;

	if (!inside(offset, sizeof(head), len, 64) || (uintptr_t)base % 64 != 0)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(&head, base + offset, offsetof(struct softfield_mailbox, grant)); /* once: the owner may change it */
	if (head.magic != SOFTFIELD_MAILBOX_MAGIC)
		return DOCA_ERROR_INVALID_VALUE;
	if (head.version != SOFTFIELD_MAILBOX_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	if (!power_of_two(head.depth, SOFTFIELD_MAILBOX_DEPTH_MIN, SOFTFIELD_MAILBOX_DEPTH_MAX) ||
	    !power_of_two(head.arena_size, SOFTFIELD_ARENA_ALIGN, SOFTFIELD_MAILBOX_ARENA_MAX) ||
	    !inside(head.lines_offset, gpu_mailbox_size(head.depth) - sizeof(head), len, 64) ||
	    !inside(head.arena_offset, head.arena_size, len, SOFTFIELD_ARENA_ALIGN) ||
	    ((head.flags & SOFTFIELD_MAILBOX_TO_KERNEL) != 0) != to_kernel)
		return DOCA_ERROR_INVALID_VALUE;
	*mailbox = (struct gpu_mailbox){.head = (struct softfield_mailbox *)(base + offset),
					.lines = (struct softfield_line *)(base + head.lines_offset), .arena = base + head.arena_offset,
					.depth = head.depth, .shift = (uint32_t)__builtin_ctz(head.depth), .arena_size = head.arena_size,
					.flags = head.flags, .registered = gpu_barriers()};
	return DOCA_SUCCESS;
}

void gpu_mailbox_wake_now(struct softfield_mailbox *head)
{
	if (__atomic_exchange_n(&head->sleeping, 0, __ATOMIC_ACQ_REL) != 0)
		syscall(SYS_futex, &head->sleeping, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void gpu_mailbox_close(struct softfield_mailbox *head, enum softfield_mailbox_closed why)
{
	struct softfield_quad control = {{(uint32_t)why, 0, 0, 0}};

	softfield_store_quad(&head->control, control);
	softfield_fence_system();
	gpu_mailbox_wake_now(head);
}

/* ---- sending to a kernel ---- */

doca_error_t gpu_sender_init(struct gpu_sender *sender, const struct gpu_mailbox *box)
{
	memset(sender, 0, sizeof(*sender));
	sender->box = *box;
	sender->shared = !box->registered;
	sender->arena_end = calloc(box->depth, sizeof(*sender->arena_end));
	return sender->arena_end != NULL ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

void gpu_sender_fini(struct gpu_sender *sender)
{
	free(sender->arena_end);
	sender->arena_end = NULL;
}

/* The process takes part in barriers, so this is one for its own threads too. Where there are none, it was shared from the start. */
void gpu_sender_join(struct gpu_sender *sender)
{
	if (sender->producers++ == 0 || sender->shared)
		return;
	__atomic_store_n(&sender->shared, 1, __ATOMIC_RELAXED);
	softfield_fence_system();
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
	while (__atomic_load_n(&sender->busy, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
}

void gpu_sender_leave(struct gpu_sender *sender) { sender->producers--; }

static void lock_shared(struct gpu_sender *sender)
{
	while (__builtin_expect(__atomic_exchange_n(&sender->lock, 1, __ATOMIC_ACQUIRE) != 0, 0))
		softfield_relax();
}

/* @return whether under the lock */
static inline bool sender_take(struct gpu_sender *sender)
{
	__atomic_store_n(&sender->busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* the processor's order is the other's barrier to make */
	if (__builtin_expect(__atomic_load_n(&sender->shared, __ATOMIC_RELAXED) == 0, 1))
		return false;
	__atomic_store_n(&sender->busy, 0, __ATOMIC_RELEASE);
	lock_shared(sender);
	return true;
}

/* The kernel wrote these, so no more is believed than can be: a ring of receives, nothing done that was not sent. */
static void refresh(struct gpu_sender *sender)
{
	struct softfield_quad grant = softfield_load_quad(&sender->box.head->grant);
	uint32_t done = grant.w[SOFTFIELD_GRANT_DONE];

	softfield_observed(&sender->box.head->grant);
	sender->closed = grant.w[SOFTFIELD_GRANT_CLOSED] != 0;
	if (grant.w[SOFTFIELD_GRANT_COUNT] - sender->seq <= sender->box.depth)
		sender->count = grant.w[SOFTFIELD_GRANT_COUNT];
	sender->len = grant.w[SOFTFIELD_GRANT_LEN];
	if (done - sender->done <= sender->seq - sender->done && done != sender->done) {
		sender->done = done;
		sender->arena_tail = sender->arena_end[(done - 1) & (sender->box.depth - 1)];
	}
}

static bool take_arena_now(struct gpu_sender *sender, uint32_t len, uint32_t *offset)
{
	return softfield_arena_take_some(&sender->arena_head, sender->arena_tail, &sender->arena_used, sender->box.arena_size, len, offset);
}

static bool take_arena(struct gpu_sender *sender, uint32_t len, uint32_t *offset)
{
	if (take_arena_now(sender, len, offset))
		return true;
	refresh(sender);
	return take_arena_now(sender, len, offset);
}

/* A quad of fewer bytes than it holds. Where bytes lie before them, they are loaded with those and shifted out: a piece that was
 * put together in memory would wait for the store buffer. */
static inline void put_last(struct softfield_quad *to, uint32_t tag, const uint8_t *bytes, uint32_t len, bool before)
{
	uint32_t missing = SOFTFIELD_QUAD_PAYLOAD - len, high = 0;
	uint64_t low = 0;
	unsigned __int128 both;

	if (__builtin_expect(!before, 0)) {
		memcpy(&low, bytes, len < 8 ? len : 8);
		memcpy(&high, bytes + 8, len < 8 ? 0 : len - 8);
		softfield_store_halves(to, low, (uint64_t)tag << 32 | high);
		return;
	}
	memcpy(&low, bytes - missing, 8);
	memcpy(&high, bytes - missing + 8, 4);
	both = ((unsigned __int128)high << 64 | low) >> 8 * missing;
	softfield_store_halves(to, (uint64_t)both, (uint64_t)tag << 32 | (uint64_t)(both >> 64));
}

/* The quads of a message: tag is the first one's, mark the others'. The bytes are one buffer's, which is not read beyond its ends. */
static inline void put_quads(struct softfield_line *line, struct softfield_annex *annex, uint32_t tag, uint32_t mark, const uint8_t *bytes,
			     uint32_t len)
{
	struct softfield_quad *quad = line->quad;
	uint32_t at = 0;

	for (; at + SOFTFIELD_QUAD_PAYLOAD <= len; at += SOFTFIELD_QUAD_PAYLOAD, tag = mark) {
		softfield_store_piece(quad, bytes + at, tag);
		quad = quad == &line->quad[SOFTFIELD_LINE_QUADS - 1] ? annex->quad : quad + 1;
	}
	if (at != len) {
		put_last(quad++, tag, bytes + at, len - at, at != 0);
		tag = mark;
		at += SOFTFIELD_QUAD_PAYLOAD;
	}
	for (; at < SOFTFIELD_LINE_PAYLOAD; at += SOFTFIELD_QUAD_PAYLOAD, tag = mark)
		softfield_store_halves(quad++, 0, (uint64_t)tag << 32);
}

static void gather(uint8_t *to, const struct sf_iov *iov, uint32_t iov_num)
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
	put_quads(line, softfield_annex_of(sender->box.lines, sender->box.depth, slot), tag, mark, bytes, total);
}

static void send_inline(struct gpu_sender *sender, uint32_t slot, const struct sf_iov *iov, uint32_t iov_num, uint32_t len,
			const void *imm, uint32_t imm_len)
{
	uint32_t tag = softfield_tag(softfield_lap(sender->seq, sender->box.shift), len, imm_len, 0);
	uint32_t ahead = (sender->seq + SOFTFIELD_AHEAD) & (sender->box.depth - 1);
	uint8_t bytes[SOFTFIELD_INLINE_MAX];

	if (len + imm_len > SOFTFIELD_LINE_PAYLOAD)
		softfield_prefetch_write(softfield_annex_of(sender->box.lines, sender->box.depth, ahead));
	if (iov_num == 1 && imm_len == 0) {
		put_inline(sender, slot, tag, iov[0].addr, len);
		return;
	}
	gather(bytes, iov, iov_num);
	if (imm_len != 0)
		memcpy(bytes + len, imm, imm_len);
	put_inline(sender, slot, tag, bytes, len + imm_len);
}

static doca_error_t send_arena(struct gpu_sender *sender, uint32_t slot, const struct sf_iov *iov, uint32_t iov_num, uint32_t len,
			       const void *imm, uint32_t imm_len)
{
	struct softfield_line *line = &sender->box.lines[slot];
	uint32_t lap = softfield_lap(sender->seq, sender->box.shift), offset;
	uint8_t bytes[SOFTFIELD_LINE_PAYLOAD] = {0};

	if (!take_arena(sender, len, &offset))
		return DOCA_ERROR_AGAIN;
	gather(sender->box.arena + offset, iov, iov_num);
	softfield_arena_prefetch_write(sender->box.arena, sender->box.arena_size, offset, len);
	memcpy(bytes, &offset, 4);
	memcpy(bytes + 4, &len, 4);
	if (imm_len != 0)
		memcpy(bytes + SOFTFIELD_QUAD_PAYLOAD, imm, imm_len);
	softfield_published(line); /* and the quad's store is behind all that was stored before */
	put_quads(line, softfield_annex_of(sender->box.lines, sender->box.depth, slot), softfield_tag(lap, 0, imm_len, SOFTFIELD_TAG_ARENA),
		  softfield_mark(sender->seq, sender->box.shift), bytes, sizeof(bytes));
	return DOCA_SUCCESS;
}

static doca_error_t send_locked(struct gpu_sender *sender, const struct sf_iov *iov, uint32_t iov_num, uint64_t len, const void *imm,
				uint32_t imm_len)
{
	uint32_t slot = sender->seq & (sender->box.depth - 1);
	doca_error_t result = DOCA_SUCCESS;

	if (__builtin_expect(sender->seq == sender->count, 0)) {
		refresh(sender);
		if (sender->closed)
			return DOCA_ERROR_NOT_CONNECTED;
		if (sender->seq == sender->count)
			return DOCA_ERROR_AGAIN;
	}
	softfield_prefetch_write(&sender->box.lines[(sender->seq + SOFTFIELD_AHEAD) & (sender->box.depth - 1)]);
	if (__builtin_expect(len > sender->len || len > sender->box.arena_size, 0))
		return DOCA_ERROR_TOO_BIG;
	if (len + imm_len <= SOFTFIELD_INLINE_MAX)
		send_inline(sender, slot, iov, iov_num, (uint32_t)len, imm, imm_len);
	else
		result = send_arena(sender, slot, iov, iov_num, (uint32_t)len, imm, imm_len);
	if (result != DOCA_SUCCESS)
		return result;
	sender->arena_end[slot] = sender->arena_head;
	sender->seq++;
	return DOCA_SUCCESS;
}

doca_error_t gpu_sender_send(struct gpu_sender *sender, const struct sf_iov *iov, uint32_t iov_num, const void *imm, uint32_t imm_len)
{
	uint64_t len = 0;
	doca_error_t result;
	bool locked;

	for (uint32_t i = 0; i < iov_num; i++)
		len += iov[i].len;
	locked = sender_take(sender);
	result = send_locked(sender, iov, iov_num, len, imm, imm_len);
	__atomic_store_n(locked ? &sender->lock : &sender->busy, 0, __ATOMIC_RELEASE);
	if (result == DOCA_SUCCESS)
		gpu_mailbox_wake(&sender->box,
				 sender->box.registered && __atomic_load_n(&sender->box.head->barriers, __ATOMIC_RELAXED) != 0);
	return result;
}

/* ---- receiving from a kernel ---- */

bool gpu_receiver_ready(const struct gpu_receiver *receiver)
{
	const struct softfield_line *line = &receiver->box.lines[receiver->seq & (receiver->box.depth - 1)];

	return softfield_tag_lap(softfield_load_quad(&line->quad[0]).w[3]) == softfield_lap(receiver->seq, receiver->box.shift);
}

/* Quads of a message that travels in the line: all are there, or none is taken. Each overwrites the tag of the one before. */
static inline bool take_quads(uint8_t *to, const struct softfield_quad *from, uint32_t n, uint32_t mark)
{
	for (uint32_t q = 0; q < n; q++) {
		struct softfield_quad quad = softfield_load_quad(from + q);

		if (quad.w[3] != mark)
			return false;
		memcpy(to + q * SOFTFIELD_QUAD_PAYLOAD, quad.w, sizeof(quad));
	}
	return true;
}

doca_error_t gpu_receiver_peek(const struct gpu_receiver *receiver, struct gpu_arrival *arrival)
{
	const struct gpu_mailbox *box = &receiver->box;
	uint32_t slot = receiver->seq & (box->depth - 1), mark = softfield_mark(receiver->seq, box->shift), tag, bytes;
	const struct softfield_line *line = &box->lines[slot];
	struct softfield_quad first = softfield_load_quad(&line->quad[0]);

	tag = first.w[3];
	if (softfield_tag_lap(tag) != softfield_lap(receiver->seq, box->shift))
		return DOCA_ERROR_AGAIN;
	arrival->imm_len = softfield_tag_imm_len(tag);
	if (receiver->seq == receiver->count || arrival->imm_len > SOFTFIELD_IMM_MAX)
		return DOCA_ERROR_IO_FAILED; /* more than was granted, or nonsense */
	if (tag & SOFTFIELD_TAG_ARENA) {
		if (!take_quads(arrival->line, &line->quad[1], SOFTFIELD_LINE_QUADS - 1, mark))
			return DOCA_ERROR_AGAIN;
		softfield_observed(line);
		arrival->len = first.w[1];
		if (first.w[0] > box->arena_size || arrival->len > box->arena_size - first.w[0] || arrival->len > receiver->len)
			return DOCA_ERROR_IO_FAILED;
		arrival->arena = box->arena + first.w[0];
		return DOCA_SUCCESS;
	}
	arrival->len = softfield_tag_len(tag);
	arrival->arena = NULL;
	bytes = arrival->len + arrival->imm_len;
	if (bytes > SOFTFIELD_INLINE_MAX || arrival->len > receiver->len)
		return DOCA_ERROR_IO_FAILED;
	memcpy(arrival->line, first.w, sizeof(first));
	if (!take_quads(arrival->line + SOFTFIELD_QUAD_PAYLOAD, &line->quad[1], SOFTFIELD_LINE_QUADS - 1, mark) ||
	    !take_quads(arrival->line + SOFTFIELD_LINE_PAYLOAD, softfield_annex_of(box->lines, box->depth, slot)->quad,
			softfield_inline_quads(bytes) - SOFTFIELD_LINE_QUADS, mark))
		return DOCA_ERROR_AGAIN;
	softfield_observed(line);
	return DOCA_SUCCESS;
}

void gpu_receiver_grant(struct gpu_receiver *receiver, uint32_t count, uint32_t len)
{
	uint32_t open = receiver->count - receiver->seq, wanted = count < receiver->box.depth ? count : receiver->box.depth;
	struct softfield_quad grant;

	if (open == 0)
		receiver->len = len;
	if (len == receiver->len && wanted > open)
		open = wanted;
	if (receiver->seq + open == receiver->count && receiver->seq == receiver->published)
		return;
	receiver->count = receiver->seq + open;
	receiver->published = receiver->seq;
	grant = (struct softfield_quad){{receiver->count, receiver->len, receiver->seq, 0}};
	softfield_published(&receiver->box.head->grant);
	softfield_store_quad(&receiver->box.head->grant, grant);
	gpu_mailbox_wake(&receiver->box, false);
}

void gpu_receiver_close(struct gpu_receiver *receiver)
{
	struct softfield_quad grant = {{receiver->count, receiver->len, receiver->seq, 1}};

	softfield_store_quad(&receiver->box.head->grant, grant);
	gpu_mailbox_wake(&receiver->box, false);
}
