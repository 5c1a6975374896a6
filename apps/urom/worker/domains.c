/* SPDX-License-Identifier: BSD-3-Clause */
#include "domains.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "urom/auth.h"
#include "worker.h"

/* ---- directories ---- */

static struct worker_domain *find_domain(const struct worker *worker, uint64_t client, uint64_t number)
{
	struct worker_domain *domain;

	LIST_FOREACH (domain, &worker->domains, next) {
		if (domain->number == number && domain->client == client)
			return domain;
	}
	return NULL;
}

static void set_due(struct worker *worker, struct worker_domain *domain, enum worker_domain_due due)
{
	domain->due = due;
	worker->domains_due = true;
}

static void directory_request(struct worker *worker, struct worker_directory *directory, struct worker_domain *sender)
{
	directory->sender = sender;
	directory->received = 0;
	set_due(worker, sender, WORKER_DOMAIN_WANTED);
}

/* The sender will not send the rest: requests the directory from another client that offered it. */
static void ask_another(struct worker *worker, struct worker_directory *directory)
{
	struct worker_domain *domain;

	LIST_FOREACH (domain, &worker->domains, next) {
		if (domain->directory != directory)
			continue;
		directory_request(worker, directory, domain);
		return;
	}
}

static void free_directory(struct worker *worker, struct worker_directory *directory)
{
	LIST_REMOVE(directory, next);
	worker->directory_bytes -= directory->size;
	urom_directory_close(directory->directory);
	free(directory->data);
	free(directory);
}

static void free_domain(struct worker *worker, struct worker_domain *domain)
{
	struct worker_directory *directory = domain->directory;

	LIST_REMOVE(domain, next);
	assert(worker->num_domains > 0);
	worker->num_domains--;
	if (--directory->num_domains == 0)
		free_directory(worker, directory);
	else if (directory->sender == domain)
		ask_another(worker, directory);
	free(domain);
}

/* ---- offers ---- */

static struct worker_directory *find_directory(const struct worker *worker, const uint8_t *digest, size_t size)
{
	struct worker_directory *directory;

	LIST_FOREACH (directory, &worker->directories, next) {
		if (directory->size == size && memcmp(directory->digest, digest, UROM_DIGEST_SIZE) == 0)
			return directory;
	}
	return NULL;
}

static struct worker_directory *begin_directory(struct worker *worker, const uint8_t *digest, size_t size)
{
	struct worker_directory *directory = (struct worker_directory *)calloc(1, sizeof(*directory));

	if (directory == NULL)
		return NULL;
	directory->data = (uint8_t *)malloc(size + WORKER_DIRECTORY_SLACK);
	if (directory->data == NULL) {
		free(directory);
		return NULL;
	}
	memset(directory->data + size, 0xff, WORKER_DIRECTORY_SLACK);
	memcpy(directory->digest, digest, UROM_DIGEST_SIZE);
	directory->size = size;
	worker->directory_bytes += size;
	LIST_INSERT_HEAD(&worker->directories, directory, next);
	return directory;
}

