/* SPDX-License-Identifier: BSD-3-Clause */
/* UROM's domains, with exchanges that succeed, fail, never end, or return garbage; and the look-ups of plugins. */
#include <string.h>

#include "run.h"
#include "urom_calls.h"

#define DOMAINS_MAX 2
#define MEMBERS_MAX 2

/* ---- exchanges ---- */

enum manner { PLAIN, SLOW, NEVER, REFUSES, FAILS, BAD_FREE, GARBAGE, MANNERS };

static struct exchange {
	enum manner manner;
	uint32_t others; /* further participants, which send the same as this one */
} exchanges[MANNERS];

struct gathering {
	enum manner manner;
	uint32_t asked;
	bool is_live;
};

static struct gathering gatherings[64];

static doca_error_t allgather(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req)
{
	const struct exchange *exchange = coll_info;
	uint32_t i = 0;

	while (i < 63 && gatherings[i].is_live)
		i++;
	if (exchange->manner == REFUSES)
		return DOCA_ERROR_IO_FAILED;
	for (uint32_t part = 0; part <= exchange->others; part++)
		memcpy((char *)rbuf + part * msglen, sbuf, msglen);
	for (size_t at = 0; exchange->manner == GARBAGE && at < msglen; at++) {
		if (chance(8))
			((uint8_t *)rbuf)[at] ^= (uint8_t)random_below(256);
	}
	gatherings[i] = (struct gathering){exchange->manner, 0, true};
	*req = &gatherings[i];
	return DOCA_SUCCESS;
}

static doca_error_t req_test(void *req)
{
	struct gathering *gathering = req;

	if (!gathering->is_live)
		abuse_fail("a freed gathering is polled");
	if (gathering->manner == FAILS)
		return DOCA_ERROR_IO_FAILED;
	bool goes_on = gathering->manner == NEVER || (gathering->manner == SLOW && gathering->asked++ < 20);
	return goes_on ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;
}

