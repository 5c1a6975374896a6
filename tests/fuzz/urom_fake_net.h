/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A network of UCX workers in one process: what one worker sends arrives at another later. The input decides what happens when,
 * and what breaks: an operation completes immediately, later or never; messages of an endpoint stay in order; a completed put
 * lands later, and a flush completes after all puts have landed. As with UCX, only ucp_worker_progress() and ucp_ep_close_nbx()
 * call functions. When an operation completes, the network checks that its source has not changed, and ends the process if it
 * has.
 */
#ifndef UROM_FAKE_NET_H
#define UROM_FAKE_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ucp/api/ucp.h>

#include "urom_fake_input.h"

#define FAKE_NET_ADDRESS_LEN 20 /* begins with the worker's id, and this mark */
#define FAKE_NET_ADDRESS_MARK 0xad

/* honest: nobody misbehaves, so nothing that UCX still sends may change. Otherwise a worker may send anything, from valid
 * memory. */
void fake_net_begin(struct fake_input *input, bool honest);
/* From now on nothing breaks, and each ucp_worker_progress() does something if anything is pending. */
void fake_net_calm(void);
/* Returns true if nothing waits, and every object is freed. */
bool fake_net_is_empty(void);

/* Breaks an endpoint and its counterpart. for_good: also every other one that these two workers create. */
void fake_net_break(bool for_good);
/* A worker's process dies: nobody can connect to it any more. */
void fake_net_kill(uint64_t uid);
/* Repeats an earlier message, perhaps changed. */
void fake_net_replay(void);
/* Delivers a message of a peer that sends anything. */
void fake_net_send(uint64_t from, uint64_t to, unsigned id, const void *head, size_t head_len, const void *data, size_t len);
/* Lands a put that was sent; false: there is none. */
bool fake_net_land(void);

uint64_t fake_net_uid(ucp_worker_h worker);

/* Supplied by the target: the memory of a remote address, for a key whose packed form began with that byte. It ends the process
 * if the memory must not be accessed. data: of a put; NULL: of an atomic operation. */
void *fake_net_memory(uint8_t key, uint64_t address, const uint8_t *data, size_t len);

#endif
