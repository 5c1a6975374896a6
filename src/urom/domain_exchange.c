/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange between the processes of a domain. They gather first the sizes of their entries and then the entries, in
 * rounds of at most UROM_GATHER_BYTES in total, because an allgather takes the same size from each. Results are written
 * directly into the directory, so memory is needed for one round and the directory only.
 */
#include "urom/domain_exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "urom/auth.h"
#include "urom/domain.h"
#include "urom/worker.h"

void urom_domain_fail(struct doca_urom_domain *domain, const char *what, doca_error_t why)
{
	SF_LOG_ERR("urom domain: %s (%s)", what, doca_error_get_name(why));
	domain->phase = UROM_DOMAIN_FAILED;
}

/* ---- gathering ---- */

/* Copies round_len bytes of the contents of given. */
static doca_error_t round_gather(struct doca_urom_domain *domain)
{
	domain->request = NULL;
	doca_error_t result = domain->oob.allgather(domain->given, domain->gathered, domain->round_len, domain->oob.coll_info,
						    &domain->request);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_ERROR_UNEXPECTED : result; /* req_test reports whether it continues */
}

/* Allocates memory for gatherings of len bytes per process. */
static doca_error_t make_room(struct doca_urom_domain *domain, size_t len)
{
	free(domain->given);
	free(domain->gathered);
	domain->round_len = len;
	domain->given = (uint8_t *)malloc(len);
	domain->gathered = (uint8_t *)malloc(len * domain->oob.n_oob_indexes);
	if (domain->given != NULL && domain->gathered != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("urom domain: no memory for %zu bytes of %u processes", len, domain->oob.n_oob_indexes);
	return DOCA_ERROR_NO_MEMORY;
}

static doca_error_t gather_ended(struct doca_urom_domain *domain)
{
	doca_error_t result = domain->oob.req_test(domain->request);

	if (result == DOCA_ERROR_IN_PROGRESS)
		return result;
	doca_error_t freed = domain->oob.req_free(domain->request);
	domain->request = NULL;
	if (freed != DOCA_SUCCESS)
		SF_LOG_WARN("urom domain: the exchange's req_free returned %s", doca_error_get_name(freed));
	return result;
}

/* ---- sizes ---- */

static doca_error_t pack_own(struct doca_urom_domain *domain)
{
	const uint32_t num = (uint32_t)domain->num_members, num_buffers = (uint32_t)domain->num_buffers;
	struct urom_entry_worker *workers = (struct urom_entry_worker *)calloc(num, sizeof(*workers));

	if (workers == NULL)
		return DOCA_ERROR_NO_MEMORY;
	for (uint32_t i = 0; i < num; i++) {
		const struct doca_urom_worker *worker = domain->members[i].worker;

		workers[i].domain_id = domain->members[i].domain_id;
		workers[i].addresses = (struct urom_blob){worker->addresses, worker->addresses_len};
	}
	domain->own_len = urom_entry_pack(workers, num, domain->buffers, num_buffers, NULL, 0);
	domain->own = (uint8_t *)malloc(domain->own_len);
	if (domain->own != NULL)
		(void)urom_entry_pack(workers, num, domain->buffers, num_buffers, domain->own, domain->own_len);
	free(workers);
	return domain->own != NULL ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

doca_error_t urom_domain_begin(struct doca_urom_domain *domain)
{
	doca_error_t result = urom_random(&domain->number, sizeof(domain->number));

	for (size_t i = 0; i < domain->num_members; i++) {
		struct urom_member *member = &domain->members[i];

		member->sent = 0;
		member->gone = false;
		member->offered = member->wanted = member->ready = false;
		if (member->leave == NULL)
			member->leave = (struct urom_leave *)malloc(sizeof(*member->leave));
		if (member->leave == NULL)
			result = DOCA_ERROR_NO_MEMORY;
	}
	LIST_INIT(&domain->notifying);
	if (result == DOCA_SUCCESS)
		result = pack_own(domain);
	if (result == DOCA_SUCCESS)
		result = make_room(domain, sizeof(struct urom_domain_size));
	if (result == DOCA_SUCCESS) {
		const struct urom_domain_size own = {domain->oob.oob_index, domain->own_len};

		memcpy(domain->given, &own, sizeof(own));
		domain->phase = UROM_DOMAIN_SIZES;
		result = round_gather(domain);
	}
	if (result != DOCA_SUCCESS)
		SF_LOG_ERR("urom domain: the exchange cannot begin: %s", doca_error_get_name(result));
	return result;
}

/* Returns NULL if they are valid. */
static const char *take_sizes(struct doca_urom_domain *domain)
{
	domain->sizes = (struct urom_domain_size *)(void *)domain->gathered;
	domain->gathered = NULL;
	domain->directory_len = urom_directory_begin(NULL, domain->oob.n_oob_indexes);
	domain->len_max = domain->num_gathered = 0;
	for (uint32_t i = 0; i < domain->oob.n_oob_indexes; i++) {
		const struct urom_domain_size *size = &domain->sizes[i];

		if (size->index != i)
			return "the exchange returned another process's entry for this one: each oob_index must be unique";
		if (size->len == 0 || size->len > UROM_DIRECTORY_MAX)
			return "a process shares more than 256 MiB";
		domain->directory_len = urom_directory_place(NULL, domain->directory_len, size->len) + size->len;
		if (domain->directory_len > UROM_DIRECTORY_MAX)
			return "all processes together share more than 256 MiB";
		domain->len_max = size->len > domain->len_max ? size->len : domain->len_max;
	}
	return NULL;
}

/* ---- entries ---- */

static void lay_out(struct doca_urom_domain *domain)
{
	size_t used = urom_directory_begin(domain->directory, domain->oob.n_oob_indexes);

	for (uint32_t i = 0; i < domain->oob.n_oob_indexes; i++)
		used = urom_directory_place(domain->directory, used, domain->sizes[i].len) + domain->sizes[i].len;
}

static void gather_entries(struct doca_urom_domain *domain)
{
	size_t left = domain->own_len > domain->num_gathered ? domain->own_len - domain->num_gathered : 0;
	size_t len = left < domain->round_len ? left : domain->round_len;

	if (len != 0)
		memcpy(domain->given, domain->own + domain->num_gathered, len);
	memset(domain->given + len, 0, domain->round_len - len);
	doca_error_t result = round_gather(domain);
	if (result != DOCA_SUCCESS)
		urom_domain_fail(domain, "the exchange's allgather failed", result);
}

static void begin_entries(struct doca_urom_domain *domain)
{
	const char *wrong = take_sizes(domain);

	if (wrong != NULL) {
		urom_domain_fail(domain, wrong, DOCA_ERROR_INVALID_VALUE);
		return;
	}
	const size_t share = UROM_GATHER_BYTES / domain->oob.n_oob_indexes;
	domain->directory = (uint8_t *)malloc(domain->directory_len);
	if (domain->directory == NULL || make_room(domain, domain->len_max < share ? domain->len_max : share) != DOCA_SUCCESS) {
		urom_domain_fail(domain, "there is no memory for the workers' directory", DOCA_ERROR_NO_MEMORY);
		return;
	}
	lay_out(domain);
	domain->phase = UROM_DOMAIN_ENTRIES;
	gather_entries(domain);
}

/* Copies the received data to its place. */
static void place_entries(struct doca_urom_domain *domain)
{
	size_t used = urom_directory_begin(NULL, domain->oob.n_oob_indexes);

	for (uint32_t i = 0; i < domain->oob.n_oob_indexes; i++) {
		size_t len = domain->sizes[i].len, from = domain->num_gathered;
		size_t place = urom_directory_place(NULL, used, len);

		if (from < len)
			memcpy(domain->directory + place + from, domain->gathered + i * domain->round_len,
			       len - from < domain->round_len ? len - from : domain->round_len);
		used = place + len;
	}
	domain->num_gathered += domain->round_len;
}

/* Parsed in the same way as by a worker, to report the errors that it would find. */
static void end_entries(struct doca_urom_domain *domain)
{
	const char *reason = "its digest cannot be computed";

	free(domain->given);
	free(domain->gathered);
	free(domain->own);
	free(domain->sizes);
	domain->given = domain->gathered = domain->own = NULL;
	domain->sizes = NULL;
	doca_error_t result = urom_directory_check(domain->directory, domain->directory_len, &reason);
	if (result == DOCA_SUCCESS)
		result = urom_digest(domain->directory, domain->directory_len, domain->digest);
	if (result == DOCA_SUCCESS)
		domain->phase = UROM_DOMAIN_GATHERED;
	else
		urom_domain_fail(domain, reason, result);
}

/* ---- progress ---- */

bool urom_domain_exchange(struct doca_urom_domain *domain)
{
	if (domain->phase != UROM_DOMAIN_SIZES && domain->phase != UROM_DOMAIN_ENTRIES)
		return domain->phase == UROM_DOMAIN_FAILED;
	doca_error_t result = gather_ended(domain);
	if (result == DOCA_ERROR_IN_PROGRESS)
		return false;
	if (result != DOCA_SUCCESS) {
		urom_domain_fail(domain, "the exchange failed", result);
	} else if (domain->phase == UROM_DOMAIN_SIZES) {
		begin_entries(domain);
	} else {
		place_entries(domain);
		if (domain->num_gathered < domain->len_max)
			gather_entries(domain);
		else
			end_entries(domain);
	}
	return true;
}

void urom_domain_free_exchange(struct doca_urom_domain *domain)
{
	free(domain->own);
	free(domain->given);
	free(domain->gathered);
	free(domain->sizes);
	free(domain->directory);
	domain->own = domain->given = domain->gathered = domain->directory = NULL;
	domain->sizes = NULL;
	LIST_INIT(&domain->notifying);
	domain->phase = UROM_DOMAIN_OFF;
}
