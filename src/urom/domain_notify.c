/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifies a process's workers of a domain. Each is offered the directory by its digest, and gets it in pieces when it requests
 * it. A worker that several contexts or processes offer the same directory requests it from one of them.
 */
#include "urom/domain_notify.h"

#include <stdlib.h>

#include "base/log.h"
#include "urom/domain.h"
#include "urom/domain_exchange.h"
#include "urom/worker.h"

static bool is_there(const struct urom_member *member)
{
	return member->worker != NULL && !member->gone && member->worker->phase == UROM_WORKER_ON;
}

void urom_domain_notify_begin(struct doca_urom_domain *domain)
{
	domain->phase = UROM_DOMAIN_NOTIFYING;
	for (size_t i = 0; i < domain->num_members; i++) {
		struct urom_member *member = &domain->members[i];

		if (!is_there(member)) {
			urom_domain_fail(domain, "a worker ended while the domain started", DOCA_ERROR_CONNECTION_ABORTED);
			return;
		}
		LIST_INSERT_HEAD(&domain->notifying, member, of_notifying);
	}
}

static doca_error_t member_offer(struct urom_member *member)
{
	const struct doca_urom_domain *domain = member->domain;
	struct urom_head head = urom_head_make(UROM_DOMAIN_OFFER, DOCA_SUCCESS, 0, domain->number);

	if (!STAILQ_EMPTY(&member->worker->leaves)) /* first: a process is in few domains only */
		return DOCA_ERROR_AGAIN;
	head.size = domain->directory_len;
	doca_error_t result = sf_comm_send(member->worker->comm, member->worker->peer, &head, sizeof(head), domain->digest,
					   sizeof(domain->digest));
	member->offered = result == DOCA_SUCCESS;
	return result;
}

static doca_error_t send_part(struct urom_member *member)
{
	const struct doca_urom_domain *domain = member->domain;
	struct urom_head head = urom_head_make(UROM_DOMAIN_PART, DOCA_SUCCESS, member->sent, domain->number);
	size_t left = domain->directory_len - member->sent, len = left < UROM_DIRECTORY_PART ? left : UROM_DIRECTORY_PART;

	head.size = domain->directory_len;
	doca_error_t result = sf_comm_send(member->worker->comm, member->worker->peer, &head, sizeof(head),
					   domain->directory + member->sent, len);
	if (result == DOCA_SUCCESS)
		member->sent += len;
	return result;
}

/* Only waits for its answer. */
static bool member_is_waiting(const struct urom_member *member)
{
	return is_there(member) && member->offered && !member->ready &&
	       (!member->wanted || member->sent == member->domain->directory_len);
}

bool urom_domain_notify_is_due(const struct doca_urom_domain *domain)
{
	const struct urom_member *member;

	LIST_FOREACH (member, &domain->notifying, of_notifying) {
		if (!member_is_waiting(member))
			return true;
	}
	return LIST_EMPTY(&domain->notifying);
}

/* Sends as much as the connection accepts. */
static bool member_notify(struct urom_member *member)
{
	struct doca_urom_domain *domain = member->domain;
	doca_error_t result = member->offered ? DOCA_SUCCESS : member_offer(member);
	bool any = false;

	while (result == DOCA_SUCCESS && member->wanted && member->sent < domain->directory_len) {
		result = send_part(member);
		any = true;
	}
	if (result != DOCA_SUCCESS && result != DOCA_ERROR_AGAIN) {
		urom_domain_fail(domain, "a worker cannot be sent the directory", result);
		return true;
	}
	return any;
}

bool urom_domain_notify(struct doca_urom_domain *domain)
{
	bool any = false;

	for (struct urom_member *member = LIST_FIRST(&domain->notifying), *next; member != NULL; member = next) {
		next = LIST_NEXT(member, of_notifying);
		if (!is_there(member)) {
			urom_domain_fail(domain, "a worker ended while the domain started", DOCA_ERROR_CONNECTION_ABORTED);
			return true;
		}
		if (member->ready)
			LIST_REMOVE(member, of_notifying);
		else
			any |= member_notify(member);
		if (domain->phase != UROM_DOMAIN_NOTIFYING)
			return true;
	}
	if (!LIST_EMPTY(&domain->notifying))
		return any;
	urom_domain_free_exchange(domain);
	domain->phase = UROM_DOMAIN_ON;
	return true;
}