static doca_error_t check_offer(const struct worker *worker, uint64_t client, const struct urom_head *head, size_t len,
				const struct worker_directory *known, const char **reason)
{
	*reason = len != UROM_DIGEST_SIZE ? "an offer holds a digest" : "the client has offered that number before";
	if (len != UROM_DIGEST_SIZE || find_domain(worker, client, head->subject) != NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*reason = "its directory is larger than 256 MiB";
	if (head->size > UROM_DIRECTORY_MAX)
		return DOCA_ERROR_TOO_BIG;
	*reason = "the worker is in 1024 domains, the maximum";
	if (worker->num_domains == WORKER_DOMAINS_MAX)
		return DOCA_ERROR_FULL;
	*reason = "the directories of the worker's domains exceed 512 MiB with this one";
	return known == NULL && head->size > WORKER_DIRECTORY_BYTES - worker->directory_bytes ? DOCA_ERROR_FULL : DOCA_SUCCESS;
}

doca_error_t domains_add_offer(struct worker *worker, uint64_t client, const struct urom_head *head, const void *body, size_t len,
			       const char **reason)
{
	const uint8_t *digest = (const uint8_t *)body;
	struct worker_directory *directory = len == UROM_DIGEST_SIZE ? find_directory(worker, digest, head->size) : NULL;
	doca_error_t result = check_offer(worker, client, head, len, directory, reason);

	if (result != DOCA_SUCCESS)
		return result;
	*reason = "no memory for it";
	struct worker_domain *domain = (struct worker_domain *)calloc(1, sizeof(*domain));
	bool is_new = directory == NULL;
	if (domain != NULL && is_new)
		directory = begin_directory(worker, digest, head->size);
	if (domain == NULL || directory == NULL) {
		free(domain);
		return DOCA_ERROR_NO_MEMORY;
	}
	domain->number = head->subject;
	domain->client = client;
	domain->directory = directory;
	directory->num_domains++;
	LIST_INSERT_HEAD(&worker->domains, domain, next);
	worker->num_domains++;
	if (is_new)
		directory_request(worker, directory, domain);
	else if (directory->directory != NULL)
		set_due(worker, domain, WORKER_DOMAIN_READY);
	return DOCA_SUCCESS;
}

/* ---- pieces ---- */

/* Checks a complete directory against the offered digest. */
static doca_error_t directory_finish(struct worker *worker, struct worker_directory *directory, const char **reason)
{
	uint8_t digest[UROM_DIGEST_SIZE];
	struct worker_domain *domain;
	doca_error_t result = urom_digest(directory->data, directory->size, digest);

	*reason = "its bytes do not match the offered digest";
	if (result == DOCA_SUCCESS && memcmp(digest, directory->digest, sizeof(digest)) != 0)
		result = DOCA_ERROR_INVALID_VALUE;
	if (result == DOCA_SUCCESS)
		result = urom_directory_open(directory->data, directory->size, &directory->directory, reason);
	if (result != DOCA_SUCCESS)
		return result;
	directory->data = NULL; /* owned by the open directory */
	directory->sender = NULL;
	LIST_FOREACH (domain, &worker->domains, next) {
		if (domain->directory == directory)
			set_due(worker, domain, WORKER_DOMAIN_READY);
	}
	return DOCA_SUCCESS;
}

doca_error_t domains_add_part(struct worker *worker, uint64_t client, const struct urom_head *head, const void *body, size_t len,
			      const char **reason)
{
	struct worker_domain *domain = find_domain(worker, client, head->subject);
	struct worker_directory *directory = domain != NULL ? domain->directory : NULL;
	doca_error_t result = DOCA_SUCCESS;

	if (domain == NULL)
		return DOCA_SUCCESS; /* the rest of a directory that was rejected or dropped */
	*reason = "its pieces do not match";
	if (directory->sender != domain || head->size != directory->size || head->request != directory->received ||
	    len > directory->size - directory->received) {
		result = DOCA_ERROR_INVALID_VALUE;
	} else {
		memcpy(directory->data + directory->received, body, len);
		directory->received += len;
		if (directory->received == directory->size)
			result = directory_finish(worker, directory, reason);
	}
	if (result != DOCA_SUCCESS)
		free_domain(worker, domain);
	return result;
}

/* ---- answers ---- */

bool domains_run(struct worker *worker)
{
	struct worker_domain *domain;
	bool any = false;

	if (!worker->domains_due)
		return false;
	worker->domains_due = false;
	LIST_FOREACH (domain, &worker->domains, next) {
		if (domain->due == WORKER_DOMAIN_NOTHING)
			continue;
		const struct urom_head head =
			urom_head_make(domain->due == WORKER_DOMAIN_READY ? UROM_DOMAIN_READY : UROM_DOMAIN_WANTED, DOCA_SUCCESS,
				       0, domain->number);
		if (clients_send(worker, domain->client, &head) == DOCA_ERROR_AGAIN) {
			worker->domains_due = true;
			continue;
		}
		domain->due = WORKER_DOMAIN_NOTHING;
		any = true;
	}
	return any; /* a client whose connection is full does not keep the worker awake */
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

/* ---- lookups by plugins, in every domain of the worker ---- */

static const struct worker_plugin *plugin_of(const struct urom_worker_ctx *ctx)
{
	return (const struct worker_plugin *)(const void *)((const char *)ctx - offsetof(struct worker_plugin, ctx));
}

static doca_error_t look_up_addr(struct urom_worker_ctx *ctx, uint64_t domain_id, void **addr)
{
	const struct worker_plugin *plugin = plugin_of(ctx);
	const struct worker_directory *known;
	struct urom_blob address;

	if (addr == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	LIST_FOREACH (known, &plugin->worker->directories, next) {
		if (known->directory == NULL ||
		    urom_directory_address(known->directory, domain_id, plugin->id, &address) != DOCA_SUCCESS)
			continue;
		*addr = (void *)address.data;
		return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t look_up_seg(struct urom_worker_ctx *ctx, uint64_t domain_id, uint64_t va, int *seg)
{
	const struct worker_directory *known;

	if (seg == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	LIST_FOREACH (known, &plugin_of(ctx)->worker->directories, next) {
		if (known->directory != NULL && urom_directory_segment(known->directory, domain_id, va, seg) == DOCA_SUCCESS)
			return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_FOUND;
}

static doca_error_t look_up_key(struct urom_worker_ctx *ctx, uint64_t domain_id, int seg, bool want_memh, size_t *len, void **key)
{
	const struct worker_directory *known;
	struct urom_blob memh, mkey;

	if (len == NULL || key == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	LIST_FOREACH (known, &plugin_of(ctx)->worker->directories, next) {
		if (known->directory == NULL ||
		    urom_directory_keys(known->directory, domain_id, seg, &memh, &mkey) != DOCA_SUCCESS)
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
