/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered memory and one-sided operations. */
#include "conformance.h"

#include <pthread.h>
#include <stdlib.h>

#define SIDED SF_CAP_ONE_SIDED
#define ATOMIC (SF_CAP_ONE_SIDED | SF_CAP_ATOMIC)

static uint64_t addr_of(const void *pointer)
{
	return (uintptr_t)pointer;
}

static doca_error_t run(struct sf_conn *conn, enum sf_op_kind kind, struct sf_region *region, uint64_t remote, void *data,
			size_t len)
{
	struct send send;

	one_sided_set(&send, kind, region, remote, data, len);
	return submit_wait(conn, &send);
}

static uint64_t faa(struct sf_conn *conn, struct sf_region *region, uint64_t remote, uint64_t value)
{
	struct send send;
	uint64_t old;

	one_sided_set(&send, SF_OP_FAA, region, remote, &old, sizeof(old));
	send.op.value = value;
	CHECK_OK(submit_wait(conn, &send));
	return old;
}

static uint64_t cas(struct sf_conn *conn, struct sf_region *region, uint64_t remote, uint64_t compare, uint64_t value)
{
	struct send send;
	uint64_t old;

	one_sided_set(&send, SF_OP_CAS, region, remote, &old, sizeof(old));
	send.op.compare = compare;
	send.op.value = value;
	CHECK_OK(submit_wait(conn, &send));
	return old;
}

static void an_import_has_the_owners_address_length_and_rights(void)
{
	struct sf_region *region, *import;
	struct pair pair;

	pair_open(&pair, 2);
	CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory + 123, 45678, SF_RIGHT_READ, &region));
	CHECK(region->addr == addr_of(pair.b.memory + 123) && region->len == 45678 && !region->imported);
	import = region_pass(region, pair.a.domain);
	CHECK(import->imported && import->addr == region->addr && import->len == region->len);
	CHECK(import->rights == SF_RIGHT_READ && import->domain == pair.a.domain);
	sf_region_close(import);
	sf_region_close(region);
	pair_close(&pair);
}

static void writes_and_reads_at_any_offset(void)
{
	uint32_t seed = seed_new();
	char *shadow = malloc(300000), *data = malloc(300000);
	struct sf_region *region, *import;
	struct pair pair;

	pair_open(&pair, 2);
	/* ragged at both ends: part of a page before and after the whole ones */
	CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory + 1001, 300000, ALL_RIGHTS, &region));
	import = region_pass(region, pair.a.domain);
	fill(pair.b.memory + 1001, 300000, 1);
	memcpy(shadow, pair.b.memory + 1001, 300000);
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t len = random_below(&seed, i % 4 == 0 ? 300001 : i % 4 == 1 ? 5000 : 64);
		uint32_t at = random_below(&seed, 300000 - len + 1);

		at = i % 5 == 0 ? 0 : i % 5 == 1 ? 300000 - len : at;
		if (i % 2 == 0) {
			fill(data, len, i);
			memcpy(shadow + at, data, len);
			CHECK_OK(run(pair.ab, SF_OP_WRITE, import, region->addr + at, data, len));
		} else {
			memset(data, 0, len);
			CHECK_OK(run(pair.ab, SF_OP_READ, import, region->addr + at, data, len));
			CHECK(memcmp(data, shadow + at, len) == 0);
		}
	}
	CHECK(memcmp(pair.b.memory + 1001, shadow, 300000) == 0);
	CHECK(pair.b.memory[1000] == 0 && pair.b.memory[301001] == 0);
	sf_region_close(import);
	sf_region_close(region);
	CHECK(memcmp(pair.b.memory + 1001, shadow, 300000) == 0);
	pair_close(&pair);
	free(shadow);
	free(data);
}

static void writes_gather_and_reads_scatter(void)
{
	struct sf_region *import;
	struct send send;
	struct pair pair;

	pair_open(&pair, 2);
	import = region_pass(pair.b.region, pair.a.domain);
	fill(pair.a.memory, 100000, 4);
	one_sided_set(&send, SF_OP_WRITE, import, import->addr + 77, pair.a.memory, 1);
	send.pieces[1] = (struct sf_iov){pair.a.memory + 1, 0};
	send.pieces[2] = (struct sf_iov){pair.a.memory + 1, 70000};
	send.pieces[3] = (struct sf_iov){pair.a.memory + 70001, 29999};
	send.op.iov_num = 4;
	CHECK_OK(submit_wait(pair.ab, &send));
	CHECK(filled(pair.b.memory + 77, 100000, 4));
	memset(pair.a.memory, 0, 100000);
	send.op.kind = SF_OP_READ;
	CHECK_OK(submit_wait(pair.ab, &send));
	CHECK(filled(pair.a.memory, 100000, 4));
	sf_region_close(import);
	pair_close(&pair);
}

