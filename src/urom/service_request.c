/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom/service_request.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "urom/service.h"

doca_error_t urom_service_send(struct doca_urom_service *service, enum urom_kind kind, uint64_t request, uint64_t subject,
			       const void *body, size_t body_len)
{
	struct urom_head head = urom_head_make(kind, DOCA_SUCCESS, request, subject);

	if (service->peer == NULL)
		return DOCA_ERROR_NOT_CONNECTED;
	return sf_comm_send(service->comm, service->peer, &head, sizeof(head), body, body_len);
}

static void request_finish(struct urom_request *request, doca_error_t status, const char *reason)
{
	const uint64_t one = 1;
	int wake_fd = request->wake_fd; /* the request may be freed once it is DONE; its waiter closes this descriptor later */

	request->status = status;
	snprintf(request->reason, sizeof(request->reason), "%s", reason);
	atomic_store_explicit(&request->state, UROM_REQUEST_DONE, memory_order_release);
	(void)!write(wake_fd, &one, sizeof(one));
}

void urom_request_post(struct doca_urom_service *service, struct urom_request *request)
{
	const uint64_t one = 1;

	pthread_mutex_lock(&service->lock);
	if (service->takes_requests) {
		atomic_store_explicit(&request->state, UROM_REQUEST_QUEUED, memory_order_relaxed);
		TAILQ_INSERT_TAIL(&service->queued, request, next);
		atomic_store_explicit(&service->any_queued, true, memory_order_release);
		(void)!write(service->wake_fd, &one, sizeof(one));
	} else {
		request_finish(request, DOCA_ERROR_NOT_CONNECTED, "the service context is not RUNNING");
	}
	pthread_mutex_unlock(&service->lock);
}

static void finish_all(struct urom_requests *requests)
{
	for (struct urom_request *request; (request = TAILQ_FIRST(requests)) != NULL;) {
		TAILQ_REMOVE(requests, request, next);
		request_finish(request, DOCA_ERROR_CONNECTION_ABORTED, "the connection to the service ended");
	}
}

/* Returns false if no more can be sent to the daemon now. */
static bool send_first(struct doca_urom_service *service)
{
	struct urom_request *request = TAILQ_FIRST(&service->queued);

	request->request = ++service->last_request;
	doca_error_t result =
		urom_service_send(service, request->kind, request->request, request->subject, request->body, request->body_len);
	if (result == DOCA_ERROR_AGAIN)
		return false;
	TAILQ_REMOVE(&service->queued, request, next);
	if (result == DOCA_SUCCESS) {
		atomic_store_explicit(&request->state, UROM_REQUEST_SENT, memory_order_relaxed);
		TAILQ_INSERT_TAIL(&service->sent, request, next);
	} else {
		request_finish(request, result, "it cannot be sent to the service");
	}
	return true;
}

bool urom_requests_run(struct doca_urom_service *service)
{
	bool any = false;

	pthread_mutex_lock(&service->lock);
	if (service->session == UROM_SESSION_ENDED) {
		service->takes_requests = false;
		any = !TAILQ_EMPTY(&service->queued) || !TAILQ_EMPTY(&service->sent);
		finish_all(&service->queued);
		finish_all(&service->sent);
	}
	while (!TAILQ_EMPTY(&service->queued) && send_first(service))
		any = true;
	atomic_store_explicit(&service->any_queued, !TAILQ_EMPTY(&service->queued), memory_order_release);
	pthread_mutex_unlock(&service->lock);
	return any;
}

/* Returns the worker's process; 0 if daemon and program number processes differently, as the daemon's own number shows. */
static pid_t visible_process(const struct doca_urom_service *service, const struct urom_spawned *spawned)
{
	pid_t daemon = sf_comm_process(service->peer);

	return daemon > 0 && (uint64_t)daemon == spawned->service_process && spawned->process <= INT_MAX ? (pid_t)spawned->process
													 : 0;
}

/* An answer without a request is an error: its intended request would wait for ever. */
doca_error_t urom_request_answered(struct doca_urom_service *service, const struct urom_head *head, const void *body, size_t len)
{
	enum urom_kind kind = head->kind == UROM_SPAWNED ? UROM_SPAWN : UROM_RELEASE;
	struct urom_request *request;
	char reason[UROM_TEXT_MAX] = "";
	doca_error_t status = (doca_error_t)head->status;

	pthread_mutex_lock(&service->lock);
	TAILQ_FOREACH (request, &service->sent, next) {
		if (request->request == head->request && request->kind == kind)
			break;
	}
	bool found = request != NULL;
	if (found) {
		TAILQ_REMOVE(&service->sent, request, next);
		if (status != DOCA_SUCCESS)
			urom_text_parse(body, len, reason);
		else if (kind == UROM_SPAWN)
			status = urom_spawned_parse(body, len, &request->spawned);
		request->process = visible_process(service, &request->spawned);
		request->service = service->reached;
		request->service_len = service->reached_len;
		request_finish(request, status,
			       status == DOCA_ERROR_INVALID_VALUE && reason[0] == '\0' ? "the service's answer is malformed"
										       : reason);
	}
	pthread_mutex_unlock(&service->lock);
	return found ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED;
}

void urom_requests_fail_all(struct doca_urom_service *service)
{
	pthread_mutex_lock(&service->lock);
	service->takes_requests = false;
	finish_all(&service->queued);
	finish_all(&service->sent);
	atomic_store_explicit(&service->any_queued, false, memory_order_relaxed);
	pthread_mutex_unlock(&service->lock);
}
