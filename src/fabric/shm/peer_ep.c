/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/peer_ep.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/thread_safety.h"
#include "fabric/control/agent.h"
#include "fabric/shm/fds.h"

static struct shm_peer_ep *peer_eps;

static struct shm_peer_ep *segment_map(int fd, const struct stat *stat, uint32_t entries, uint64_t ticket)
{
	size_t size = shm_ep_segment_size(entries);
	struct shm_peer_ep *ep = calloc(1, sizeof(*ep));
	void *at = MAP_FAILED;

	if (ep != NULL && sf_shm_memfd_check(fd, size))
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		free(ep);
		return NULL;
	}
	*ep = (struct shm_peer_ep){.segment = at,
				   .entries = entries,
				   .cursor = ticket & SHM_TICKET_MASK,
				   .dev = stat->st_dev,
				   .ino = stat->st_ino,
				   .next = peer_eps};
	peer_eps = ep;
	return ep;
}

struct shm_peer_ep *sf_shm_peer_ep_get(int fd, uint32_t entries, uint64_t ticket)
{
	struct shm_peer_ep *ep = peer_eps;
	struct stat stat;

	assert(sf_is_locked(&sf_control_lock));
	if (fstat(fd, &stat) != 0)
		return NULL;
	while (ep != NULL && (ep->dev != stat.st_dev || ep->ino != stat.st_ino || ep->entries != entries))
		ep = ep->next;
	if (ep == NULL)
		ep = segment_map(fd, &stat, entries, ticket);
	if (ep == NULL)
		return NULL;
	/* An owner's ticket is a whole ring before its next posting, which no honest cursor has passed. A cursor that is
	 * further ahead came from another process: replaces it. */
	if (shm_ticket_before(ticket, atomic_load_explicit(&ep->cursor, memory_order_relaxed) - entries))
		atomic_store_explicit(&ep->cursor, ticket & SHM_TICKET_MASK, memory_order_relaxed);
	ep->refs++;
	return ep;
}

void sf_shm_peer_ep_put(struct shm_peer_ep *ep)
{
	struct shm_peer_ep **at = &peer_eps;

	assert(ep->refs > 0);
	if (--ep->refs != 0)
		return;
	while (*at != ep) {
		assert(*at != NULL);
		at = &(*at)->next;
	}
	*at = ep->next;
	munmap(ep->segment, shm_ep_segment_size(ep->entries));
	free(ep);
}