static void peers_are_not_needed_for_one_sided_operations(void)
{
	struct sf_region *import;
	struct send send;
	struct pair pair;

	pair_open(&pair, 2);
	import = region_pass(pair.b.region, pair.a.domain);
	one_sided_set(&send, SF_OP_WRITE, import, import->addr, "alone", 6);
	CHECK_OK(submit(pair.ab, &send));
	CHECK(send.done == 0);
	for (uint64_t end = sf_now_ms() + WAIT_MS; send.done == 0; CHECK(sf_now_ms() < end))
		end_poll(&pair.a, 4);
	CHECK_OK(send.op.status);
	CHECK(memcmp(pair.b.memory, "alone", 6) == 0);
	sf_region_close(import);
	pair_close(&pair);
}

static void write_with_a_header_takes_a_receive(void)
{
	struct sf_region *import;
	struct slot slots[2];
	struct send send;
	struct pair pair;

	pair_open(&pair, 2);
	import = region_pass(pair.b.region, pair.a.domain);
	one_sided_set(&send, SF_OP_WRITE, import, import->addr + 4096, "data", 5);
	send.op.header = "imm";
	send.op.header_len = 3;
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_AGAIN);
	CHECK_RESULT(send.op.status, DOCA_ERROR_EMPTY);
	CHECK(pair.b.memory[4096] == 0);
	CHECK_OK(slot_post(&pair.b, &slots[0], 0, 0)); /* of length 0: a write with a header puts no bytes here */
	CHECK_OK(slot_post(&pair.b, &slots[1], 0, 64));
	CHECK_OK(submit_wait(pair.ab, &send));
	WAIT(slots[0].done == 1);
	CHECK_OK(slots[0].recv.status);
	CHECK(slots[0].recv.kind == SF_OP_WRITE && slots[0].recv.len == 0 && slots[0].recv.conn == pair.ba);
	CHECK(slots[0].recv.header_len == 3 && memcmp(slots[0].recv.header, "imm", 3) == 0);
	CHECK(memcmp(pair.b.memory + 4096, "data", 5) == 0);
	send.op.header_len = 0;
	CHECK_OK(submit_wait(pair.ab, &send));
	CHECK(slots[1].done == 0);
	sf_region_close(import);
	pair_close(&pair);
}

static void atomics_return_the_old_value(void)
{
	struct sf_region *region, *import;
	uint64_t *words;
	struct pair pair;

	pair_open(&pair, 2);
	CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory + 4096 - 64, 8192, ALL_RIGHTS, &region));
	import = region_pass(region, pair.a.domain);
	words = (uint64_t *)(pair.b.memory + 4096 - 64);
	/* the first 8 words and the last are on an edge, the others on a whole page */
	for (uint32_t i = 0; i < 1024; i += i == 16 ? 990 : 1) {
		uint64_t remote = addr_of(&words[i]);

		words[i] = i;
		CHECK(faa(pair.ab, import, remote, 10) == i);
		CHECK(faa(pair.ab, import, remote, UINT64_MAX) == i + 10);
		CHECK(words[i] == i + 9);
		CHECK(cas(pair.ab, import, remote, 1, 2) == i + 9 && words[i] == i + 9);
		CHECK(cas(pair.ab, import, remote, i + 9, UINT64_C(0x1122334455667788)) == i + 9);
		CHECK(words[i] == UINT64_C(0x1122334455667788));
	}
	sf_region_close(import);
	sf_region_close(region);
	pair_close(&pair);
}

static void rights_are_kept(void)
{
	static const enum sf_op_kind kinds[] = {SF_OP_READ, SF_OP_WRITE, SF_OP_FAA, SF_OP_CAS};
	static const uint32_t needs[] = {SF_RIGHT_READ, SF_RIGHT_WRITE, SF_RIGHT_ATOMIC, SF_RIGHT_ATOMIC};
	struct sf_region *region, *import;
	struct pair pair;
	uint64_t word;

	pair_open(&pair, 2);
	for (uint32_t rights = 0; rights <= ALL_RIGHTS; rights++) {
		CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory, 8192, rights, &region));
		import = region_pass(region, pair.a.domain);
		for (int i = 0; i < (fabric->caps & SF_CAP_ATOMIC ? 4 : 2); i++) {
			word = 1;
			CHECK_RESULT(run(pair.ab, kinds[i], import, import->addr + 64, &word, 8),
				     (rights & needs[i]) != 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED);
		}
		sf_region_close(import);
		sf_region_close(region);
	}
	pair_close(&pair);
}