void urom_domain_notify_more(struct doca_urom_domain *domain)
{
	struct urom_member *member;

	LIST_FOREACH (member, &domain->notifying, of_notifying) {
		if (is_there(member) && !member->ready && domain->phase == UROM_DOMAIN_NOTIFYING)
			(void)member_notify(member);
	}
}

static doca_error_t send_leave(struct doca_urom_worker *worker, uint64_t domain)
{
	const struct urom_head head = urom_head_make(UROM_DOMAIN_LEAVE, DOCA_SUCCESS, 0, domain);

	return sf_comm_send(worker->comm, worker->peer, &head, sizeof(head), NULL, 0);
}

static void member_leave(struct urom_member *member)
{
	struct doca_urom_worker *worker = member->worker;

	if (!is_there(member)) /* the process forgets everything of a client that leaves */
		return;
	if (STAILQ_EMPTY(&worker->leaves) && send_leave(worker, member->domain->number) != DOCA_ERROR_AGAIN)
		return;
	member->leave->domain = member->domain->number;
	STAILQ_INSERT_TAIL(&worker->leaves, member->leave, next);
	member->leave = NULL;
}

void urom_domain_leave(struct doca_urom_domain *domain)
{
	for (size_t i = 0; i < domain->num_members; i++) {
		struct urom_member *member = &domain->members[i];

		if (member->offered)
			member_leave(member);
		member->offered = false;
	}
}

bool urom_leaves_send(struct doca_urom_worker *worker)
{
	bool any = false;

	for (struct urom_leave *first; worker->phase == UROM_WORKER_ON && (first = STAILQ_FIRST(&worker->leaves)) != NULL;) {
		if (send_leave(worker, first->domain) == DOCA_ERROR_AGAIN)
			break;
		STAILQ_REMOVE_HEAD(&worker->leaves, next);
		free(first);
		any = true;
	}
	return any;
}

bool urom_leaves_are_due(const struct doca_urom_worker *worker)
{
	return !STAILQ_EMPTY(&worker->leaves) && worker->phase == UROM_WORKER_ON && sf_comm_backlog(worker->peer) == 0;
}

void urom_domain_answered(struct doca_urom_worker *worker, const struct urom_head *head, const void *body, size_t len)
{
	struct urom_member *member;
	char reason[UROM_TEXT_MAX];

	LIST_FOREACH (member, &worker->members, of_worker) {
		if (member->domain->number == head->subject && member->domain->phase == UROM_DOMAIN_NOTIFYING &&
		    member->offered && !member->gone)
			break;
	}
	if (member == NULL)
		return;
	sf_ctx_kick(&member->domain->ctx);
	if (head->status != DOCA_SUCCESS) {
		urom_text_parse(body, len, reason);
		urom_domain_fail(member->domain, reason, (doca_error_t)head->status);
		return;
	}
	member->wanted = head->kind == UROM_DOMAIN_WANTED;
	member->ready = head->kind == UROM_DOMAIN_READY;
	member->sent = 0;
}

void urom_domains_kick(const struct doca_urom_worker *worker)
{
	const struct urom_member *member;

	LIST_FOREACH (member, &worker->members, of_worker)
		sf_ctx_kick(&member->domain->ctx);
}

void urom_domains_lose(struct doca_urom_worker *worker)
{
	struct urom_member *member;

	urom_domains_kick(worker);
	LIST_FOREACH (member, &worker->members, of_worker)
		member->gone = true;
	for (struct urom_leave *first; (first = STAILQ_FIRST(&worker->leaves)) != NULL;) {
		STAILQ_REMOVE_HEAD(&worker->leaves, next);
		free(first);
	}
}

void urom_domains_forget(struct doca_urom_worker *worker)
{
	for (struct urom_member *member; (member = LIST_FIRST(&worker->members)) != NULL;) {
		LIST_REMOVE(member, of_worker);
		member->worker = NULL;
	}
}
