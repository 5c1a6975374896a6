/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/recvq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/ring.h"

/* Positions between the receive that senders claim next and the one that the owner posts next. Both go through the ring in order,
 * so their cores fetch the following entries too, up to the end of a page: without a distance, from the other's cache just before
 * the other needs them. A large ring would need much more memory for this, and is seldom full. */
#define SPARE (SHM_PAGE / sizeof(struct shm_entry))
#define SPARE_RECV_MAX 1024

static uint32_t num_entries(uint32_t recv_max)
{
	uint32_t wanted = recv_max <= SPARE_RECV_MAX ? recv_max + (uint32_t)SPARE : recv_max, num = 1;

	while (num < wanted)
		num *= 2;
	return num;
}

doca_error_t sf_shm_recvq_init(struct shm_recvq *queue, uint32_t recv_max, int *fd)
{
	doca_error_t error;

	if (recv_max > SHM_RECV_MAX) {
		SF_LOG_ERR("%u receives requested: an endpoint holds at most %u", recv_max, SHM_RECV_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*queue = (struct shm_recvq){
		.entries = num_entries(recv_max), .slot_num = recv_max, .free = recv_max == 0 ? SHM_NOBODY : 0};
	atomic_init(&queue->ticket, queue->entries); /* the zeroed ring holds FREE(0): older than the first ticket */
	error = sf_shm_memfd_create("softfield-endpoint", shm_ep_segment_size(queue->entries), fd);
	if (error != DOCA_SUCCESS)
		return error;
	queue->segment = mmap(NULL, shm_ep_segment_size(queue->entries), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	queue->slots = calloc(recv_max + 1, sizeof(*queue->slots));
	queue->at = malloc(queue->entries * sizeof(*queue->at));
	if (queue->segment == MAP_FAILED || queue->slots == NULL || queue->at == NULL) {
		SF_LOG_ERR("no memory for an endpoint of %u receives: %s", recv_max, strerror(errno));
		sf_shm_recvq_fini(queue);
		close(*fd);
		return DOCA_ERROR_NO_MEMORY;
	}
	atomic_init(&queue->segment->hint, queue->entries);
	for (uint32_t i = 0; i < queue->entries; i++)
		queue->at[i] = SHM_NOBODY;
	for (uint32_t i = 0; i < recv_max; i++)
		queue->slots[i] = (struct shm_slot){.next = i + 1 < recv_max ? i + 1 : SHM_NOBODY};
	return DOCA_SUCCESS;
}

void sf_shm_recvq_fini(struct shm_recvq *queue)
{
	if (queue->segment != MAP_FAILED && queue->segment != NULL)
		munmap(queue->segment, shm_ep_segment_size(queue->entries));
	free(queue->slots);
	free(queue->at);
}

/* A ring position is reused for a posting. A receive that was there and is not done yet was claimed. If its entry does not say
 * so, nobody will ever claim it. */
static void position_take(struct shm_recvq *queue, uint32_t position, const struct shm_slot *posting)
{
	uint32_t before = queue->at[position];
	const struct shm_slot *slot;
	uint64_t state;

	if (before == SHM_NOBODY)
		return;
	slot = &queue->slots[before];
	if (slot == posting || slot->recv == NULL || shm_position(slot->ticket, queue->entries) != position)
		return;
	state = atomic_load_explicit(&queue->segment->entry[position].state, memory_order_relaxed);
	if (shm_state_ticket(state) != slot->ticket || shm_state_kind(state) != SHM_TAKEN)
		queue->damaged = true;
}

static void slot_post(struct shm_recvq *queue, struct shm_slot *slot)
{
	uint64_t ticket = atomic_load_explicit(&queue->ticket, memory_order_relaxed);
	uint32_t position = shm_position(ticket, queue->entries);
	struct shm_entry *entry = &queue->segment->entry[position];
	const struct sf_recv *recv = slot->recv;

	position_take(queue, position, slot);
	slot->ticket = ticket;
	queue->at[position] = (uint32_t)(slot - queue->slots);
	atomic_store_explicit(&queue->ticket, (ticket + 1) & SHM_TICKET_MASK, memory_order_relaxed);
	atomic_store_explicit(&entry->region, recv->cookie, memory_order_relaxed);
	atomic_store_explicit(&entry->slot, (uint32_t)(slot - queue->slots), memory_order_relaxed);
	atomic_store_explicit(&entry->len, slot->len, memory_order_relaxed);
	atomic_store_explicit(&entry->pieces, recv->iov_num, memory_order_relaxed);
	for (uint32_t i = 0; i < recv->iov_num; i++) {
		atomic_store_explicit(&entry->piece[i].addr, (uintptr_t)recv->iov[i].addr, memory_order_relaxed);
		atomic_store_explicit(&entry->piece[i].len, recv->iov[i].len, memory_order_relaxed);
	}
	SHM_ORDER();
	atomic_store_explicit(&entry->state, shm_state(SHM_POSTED, 0, ticket), memory_order_release);
}

doca_error_t sf_shm_recvq_post(struct shm_recvq *queue, struct sf_recv *recv, uint32_t len, uint64_t region)
{
	struct shm_slot *slot;

	if (queue->free == SHM_NOBODY)
		return DOCA_ERROR_FULL;
	slot = &queue->slots[queue->free];
	slot->recv = recv;
	slot->len = len;
	slot->flushing = false;
	recv->cookie = region;
	slot_post(queue, slot);
	queue->free = slot->next;
	queue->posted++;
	return DOCA_SUCCESS;
}

/* Moves the cursor to the first posted receive that it finds; NULL: there is none. */
static struct shm_slot *first_posted(const struct shm_recvq *queue, uint64_t *cursor)
{
	const uint64_t end = atomic_load_explicit(&queue->ticket, memory_order_relaxed);

	if (((end - *cursor) & SHM_TICKET_MASK) > queue->entries) /* earlier positions have been reused */
		*cursor = (end - queue->entries) & SHM_TICKET_MASK;
	for (; *cursor != end; *cursor = (*cursor + 1) & SHM_TICKET_MASK) {
		const uint32_t position = shm_position(*cursor, queue->entries), at = queue->at[position];

		if (at != SHM_NOBODY && queue->slots[at].ticket == *cursor &&
		    atomic_load_explicit(&queue->segment->entry[position].state, memory_order_acquire) ==
			    shm_state(SHM_POSTED, 0, *cursor))
			return &queue->slots[at];
	}
	return NULL;
}

doca_error_t sf_shm_recvq_claim_first(struct shm_recvq *queue, uint64_t *cursor, uint64_t len, struct shm_slot **slot)
{
	while ((*slot = first_posted(queue, cursor)) != NULL) {
		uint64_t state = shm_state(SHM_POSTED, 0, *cursor);

		if (len > (*slot)->len)
			return DOCA_ERROR_TOO_BIG;
		if (atomic_compare_exchange_strong(&queue->segment->entry[shm_position(*cursor, queue->entries)].state, &state,
						   shm_state(SHM_TAKEN, SHM_CONN_ID_MAX, *cursor)))
			return DOCA_SUCCESS;
	}
	return DOCA_ERROR_AGAIN;
}

void sf_shm_recvq_each_posted(const struct shm_recvq *queue, uint64_t *cursor, bool (*posted)(uint32_t len, void *user),
			      void *user)
{
	const struct shm_slot *slot = first_posted(queue, cursor);
	uint64_t at = *cursor;

	while (slot != NULL && posted(slot->len, user)) {
		at = (at + 1) & SHM_TICKET_MASK;
		slot = first_posted(queue, &at);
	}
}

bool sf_shm_recvq_again(struct shm_recvq *queue, struct shm_slot *slot)
{
	uint32_t position = shm_position(slot->ticket, queue->entries);

	if (slot->flushing)
		return false;
	/* It no longer counts for its old position, which may be the one it is posted at now. */
	if (queue->at[position] == (uint32_t)(slot - queue->slots))
		queue->at[position] = SHM_NOBODY;
	slot_post(queue, slot);
	return true;
}

void sf_shm_recvq_flush(struct shm_recvq *queue, void (*taken)(struct sf_recv *recv, void *user), void *user)
{
	uint64_t end = atomic_load_explicit(&queue->ticket, memory_order_relaxed);

	/* In the order of posting, the oldest ticket of the ring first. */
	for (uint32_t i = queue->entries; i > 0; i--) {
		uint64_t ticket = (end - i) & SHM_TICKET_MASK, posted = shm_state(SHM_POSTED, 0, ticket);
		uint32_t position = shm_position(ticket, queue->entries), at = queue->at[position];

		if (at == SHM_NOBODY || queue->slots[at].recv == NULL || queue->slots[at].ticket != ticket)
			continue;
		if (atomic_compare_exchange_strong(&queue->segment->entry[position].state, &posted,
						   shm_state(SHM_FREE, 0, ticket)))
			taken(shm_recvq_finish(queue, &queue->slots[at]), user);
	}
	for (uint32_t i = 0; i < queue->slot_num; i++) {
		if (queue->slots[i].recv != NULL && !queue->slots[i].flushing) {
			queue->slots[i].flushing = true;
			queue->flushing++;
		}
	}
}

static bool slot_intact(const struct shm_recvq *queue, uint32_t number)
{
	const struct shm_slot *slot = &queue->slots[number];
	const struct shm_entry *entry = &queue->segment->entry[shm_position(slot->ticket, queue->entries)];

	return slot->recv == NULL ||
	       (atomic_load_explicit(&entry->state, memory_order_relaxed) == shm_state(SHM_POSTED, 0, slot->ticket) &&
		atomic_load_explicit(&entry->region, memory_order_relaxed) == slot->recv->cookie &&
		atomic_load_explicit(&entry->slot, memory_order_relaxed) == number &&
		atomic_load_explicit(&entry->len, memory_order_relaxed) == slot->len &&
		atomic_load_explicit(&entry->pieces, memory_order_relaxed) == slot->recv->iov_num);
}

bool sf_shm_recvq_intact(struct shm_recvq *queue)
{
	const struct shm_ep_segment *segment = queue->segment;
	uint64_t ticket = atomic_load_explicit(&queue->ticket, memory_order_relaxed);
	uint64_t hint = atomic_load_explicit(&segment->hint, memory_order_relaxed);
	bool intact = true;

	for (uint32_t i = 0; i < queue->slot_num; i++) {
		queue->slots[i].held = false;
		queue->slots[i].odd = !slot_intact(queue, i);
		intact = intact && !queue->slots[i].odd;
	}
	if (queue->damaged || hint > SHM_TICKET_MASK || shm_ticket_before(ticket, hint) ||
	    atomic_load_explicit(&segment->first, memory_order_relaxed) != queue->first ||
	    atomic_load_explicit(&segment->epoch, memory_order_relaxed) != queue->epoch)
		queue->damaged = true;
	return intact && !queue->damaged;
}

bool sf_shm_recvq_claims_are_held(const struct shm_recvq *queue)
{
	if (queue->damaged)
		return false;
	for (uint32_t i = 0; i < queue->slot_num; i++) {
		if (queue->slots[i].odd && !queue->slots[i].held)
			return false;
	}
	return true;
}

void sf_shm_recvq_withdraw(struct shm_recvq *queue)
{
	for (uint32_t i = 0; i < queue->slot_num; i++) {
		struct shm_slot *slot = &queue->slots[i];
		uint64_t posted = shm_state(SHM_POSTED, 0, slot->ticket);

		slot->held = false;
		if (slot->recv != NULL)
			atomic_compare_exchange_strong(&queue->segment->entry[shm_position(slot->ticket, queue->entries)].state,
						       &posted, shm_state(SHM_FREE, 0, slot->ticket));
	}
}

struct aged {
	uint64_t age;
	struct shm_slot *slot;
};

static int older_first(const void *a, const void *b)
{
	uint64_t x = ((const struct aged *)a)->age, y = ((const struct aged *)b)->age;

	return x > y ? -1 : x < y;
}

/* The receives to be posted. Without memory for a list they are taken in the order of slots. */
static struct aged *aged_list(struct shm_recvq *queue, uint32_t *num)
{
	uint64_t now = atomic_load_explicit(&queue->ticket, memory_order_relaxed);
	struct aged *list = calloc((size_t)queue->slot_num + 1, sizeof(*list));

	*num = 0;
	for (uint32_t i = 0; i < queue->slot_num && list != NULL; i++) {
		struct shm_slot *slot = &queue->slots[i];

		if (slot->recv != NULL && !slot->held)
			list[(*num)++] = (struct aged){(now - slot->ticket) & SHM_TICKET_MASK, slot};
	}
	if (list != NULL)
		qsort(list, *num, sizeof(*list), older_first);
	return list;
}

static void slot_renew(struct shm_recvq *queue, struct shm_slot *slot, void (*taken)(struct sf_recv *recv, void *user),
		       void *user)
{
	if (slot->flushing)
		taken(shm_recvq_finish(queue, slot), user);
	else
		slot_post(queue, slot);
}

void sf_shm_recvq_renew(struct shm_recvq *queue, void (*taken)(struct sf_recv *recv, void *user), void *user)
{
	uint64_t ticket = atomic_load_explicit(&queue->ticket, memory_order_relaxed), mask = queue->entries - 1;
	uint64_t first = (((ticket + mask) & ~mask) + queue->entries) & SHM_TICKET_MASK;
	struct shm_ep_segment *segment = queue->segment;
	uint32_t num;
	struct aged *list = aged_list(queue, &num);

	for (uint32_t i = 0; i < queue->entries; i++) {
		queue->at[i] = SHM_NOBODY;
		atomic_store_explicit(&segment->entry[i].state, shm_state(SHM_FREE, 0, first - queue->entries + i),
				      memory_order_relaxed);
	}
	atomic_store_explicit(&queue->ticket, first, memory_order_relaxed);
	atomic_store_explicit(&segment->hint, first, memory_order_relaxed);
	queue->first = first;
	queue->epoch = sf_now_ns();
	atomic_store_explicit(&segment->first, queue->first, memory_order_relaxed);
	atomic_store_explicit(&segment->epoch, queue->epoch, memory_order_release);
	for (uint32_t i = 0; i < num; i++)
		slot_renew(queue, list[i].slot, taken, user);
	for (uint32_t i = 0; i < queue->slot_num && list == NULL; i++) {
		if (queue->slots[i].recv != NULL && !queue->slots[i].held)
			slot_renew(queue, &queue->slots[i], taken, user);
	}
	free(list);
	queue->damaged = false;
}
