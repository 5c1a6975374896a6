/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "worker.h"

/* ---- directories ---- */

static struct worker_domain *find_domain(const struct worker *worker, uint64_t client, uint64_t number)
{
	struct worker_domain *domain;
	LIST_FOREACH(domain, &worker->domains, next) {
		if (domain->number == number && domain->client == client)
			return domain;
	}
	return NULL;
}

static void free_domain(struct worker *worker, struct worker_domain *domain)
{
	LIST_REMOVE(domain, next);
	urom_directory_close(domain->directory);
	free(domain->data);
	free(domain);
	worker->num_domains--;
}

static struct worker_domain *begin_domain(struct worker *worker, uint64_t client, const struct urom_head *head, const char **reason)
{
	*reason = head->size > UROM_DIRECTORY_MAX ? "it is larger than 256 MiB" : "the worker is in as many domains as it can be";
	if (head->size > UROM_DIRECTORY_MAX || worker->num_domains == WORKER_DOMAINS_MAX)
		return NULL;
	struct worker_domain *domain = (struct worker_domain *)calloc(1, sizeof(*domain));
	*reason = "there is no memory for it";
	if (domain == NULL)
		return NULL;
	domain->number = head->subject;
	domain->client = client;
	domain->size = head->size;
	domain->data = (uint8_t *)malloc(head->size + 1);
	LIST_INSERT_HEAD(&worker->domains, domain, next);
	worker->num_domains++;
	if (domain->data != NULL)
		return domain;
	free_domain(worker, domain);
	return NULL;
}

doca_error_t domains_take_part(struct worker *worker, uint64_t client, const struct urom_head *head, const void *body, size_t len,
			       const char **reason)
{
	struct worker_domain *domain = find_domain(worker, client, head->subject);
	if (domain == NULL && head->request == 0)
		domain = begin_domain(worker, client, head, reason);
	else if (domain == NULL)
		return DOCA_ERROR_IN_PROGRESS; /* the rest of one that was refused */
	if (domain == NULL)
		return DOCA_ERROR_NO_MEMORY;
	if (domain->directory != NULL || head->size != domain->size || head->request != domain->received ||
	    len > domain->size - domain->received) {
		*reason = "its pieces do not fit each other";
		free_domain(worker, domain);
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(domain->data + domain->received, body, len);
	domain->received += len;
	if (domain->received < domain->size)
		return DOCA_ERROR_IN_PROGRESS;
	doca_error_t result = urom_directory_open(domain->data, domain->size, &domain->directory, reason);
	if (result == DOCA_SUCCESS)
		domain->data = NULL; /* the directory's */
	else
		free_domain(worker, domain);
	return result;
}

void domains_leave(struct worker *worker, uint64_t client, uint64_t number)
{
	struct worker_domain *domain = find_domain(worker, client, number);
	if (domain != NULL)
		free_domain(worker, domain);
}

void domains_forget(struct worker *worker, uint64_t client)
{
	for (struct worker_domain *domain = LIST_FIRST(&worker->domains), *next; domain != NULL; domain = next) {
		next = LIST_NEXT(domain, next);
		if (domain->client == client)
			free_domain(worker, domain);
	}
}

/* ---- what plugins look up: in every domain that the worker is in ---- */

static const struct worker_plugin *plugin_of(const struct urom_worker_ctx *ctx)
{
	return (const struct worker_plugin *)(const void *)((const char *)ctx - offsetof(struct worker_plugin, ctx));
}

static doca_error_t look_up_addr(struct urom_worker_ctx *ctx, uint64_t domain_id, void **addr)
{
	const struct worker_plugin *plugin = plugin_of(ctx);
	const struct worker_domain *domain;
	struct urom_blob address;
	if (addr == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	LIST_FOREACH(domain, &plugin->worker->domains, next) {
		if (domain->directory == NULL || urom_directory_address(domain->directory, domain_id, plugin->id, &address) != DOCA_SUCCESS)
			continue;
		*addr = (void *)address.data;
		return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t look_up_seg(struct urom_worker_ctx *ctx, uint64_t domain_id, uint64_t va, int *seg)
{
	const struct worker_domain *domain;
	if (seg == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	LIST_FOREACH(domain, &plugin_of(ctx)->worker->domains, next) {
		if (domain->directory != NULL && urom_directory_segment(domain->directory, domain_id, va, seg) == DOCA_SUCCESS)
			return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t look_up_key(struct urom_worker_ctx *ctx, uint64_t domain_id, int seg, bool want_memh, size_t *len, void **key)
{
	const struct worker_domain *domain;
	struct urom_blob memh, mkey;
	if (len == NULL || key == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	LIST_FOREACH(domain, &plugin_of(ctx)->worker->domains, next) {
		if (domain->directory == NULL || urom_directory_keys(domain->directory, domain_id, seg, &memh, &mkey) != DOCA_SUCCESS)
			continue;
		*key = (void *)(want_memh ? memh.data : mkey.data);
		*len = want_memh ? memh.len : mkey.len;
		return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t look_up_memh(struct urom_worker_ctx *ctx, uint64_t domain_id, int seg, size_t *len, void **memh)
{
	return look_up_key(ctx, domain_id, seg, true, len, memh);
}

static doca_error_t look_up_mkey(struct urom_worker_ctx *ctx, uint64_t domain_id, int seg, size_t *len, void **rkey)
{
	return look_up_key(ctx, domain_id, seg, false, len, rkey);
}

const struct urom_domain_lookups_iface domain_lookups = {look_up_addr, look_up_seg, look_up_memh, look_up_mkey};
