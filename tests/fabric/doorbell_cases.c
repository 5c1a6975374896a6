/* SPDX-License-Identifier: BSD-3-Clause */
/* sf_region_arm: the doorbell of a waiter for changes of a region is rung for changes that no completion reports. */
#include "conformance.h"

#include <sys/mman.h>

#define REMOTE (SF_CAP_ONE_SIDED | SF_CAP_OTHER_PROCESS)
#define LEN 4096
#define ROUNDS 5000

struct counting {
	struct sf_region_doorbell base;
	_Atomic uint32_t rung;
};

static void count(struct sf_region_doorbell *doorbell)
{
	atomic_fetch_add(&((struct counting *)doorbell)->rung, 1);
}

#define COUNTING                                                                                                                 \
	{                                                                                                                        \
		.base = {.ring = count }                                                                                         \
	}

/* Exported memory of a domain. */
struct owner {
	struct sf_domain *domain;
	struct sf_region *region;
	_Atomic uint64_t *word;
};

static void owner_open(struct owner *owner, int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);
	void *memory = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(memory != MAP_FAILED);
	owner->word = memory;
	CHECK_OK(sf_domain_open(fabric, "dpu0/0000:03:00.0", &owner->domain));
	CHECK_OK(sf_region_register(owner->domain, memory, LEN, ALL_RIGHTS, &owner->region));
	CHECK_OK(sf_region_export(owner->region, descriptor, &len));
	say(sock, &len, sizeof(len));
	say(sock, descriptor, len);
}

static void owner_close(struct owner *owner)
{
	sf_region_close(owner->region);
	sf_domain_close(owner->domain);
	munmap((void *)owner->word, LEN);
}

static struct sf_region *import_from(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_domain *domain;
	struct sf_region *import;
	size_t len;

	CHECK_OK(sf_domain_open(fabric, "host0/0000:d8:00.0", &domain));
	hear(sock, &len, sizeof(len));
	CHECK(len <= sizeof(descriptor));
	hear(sock, descriptor, len);
	CHECK_OK(sf_region_import(domain, descriptor, len, &import));
	return import;
}

static void import_close(struct sf_region *import)
{
	struct sf_domain *domain = import->domain;

	sf_region_close(import);
	sf_domain_close(domain);
}

static void add_one(struct sf_region *import)
{
	uint64_t old;
	struct sf_iov piece = {&old, sizeof(old)};
	struct sf_op op = {.kind = SF_OP_FAA, .iov = &piece, .iov_num = 1, .remote_addr = import->addr, .value = 1};

	CHECK_OK(sf_region_access(import, &op));
}

/* ---- a process that ends ---- */

static void import_script(int sock)
{
	struct sf_region *import = import_from(sock);

	say_word(sock, 'i');
	hear_word(sock, 'e');
	import_close(import);
}

static void an_importers_death_rings(void)
{
	struct counting doorbell = COUNTING;
	struct owner owner;
	struct peer peer;

	peer_fork(&peer, import_script);
	owner_open(&owner, peer.sock);
	hear_word(peer.sock, 'i');
	CHECK_OK(sf_region_arm(owner.region, &doorbell.base));
	peer_kill(&peer);
	WAIT(doorbell.rung != 0);
	owner_close(&owner);
}

static void an_importers_exit_rings(void)
{
	struct counting first = COUNTING, doorbell = COUNTING;
	struct owner owner;
	struct peer peer;

	peer_fork(&peer, import_script);
	owner_open(&owner, peer.sock);
	CHECK_OK(sf_region_arm(owner.region, &first.base)); /* before the importer exists */
	hear_word(peer.sock, 'i');
	CHECK_OK(sf_region_arm(owner.region, &doorbell.base));
	say_word(peer.sock, 'e');
	peer_end(&peer);
	WAIT(doorbell.rung != 0);
	CHECK(first.rung == 0);
	owner_close(&owner);
}

static void own_script(int sock)
{
	struct owner owner;

	owner_open(&owner, sock);
	hear_word(sock, 'e');
}

