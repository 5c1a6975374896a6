/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers: their start, their clients, their end. */
#ifndef UROM_DAEMON_WORKERS_H
#define UROM_DAEMON_WORKERS_H

#include "daemon.h"

struct daemon_worker *workers_find(struct daemon *daemon, uint64_t id);
/* Finds or starts the worker; the request is answered then or later. */
void workers_want(struct daemon *daemon, struct daemon_client *client, uint64_t tag, const struct urom_spawn *spawn);
/* One context of the client less; the worker ends with its last. */
void workers_release(struct daemon *daemon, struct daemon_client *client, uint64_t id);
/* The client is gone, with all its contexts. */
void workers_forget(struct daemon *daemon, struct daemon_client *client);
/* Children have ended, or a worker's socket has something. */
void workers_reap(struct daemon *daemon);
void workers_read(struct daemon *daemon, struct daemon_worker *worker);
/* Ends those whose time is over; the next time at which something is due, or UINT64_MAX. */
uint64_t workers_expire(struct daemon *daemon, uint64_t now);
void workers_end_all(struct daemon *daemon);

#endif
