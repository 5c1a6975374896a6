/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names the server's channel to an orchestrator that was started with another name: the server answers each client of a
 * channel with a fixed name with the name of its own channel. Of several servers on one function the first one answers.
 */
#ifndef REMOTE_OFFLOAD_DIRECTORY_H
#define REMOTE_OFFLOAD_DIRECTORY_H

#include <stdbool.h>
#include <stddef.h>

#include <doca_comch.h>
#include <doca_dev.h>
#include <doca_pe.h>

struct directory {
	struct doca_comch_server *server; /* NULL if another server answers */
	struct doca_pe *pe;
	char channel_name[256];
};

/* Runs on the caller's progress engine. A failure is no error: only a hint is lost. */
void directory_open(struct directory *directory, struct doca_dev *dev, struct doca_dev_rep *rep, struct doca_pe *pe,
		    const char *channel_name);
void directory_close(struct directory *directory);

/* Asks and waits for a short time. True when a server has answered with its channel. */
bool directory_ask(struct doca_dev *dev, char *channel_name, size_t size);

#endif
