/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/gpu_rdma_writes.h
 * Executes consecutive writes together: those of words, those that go by bulk copies, and others. Called with the lock of the
 * queue held. Internal to doca_gpunetio_dev_rdma.cuh.
 */
#ifndef SOFTFIELD_GPU_RDMA_WRITES_H_
#define SOFTFIELD_GPU_RDMA_WRITES_H_

#include <softfield/gpu_rdma_step.h>

/** Words between two commits from which on the host's thread executes them. */
#define SOFTFIELD_RDMA_WORDS_MIN 3
/** Operations whose loads are in flight together. */
#define SOFTFIELD_RDMA_GROUP 8

/** The first two slots of an entry: all of an operation that involves neither the host nor an immediate. */
struct softfield_wqe_pair16 {
	struct softfield_slot16 what, local;
};

SOFTFIELD_DEVICE int softfield_wqe_pair_is_there(const struct softfield_wqe_pair16 *pair, uint32_t position)
{
	return pair->what.w[3] == position + 1 && pair->local.w[3] == position + 1;
}

/** The address of the bytes, or the word itself if the entry has it. */
SOFTFIELD_DEVICE uint64_t softfield_wqe_local(const struct softfield_wqe_pair16 *pair)
{
	return softfield_wqe_pair(pair->local.w[1], pair->local.w[2]);
}

SOFTFIELD_DEVICE uint64_t softfield_wqe_remote(const struct softfield_wqe_pair16 *pair)
{
	return softfield_wqe_pair(pair->what.w[1], pair->what.w[2]);
}

SOFTFIELD_DEVICE uint64_t softfield_wqe_load_word(const struct softfield_wqe_pair16 *pair)
{
	uint64_t local = softfield_wqe_local(pair);

	if (pair->what.w[0] & SOFTFIELD_RDMA_IN_COMMAND)
		return local; /* the bytes themselves */
	return softfield_load_4_or_8(local, pair->local.w[0]);
}

SOFTFIELD_DEVICE void softfield_wqe_store_word(const struct softfield_wqe_pair16 *pair, uint64_t word)
{
	uint64_t remote = softfield_wqe_remote(pair);

	if (pair->local.w[0] == 4)
		*(volatile uint32_t *)(uintptr_t)remote = (uint32_t)word;
	else
		*(volatile uint64_t *)(uintptr_t)remote = word;
}

/** Committed entries, and the permissions of the peer's instance. */
struct softfield_queue_span {
	struct softfield_rdma_wqe *wqes;
	uint32_t size, position, num, given;
};

SOFTFIELD_DEVICE struct softfield_queue_span softfield_queue_committed(const struct softfield_rdma_held *h)
{
	const struct softfield_queue_span span = {h->q->wqes, h->q->size, h->executed, h->committed - h->executed, h->given};

	return span;
}

/** Loads one of the entries, without waiting for it. */
SOFTFIELD_DEVICE struct softfield_wqe_pair16 softfield_queue_load_entry(const struct softfield_queue_span *span, uint32_t ahead)
{
	const struct softfield_rdma_wqe *wqe = &span->wqes[(span->position + ahead) & (span->size - 1)];
	struct softfield_wqe_pair16 pair;

	pair.what = softfield_load_slot16(&wqe->slot16[0]);
	pair.local = softfield_load_slot16(&wqe->slot16[1]);
	return pair;
}

/** Is it a permitted write by the kernel of bytes in memory, without an immediate: an entry of two slots, with one byte at least?
 */
SOFTFIELD_DEVICE int softfield_wqe_is_copy(const struct softfield_wqe_pair16 *pair, uint32_t given)
{
	return (pair->what.w[0] & 0xffff & ~(uint32_t)SOFTFIELD_RDMA_BY_CPU) ==
		       (SOFTFIELD_RDMA_WRITE | 2u << SOFTFIELD_RDMA_WQE_SLOTS16) &&
	       (pair->what.w[0] >> SOFTFIELD_RDMA_WQE_PERMISSIONS & given & DOCA_ACCESS_FLAG_RDMA_WRITE) != 0;
}

