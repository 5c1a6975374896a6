/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The domain context. A file x.h declares what x.c defines:
 *
 *   domain_exchange  the exchange between processes domain_notify    the messages to workers
 */
#ifndef UROM_DOMAIN_H
#define UROM_DOMAIN_H

#include <sys/queue.h>

#include <doca_urom.h>

#include "core/ctx.h"
#include "urom/directory.h"
#include "urom/worker.h"

#define UROM_BUFFERS_MAX 1024
#define UROM_KEY_MAX 65536 /* bytes of a packed handle or key */

#define UROM_DOMAIN_WORKERS_MAX (UINT32_C(1) << 16) /* of one process in one domain */
#define UROM_PROCESSES_MAX (UINT32_C(1) << 20)	    /* that take part in one domain */
#define UROM_GATHER_BYTES (UINT32_C(16) << 20)	    /* bytes of one gathering, from all processes */

/* A worker of this process in a domain. */
struct urom_member {
	LIST_ENTRY(urom_member) of_worker;
	struct doca_urom_domain *domain;
	struct doca_urom_worker *worker; /* NULL once it is destroyed */
	bool gone;			 /* it has ended since the domain's start: its new process does not know the domain */
	uint64_t domain_id;
	/* from NOTIFYING on */
	LIST_ENTRY(urom_member) of_notifying; /* until the process is ready */
	bool offered, wanted, ready;
	size_t sent;		  /* bytes of the directory */
	struct urom_leave *leave; /* from start on: a stop needs no memory */
};

enum urom_domain_phase {
	UROM_DOMAIN_OFF,
	UROM_DOMAIN_SIZES,
	UROM_DOMAIN_ENTRIES,
	UROM_DOMAIN_GATHERED,
	UROM_DOMAIN_NOTIFYING,
	UROM_DOMAIN_ON,
	UROM_DOMAIN_FAILED
};

/* What each process gives to the first gathering. */
struct urom_domain_size {
	uint64_t index;
	uint64_t len; /* of its entry */
};

struct doca_urom_domain {
	struct doca_ctx ctx;
	struct doca_urom_domain_oob_coll oob;
	bool has_oob;
	struct urom_member *members;
	size_t num_members;
	struct urom_entry_buffer *buffers;
	size_t num_buffers, max_buffers;
	/* from start on */
	enum urom_domain_phase phase;
	uint64_t number;
	void *request; /* of a gathering in progress */
	uint8_t *own;  /* this process's entry */
	size_t own_len;
	uint8_t *given, *gathered; /* of the gathering in progress: round_len bytes of each process */
	size_t round_len;
	struct urom_domain_size *sizes; /* of all processes */
	size_t len_max, num_gathered;	/* of the longest entry; of each entry so far */
	uint8_t *directory;
	size_t directory_len;
	uint8_t digest[UROM_DIGEST_SIZE];
	LIST_HEAD(, urom_member) notifying;
};

#endif