static void operations_stay_inside_the_region(void)
{
	struct sf_region *region, *import;
	struct pair pair;
	uint64_t word = 0;

	pair_open(&pair, 2);
	CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory + 100, 1000, ALL_RIGHTS, &region));
	import = region_pass(region, pair.a.domain);
	for (int i = 0; i < 2; i++) {
		enum sf_op_kind kind = i == 0 ? SF_OP_WRITE : SF_OP_READ;

		CHECK_OK(run(pair.ab, kind, import, import->addr + 992, &word, 8));
		CHECK_OK(run(pair.ab, kind, import, import->addr + 1000, &word, 0));
		CHECK_RESULT(run(pair.ab, kind, import, import->addr + 993, &word, 8), DOCA_ERROR_INVALID_VALUE);
		CHECK_RESULT(run(pair.ab, kind, import, import->addr - 1, &word, 8), DOCA_ERROR_INVALID_VALUE);
		CHECK_RESULT(run(pair.ab, kind, import, UINT64_MAX - 3, &word, 8), DOCA_ERROR_INVALID_VALUE);
		CHECK_RESULT(run(pair.ab, kind, import, 0, &word, 8), DOCA_ERROR_INVALID_VALUE);
		CHECK_RESULT(run(pair.ab, kind, NULL, import->addr, &word, 8), DOCA_ERROR_INVALID_VALUE);
	}
	if ((fabric->caps & SF_CAP_ATOMIC) != 0) {
		CHECK_RESULT(run(pair.ab, SF_OP_FAA, import, import->addr + 8, &word, 8), DOCA_ERROR_INVALID_VALUE); /* 4 mod 8 */
		CHECK_RESULT(run(pair.ab, SF_OP_FAA, import, import->addr + 996, &word, 8), DOCA_ERROR_INVALID_VALUE);
		CHECK_RESULT(run(pair.ab, SF_OP_FAA, import, import->addr + 4, &word, 4), DOCA_ERROR_INVALID_VALUE);
		CHECK_OK(run(pair.ab, SF_OP_FAA, import, import->addr + 4, &word, 8));
	}
	sf_region_close(import);
	sf_region_close(region);
	pair_close(&pair);
}

static void a_closed_region_aborts_its_importers_operations(void)
{
	struct sf_region *region, *import;
	struct pair pair;
	uint64_t word = 7;

	pair_open(&pair, 2);
	CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory, 8192, ALL_RIGHTS, &region));
	import = region_pass(region, pair.a.domain);
	CHECK_OK(run(pair.ab, SF_OP_WRITE, import, import->addr, &word, 8));
	sf_region_close(region);
	word = 8;
	CHECK_RESULT(run(pair.ab, SF_OP_WRITE, import, import->addr, &word, 8), DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_RESULT(run(pair.ab, SF_OP_READ, import, import->addr, &word, 8), DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_RESULT(run(pair.ab, SF_OP_WRITE, import, import->addr + 5000, pair.a.memory, 100), DOCA_ERROR_CONNECTION_ABORTED);
	if ((fabric->caps & SF_CAP_ATOMIC) != 0)
		CHECK_RESULT(run(pair.ab, SF_OP_FAA, import, import->addr, &word, 8), DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(pair.b.memory[0] == 7);
	sf_region_close(import);
	send_set(&(struct send){0}, NULL, 0);
	CHECK(pair.ab->state == SF_CONN_READY); /* the end of a region does not end the connection */
	pair_close(&pair);
}

static void overlapping_regions_see_the_same_bytes(void)
{
	struct sf_region *regions[3], *imports[3];
	static const size_t at[3] = {0, 6000, 3000}, lens[3] = {16384, 20000, 4096};
	struct pair pair;
	uint64_t word, back;

	pair_open(&pair, 2);
	for (int i = 0; i < 3; i++) {
		CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory + at[i], lens[i], ALL_RIGHTS, &regions[i]));
		imports[i] = region_pass(regions[i], pair.a.domain);
	}
	for (uint32_t round = 0; round < 3; round++) {
		for (uint32_t i = round; i < 3; i++) {
			word = 1000 + round * 10 + i;
			CHECK_OK(run(pair.ab, SF_OP_WRITE, imports[i], addr_of(pair.b.memory + 6500), &word, 8));
			for (uint32_t j = round; j < 3; j++) {
				CHECK_OK(run(pair.ab, SF_OP_READ, imports[j], addr_of(pair.b.memory + 6500), &back, 8));
				CHECK(back == word);
			}
			CHECK(memcmp(pair.b.memory + 6500, &word, 8) == 0);
		}
		sf_region_close(regions[round]);
		CHECK(memcmp(pair.b.memory + 6500, &word, 8) == 0);
		CHECK_RESULT(run(pair.ab, SF_OP_READ, imports[round], addr_of(pair.b.memory + 6500), &back, 8),
			     DOCA_ERROR_CONNECTION_ABORTED);
		sf_region_close(imports[round]);
	}
	pair_close(&pair);
}

