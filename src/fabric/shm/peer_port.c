/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/peer_port.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "fabric/shm/fds.h"

static struct shm_peer_port *peer_ports;

static struct shm_peer_port *map(int fd, const struct stat *stat, uint32_t entries, uint64_t ticket)
{
	size_t size = shm_port_segment_size(entries);
	struct shm_peer_port *port = calloc(1, sizeof(*port));
	void *at = MAP_FAILED;

	if (port != NULL && sf_shm_memfd_check(fd, size))
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		free(port);
		return NULL;
	}
	*port = (struct shm_peer_port){.segment = at,
				       .entries = entries,
				       .cursor = ticket & SHM_TICKET_MASK,
				       .dev = stat->st_dev,
				       .ino = stat->st_ino,
				       .next = peer_ports};
	peer_ports = port;
	return port;
}

struct shm_peer_port *sf_shm_peer_port_get(int fd, uint32_t entries, uint64_t ticket)
{
	struct shm_peer_port *port = peer_ports;
	struct stat stat;

	if (fstat(fd, &stat) != 0)
		return NULL;
	while (port != NULL && (port->dev != stat.st_dev || port->ino != stat.st_ino || port->entries != entries))
		port = port->next;
	if (port == NULL)
		port = map(fd, &stat, entries, ticket);
	if (port == NULL)
		return NULL;
	/* An owner begins a whole ring before its next posting, which no cursor is beyond: unless somebody who is not the owner
	 * had the first word. */
	if (shm_ticket_before(ticket, atomic_load_explicit(&port->cursor, memory_order_relaxed) - entries))
		atomic_store_explicit(&port->cursor, ticket & SHM_TICKET_MASK, memory_order_relaxed);
	port->refs++;
	return port;
}

void sf_shm_peer_port_put(struct shm_peer_port *port)
{
	struct shm_peer_port **at = &peer_ports;

	if (--port->refs != 0)
		return;
	while (*at != port)
		at = &(*at)->next;
	*at = port->next;
	munmap(port->segment, shm_port_segment_size(port->entries));
	free(port);
}
