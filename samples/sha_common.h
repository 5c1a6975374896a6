/* SPDX-License-Identifier: BSD-3-Clause */
/* What the SHA samples share: a started context with one buffer for the message and one for the digest. */
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
	struct doca_buf *message, *digest; /* of memory: the message at its beginning, the digest behind it */
	char memory[MESSAGE_ROOM + DIGEST_ROOM];
	bool ended;
	doca_error_t status; /* of the task that ended */
};

/* Puts the text into the message's memory, and does all but the task's configuration and the start. Says what failed. */
doca_error_t desk_open(struct desk *desk, const char *text);
void desk_close(struct desk *desk);

/* Submits a task and waits for its end; desk->ended and desk->status are the callback's to set. */
doca_error_t desk_run(struct desk *desk, struct doca_task *task);

/* Prints what the digest's buffer holds. */
void desk_print_digest(const struct desk *desk, const char *name);

#endif