static void receives_and_writes_meet_in_one_region(void)
{
	struct sf_region *import;
	struct slot slot;
	struct pair pair;

	pair_open(&pair, 2);
	import = region_pass(pair.b.region, pair.a.domain);
	for (uint32_t i = 0; i < 20; i++) {
		CHECK_OK(slot_post(&pair.b, &slot, 1000, 9000));
		fill(pair.a.memory, 9000, i);
		send_wait(pair.ab, pair.a.memory, 9000);
		WAIT(slot.done == 1);
		memset(pair.a.memory, 0, 9000);
		CHECK_OK(run(pair.ab, SF_OP_READ, import, import->addr + 1000, pair.a.memory, 9000));
		CHECK(filled(pair.a.memory, 9000, i));
	}
	sf_region_close(import);
	pair_close(&pair);
}

static void a_mapped_region_is_the_owners_memory(void)
{
	struct sf_region *import;
	struct pair pair;
	void *addr = NULL;
	char *view;

	pair_open(&pair, 2);
	fill(pair.b.memory, 100000, 6);
	import = region_pass(pair.b.region, pair.a.domain);
	CHECK_OK(sf_region_map(import, &addr)); /* whole pages of anonymous memory */
	view = addr;
	CHECK(filled(view, 100000, 6));
	view[50000] = 'm';
	CHECK(pair.b.memory[50000] == 'm');
	pair.b.memory[END_MEMORY - 1] = 'o';
	CHECK(view[END_MEMORY - 1] == 'o');
	CHECK_OK(sf_region_map(import, &addr));
	CHECK(addr == view);
	sf_region_close(import);
	CHECK(pair.b.memory[50000] == 'm');
	pair_close(&pair);
}

static void damaged_descriptors_are_rejected(void)
{
	char descriptor[SF_DESCRIPTOR_MAX], damaged[SF_DESCRIPTOR_MAX + 1];
	size_t len = sizeof(descriptor);
	struct sf_region *import;
	struct pair pair;
	doca_error_t result;

	pair_open(&pair, 2);
	CHECK_OK(sf_region_export(pair.b.region, descriptor, &len));
	for (size_t cut = 0; cut < len; cut++)
		CHECK_RESULT(sf_region_import(pair.a.domain, descriptor, cut, &import), DOCA_ERROR_INVALID_VALUE);
	for (size_t bit = 0; bit < len * 8; bit++) {
		memcpy(damaged, descriptor, len);
		damaged[bit / 8] ^= (char)(1 << bit % 8);
		result = sf_region_import(pair.a.domain, damaged, len, &import);
		CHECK(result == DOCA_ERROR_INVALID_VALUE || result == DOCA_ERROR_UNSUPPORTED_VERSION);
	}
	memset(damaged, 0, sizeof(damaged));
	CHECK_RESULT(sf_region_import(pair.a.domain, damaged, len, &import), DOCA_ERROR_INVALID_VALUE);
	CHECK_RESULT(sf_region_import(pair.a.domain, damaged, sizeof(damaged), &import), DOCA_ERROR_INVALID_VALUE);
	len = 1;
	CHECK(sf_region_export(pair.b.region, descriptor, &len) != DOCA_SUCCESS); /* buffer too small */
	pair_close(&pair);
}

