/* SPDX-License-Identifier: BSD-3-Clause */
/* The domain context. */
#include "urom/domain.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "urom/check.h"
#include "urom/domain_exchange.h"
#include "urom/domain_notify.h"
#include "urom/worker.h"

/* ---- start and stop ---- */

static doca_error_t check_configured(const struct doca_urom_domain *domain)
{
	if (!domain->has_oob || domain->num_members == 0) {
		SF_LOG_ERR("urom domain: no %s set: call %s before doca_ctx_start",
			   domain->has_oob ? "workers are" : "exchange is",
			   domain->has_oob ? "doca_urom_domain_set_workers" : "doca_urom_domain_set_oob");
		return DOCA_ERROR_BAD_STATE;
	}
	for (size_t i = 0; i < domain->num_members; i++) {
		const struct doca_urom_worker *worker = domain->members[i].worker;

		if (worker != NULL && worker->phase == UROM_WORKER_ON)
			continue;
		SF_LOG_ERR("urom domain: the worker of domain id %llu is not RUNNING: start it and progress first",
			   (unsigned long long)domain->members[i].domain_id);
		return DOCA_ERROR_BAD_STATE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t domain_start(struct doca_ctx *ctx)
{
	struct doca_urom_domain *domain = (struct doca_urom_domain *)ctx;
	doca_error_t result = check_configured(domain);

	if (result == DOCA_SUCCESS)
		result = urom_domain_begin(domain);
	if (result == DOCA_SUCCESS)
		return DOCA_ERROR_IN_PROGRESS;
	urom_domain_free_exchange(domain);
	return result;
}

static void domain_cancel(struct doca_ctx *ctx)
{
	struct doca_urom_domain *domain = (struct doca_urom_domain *)ctx;

	urom_domain_leave(domain);
	if (domain->request != NULL)
		(void)domain->oob.req_free(domain->request);
	domain->request = NULL;
	domain->phase = UROM_DOMAIN_OFF;
}

static void domain_stop(struct doca_ctx *ctx)
{
	urom_domain_free_exchange((struct doca_urom_domain *)ctx);
}

static bool domain_progress(struct doca_ctx *ctx)
{
	struct doca_urom_domain *domain = (struct doca_urom_domain *)ctx;

	if (__builtin_expect(domain->phase == UROM_DOMAIN_ON || domain->phase == UROM_DOMAIN_OFF, 1))
		return false;
	bool any = domain->phase == UROM_DOMAIN_NOTIFYING ? urom_domain_notify(domain) : urom_domain_exchange(domain);
	if (domain->phase == UROM_DOMAIN_GATHERED)
		urom_domain_notify_begin(domain);
	if (domain->phase == UROM_DOMAIN_FAILED)
		sf_ctx_fail(ctx);
	else if (domain->phase == UROM_DOMAIN_ON)
		sf_ctx_started(ctx);
	return any;
}

/* The program implements a gathering, which has no descriptor, so it is polled. Answers of workers kick the engine. */
static bool domain_arm(struct doca_ctx *ctx)
{
	const struct doca_urom_domain *domain = (const struct doca_urom_domain *)ctx;

	return domain->phase == UROM_DOMAIN_NOTIFYING ? urom_domain_notify_is_due(domain)
						      : domain->phase != UROM_DOMAIN_ON && domain->phase != UROM_DOMAIN_OFF;
}

static void domain_send_pending(struct doca_ctx *ctx)
{
	struct doca_urom_domain *domain = (struct doca_urom_domain *)ctx;

	if (domain->phase != UROM_DOMAIN_NOTIFYING)
		return;
	urom_domain_notify_more(domain);
	if (domain->phase == UROM_DOMAIN_FAILED)
		sf_ctx_kick(ctx);
}

static const struct sf_ctx_ops domain_ops = {
	.name = "urom domain",
	.needs_pe = true,
	.start = domain_start,
	.cancel = domain_cancel,
	.stop = domain_stop,
	.progress = domain_progress,
	.arm = domain_arm,
	.send_pending = domain_send_pending,
};

/* ---- public ---- */

doca_error_t doca_urom_domain_create(struct doca_urom_domain **domain_ctx)
{
	if (domain_ctx == NULL)
		return urom_check_given(NULL, "domain");
	struct doca_urom_domain *domain = (struct doca_urom_domain *)calloc(1, sizeof(*domain));
	if (domain == NULL) {
		SF_LOG_ERR("no memory for a urom domain");
		return DOCA_ERROR_NO_MEMORY;
	}
	sf_ctx_init(&domain->ctx, &domain_ops, NULL, 0);
	sf_ctx_created(&domain->ctx);
	*domain_ctx = domain;
	return DOCA_SUCCESS;
}

static void drop_members(struct doca_urom_domain *domain)
{
	for (size_t i = 0; i < domain->num_members; i++) {
		if (domain->members[i].worker != NULL)
			LIST_REMOVE(&domain->members[i], of_worker);
		free(domain->members[i].leave);
	}
	free(domain->members);
	domain->members = NULL;
	domain->num_members = 0;
}

static void drop_buffers(struct doca_urom_domain *domain)
{
	for (size_t i = 0; i < domain->num_buffers; i++) {
		free((void *)domain->buffers[i].memh.data);
		free((void *)domain->buffers[i].mkey.data);
	}
	free(domain->buffers);
	domain->buffers = NULL;
	domain->num_buffers = domain->max_buffers = 0;
}

doca_error_t doca_urom_domain_destroy(struct doca_urom_domain *domain)
{
	if (domain == NULL) {
		SF_LOG_ERR("urom: domain is NULL");
		return DOCA_ERROR_NOT_PERMITTED;
	}
	doca_error_t result = sf_ctx_fini(&domain->ctx);
	if (result != DOCA_SUCCESS)
		return result;
	drop_members(domain);
	drop_buffers(domain);
	free(domain);
	return DOCA_SUCCESS;
}

static doca_error_t check_setter(const struct doca_urom_domain *domain, const char *setter)
{
	doca_error_t result = urom_check_given(domain, "domain");

	return result == DOCA_SUCCESS ? sf_ctx_check_idle(&domain->ctx, setter) : result;
}

doca_error_t doca_urom_domain_set_buffers_count(struct doca_urom_domain *domain, size_t buffers_cnt)
{
	doca_error_t result = check_setter(domain, __func__);

	if (result != DOCA_SUCCESS)
		return result;
	if (buffers_cnt == 0 || buffers_cnt > UROM_BUFFERS_MAX) {
		SF_LOG_ERR("urom domain: %zu buffers: give 1 to %d", buffers_cnt, UROM_BUFFERS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	drop_buffers(domain);
	domain->buffers = (struct urom_entry_buffer *)calloc(buffers_cnt, sizeof(domain->buffers[0]));
	if (domain->buffers == NULL) {
		SF_LOG_ERR("urom domain: no memory for %zu buffers", buffers_cnt);
		return DOCA_ERROR_NO_MEMORY;
	}
	domain->max_buffers = buffers_cnt;
	return DOCA_SUCCESS;
}

static bool copy_blob(struct urom_blob *blob, const void *data, size_t len)
{
	void *copy = malloc(len);

	if (copy == NULL)
		return false;
	memcpy(copy, data, len);
	*blob = (struct urom_blob){copy, len};
	return true;
}

doca_error_t doca_urom_domain_add_buffer(struct doca_urom_domain *domain, void *buffer, size_t buf_len, void *memh,
					 size_t memh_len, void *mkey, size_t mkey_len)
{
	doca_error_t result = urom_check_given(domain, "domain");

	if (result != DOCA_SUCCESS)
		return result;
	if (buffer == NULL || memh == NULL || mkey == NULL || buf_len == 0 || memh_len - 1 >= UROM_KEY_MAX ||
	    mkey_len - 1 >= UROM_KEY_MAX) {
		SF_LOG_ERR("urom domain: a buffer of %zu bytes, handle of %zu and key of %zu: none may be empty, handle and "
			   "key have at most %d",
			   buf_len, memh_len, mkey_len, UROM_KEY_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = sf_ctx_check_idle(&domain->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (domain->max_buffers == 0 || domain->num_buffers == domain->max_buffers) {
		SF_LOG_ERR("urom domain: %s", domain->max_buffers == 0
						      ? "call doca_urom_domain_set_buffers_count before buffers are added"
						      : "all buffers of doca_urom_domain_set_buffers_count are added already");
		return domain->max_buffers == 0 ? DOCA_ERROR_BAD_STATE : DOCA_ERROR_FULL;
	}
	struct urom_entry_buffer *added = &domain->buffers[domain->num_buffers];
	*added = (struct urom_entry_buffer){.va = (uintptr_t)buffer, .len = buf_len};
	if (copy_blob(&added->memh, memh, memh_len) && copy_blob(&added->mkey, mkey, mkey_len)) {
		domain->num_buffers++;
		return DOCA_SUCCESS;
	}
	free((void *)added->memh.data);
	SF_LOG_ERR("urom domain: no memory for a buffer's handle and key");
	return DOCA_ERROR_NO_MEMORY;
}

doca_error_t doca_urom_domain_set_oob(struct doca_urom_domain *domain, struct doca_urom_domain_oob_coll *oob)
{
	doca_error_t result = urom_check_given(oob, "oob");

	if (result == DOCA_SUCCESS)
		result = check_setter(domain, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	if (oob->allgather == NULL || oob->req_test == NULL || oob->req_free == NULL || oob->oob_index >= oob->n_oob_indexes) {
		SF_LOG_ERR("urom domain: an exchange needs its three callbacks, and an index (%u) below the number of "
			   "participants (%u)",
			   oob->oob_index, oob->n_oob_indexes);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (oob->n_oob_indexes > UROM_PROCESSES_MAX) {
		SF_LOG_ERR("urom domain: %u processes: at most %u can take part", oob->n_oob_indexes, UROM_PROCESSES_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	domain->oob = *oob;
	domain->has_oob = true;
	return DOCA_SUCCESS;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Returns some value that occurs twice, or NULL. Sorts the values. */
static const uint64_t *find_twice(uint64_t *values, size_t num)
{
	qsort(values, num, sizeof(*values), by_value);
	for (size_t i = 1; i < num; i++) {
		if (values[i] == values[i - 1])
			return &values[i];
	}
	return NULL;
}

static doca_error_t check_unique(const uint64_t *ids, struct doca_urom_worker *const *workers, size_t num)
{
	uint64_t *sorted = (uint64_t *)malloc(num * sizeof(*sorted));

	if (sorted == NULL) {
		SF_LOG_ERR("urom domain: no memory for %zu workers", num);
		return DOCA_ERROR_NO_MEMORY;
	}
	memcpy(sorted, ids, num * sizeof(*sorted));
	const uint64_t *twice = find_twice(sorted, num);
	if (twice != NULL) {
		SF_LOG_ERR("urom domain: the id %llu is given twice", (unsigned long long)*twice);
	} else {
		for (size_t i = 0; i < num; i++)
			sorted[i] = (uintptr_t)workers[i];
		twice = find_twice(sorted, num);
		if (twice != NULL)
			SF_LOG_ERR("urom domain: a worker is given twice: it has one id in a domain");
	}
	free(sorted);
	return twice == NULL ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t check_workers(const uint64_t *ids, struct doca_urom_worker *const *workers, size_t num)
{
	if (ids == NULL || workers == NULL || num == 0)
		return urom_check_given(NULL, "domain_worker_ids or workers");
	if (num > UROM_DOMAIN_WORKERS_MAX) {
		SF_LOG_ERR("urom domain: %zu workers of one process: give at most %u", num, UROM_DOMAIN_WORKERS_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (size_t i = 0; i < num; i++) {
		if (workers[i] == NULL)
			return urom_check_given(NULL, "an entry of workers");
	}
	return check_unique(ids, workers, num);
}

doca_error_t doca_urom_domain_set_workers(struct doca_urom_domain *domain, uint64_t *domain_worker_ids,
					  struct doca_urom_worker **workers, size_t workers_cnt)
{
	doca_error_t result = urom_check_given(domain, "domain");

	if (result == DOCA_SUCCESS)
		result = check_workers(domain_worker_ids, workers, workers_cnt);
	if (result == DOCA_SUCCESS)
		result = sf_ctx_check_idle(&domain->ctx, __func__);
	if (result != DOCA_SUCCESS)
		return result;
	struct urom_member *members = (struct urom_member *)calloc(workers_cnt, sizeof(*members));
	if (members == NULL) {
		SF_LOG_ERR("urom domain: no memory for %zu workers", workers_cnt);
		return DOCA_ERROR_NO_MEMORY;
	}
	drop_members(domain);
	domain->members = members;
	domain->num_members = workers_cnt;
	for (size_t i = 0; i < workers_cnt; i++) {
		members[i].domain = domain;
		members[i].worker = workers[i];
		members[i].domain_id = domain_worker_ids[i];
		LIST_INSERT_HEAD(&workers[i]->members, &members[i], of_worker);
	}
	return DOCA_SUCCESS;
}

struct doca_ctx *doca_urom_domain_as_ctx(struct doca_urom_domain *domain)
{
	return domain != NULL ? &domain->ctx : NULL;
}
