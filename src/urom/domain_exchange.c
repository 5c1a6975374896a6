/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the processes of a domain come to know each other: first they gather the sizes of their entries, then the entries, padded to the
 * largest; then each tells its own workers the whole, in pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "urom/auth.h"
#include "urom/urom.h"

struct size_round {
	uint64_t index;
	uint64_t len;
};

/* ---- gathering ---- */

static void fail(struct doca_urom_domain *domain, const char *what, doca_error_t why)
{
	SF_LOG_ERR("urom domain: %s (%s)", what, doca_error_get_name(why));
	domain->phase = UROM_DOMAIN_FAILED;
}

/* Of own_len bytes a process. */
static doca_error_t gather(struct doca_urom_domain *domain)
{
	free(domain->gathered);
	domain->gathered_len = domain->own_len * domain->oob.n_oob_indexes;
	domain->gathered = (uint8_t *)malloc(domain->gathered_len);
	if (domain->gathered == NULL) {
		SF_LOG_ERR("urom domain: no memory for %zu bytes of %u processes", domain->own_len, domain->oob.n_oob_indexes);
		return DOCA_ERROR_NO_MEMORY;
	}
	domain->request = NULL;
	doca_error_t result = domain->oob.allgather(domain->own, domain->gathered, domain->own_len, domain->oob.coll_info, &domain->request);
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_ERROR_UNEXPECTED : result; /* that it goes on is req_test's to say */
}

static doca_error_t gather_ended(struct doca_urom_domain *domain)
{
	doca_error_t result = domain->oob.req_test(domain->request);
	if (result == DOCA_ERROR_IN_PROGRESS)
		return result;
	doca_error_t freed = domain->oob.req_free(domain->request);
	domain->request = NULL;
	if (freed != DOCA_SUCCESS)
		SF_LOG_WARN("urom domain: the exchange's req_free answered %s", doca_error_get_name(freed));
	return result;
}

/* ---- the entries ---- */

/* room 0: says only how many bytes it takes. */
static size_t pack_own(const struct doca_urom_domain *domain, void *out, size_t room)
{
	struct urom_entry_worker *workers = (struct urom_entry_worker *)calloc(domain->num_members, sizeof(*workers));
	if (workers == NULL)
		return 0;
	for (size_t i = 0; i < domain->num_members; i++) {
		const struct doca_urom_worker *worker = domain->members[i].worker;
		workers[i].domain_id = domain->members[i].domain_id;
		if (worker != NULL)
			workers[i].addresses = (struct urom_blob){worker->addresses, worker->addresses_len};
	}
	size_t len = urom_entry_pack(workers, (uint32_t)domain->num_members, domain->buffers, (uint32_t)domain->num_buffers, out, room);
	free(workers);
	return len;
}

static doca_error_t gather_sizes(struct doca_urom_domain *domain)
{
	struct size_round round = {domain->oob.oob_index, pack_own(domain, NULL, 0)};
	domain->own_len = sizeof(round);
	domain->own = (uint8_t *)malloc(sizeof(round));
	if (domain->own == NULL || round.len == 0) {
		SF_LOG_ERR("urom domain: no memory to start");
		return DOCA_ERROR_NO_MEMORY;
	}
	memcpy(domain->own, &round, sizeof(round));
	domain->phase = UROM_DOMAIN_SIZES;
	return gather(domain);
}

doca_error_t urom_domain_begin(struct doca_urom_domain *domain)
{
	doca_error_t result = urom_random(&domain->number, sizeof(domain->number));
	for (size_t i = 0; i < domain->num_members; i++) {
		domain->members[i].told = 0;
		domain->members[i].ready = false;
	}
	if (result == DOCA_SUCCESS)
		result = gather_sizes(domain);
	if (result != DOCA_SUCCESS)
		SF_LOG_ERR("urom domain: the exchange cannot begin: %s", doca_error_get_name(result));
	return result;
}

