/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of workers to the daemon, and the messages that carry them. */
#ifndef UROM_SERVICE_REQUEST_H
#define UROM_SERVICE_REQUEST_H

#include <stdatomic.h>
#include <sys/queue.h>
#include <sys/socket.h>

#include <doca_urom.h>

#include "urom/proto.h"

enum urom_request_state { UROM_REQUEST_NONE, UROM_REQUEST_QUEUED, UROM_REQUEST_SENT, UROM_REQUEST_DONE };

/* Everything except body is guarded by the service's lock until DONE. */
struct urom_request {
	TAILQ_ENTRY(urom_request) next;
	_Atomic(enum urom_request_state) state; /* DONE is written last, and the request is the worker's again */
	enum urom_kind kind;			/* UROM_SPAWN or UROM_RELEASE */
	uint64_t request, subject;
	uint8_t *body; /* the worker's */
	size_t body_len;
	int wake_fd; /* the worker's eventfd */
	doca_error_t status;
	char reason[UROM_TEXT_MAX]; /* when status is not SUCCESS */
	struct urom_spawned spawned;
	pid_t process;			 /* the worker's process; 0: not visible from here */
	struct sockaddr_storage service; /* the daemon's address */
	socklen_t service_len;
};

TAILQ_HEAD(urom_requests, urom_request);

doca_error_t urom_service_send(struct doca_urom_service *service, enum urom_kind kind, uint64_t request, uint64_t subject,
			       const void *body, size_t body_len);
/* Posts a request, from any thread. Without a session it is DONE immediately. */
void urom_request_post(struct doca_urom_service *service, struct urom_request *request);
/* Sends queued requests, and ends all of them when the session has ended. Returns true if anything was done. */
bool urom_requests_run(struct doca_urom_service *service);
/* Handles the daemon's answer to a request. UNEXPECTED: there is no such request. */
doca_error_t urom_request_answered(struct doca_urom_service *service, const struct urom_head *head, const void *body, size_t len);
/* Ends all requests; later ones are rejected. */
void urom_requests_fail_all(struct doca_urom_service *service);

#endif
