/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients: their connections and messages. */
#ifndef UROM_WORKER_CLIENTS_H
#define UROM_WORKER_CLIENTS_H

#include "worker.h"

extern const struct sf_comm_handler clients_handler;

/* Fails the host's task of a command that a plugin left in its list. */
void clients_reject_command(struct worker *worker, const struct urom_worker_cmd_desc *desc);
/* Disconnects a broken client. */
void client_disconnect(struct worker *worker, struct worker_client *client);
void clients_drop_all(struct worker *worker);
/* Disconnects those that have not joined in time. */
void clients_expire(struct worker *worker);

#endif