/** Can bulk copies move the bytes of such a write? */
SOFTFIELD_DEVICE int softfield_wqe_suits_bulk(const struct softfield_wqe_pair16 *pair)
{
	return softfield_bulk_suits(softfield_wqe_remote(pair), softfield_wqe_local(pair), pair->local.w[0]);
}

/** Consecutive writes of words, loaded together. */
struct softfield_queue_group {
	struct softfield_wqe_pair16 pairs[SOFTFIELD_RDMA_GROUP];
	uint64_t words[SOFTFIELD_RDMA_GROUP];
	uint32_t num; /**< of them */
};

/** What the first word of a permitted write of a word has in common. */
#define SOFTFIELD_RDMA_PERMITTED_WORD                                                                                            \
	(SOFTFIELD_RDMA_WORD | (uint32_t)DOCA_ACCESS_FLAG_RDMA_WRITE << SOFTFIELD_RDMA_WQE_PERMISSIONS)

/** Has the first word of an entry these bits, and does the peer's instance permit writes? */
SOFTFIELD_DEVICE int softfield_wqe_is_permitted(uint32_t first, uint32_t bits, uint32_t given)
{
	return (first & bits) == bits && (given & DOCA_ACCESS_FLAG_RDMA_WRITE) != 0;
}

/** Loads the next entries, as far as they are complete and have the bits in their first word, and the bytes of all. */
SOFTFIELD_DEVICE void softfield_queue_load_group(const struct softfield_queue_span *span, uint32_t bits,
						 struct softfield_queue_group *group)
{
	uint32_t i, good = 1;

	group->num = 0;
	SOFTFIELD_UNROLL
	for (i = 0; i < SOFTFIELD_RDMA_GROUP; i++) {
		const struct softfield_rdma_wqe *wqe = &span->wqes[(span->position + i) & (span->size - 1)];

		group->pairs[i].what = softfield_load_slot16(&wqe->slot16[0]);
		group->pairs[i].local = softfield_load_slot16(&wqe->slot16[1]);
	}
	SOFTFIELD_UNROLL
	for (i = 0; i < SOFTFIELD_RDMA_GROUP; i++) {
		group->words[i] = 0;
		good = good && i < span->num && softfield_wqe_pair_is_there(&group->pairs[i], span->position + i) &&
		       softfield_wqe_is_permitted(group->pairs[i].what.w[0], bits, span->given);
		if (!good)
			continue;
		softfield_observed(&span->wqes[(span->position + i) & (span->size - 1)]);
		softfield_after_load();
		group->words[i] = softfield_wqe_load_word(&group->pairs[i]);
		group->num++;
	}
}

/**
 * Lets the host's thread execute the next writes of words, as far as it can: a CPU's stores stay in order, while the kernel's
 * need a fence across PCIe behind each. @return how many
 */
SOFTFIELD_COLD uint32_t softfield_queue_hand_over(struct softfield_rdma_held *h)
{
	const uint32_t first = h->executed, depth = h->q->depth, shift = h->q->shift;
	struct softfield_rdma_cmd *cmds = h->q->cmds;
	struct softfield_queue_span span = softfield_queue_committed(h);
	struct softfield_queue_group group;
	uint32_t i, num, sent;

	(void)softfield_queue_has_room(h);
	if (h->dirty)
		softfield_queue_fence(&h->dirty);
	sent = h->sent;
	do {
		softfield_queue_load_group(&span, SOFTFIELD_RDMA_PERMITTED_WORD | SOFTFIELD_RDMA_BY_CPU, &group);
		num = depth - (sent - h->finished);
		num = group.num < num ? group.num : num;
		/* The first one last: the thread polls for it, and each write to a line that a CPU polls takes 0.1 us. */
		SOFTFIELD_UNROLL
		for (i = SOFTFIELD_RDMA_GROUP; i-- > 0;) {
			const struct softfield_wqe_pair16 *pair = &group.pairs[i];

			if (i >= num)
				continue;
			softfield_queue_note(&span.wqes[(span.position + i) & (span.size - 1)], sent + i + 1, 0, 0);
			softfield_queue_write_store(&cmds[(sent + i) & (depth - 1)],
						    softfield_queue_store(softfield_rdma_store_mark(sent + i, shift),
									  softfield_wqe_remote(pair), pair->local.w[0],
									  group.words[i]));
		}
		sent += num;
		span.position += num;
		span.num -= num;
	} while (num == SOFTFIELD_RDMA_GROUP && span.num != 0);
	h->words += sent - h->sent;
	h->sent = sent;
	h->executed = span.position;
	softfield_rdma_ring(h->rdma);
	return span.position - first;
}

