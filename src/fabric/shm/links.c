/* SPDX-License-Identifier: BSD-3-Clause */
/* The links of the process: what each has, from its making to its end, and what the agent tells them. With sf_control_lock. */
#include "fabric/shm/barrier.h"
#include "fabric/shm/links.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/doorbell.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/peer_port.h"
#include "fabric/shm/region.h"
#include "fabric/shm/serve.h"

struct shm_link *sf_shm_links;

void sf_shm_link_post(struct shm_link *link, uint32_t events)
{
	struct shm_port *port = shm_port(link->base.port);

	link->events |= events;
	if (!link->in_inbox) {
		link->in_inbox = true;
		link->next_inbox = NULL;
		*port->inbox_end = link;
		port->inbox_end = &link->next_inbox;
	}
	atomic_store_explicit(&port->news, true, memory_order_release);
	SHM_FENCE(memory_order_seq_cst);
	if (atomic_load_explicit(&port->arming, memory_order_relaxed) != 0) /* our own word: peers write the segment's */
		sf_doorbell_ring(port->event_fd);
}

static void job_notify(struct shm_job *job)
{
	struct shm_link *link = (struct shm_link *)((char *)job - offsetof(struct shm_link, job));

	sf_shm_link_post(link, SHM_EVENT_JOB);
}

static uint32_t new_id(struct shm_port *port)
{
	for (;;) {
		uint32_t id = port->link_ids++ & SHM_LINK_ID_MAX;
		struct shm_link *link = sf_shm_links;

		while (link != NULL && (link->base.port != &port->base || link->id != id))
			link = link->next_all;
		if (link == NULL)
			return id;
	}
}

struct shm_link *sf_shm_link_make(struct shm_port *port, enum shm_link_life life)
{
	struct shm_link *link = calloc(1, sizeof(*link));

	if (link == NULL)
		return NULL;
	if (sf_key_random(&link->key) != DOCA_SUCCESS || !sf_shm_due_take_slot(port, &link->slot)) {
		free(link);
		return NULL;
	}
	link->base = (struct sf_link){
		.ops = port->base.ops, .port = &port->base, .state = SF_LINK_CONNECTING, .handshake = &link->handshake};
	link->life = life;
	link->id = new_id(port);
	link->peer_event = link->segment_fd = -1;
	link->request.link = link;
	link->job.notify = job_notify;
	link->next_all = sf_shm_links;
	sf_shm_links = link;
	return link;
}

static void link_unmap(struct shm_link *link)
{
	if (link->segment != NULL)
		munmap(link->segment, SHM_PAGE + 4 * SHM_RING_SIZE);
	if (link->peer_port != NULL)
		sf_shm_peer_port_put(link->peer_port);
	if (link->peer_event >= 0)
		close(link->peer_event);
	if (link->segment_fd >= 0)
		close(link->segment_fd);
}

void sf_shm_link_free_locked(struct shm_link *link)
{
	struct shm_link **at = &sf_shm_links;

	sf_shm_port_forget_link(shm_port(link->base.port), link);
	sf_shm_due_remove(shm_port(link->base.port), link);
	sf_shm_due_put_slot(shm_port(link->base.port), link->slot);
	while (*at != NULL && *at != link)
		at = &(*at)->next_all;
	if (*at == link)
		*at = link->next_all;
	sf_handshake_end(&link->handshake);
	if (link->busy == SHM_BUSY_JOB)
		sf_shm_job_cancel(&link->job);
	for (uint32_t i = 0; i < link->lent_num; i++)
		sf_shm_attach_put(link->lent[i]);
	sf_shm_peer_put(link->peer);
	link_unmap(link);
	free(link);
}

void sf_shm_link_free(struct shm_link *link)
{
	pthread_mutex_lock(&sf_control_lock);
	sf_shm_link_free_locked(link);
	pthread_mutex_unlock(&sf_control_lock);
}

bool sf_shm_link_map(struct shm_link *link, int fd, int side)
{
	uint8_t *base = mmap(NULL, SHM_PAGE + 4 * SHM_RING_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *at = base;

	if (base == MAP_FAILED)
		return false;
	link->segment = (struct shm_link_segment *)base;
	if (mmap(at, SHM_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		return false;
	at += SHM_PAGE;
	for (int i = 0; i < 4; i++, at += SHM_RING_SIZE) {
		off_t offset = SHM_PAGE + (off_t)(i / 2) * (off_t)SHM_RING_SIZE;

		if (mmap(at, SHM_RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, offset) == MAP_FAILED)
			return false;
	}

	uint8_t *rings[2] = {base + SHM_PAGE, base + SHM_PAGE + 2 * SHM_RING_SIZE};

	link->tx = (struct shm_tx){.ring = rings[side],
				   .limit = SHM_RING_LINES,
				   .consumed = &link->segment->ring[side].consumed,
				   .claim = &link->segment->ring[side].claim};
	link->rx = (struct shm_rx){.ring = rings[1 - side],
				   .consumed = &link->segment->ring[1 - side].consumed,
				   .claim = &link->segment->ring[1 - side].claim};
	return true;
}

bool sf_shm_link_meet(struct shm_link *link, const struct shm_msg_port *port, int segment, int event)
{
	if (port->slot >= SHM_LINKS_MAX || !sf_shm_eventfd_check(event))
		return false;
	link->peer_port = sf_shm_peer_port_get(segment, port->entries, port->ticket);
	if (link->peer_port == NULL)
		return false;
	link->peer_slot = port->slot;
	link->peer_link = port->link;
	link->peer_id = port->agent;
	link->peer_key = port->key;
	link->fence = port->barriers == 0 || !sf_shm_has_barriers();
	link->peer_event = event;
	return true;
}

struct shm_msg_port sf_shm_link_tell(const struct shm_link *link, int fds[SHM_MSG_PORT_FDS])
{
	const struct shm_port *port = shm_port(link->base.port);
	uint64_t ticket = atomic_load_explicit(&port->recvq.ticket, memory_order_relaxed);

	fds[0] = port->segment_fd;
	fds[1] = port->event_fd;
	return (struct shm_msg_port){.agent = *sf_control_id(),
				     .key = link->key,
				     .ticket = (ticket - port->recvq.entries) & SHM_TICKET_MASK,
				     .entries = port->recvq.entries,
				     .link = link->id,
				     .slot = link->slot,
				     .barriers = sf_shm_has_barriers()};
}

void sf_shm_links_drop(const struct shm_port *port)
{
	for (struct shm_link *link = sf_shm_links, *next; link != NULL; link = next) {
		next = link->next_all;
		if (link->base.port == &port->base)
			sf_shm_link_free_locked(link);
	}
}

void sf_shm_links_forget(const struct shm_peer *peer)
{
	for (struct shm_link *link = sf_shm_links; link != NULL; link = link->next_all) {
		if (link->peer == peer)
			sf_shm_link_post(link, SHM_EVENT_FORGET);
	}
}

void sf_shm_child_after_fork(void)
{
	/* The parent's links are nobody's here: their sockets are closed, the rings are left to the parent. */
	for (struct shm_link *link = sf_shm_links; link != NULL; link = link->next_all) {
		link->handshake.channel = NULL;
		link->sending = false;
		link->life = SHM_LIFE_OVER;
		link->base.state = SF_LINK_CLOSED;
	}
	sf_shm_links = NULL;
	sf_shm_regions_after_fork();
	sf_shm_peers_after_fork();
	sf_shm_serve_after_fork();
}
