/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/recvq.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/ring.h"

doca_error_t sf_shm_recvq_init(struct shm_recvq *queue, uint32_t recv_max, int *fd)
{
	doca_error_t error;

	if (recv_max > SHM_RECV_MAX) {
		SF_LOG_ERR("%u receives are asked for, a port holds %u at most", recv_max, SHM_RECV_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*queue = (struct shm_recvq){.entries = 1, .slot_num = recv_max, .free = recv_max == 0 ? SHM_NOBODY : 0};
	while (queue->entries < recv_max)
		queue->entries *= 2;
	atomic_init(&queue->ticket, queue->entries); /* the zeroed ring holds FREE(0): older than the first ticket */
	error = sf_shm_memfd_create("softfield-port", shm_port_segment_size(queue->entries), fd);
	if (error != DOCA_SUCCESS)
		return error;
	queue->segment = mmap(NULL, shm_port_segment_size(queue->entries), PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
	queue->slots = calloc(recv_max + 1, sizeof(*queue->slots));
	queue->at = malloc(queue->entries * sizeof(*queue->at));
	if (queue->segment == MAP_FAILED || queue->slots == NULL || queue->at == NULL) {
		SF_LOG_ERR("no memory for a port of %u receives: %s", recv_max, strerror(errno));
		sf_shm_recvq_fini(queue);
		close(*fd);
		return DOCA_ERROR_NO_MEMORY;
	}
	atomic_init(&queue->segment->hint, queue->entries);
	for (uint32_t i = 0; i < queue->entries; i++)
		queue->at[i] = SHM_NOBODY;
	for (uint32_t i = 0; i < recv_max; i++)
		queue->slots[i] = (struct shm_slot){.holder = SHM_NOBODY, .next = i + 1 < recv_max ? i + 1 : SHM_NOBODY};
	return DOCA_SUCCESS;
}

void sf_shm_recvq_fini(struct shm_recvq *queue)
{
	if (queue->segment != MAP_FAILED && queue->segment != NULL)
		munmap(queue->segment, shm_port_segment_size(queue->entries));
	free(queue->slots);
	free(queue->at);
}

/* A ring position comes around, for posting. Whoever still holds the receive that was there is noted in its slot. */
static bool position_take(struct shm_recvq *queue, uint32_t position, const struct shm_slot *posting)
{
	uint32_t before = queue->at[position];
	struct shm_slot *slot;
	uint64_t state;

	if (before == SHM_NOBODY)
		return true;
	slot = &queue->slots[before];
	if (slot == posting || slot->recv == NULL || slot->holder != SHM_NOBODY ||
	    shm_position(slot->ticket, queue->entries) != position)
		return true;
	state = atomic_load_explicit(&queue->segment->entry[position].state, memory_order_relaxed);
	if (shm_state_ticket(state) != slot->ticket || shm_state_kind(state) != SHM_TAKEN)
		return false;
	slot->holder = shm_state_link(state);
	return true;
}

static bool slot_post(struct shm_recvq *queue, struct shm_slot *slot, uint64_t region)
{
	uint64_t ticket = atomic_load_explicit(&queue->ticket, memory_order_relaxed);
	uint32_t position = shm_position(ticket, queue->entries);
	struct shm_entry *entry = &queue->segment->entry[position];
	const struct sf_recv *recv = slot->recv;

	if (!position_take(queue, position, slot))
		return false;
	slot->ticket = ticket;
	slot->holder = SHM_NOBODY;
	queue->at[position] = (uint32_t)(slot - queue->slots);
	atomic_store_explicit(&queue->ticket, (ticket + 1) & SHM_TICKET_MASK, memory_order_relaxed);
	atomic_store_explicit(&entry->region, region, memory_order_relaxed);
	atomic_store_explicit(&entry->slot, (uint32_t)(slot - queue->slots), memory_order_relaxed);
	atomic_store_explicit(&entry->len, slot->len, memory_order_relaxed);
	atomic_store_explicit(&entry->pieces, recv->iov_num, memory_order_relaxed);
	for (uint32_t i = 0; i < recv->iov_num; i++) {
		atomic_store_explicit(&entry->piece[i].addr, (uintptr_t)recv->iov[i].addr, memory_order_relaxed);
		atomic_store_explicit(&entry->piece[i].len, recv->iov[i].len, memory_order_relaxed);
	}
	SHM_ORDER();
	atomic_store_explicit(&entry->state, shm_state(SHM_POSTED, 0, ticket), memory_order_release);
	return true;
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
	if (!slot_post(queue, slot, region)) {
		slot->recv = NULL;
		return DOCA_ERROR_FULL;
	}
	queue->free = slot->next;
	queue->posted++;
	return DOCA_SUCCESS;
}

bool sf_shm_recvq_again(struct shm_recvq *queue, struct shm_slot *slot)
{
	uint32_t position = shm_position(slot->ticket, queue->entries);

	if (slot->flushing)
		return false;
	/* It no longer counts for its old position, which may be the very one it is posted at. */
	if (queue->at[position] == (uint32_t)(slot - queue->slots))
		queue->at[position] = SHM_NOBODY;
	return slot_post(queue, slot, slot->recv->cookie);
}

void sf_shm_recvq_flush(struct shm_recvq *queue, void (*taken)(struct sf_recv *recv, void *user), void *user)
{
	uint64_t end = atomic_load_explicit(&queue->ticket, memory_order_relaxed);

	/* In the order of posting, and the oldest ticket of the ring first. */
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

/* The link that holds a claimed receive, or SHM_NOBODY. */
static uint32_t slot_holder(const struct shm_recvq *queue, const struct shm_slot *slot)
{
	uint32_t position = shm_position(slot->ticket, queue->entries);
	uint64_t state;

	if (slot->holder != SHM_NOBODY)
		return slot->holder;
	state = atomic_load_explicit(&queue->segment->entry[position].state, memory_order_relaxed);
	return shm_state_ticket(state) == slot->ticket && shm_state_kind(state) == SHM_TAKEN ? shm_state_link(state) : SHM_NOBODY;
}

void sf_shm_recvq_held(struct shm_recvq *queue, uint32_t link, void (*held)(struct shm_slot *slot, uint32_t link, void *user),
		       void *user)
{
	for (uint32_t i = 0; i < queue->slot_num; i++) {
		struct shm_slot *slot = &queue->slots[i];
		uint32_t holder = slot->recv != NULL ? slot_holder(queue, slot) : SHM_NOBODY;

		if (link == SHM_NOBODY ? slot->recv != NULL && slot->flushing : holder == link)
			held(slot, holder, user);
	}
}