/* Where the lengths were: the largest in *max, the sum in *sum. */
static const char *check_sizes(const struct doca_urom_domain *domain, size_t *max, size_t *sum)
{
	*max = *sum = 0;
	for (uint32_t i = 0; i < domain->oob.n_oob_indexes; i++) {
		struct size_round round;
		memcpy(&round, domain->gathered + i * sizeof(round), sizeof(round));
		if (round.index != i)
			return "the exchange gave another process's part at this one's place: each oob_index must be there once";
		if (round.len == 0 || round.len > UROM_DIRECTORY_MAX)
			return "a process has more to share than 256 MiB";
		*max = round.len > *max ? round.len : *max;
		*sum += round.len;
	}
	return *max * domain->oob.n_oob_indexes > UROM_DIRECTORY_MAX ? "all have more to share than 256 MiB" : NULL;
}

static void gather_entries(struct doca_urom_domain *domain)
{
	size_t max, sum, used;
	const char *wrong = check_sizes(domain, &max, &sum);
	if (wrong != NULL) {
		fail(domain, wrong, DOCA_ERROR_INVALID_VALUE);
		return;
	}
	/* Each entry begins with its own length, so that what pads it can be told apart. */
	size_t room = (sizeof(uint64_t) + max + 7) & ~(size_t)7;
	uint8_t *own = (uint8_t *)calloc(1, room);
	used = own != NULL ? pack_own(domain, own + sizeof(uint64_t), room - sizeof(uint64_t)) : 0;
	if (used == 0) {
		free(own);
		fail(domain, "there is no memory for what the workers are to know", DOCA_ERROR_NO_MEMORY);
		return;
	}
	memcpy(own, &(uint64_t){used}, sizeof(uint64_t));
	free(domain->own);
	domain->own = own;
	domain->own_len = room;
	doca_error_t result = gather(domain);
	if (result == DOCA_SUCCESS)
		domain->phase = UROM_DOMAIN_ENTRIES;
	else
		fail(domain, "the exchange's allgather failed", result);
}

static bool build_directory(struct doca_urom_domain *domain, size_t room)
{
	size_t used = 0;
	for (uint32_t i = 0; i < domain->oob.n_oob_indexes; i++) {
		const uint8_t *entry = domain->gathered + i * domain->own_len;
		uint64_t len;
		memcpy(&len, entry, sizeof(len));
		if (len > domain->own_len - sizeof(len))
			return false;
		used = urom_directory_append(domain->directory, room, used, domain->oob.n_oob_indexes, entry + sizeof(len), len);
		if (used == 0)
			return false;
	}
	domain->directory_len = used;
	return true;
}

/* Reads it as a worker will: what it would refuse is better said here. */
static doca_error_t check_directory(const struct doca_urom_domain *domain, const char **reason)
{
	struct urom_directory *directory;
	void *copy = malloc(domain->directory_len);
	*reason = "there is no memory for it";
	if (copy == NULL)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(copy, domain->directory, domain->directory_len);
	doca_error_t result = urom_directory_open(copy, domain->directory_len, &directory, reason);
	if (result == DOCA_SUCCESS)
		urom_directory_close(directory);
	else
		free(copy);
	return result;
}

static void begin_telling(struct doca_urom_domain *domain)
{
	size_t room = domain->gathered_len + 16 * ((size_t)domain->oob.n_oob_indexes + 1);
	const char *reason = "another process's part of the exchange is malformed";
	doca_error_t result = DOCA_ERROR_INVALID_VALUE;
	domain->directory = (uint8_t *)malloc(room);
	if (domain->directory != NULL && build_directory(domain, room))
		result = check_directory(domain, &reason);
	free(domain->gathered);
	domain->gathered = NULL;
	if (result == DOCA_SUCCESS)
		domain->phase = UROM_DOMAIN_TELLING;
	else
		fail(domain, reason, result);
}

/* ---- telling the workers ---- */