static void requested_regions_become_ready(void)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);
	struct sf_region *region, *import;
	struct pair pair;
	doca_error_t result;
	uint64_t word = 5;

	pair_open(&pair, 2);
	CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory, 8192, ALL_RIGHTS, &region));
	CHECK_OK(sf_region_export(region, descriptor, &len));
	CHECK_RESULT(sf_region_request(pair.a.domain, descriptor, len - 1, &import), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(sf_region_request(pair.a.domain, descriptor, len, &import));
	CHECK(import->imported && import->addr == region->addr && import->len == region->len);
	WAIT((result = sf_region_ready(import)) != DOCA_ERROR_AGAIN);
	CHECK_OK(result);
	CHECK_OK(run(pair.ab, SF_OP_WRITE, import, import->addr, &word, 8));
	CHECK(pair.b.memory[0] == 5);
	sf_region_close(import);
	CHECK_OK(sf_region_request(pair.a.domain, descriptor, len, &import));
	sf_region_close(import); /* whether or not it was ready */
	sf_region_close(region);
	result = sf_region_request(pair.a.domain, descriptor, len, &import);
	if (result == DOCA_SUCCESS) {
		WAIT((result = sf_region_ready(import)) != DOCA_ERROR_AGAIN);
		sf_region_close(import);
	}
	CHECK_RESULT(result, DOCA_ERROR_NOT_FOUND);
	pair_close(&pair);
}

static void stale_descriptors_are_not_found(void)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);
	struct sf_region *region, *import;
	struct pair pair;

	pair_open(&pair, 2);
	CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory, 8192, ALL_RIGHTS, &region));
	CHECK_OK(sf_region_export(region, descriptor, &len));
	sf_region_close(region);
	CHECK_RESULT(sf_region_import(pair.a.domain, descriptor, len, &import), DOCA_ERROR_NOT_FOUND);
	/* also if the same memory is registered again: its token differs */
	CHECK_OK(sf_region_register(pair.b.domain, pair.b.memory, 8192, ALL_RIGHTS, &region));
	sf_region_close(region_pass(region, pair.a.domain));
	CHECK_RESULT(sf_region_import(pair.a.domain, descriptor, len, &import), DOCA_ERROR_NOT_FOUND);
	sf_region_close(region);
	pair_close(&pair);
}

static void a_region_is_imported_many_times(void)
{
	struct sf_region *imports[10];
	struct pair pair;
	uint64_t word;

	pair_open(&pair, 2);
	for (int i = 0; i < 10; i++)
		imports[i] = region_pass(pair.b.region, pair.a.domain);
	for (uint32_t i = 0; i < 10; i++) {
		word = i;
		CHECK_OK(run(pair.ab, SF_OP_WRITE, imports[i], imports[i]->addr, &word, 8));
		sf_region_close(imports[i]);
		CHECK(pair.b.memory[0] == (char)i);
	}
	pair_close(&pair);
}

struct counting {
	_Atomic uint64_t *word;
	uint32_t rounds;
};

static void *count(void *arg)
{
	struct counting *counting = arg;

	for (uint32_t i = 0; i < counting->rounds; i++)
		atomic_fetch_add(counting->word, 1);
	return NULL;
}

static void atomics_agree_with_the_owners_own(void)
{
	struct counting counting = {.rounds = 1000000};
	uint32_t rounds = rounds_of(20000);
	struct sf_region *import;
	pthread_t thread;
	struct pair pair;

	pair_open(&pair, 2);
	import = region_pass(pair.b.region, pair.a.domain);
	counting.word = (_Atomic uint64_t *)(pair.b.memory + 8192);
	CHECK(pthread_create(&thread, NULL, count, &counting) == 0);
	for (uint32_t i = 0; i < rounds; i++)
		faa(pair.ab, import, addr_of(pair.b.memory + 8192), 1);
	pthread_join(thread, NULL);
	CHECK(atomic_load(counting.word) == (uint64_t)counting.rounds + rounds);
	sf_region_close(import);
	pair_close(&pair);
}

const struct conformance_case region_cases[] = {
	CASE(an_import_has_the_owners_address_length_and_rights, SIDED),
	CASE(writes_and_reads_at_any_offset, SIDED),
	CASE(writes_gather_and_reads_scatter, SIDED),
	CASE(peers_are_not_needed_for_one_sided_operations, SIDED),
	CASE(write_with_a_header_takes_a_receive, SIDED),
	CASE(atomics_return_the_old_value, ATOMIC),
	CASE(rights_are_kept, SIDED),
	CASE(operations_stay_inside_the_region, SIDED),
	CASE(a_closed_region_aborts_its_importers_operations, SIDED),
	CASE(overlapping_regions_see_the_same_bytes, SIDED),
	CASE(receives_and_writes_meet_in_one_region, SIDED),
	CASE(a_mapped_region_is_the_owners_memory, SF_CAP_MAP),
	CASE(damaged_descriptors_are_rejected, SIDED),
	CASE(requested_regions_become_ready, SIDED),
	CASE(stale_descriptors_are_not_found, SIDED),
	CASE(a_region_is_imported_many_times, SIDED),
	CASE(atomics_agree_with_the_owners_own, ATOMIC | SF_CAP_ATOMIC_CPU),
	{0},
};
