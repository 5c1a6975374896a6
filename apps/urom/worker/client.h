/* SPDX-License-Identifier: BSD-3-Clause */
/* A host that joined, and its unanswered commands. */
#ifndef UROM_WORKER_CLIENT_H
#define UROM_WORKER_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include <doca_urom_plugin.h>

#include "../own_time.h"
#include "urom/comm/comm.h"
#include "urom/proto.h"

struct worker;

struct worker_client {
	TAILQ_ENTRY(worker_client) next;
	struct sf_comm_peer *peer;
	uint64_t dest_id;	  /* in the descriptors of its commands */
	uint64_t num_outstanding; /* its unanswered commands */
	bool joined;
	pid_t process;		       /* 0: unknown */
	struct own_time time;	       /* until it has joined */
	bool broken;		       /* an answer to it was lost: it must be disconnected */
	ucs_list_link_t notifications; /* to be sent */
	TAILQ_ENTRY(worker_client) in_answered;
};

/* Answers a command that no plugin will answer: the host's task ends with status. */
doca_error_t client_answer_for_plugin(struct worker *worker, const struct worker_client *client, uint64_t type,
				      uint64_t urom_context, doca_error_t status);
/* Counts an answered command. */
void client_answered(struct worker *worker, struct worker_client *client);
/* NULL: the client has left or never existed. */
struct worker_client *clients_find(const struct worker *worker, uint64_t dest_id);
/* AGAIN: as sf_comm_send. SUCCESS also if the client has left. */
doca_error_t clients_send(struct worker *worker, uint64_t dest_id, const struct urom_head *head);

#endif
