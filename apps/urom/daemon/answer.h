/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to clients. */
#ifndef UROM_DAEMON_ANSWER_H
#define UROM_DAEMON_ANSWER_H

#include "daemon.h"

/* An answer that does not reach the client marks it broken: clients_expire disconnects it. */
void client_answer(struct daemon *daemon, struct daemon_client *client, enum urom_kind kind, doca_error_t status,
		   uint64_t request, uint64_t subject, const void *body, size_t len);
void client_answer_text(struct daemon *daemon, struct daemon_client *client, enum urom_kind kind, doca_error_t status,
			uint64_t request, uint64_t subject, const char *text);
/* Admits the client to the worker and notifies both. AGAIN: the worker's socket is full, and nothing was sent. */
doca_error_t client_accept_request(struct daemon *daemon, const struct daemon_worker *worker,
				   const struct daemon_request *request);
void client_reject_request(struct daemon *daemon, uint64_t worker_id, const struct daemon_request *request, doca_error_t status,
			   const char *reason);
void client_notify_died(struct daemon *daemon, struct daemon_client *client, uint64_t worker_id, const char *reason);

#endif
