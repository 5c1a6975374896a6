/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers: their start, their clients, their end. */
#ifndef UROM_DAEMON_WORKERS_H
#define UROM_DAEMON_WORKERS_H

#include "daemon.h"

struct daemon_worker *workers_find(struct daemon *daemon, uint64_t id);
/* Finds or starts the worker, and answers the request now or later. */
void workers_want(struct daemon *daemon, struct daemon_client *client, uint64_t tag, const struct urom_spawn *spawn);
/* Drops one context of the client; the worker ends with the last one. */
void workers_release(struct daemon *daemon, struct daemon_client *client, uint64_t id);
/* Drops all contexts of a client that disconnected. */
void workers_forget(struct daemon *daemon, struct daemon_client *client);
/* Reaps children that have ended. */
void workers_reap(struct daemon *daemon);
void workers_read(struct daemon *daemon, struct daemon_worker *worker);
/* Ends workers whose time is over. Returns when the next call is due, or UINT64_MAX. */
uint64_t workers_expire(struct daemon *daemon, uint64_t now);
void workers_end_all(struct daemon *daemon);

#endif
