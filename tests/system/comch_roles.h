/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the two processes of a Comch test do. The first is the server and drives the test; the other is the test's program again,
 * with a role as its argument. It is a client unless the role says otherwise, and ends when the connection does.
 */
#ifndef TESTS_SYSTEM_COMCH_ROLES_H
#define TESTS_SYSTEM_COMCH_ROLES_H

#include "support/comch_side.h"

#define SERVER_NAME_MAX 64
/* For a gibibyte there and back: the first write to each page of a fresh virtual machine takes its host 10 times what later ones
 * take, and tests beside it want as much. */
#define HUGE_WAIT_S 180

extern char server_name[SERVER_NAME_MAX];
extern struct comch_side own;
extern struct data_side consumer, producer;

bool connected(void);
/* Returns when the progress engine's handle is readable; fails the test when nothing wakes it. */
void sleep_until_due(struct doca_pe *pe);

/* ---- the other process ---- */

/* echo, data_echo, huge_echo, busy, server or sleeper; returns the exit status. */
int run_role(const char *role);

/* ---- the first process ---- */

/* A server name that no other test has. */
void new_name(void);
/* Starts the server under a new name. */
void serve(void);
void wait_for_client(void);

/* A consumer and a producer with so much memory each, and the peer's consumer known. */
void start_data(size_t memory_len);
void end_data(void);
/* Sends one message to a peer that echoes data, and compares what comes back. */
void echo_once(size_t len, uint32_t number);

#endif