static void the_owners_death_rings_at_each_import(void)
{
	struct counting doorbells[2] = {COUNTING, COUNTING};
	struct sf_region *import, *second;
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_domain *domain;
	struct peer peer;
	size_t len;

	peer_fork(&peer, own_script);
	CHECK_OK(sf_domain_open(fabric, "host0/0000:d8:00.0", &domain));
	hear(peer.sock, &len, sizeof(len));
	hear(peer.sock, descriptor, len);
	CHECK_OK(sf_region_import(domain, descriptor, len, &import));
	CHECK_OK(sf_region_import(domain, descriptor, len, &second));
	for (int i = 0; i < 2; i++) { /* arming again is permitted */
		CHECK_OK(sf_region_arm(import, &doorbells[0].base));
		CHECK_OK(sf_region_arm(second, &doorbells[1].base));
	}
	peer_kill(&peer);
	WAIT(doorbells[0].rung != 0 && doorbells[1].rung != 0);
	sf_region_close(import);
	sf_region_close(second);
	sf_domain_close(domain);
}

/* ---- changes by a device ---- */

static void add_script(int sock)
{
	struct sf_region *import = import_from(sock);

	for (uint32_t i = 0, rounds = rounds_of(ROUNDS); i < rounds; i++) {
		hear_word(sock, 'a');
		add_one(import);
	}
	hear_word(sock, 'e');
	import_close(import);
}

/* The request may arrive before the arm, during it, or after. */
static void each_change_by_a_device_rings(void)
{
	struct counting doorbell = COUNTING;
	struct owner owner;
	struct peer peer;

	if ((fabric->caps & SF_CAP_MAP) != 0)
		return;
	peer_fork(&peer, add_script);
	owner_open(&owner, peer.sock);
	for (uint64_t i = 1, rounds = rounds_of(ROUNDS); i <= rounds; i++) {
		say_word(peer.sock, 'a');
		for (volatile uint64_t spin = (i * 37) % 2000; spin != 0; spin--)
			;
		for (;;) {
			uint32_t before = doorbell.rung;

			CHECK_OK(sf_region_arm(owner.region, &doorbell.base));
			if (atomic_load(owner.word) == i)
				break;
			WAIT(doorbell.rung != before);
		}
	}
	say_word(peer.sock, 'e');
	peer_end(&peer);
	owner_close(&owner);
}

/* A submitted change rings before its submitter polls. After the poll, the owner knows that the change is complete. */
static void a_change_that_nobody_polls_for_rings(void)
{
	struct counting doorbell = COUNTING;
	struct sf_region *import;
	struct pair pair;
	struct send add;
	uint64_t old;

	if ((fabric->caps & SF_CAP_MAP) != 0)
		return;
	pair_open(&pair, 16);
	import = region_pass(pair.b.region, pair.a.domain);
	CHECK_OK(sf_region_arm(pair.b.region, &doorbell.base));
	one_sided_set(&add, SF_OP_FAA, import, import->addr, &old, sizeof(old));
	add.op.value = 1;
	CHECK_OK(submit(pair.ab, &add));
	for (uint64_t end = sf_now_ms() + WAIT_MS; doorbell.rung == 0;)
		CHECK(sf_now_ms() < end); /* does not poll */
	WAIT(add.done == 1);
	WAIT(sf_region_arm(pair.b.region, &doorbell.base) == DOCA_SUCCESS);
	sf_region_close(import);
	pair_close(&pair);
}

const struct conformance_case doorbell_cases[] = {
	CASE(an_importers_death_rings, REMOTE),
	CASE(an_importers_exit_rings, REMOTE),
	CASE(the_owners_death_rings_at_each_import, REMOTE),
	CASE(each_change_by_a_device_rings, REMOTE | SF_CAP_ATOMIC),
	CASE(a_change_that_nobody_polls_for_rings, REMOTE | SF_CAP_ATOMIC),
	{0},
};
