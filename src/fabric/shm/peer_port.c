/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/peer_port.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "fabric/shm/fds.h"

struct peer_port {
	dev_t dev;
	ino_t ino; /* the file is the segment's identity: what a peer says of itself is not */
	uint32_t entries;
	uint32_t refs;
	struct shm_port_segment *segment;
	struct peer_port *next;
};

static struct peer_port *peer_ports;

static struct peer_port *map(int fd, const struct stat *stat, uint32_t entries)
{
	size_t size = shm_port_segment_size(entries);
	struct peer_port *port = calloc(1, sizeof(*port));
	void *at = MAP_FAILED;

	if (port != NULL && sf_shm_memfd_check(fd, size))
		at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		free(port);
		return NULL;
	}
	*port = (struct peer_port){
		.dev = stat->st_dev, .ino = stat->st_ino, .entries = entries, .segment = at, .next = peer_ports};
	peer_ports = port;
	return port;
}

struct shm_port_segment *sf_shm_peer_port_get(int fd, uint32_t entries)
{
	struct peer_port *port = peer_ports;
	struct stat stat;

	if (fstat(fd, &stat) != 0)
		return NULL;
	while (port != NULL && (port->dev != stat.st_dev || port->ino != stat.st_ino || port->entries != entries))
		port = port->next;
	if (port == NULL)
		port = map(fd, &stat, entries);
	if (port == NULL)
		return NULL;
	port->refs++;
	return port->segment;
}

void sf_shm_peer_port_put(struct shm_port_segment *segment)
{
	struct peer_port **at = &peer_ports, *port;

	while ((*at)->segment != segment)
		at = &(*at)->next;
	port = *at;
	if (--port->refs != 0)
		return;
	*at = port->next;
	munmap(segment, shm_port_segment_size(port->entries));
	free(port);
}