static bool tell(struct doca_urom_domain *domain, struct urom_member *member)
{
	bool any = false;
	while (member->told < domain->directory_len) {
		struct urom_head head = urom_head_make(UROM_DOMAIN_PART, DOCA_SUCCESS, member->told, domain->number);
		size_t left = domain->directory_len - member->told, len = left < UROM_DIRECTORY_PART ? left : UROM_DIRECTORY_PART;
		head.size = domain->directory_len;
		doca_error_t result = sf_comm_send(member->worker->comm, member->worker->peer, &head, sizeof(head),
						   domain->directory + member->told, len);
		if (result == DOCA_ERROR_AGAIN)
			return any;
		if (result != DOCA_SUCCESS) {
			fail(domain, "a worker cannot be told", result);
			return true;
		}
		member->told += len;
		any = true;
	}
	return any;
}

bool urom_domain_has_to_tell(const struct doca_urom_domain *domain)
{
	bool all_ready = true;
	for (size_t i = 0; i < domain->num_members; i++) {
		const struct urom_member *member = &domain->members[i];
		if (member->told < domain->directory_len || member->worker == NULL || member->worker->phase != UROM_WORKER_ON)
			return true;
		all_ready &= member->ready;
	}
	return all_ready;
}

static bool tell_all(struct doca_urom_domain *domain)
{
	bool any = false, all_ready = true;
	for (size_t i = 0; i < domain->num_members && domain->phase == UROM_DOMAIN_TELLING; i++) {
		struct urom_member *member = &domain->members[i];
		if (member->worker == NULL || member->worker->phase != UROM_WORKER_ON)
			fail(domain, "a worker ended while the domain started", DOCA_ERROR_CONNECTION_ABORTED);
		else
			any |= tell(domain, member);
		all_ready &= member->ready;
	}
	if (domain->phase != UROM_DOMAIN_TELLING || !all_ready)
		return any;
	free(domain->directory);
	domain->directory = NULL;
	domain->phase = UROM_DOMAIN_ON;
	return true;
}

void urom_domain_answered(struct doca_urom_worker *worker, const struct urom_head *head, const void *body, size_t len)
{
	struct urom_member *member;
	char reason[UROM_TEXT_MAX];
	LIST_FOREACH(member, &worker->members, of_worker) {
		if (member->domain->number == head->subject && member->domain->phase == UROM_DOMAIN_TELLING)
			break;
	}
	if (member == NULL)
		return;
	member->ready = head->status == DOCA_SUCCESS;
	sf_ctx_kick(&member->domain->ctx);
	if (member->ready)
		return;
	urom_text_parse(body, len, reason);
	fail(member->domain, reason, (doca_error_t)head->status);
}

void urom_domains_kick(const struct doca_urom_worker *worker)
{
	const struct urom_member *member;
	LIST_FOREACH(member, &worker->members, of_worker)
		sf_ctx_kick(&member->domain->ctx);
}

void urom_domains_forget(struct doca_urom_worker *worker)
{
	urom_domains_kick(worker);
	for (struct urom_member *member; (member = LIST_FIRST(&worker->members)) != NULL;) {
		LIST_REMOVE(member, of_worker);
		member->worker = NULL;
	}
}

/* ---- progress ---- */

bool urom_domain_exchange(struct doca_urom_domain *domain)
{
	if (domain->phase == UROM_DOMAIN_TELLING)
		return tell_all(domain);
	if (domain->phase != UROM_DOMAIN_SIZES && domain->phase != UROM_DOMAIN_ENTRIES)
		return domain->phase == UROM_DOMAIN_FAILED;
	doca_error_t result = gather_ended(domain);
	if (result == DOCA_ERROR_IN_PROGRESS)
		return false;
	if (result != DOCA_SUCCESS)
		fail(domain, "the exchange failed", result);
	else if (domain->phase == UROM_DOMAIN_SIZES)
		gather_entries(domain);
	else
		begin_telling(domain);
	return true;
}

void urom_domain_free_exchange(struct doca_urom_domain *domain)
{
	free(domain->own);
	free(domain->gathered);
	free(domain->directory);
	domain->own = domain->gathered = domain->directory = NULL;
	domain->phase = UROM_DOMAIN_OFF;
}
