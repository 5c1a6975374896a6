/* SPDX-License-Identifier: BSD-3-Clause */
/* A client of the service, and of its workers, that speaks the protocol as a test wants it. */
#ifndef TEST_RAW_CLIENT_H
#define TEST_RAW_CLIENT_H

#include <stdbool.h>

#include "support/urom_rig.h"
#include "urom/auth.h"
#include "urom/comm/comm.h"
#include "urom/proto.h"

struct raw_client {
	struct sf_comm *comm;
	struct sf_comm_peer *peer; /* NULL: it is gone */
	struct urom_head last;
	char text[UROM_TEXT_MAX]; /* of the last, if it is one */
	struct urom_challenge challenge;
	struct urom_spawned spawned; /* the last */
	uint32_t num_answers, num_spawned, num_full;
	int lost;
};

extern struct raw_client client;

void client_open(unsigned port);
/* A connection to a worker. */
void client_open_worker(unsigned port, const struct urom_spawned *spawned);
void client_send(const void *head, size_t head_len, const void *body, size_t len);
void client_say(enum urom_kind kind, uint64_t request, const void *body, size_t len);
/* Until the flag, or so many of that count; either may be NULL. False: the deadline came. */
bool client_await(const int *flag, const uint32_t *count, uint32_t wanted);
/* As a program of this user does. */
void client_authenticate(void);
/* A body of UROM_SPAWN for any worker with these plugins; its bytes. */
size_t client_spawn_body(uint64_t plugins, uint8_t *body, size_t room);
void client_close(void);

#endif
