/* SPDX-License-Identifier: BSD-3-Clause */
/* A domain of a client, and the directory that several may share. */
#ifndef UROM_WORKER_DOMAIN_H
#define UROM_WORKER_DOMAIN_H

#include <stdint.h>
#include <sys/queue.h>

#include "urom/directory.h"

/* A directory, which several clients may offer. */
struct worker_directory {
	LIST_ENTRY(worker_directory) next;
	uint8_t digest[UROM_DIGEST_SIZE];
	size_t size, received;
	uint8_t *data;			  /* until it is complete */
	struct urom_directory *directory; /* once it is complete */
	struct worker_domain *sender;	  /* the domain whose client sends it; NULL once it is complete */
	uint32_t num_domains;
};

/* The pending message to a client about its domain. */
enum worker_domain_due { WORKER_DOMAIN_NOTHING, WORKER_DOMAIN_WANTED, WORKER_DOMAIN_READY };

struct worker_domain {
	LIST_ENTRY(worker_domain) next;
	uint64_t number, client; /* dest_id */
	struct worker_directory *directory;
	enum worker_domain_due due;
};

#endif