static doca_error_t req_free(void *req)
{
	struct gathering *gathering = req;

	if (!gathering->is_live)
		abuse_fail("a gathering is freed twice");
	gathering->is_live = false;
	return gathering->manner == BAD_FREE ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

bool urom_gatherings_are_freed(void)
{
	for (uint32_t i = 0; i < 64; i++) {
		if (gatherings[i].is_live)
			return false;
	}
	return true;
}

static struct doca_urom_domain_oob_coll any_exchange(void)
{
	enum manner manner = chance(2) ? PLAIN : random_below(MANNERS);

	exchanges[manner] = (struct exchange){manner, manner == GARBAGE ? random_below(2) : 0};
	return (struct doca_urom_domain_oob_coll){allgather, req_test, req_free, &exchanges[manner], 1 + exchanges[manner].others,
						  0};
}

/* ---- life cycle ---- */

static void made(struct doca_urom_domain *domain)
{
	object_add(UROM_DOMAIN, domain);
	ctx_add(doca_urom_domain_as_ctx(domain));
}

static void create(void)
{
	struct doca_urom_domain *domain;

	if (is_ending() || object_count(UROM_DOMAIN) >= DOMAINS_MAX || !object_room(CTX))
		return;
	struct doca_urom_domain **place = or_null(&domain);

	expect_if(true);
	if (CALL(doca_urom_domain_create, place) == DOCA_SUCCESS)
		made(domain);
}

static void destroy(void)
{
	struct doca_urom_domain *domain = pick_or_none(UROM_DOMAIN);
	struct doca_ctx *ctx = doca_urom_domain_as_ctx(domain);

	refuse_if(domain == NULL || !ctx_is_idle(ctx));
	expect_if(true);
	if (CALL(doca_urom_domain_destroy, domain) != DOCA_SUCCESS)
		return;
	object_drop(CTX, ctx);
	object_drop(UROM_DOMAIN, domain);
}

static void as_ctx(void)
{
	(void)CALL_VALUE(doca_urom_domain_as_ctx, (struct doca_urom_domain *)pick(UROM_DOMAIN));
}

/* ---- properties ---- */

static struct doca_urom_domain *to_set(void)
{
	struct doca_urom_domain *domain = pick(UROM_DOMAIN);

	refuse_if(domain != NULL && !ctx_is_idle(doca_urom_domain_as_ctx(domain)));
	return domain;
}

static void set_count(void)
{
	static const size_t counts[] = {0, 1, 2, 1024, 1025, SIZE_MAX};
	struct doca_urom_domain *domain = to_set();
	size_t count = counts[random_below(6)];

	refuse_if(count == 0 || count > 1024);
	expect_if(true);
	CALL(doca_urom_domain_set_buffers_count, domain, count);
}

static void add_buffer(void)
{
	struct doca_urom_domain *domain = to_set();
	uint8_t *buffer;
	size_t len, key_len = chance(8) ? 0 : random_below(600) + 1;

	random_range(&buffer, &len);
	void *place = or_null(buffer), *memh = or_null(memory), *mkey = or_null(memory + 1);

	refuse_if(len == 0 || key_len == 0);
	CALL(doca_urom_domain_add_buffer, domain, place, len, memh, key_len, mkey, key_len);
}

static void set_oob(void)
{
	struct doca_urom_domain *domain = to_set();
	struct doca_urom_domain_oob_coll exchange = any_exchange();
	bool is_bad = chance(8);

	if (is_bad && chance(2))
		exchange.req_test = NULL;
	else if (is_bad)
		exchange.oob_index = exchange.n_oob_indexes;
	struct doca_urom_domain_oob_coll *place = or_null(&exchange);

	refuse_if(is_bad);
	expect_if(true);
	CALL(doca_urom_domain_set_oob, domain, place);
}

static void set_workers(void)
{
	struct doca_urom_worker *workers[MEMBERS_MAX];
	uint64_t ids[MEMBERS_MAX] = {random_below(3), random_below(3)};
	struct doca_urom_domain *domain = to_set();
	size_t num = random_below(MEMBERS_MAX + 1);

	for (size_t i = 0; i < num; i++)
		workers[i] = pick(UROM_WORKER);
	uint64_t *id_place = or_null(ids);
	struct doca_urom_worker **place = or_null(workers);

	refuse_if(num == 0 || (num == 2 && (ids[0] == ids[1] || workers[0] == workers[1])));
	expect_if(true);
	CALL(doca_urom_domain_set_workers, domain, id_place, place, num);
}

/* ---- look-ups of a plugin, where only one key is known ---- */

static doca_error_t look_up_addr(struct urom_worker_ctx *ctx, uint64_t id, void **addr)
{
	if (addr == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*addr = memory;
	return id == 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

static doca_error_t look_up_seg(struct urom_worker_ctx *ctx, uint64_t id, uint64_t va, int *seg)
{
	if (seg == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	*seg = 1;
	return id == 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

static doca_error_t look_up_key(struct urom_worker_ctx *ctx, uint64_t id, int seg, size_t *len, void **key)
{
	if (len == NULL || key == NULL)
		return DOCA_ERROR_INVALID_VALUE;
	return id == 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
}

static struct urom_worker_ctx plugin = {.domain_iface = {look_up_addr, look_up_seg, look_up_key, look_up_key}};

static void addr_lookup(void)
{
	void *addr;
	struct urom_worker_ctx *ctx = or_null(&plugin);
	uint32_t id = random_below(2);
	void **place = or_null(&addr);

	expect_if(id == 0);
	CALL(doca_urom_worker_domain_addr_lookup, ctx, id, place);
}

static void seg_lookup(void)
{
	int seg;
	struct urom_worker_ctx *ctx = or_null(&plugin);
	uint32_t id = random_below(2);
	int *place = or_null(&seg);

	expect_if(id == 0);
	CALL(doca_urom_worker_domain_seg_lookup, ctx, id, 0, place);
}

#define KEY_LOOKUP(name)                                                                                                         \
	static void name##_lookup(void)                                                                                          \
	{                                                                                                                        \
		size_t len;                                                                                                      \
		void *key;                                                                                                       \
		struct urom_worker_ctx *ctx = or_null(&plugin);                                                                  \
		uint32_t id = random_below(2);                                                                                   \
		size_t *len_place = or_null(&len);                                                                               \
		void **place = or_null(&key);                                                                                    \
		expect_if(id == 0);                                                                                              \
		CALL(doca_urom_worker_domain_##name##_lookup, ctx, id, 0, len_place, place);                                     \
	}
KEY_LOOKUP(memh)
KEY_LOOKUP(mkey)

/* ---- beginnings: a domain of the existing workers ---- */

static void prepare(void)
{
	struct doca_urom_domain_oob_coll exchange = any_exchange();
	struct object *worker = object_any(UROM_WORKER);
	struct doca_urom_domain *domain;
	uint64_t id = 1;

	if (CALL(doca_urom_domain_create, &domain) != DOCA_SUCCESS)
		return;
	made(domain);
	CALL(doca_urom_domain_set_oob, domain, &exchange);
	CALL(doca_urom_domain_set_buffers_count, domain, 2);
	CALL(doca_urom_domain_add_buffer, domain, memory, 100, memory, 64, memory, 200);
	if (worker != NULL)
		CALL(doca_urom_domain_set_workers, domain, &id, (struct doca_urom_worker **)&worker->pointer, 1);
	ctx_run(doca_urom_domain_as_ctx(domain));
	if (!chance(4))
		urom_settle(NULL, DOCA_CTX_STATE_IDLE);
}

static const struct call calls[] = {
	{"doca_urom_domain_create", create},
	{"doca_urom_domain_destroy", destroy, 1, true},
	{"doca_urom_domain_as_ctx", as_ctx},
	{"doca_urom_domain_set_buffers_count", set_count},
	{"doca_urom_domain_add_buffer", add_buffer, 2},
	{"doca_urom_domain_set_oob", set_oob},
	{"doca_urom_domain_set_workers", set_workers, 2},
	{"doca_urom_worker_domain_addr_lookup", addr_lookup},
	{"doca_urom_worker_domain_seg_lookup", seg_lookup},
	{"doca_urom_worker_domain_memh_lookup", memh_lookup},
	{"doca_urom_worker_domain_mkey_lookup", mkey_lookup},
};
const struct group urom_domain_group = GROUP(calls, prepare);