/** Are there three that the host's thread can execute? Fewer take less time by the kernel's own stores, with their fences. */
SOFTFIELD_DEVICE int softfield_queue_should_hand_over(const struct softfield_queue_group *group)
{
	return group->num >= SOFTFIELD_RDMA_WORDS_MIN &&
	       (group->pairs[0].what.w[0] & group->pairs[1].what.w[0] & group->pairs[2].what.w[0] & SOFTFIELD_RDMA_BY_CPU) != 0;
}

/** Executes consecutive writes of words in order. @return how many */
SOFTFIELD_COLD uint32_t softfield_queue_words(struct softfield_rdma_held *h)
{
	const uint32_t first = h->executed, polls = softfield_load_word(&h->rdma->state.w[SOFTFIELD_RDMA_POLLS]);
	struct softfield_queue_span span = softfield_queue_committed(h);
	struct softfield_queue_group group;
	uint32_t i, dirty = h->dirty, is_handed = 0;

	do {
		softfield_queue_load_group(&span, SOFTFIELD_RDMA_PERMITTED_WORD, &group);
		is_handed |= (uint32_t)softfield_queue_should_hand_over(&group);
		if (is_handed && polls)
			break;
		SOFTFIELD_UNROLL
		for (i = 0; i < SOFTFIELD_RDMA_GROUP; i++) {
			if (i >= group.num)
				continue;
			softfield_queue_order(&dirty, group.pairs[i].what.w[0] >> SOFTFIELD_RDMA_WQE_PERMISSIONS);
			softfield_wqe_store_word(&group.pairs[i], group.words[i]);
		}
		span.position += group.num;
		span.num -= group.num;
	} while (group.num == SOFTFIELD_RDMA_GROUP && span.num != 0);
	h->executed = span.position;
	h->dirty = dirty;
	if (is_handed && polls)
		(void)softfield_queue_hand_over(h);
	else if (is_handed && h->rdma->hardware)
		softfield_store_word(h->rdma->wanted, 1);
	return h->executed - first;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
/** Committed entries, looked through for writes that bulk copies execute. */
struct softfield_queue_stream {
	struct softfield_queue_span span;
	uint32_t dirt;			      /**< flags of the writes found */
	struct softfield_wqe_pair16 ahead[2]; /**< the next two entries, as they were when the one before was taken */
};

/** Takes the next entry if it is a write that goes by bulk copies. @return 0 if it is not, or not complete */
SOFTFIELD_DEVICE bool softfield_queue_stream_next(struct softfield_queue_stream *stream, struct softfield_bulk_message *message)
{
	struct softfield_wqe_pair16 pair = stream->ahead[0];
	uint32_t permissions;

	if (stream->span.num == 0)
		return false;
	if (!softfield_wqe_pair_is_there(&pair, stream->span.position))
		pair = softfield_queue_load_entry(&stream->span, 0);
	permissions = pair.what.w[0] >> SOFTFIELD_RDMA_WQE_PERMISSIONS;
	if (!softfield_wqe_pair_is_there(&pair, stream->span.position) || !softfield_wqe_is_copy(&pair, stream->span.given) ||
	    !softfield_wqe_suits_bulk(&pair))
		return false;
	softfield_after_load();
	softfield_bulk_fence(); /* the poster's writes before the copy's reads */
	message->to = (uint8_t *)(uintptr_t)softfield_wqe_remote(&pair);
	message->from = (const uint8_t *)(uintptr_t)softfield_wqe_local(&pair);
	message->len = pair.local.w[0];
	message->ordered = (permissions & DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING) == 0;
	stream->dirt |= message->ordered ? SOFTFIELD_RDMA_DIRTY : SOFTFIELD_RDMA_DIRTY_RELAXED;
	stream->span.position++;
	stream->span.num--;
	stream->ahead[0] = stream->ahead[1];
	stream->ahead[1] = softfield_queue_load_entry(&stream->span, 1); /* used two messages later: nothing waits for it here */
	return true;
}

/**
 * Executes consecutive writes as one stream of bulk copies, unless there is only one, and short. @param first the first entry, or
 * one that is not complete: it is loaded then @return how many
 */
SOFTFIELD_COLD uint32_t softfield_queue_run_stream(struct softfield_rdma_held *h, struct softfield_wqe_pair16 first)
{
	struct softfield_queue_stream stream = {softfield_queue_committed(h), 0, {}};
	struct softfield_bulk_message message;
	uint32_t num = stream.span.num;

	stream.ahead[0] = first;
	stream.ahead[1] = softfield_queue_load_entry(&stream.span, 1);
	if (!softfield_queue_stream_next(&stream, &message) || (stream.span.num == 0 && message.len < SOFTFIELD_BULK_MIN))
		return 0;
	if (h->dirty && message.ordered)
		softfield_queue_fence(&h->dirty);
	if (!softfield_bulk_move(message,
				 [&](struct softfield_bulk_message *m) { return softfield_queue_stream_next(&stream, m); }))
		return 0;
	num -= stream.span.num;
	h->dirty |= stream.dirt;
	h->executed += num;
	return num;
}
#else
SOFTFIELD_DEVICE uint32_t softfield_queue_run_stream(struct softfield_rdma_held *h, struct softfield_wqe_pair16 first)
{
	(void)h, (void)first;
	return 0;
}
#endif

/**
 * Executes consecutive writes that are neither words nor suit bulk copies, and the first one in any case, by the thread's own
 * loads and stores. @return how many
 */
SOFTFIELD_COLD uint32_t softfield_queue_run_copies(struct softfield_rdma_held *h, struct softfield_wqe_pair16 first)
{
	struct softfield_queue_span span = softfield_queue_committed(h);
	struct softfield_wqe_pair16 pair = first, next;
	uint32_t num, dirty = h->dirty;

	for (num = 0; span.num != 0; num++) {
		if (!softfield_wqe_pair_is_there(&pair, span.position) || !softfield_wqe_is_copy(&pair, span.given) ||
		    (num != 0 && softfield_wqe_suits_bulk(&pair)))
			break;
		softfield_observed(&span.wqes[span.position & (span.size - 1)]);
		softfield_after_load();
		next = softfield_queue_load_entry(&span, 1);
		softfield_queue_order(&dirty, pair.what.w[0] >> SOFTFIELD_RDMA_WQE_PERMISSIONS);
		softfield_rdma_copy((uint8_t *)(uintptr_t)softfield_wqe_remote(&pair),
				    (const uint8_t *)(uintptr_t)softfield_wqe_local(&pair), pair.local.w[0]);
		span.position++;
		span.num--;
		pair = next;
	}
	h->dirty = dirty;
	h->executed = span.position;
	return num;
}

/** Executes writes of the same sort together, if they come first. @return how many */
SOFTFIELD_DEVICE uint32_t softfield_queue_run_writes(struct softfield_rdma_held *h, const struct softfield_slot16 slots16[2])
{
	const struct softfield_wqe_pair16 first = {slots16[0], slots16[1]};
	uint32_t num = 0;

	if ((first.what.w[0] & SOFTFIELD_RDMA_WORD) != 0)
		return softfield_queue_words(h);
	if (!softfield_wqe_is_copy(&first, h->given))
		return 0;
	if (softfield_wqe_suits_bulk(&first))
		num = softfield_queue_run_stream(h, first);
	return num != 0 ? num : softfield_queue_run_copies(h, first);
}

#endif /* SOFTFIELD_GPU_RDMA_WRITES_H_ */
