/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the service and of its workers that can send any message of the protocol. */
#ifndef TEST_RAW_CLIENT_H
#define TEST_RAW_CLIENT_H

#include <stdbool.h>

#include "support/urom_rig.h"
#include "urom/auth.h"
#include "urom/comm/comm.h"
#include "urom/proto.h"

struct raw_client {
	struct sf_comm *comm;
	struct sf_comm_peer *peer; /* NULL: the connection has ended */
	struct urom_head last;
	char text[UROM_TEXT_MAX]; /* of the last answer, if it has a text */
	struct urom_challenge challenge;
	struct urom_spawned spawned; /* from the last answer of that kind */
	uint32_t num_answers, num_spawned, num_full;
	int lost;
};

extern struct raw_client client;

void client_open(unsigned port);
/* Connects to a worker. */
void client_open_worker(unsigned port, const struct urom_spawned *spawned);
void client_send(const void *head, size_t head_len, const void *body, size_t len);
void client_say(enum urom_kind kind, uint64_t request, const void *body, size_t len);
/* Waits for the flag, or until the counter has reached wanted; either may be NULL. Returns false at the deadline. */
bool client_await(const int *flag, const uint32_t *count, uint32_t wanted);
/* Authenticates as a program of this user does. */
void client_authenticate(void);
/* Writes the body of a UROM_SPAWN for any worker with these plugins. Returns its length. */
size_t client_spawn_body(uint64_t plugins, uint8_t *body, size_t room);
void client_close(void);

#endif
