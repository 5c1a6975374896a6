/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two processes of a Comch test do. The first is the server and drives the test. The other runs the test's program
 * again, with a role as its argument; it is a client unless the role says otherwise, and exits when the connection ends.
 */
#ifndef TESTS_SYSTEM_COMCH_ROLES_H
#define TESTS_SYSTEM_COMCH_ROLES_H

#include "support/comch_side.h"

#define SERVER_NAME_MAX 64
/* Time for a gibibyte in each direction. On a fresh virtual machine the first write to each page takes 10 times as long as
 * later ones, and tests that run in parallel need memory, too. */
#define HUGE_WAIT_S 180

extern char server_name[SERVER_NAME_MAX];
extern struct comch_side own;
extern struct data_side consumer, producer;

bool connected(void);
/* Returns when the progress engine's handle is readable; fails the test if no event makes it so. */
void sleep_until_due(struct doca_pe *pe);

/* ---- the other process ---- */

/* echo, data_echo, huge_echo, busy, server or sleeper; returns the exit status. */
int run_role(const char *role);

/* ---- the first process ---- */

/* Sets a server name that no other test uses. */
void new_name(void);
/* Starts the server under a new name. */
void serve(void);
void wait_for_client(void);

/* Starts a consumer and a producer with memory_len bytes each, and waits until the peer's consumer is known. */
void start_data(size_t memory_len);
void end_data(void);
/* Sends one message to a peer that echoes data, and compares what it returns. */
void echo_once(size_t len, uint32_t number);

#endif
