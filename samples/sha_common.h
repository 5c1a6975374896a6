/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the SHA samples: a started context with one buffer for the message and one for the digest. */
#ifndef SAMPLES_SHA_COMMON_H
#define SAMPLES_SHA_COMMON_H

#include <stdbool.h>
#include <stddef.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_sha.h>

#define MESSAGE_ROOM 4096
#define DIGEST_ROOM 64

struct desk {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_sha *sha;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *message, *digest; /* in memory: the message at its beginning, then the digest */
	char memory[MESSAGE_ROOM + DIGEST_ROOM];
	bool ended;
	doca_error_t status; /* of the completed task */
};

/* Copies the text to the message's memory, and does all but the task's configuration and the start. Prints errors. */
doca_error_t desk_open(struct desk *desk, const char *text);
void desk_close(struct desk *desk);

/* Submits a task and waits for its completion; the callback must set desk->ended and desk->status. */
doca_error_t desk_run(struct desk *desk, struct doca_task *task);

/* Prints the digest. */
void desk_print_digest(const struct desk *desk, const char *name);

#endif
