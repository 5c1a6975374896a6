/* SPDX-License-Identifier: BSD-3-Clause */
/* sf_region_access: memory of another domain or process, reached without a connection. */
#include "conformance.h"
#include "support/stop.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIDED SF_CAP_ONE_SIDED
#define ATOMIC (SF_CAP_ONE_SIDED | SF_CAP_ATOMIC)
#define REMOTE (SF_CAP_ONE_SIDED | SF_CAP_OTHER_PROCESS)
#define PAGE 4096
#define NOTICE_MS WAIT_MS

/* Memory and a domain, with neither endpoint nor connection. */
struct owner {
	struct sf_domain *domain;
	struct sf_region *region;
	char *memory;
	size_t mapped;
};

/* The region begins skew bytes after the start of a page. */
static void owner_open(struct owner *owner, size_t skew, size_t len, uint32_t rights)
{
	owner->mapped = (skew + len + 2 * PAGE - 1) & ~(size_t)(PAGE - 1);
	owner->memory = mmap(NULL, owner->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(owner->memory != MAP_FAILED);
	CHECK_OK(sf_domain_open(fabric, "dpu0/0000:03:00.0", &owner->domain));
	CHECK_OK(sf_region_register(owner->domain, owner->memory + skew, len, rights, &owner->region));
}

static void owner_close(struct owner *owner)
{
	if (owner->region != NULL)
		sf_region_close(owner->region);
	sf_domain_close(owner->domain);
	munmap(owner->memory, owner->mapped);
}

static struct sf_domain *importer_open(void)
{
	struct sf_domain *domain;

	CHECK_OK(sf_domain_open(fabric, "host0/0000:d8:00.0", &domain));
	return domain;
}

static doca_error_t region_access(struct sf_region *region, enum sf_op_kind kind, uint64_t at, void *data, size_t len)
{
	struct sf_iov piece = {data, len};
	struct sf_op op = {.kind = kind, .iov = &piece, .iov_num = 1, .remote_addr = region->addr + at};

	return sf_region_access(region, &op);
}

static doca_error_t atomic(struct sf_region *region, enum sf_op_kind kind, uint64_t at, uint64_t compare, uint64_t value,
			   uint64_t *old)
{
	struct sf_iov piece = {old, sizeof(*old)};
	struct sf_op op = {
		.kind = kind, .iov = &piece, .iov_num = 1, .remote_addr = region->addr + at, .compare = compare, .value = value};

	return sf_region_access(region, &op);
}

static void compare_at_random(struct sf_region *region, const char *bytes, size_t len)
{
	uint32_t seed = seed_new();
	char *shadow = malloc(len), *data = malloc(len);

	CHECK_OK(region_access(region, SF_OP_READ, 0, shadow, len));
	for (uint32_t i = 0; i < 500; i++) {
		uint32_t num = random_below(&seed, i % 4 == 0 ? (uint32_t)len + 1 : i % 4 == 1 ? 5000 : 64);
		uint32_t at = random_below(&seed, (uint32_t)len - num + 1);

		at = i % 5 == 0 ? 0 : i % 5 == 1 ? (uint32_t)len - num : at;
		if (i % 2 == 0) {
			fill(data, num, i);
			memcpy(shadow + at, data, num);
			CHECK_OK(region_access(region, SF_OP_WRITE, at, data, num));
		} else {
			memset(data, 0, num);
			CHECK_OK(region_access(region, SF_OP_READ, at, data, num));
			CHECK(memcmp(data, shadow + at, num) == 0);
		}
	}
	CHECK(bytes == NULL || memcmp(bytes, shadow, len) == 0);
	free(shadow);
	free(data);
}

static void access_needs_no_connection_and_no_endpoint(void)
{
	struct sf_domain *domain = importer_open();
	struct sf_region *import;
	struct owner owner;

	owner_open(&owner, 1001, 300000, ALL_RIGHTS);
	import = region_pass(owner.region, domain);
	compare_at_random(import, owner.memory + 1001, 300000);
	compare_at_random(owner.region, owner.memory + 1001, 300000); /* also the owner's own region */
	CHECK(owner.memory[1000] == 0 && owner.memory[301001] == 0);
	sf_region_close(import);
	owner_close(&owner);
	sf_domain_close(domain);
}

static void access_gathers_and_scatters(void)
{
	struct sf_domain *domain = importer_open();
	char *data = malloc(100000), *back = calloc(1, 100000);
	struct sf_iov pieces[PIECES_MAX];
	struct sf_region *import;
	struct owner owner;

	owner_open(&owner, 4000, 110000, ALL_RIGHTS);
	import = region_pass(owner.region, domain);
	fill(data, 100000, 3);

	struct sf_op op = {.kind = SF_OP_WRITE, .iov = pieces, .iov_num = fabric->iov_max, .remote_addr = import->addr + 33};
	size_t at = 0;

	for (uint32_t i = 0; i < op.iov_num; i++) {
		size_t len = i + 1 == op.iov_num ? 100000 - at : i % 7 == 0 ? 0 : i * 41;

		pieces[i] = (struct sf_iov){data + at, len};
		at += len;
	}
	CHECK_OK(sf_region_access(import, &op));
	CHECK(filled(owner.memory + 4033, 100000, 3));
	op.kind = SF_OP_READ;
	for (uint32_t i = 0; i < op.iov_num; i++)
		pieces[i].addr = back + ((char *)pieces[i].addr - data);
	CHECK_OK(sf_region_access(import, &op));
	CHECK(memcmp(back, data, 100000) == 0);
	op.iov_num = 0; /* an empty list is not an error */
	CHECK_OK(sf_region_access(import, &op));
	sf_region_close(import);
	owner_close(&owner);
	sf_domain_close(domain);
	free(data);
	free(back);
}

static void access_does_atomics(void)
{
	struct sf_domain *domain = importer_open();
	struct sf_region *import;
	struct owner owner;
	uint64_t *words, old;

	owner_open(&owner, PAGE - 64, 2 * PAGE, ALL_RIGHTS);
	import = region_pass(owner.region, domain);
	words = (uint64_t *)(owner.memory + PAGE - 64);
	/* the first 8 words and the last are on an edge, the others on a whole page */
	for (uint32_t i = 0; i < 1024; i += i == 16 ? 990 : 1) {
		words[i] = i;
		CHECK_OK(atomic(import, SF_OP_FAA, i * 8, 0, 10, &old));
		CHECK(old == i && words[i] == i + 10);
		CHECK_OK(atomic(import, SF_OP_CAS, i * 8, 1, 2, &old));
		CHECK(old == i + 10 && words[i] == i + 10);
		CHECK_OK(atomic(import, SF_OP_CAS, i * 8, i + 10, 77, &old));
		CHECK(old == i + 10 && words[i] == 77);
		CHECK_OK(atomic(owner.region, SF_OP_FAA, i * 8, 0, UINT64_MAX, &old));
		CHECK(old == 77 && words[i] == 76);
	}
	sf_region_close(import);
	owner_close(&owner);
	sf_domain_close(domain);
}

static void access_keeps_rights(void)
{
	static const enum sf_op_kind kinds[] = {SF_OP_READ, SF_OP_WRITE, SF_OP_FAA, SF_OP_CAS};
	static const uint32_t needs[] = {SF_RIGHT_READ, SF_RIGHT_WRITE, SF_RIGHT_ATOMIC, SF_RIGHT_ATOMIC};
	struct sf_domain *domain = importer_open();
	struct sf_region *import;
	struct owner owner;

	for (uint32_t rights = 0; rights <= ALL_RIGHTS; rights++) {
		owner_open(&owner, PAGE - 64, 2 * PAGE, rights);
		import = region_pass(owner.region, domain);
		for (int i = 0; i < (fabric->caps & SF_CAP_ATOMIC ? 4 : 2); i++) {
			doca_error_t want = (rights & needs[i]) != 0 ? DOCA_SUCCESS : DOCA_ERROR_NOT_PERMITTED;
			uint64_t word = 1;

			CHECK_RESULT(region_access(import, kinds[i], 0, &word, 8), want); /* an edge */
			CHECK_RESULT(region_access(import, kinds[i], 128, &word, 8), want);
			CHECK_OK(region_access(owner.region, kinds[i], 128, &word, 8)); /* the owner may */
		}
		sf_region_close(import);
		owner_close(&owner);
	}
	sf_domain_close(domain);
}

static void access_stays_inside_the_region(void)
{
	struct sf_domain *domain = importer_open();
	struct sf_region *import, *regions[2];
	struct owner owner;
	uint64_t word = 0;

	owner_open(&owner, 100, 1000, ALL_RIGHTS);
	import = region_pass(owner.region, domain);
	regions[0] = import;
	regions[1] = owner.region;
	for (int i = 0; i < 4; i++) {
		enum sf_op_kind kind = i % 2 == 0 ? SF_OP_WRITE : SF_OP_READ;
		struct sf_region *region = regions[i / 2];
		struct sf_iov piece = {&word, 8};
		struct sf_op op = {
			.kind = kind, .iov = &piece, .iov_num = 1, .remote_addr = region->addr, .header = "h", .header_len = 1};

		CHECK_OK(region_access(region, kind, 992, &word, 8));
		CHECK_OK(region_access(region, kind, 1000, &word, 0));
		CHECK_RESULT(region_access(region, kind, 993, &word, 8), DOCA_ERROR_INVALID_VALUE);
		CHECK_RESULT(region_access(region, kind, UINT64_MAX, &word, 8), DOCA_ERROR_INVALID_VALUE);
		CHECK_RESULT(region_access(region, kind, 0, &word, (size_t)SF_TRANSFER_MAX + 1), DOCA_ERROR_INVALID_VALUE);
		CHECK_RESULT(region_access(region, SF_OP_SEND, 0, &word, 8), DOCA_ERROR_INVALID_VALUE);
		CHECK_RESULT(sf_region_access(region, &op), DOCA_ERROR_INVALID_VALUE); /* no receive could get a header */
		op.header_len = 0;
		op.iov_num = fabric->iov_max + 1;
		CHECK_RESULT(sf_region_access(region, &op), DOCA_ERROR_INVALID_VALUE);
		if ((fabric->caps & SF_CAP_ATOMIC) == 0)
			continue;
		CHECK_RESULT(region_access(region, SF_OP_FAA, 8, &word, 8), DOCA_ERROR_INVALID_VALUE); /* 4 mod 8 */
		CHECK_RESULT(region_access(region, SF_OP_CAS, 4, &word, 4), DOCA_ERROR_INVALID_VALUE);
		CHECK_OK(region_access(region, SF_OP_FAA, 4, &word, 8));
	}
	sf_region_close(import);
	owner_close(&owner);
	sf_domain_close(domain);
}

static void access_of_a_closed_region_is_aborted(void)
{
	struct sf_domain *domain = importer_open();
	struct sf_region *import;
	struct owner owner;
	uint64_t word = 7;

	owner_open(&owner, PAGE - 64, 3 * PAGE, ALL_RIGHTS);
	import = region_pass(owner.region, domain);
	CHECK_OK(region_access(import, SF_OP_WRITE, 64, &word, 8));
	sf_region_close(owner.region);
	owner.region = NULL;
	word = 8;
	CHECK_RESULT(region_access(import, SF_OP_WRITE, 64, &word, 8), DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_RESULT(region_access(import, SF_OP_READ, 0, &word, 8), DOCA_ERROR_CONNECTION_ABORTED);
	if ((fabric->caps & SF_CAP_ATOMIC) != 0) {
		CHECK_RESULT(region_access(import, SF_OP_FAA, 0, &word, 8), DOCA_ERROR_CONNECTION_ABORTED);
		CHECK_RESULT(region_access(import, SF_OP_CAS, 64, &word, 8), DOCA_ERROR_CONNECTION_ABORTED);
	}
	CHECK(owner.memory[PAGE] == 7);
	sf_region_close(import);
	owner_close(&owner);
	sf_domain_close(domain);
}

struct adding {
	struct sf_region *region;
	_Atomic uint64_t *word; /* by the CPU, not through the provider */
	uint64_t at;
	uint32_t rounds, done;
	doca_error_t ended; /* status of the access that failed */
	_Atomic bool began;
};

static void *add(void *arg)
{
	struct adding *adding = arg;

	for (; adding->done < adding->rounds; adding->done++) {
		uint64_t old;

		atomic_store(&adding->began, true);
		if (adding->word != NULL) {
			atomic_fetch_add(adding->word, 1);
			continue;
		}
		adding->ended = atomic(adding->region, SF_OP_FAA, adding->at, 0, 1, &old);
		if (adding->ended != DOCA_SUCCESS)
			break;
	}
	return NULL;
}

/* The owner closes the region while threads access it: they end with CONNECTION_ABORTED, and nothing is written afterwards. */
static void access_ends_when_its_region_closes(void)
{
	struct sf_domain *domain = importer_open();
	struct adding adding[2] = {{.rounds = UINT32_MAX}, {.rounds = UINT32_MAX, .at = 64}};
	struct sf_region *import;
	pthread_t threads[2];
	struct owner owner;
	uint64_t after;

	owner_open(&owner, PAGE - 64, 3 * PAGE, ALL_RIGHTS);
	import = region_pass(owner.region, domain);
	for (int i = 0; i < 2; i++) {
		adding[i].region = import;
		CHECK(pthread_create(&threads[i], NULL, add, &adding[i]) == 0);
	}
	for (int i = 0; i < 2; i++)
		WAIT(atomic_load(&adding[i].began));
	sf_region_close(owner.region);
	owner.region = NULL;
	memcpy(&after, owner.memory + PAGE, sizeof(after));
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		CHECK_RESULT(adding[i].ended, DOCA_ERROR_CONNECTION_ABORTED);
	}
	CHECK(memcmp(&after, owner.memory + PAGE, sizeof(after)) == 0);
	CHECK(after - adding[1].done <= 1); /* the last access may have taken effect and still have been reported as aborted */
	sf_region_close(import);
	owner_close(&owner);
	sf_domain_close(domain);
}

/* The cases below use two processes: in some the script owns the memory, in others the case does. */

#define SHARED_LEN (16 * PAGE + 128)
#define EDGE 0		 /* a word in the region's partial first page */
#define WHOLE (64 + 256) /* a word on a whole page */
#define RAGGED_END (SHARED_LEN - 64)

static void descriptor_say(int sock, struct sf_region *region)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);

	CHECK_OK(sf_region_export(region, descriptor, &len));
	say(sock, &len, sizeof(len));
	say(sock, descriptor, len);
}

static struct sf_region *descriptor_hear(int sock, struct sf_domain *domain)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_region *import;
	size_t len;

	hear(sock, &len, sizeof(len));
	CHECK(len <= sizeof(descriptor));
	hear(sock, descriptor, len);
	CHECK_OK(sf_region_import(domain, descriptor, len, &import));
	return import;
}

/* Exports a region, closes it at the word 'c', exits at the word 'e'. */
static void own(int sock, uint32_t rights)
{
	struct owner owner;

	owner_open(&owner, PAGE - 64, SHARED_LEN, rights);
	fill(owner.memory + PAGE - 64, SHARED_LEN, 9);
	descriptor_say(sock, owner.region);
	hear_word(sock, 'c');
	sf_region_close(owner.region);
	owner.region = NULL;
	say_word(sock, 'c');
	hear_word(sock, 'e');
	owner_close(&owner);
}

static void own_all(int sock)
{
	own(sock, ALL_RIGHTS);
}

static void own_read_only(int sock)
{
	own(sock, SF_RIGHT_READ);
}

static void access_reaches_another_process(void)
{
	struct sf_domain *domain;
	struct sf_region *import;
	struct peer peer;
	char *data = malloc(SHARED_LEN);
	uint64_t word = 0;

	peer_fork(&peer, own_all);
	domain = importer_open();
	import = descriptor_hear(peer.sock, domain);
	CHECK_OK(region_access(import, SF_OP_READ, 0, data, SHARED_LEN));
	CHECK(filled(data, SHARED_LEN, 9));
	compare_at_random(import, NULL, SHARED_LEN);
	say_word(peer.sock, 'c');
	hear_word(peer.sock, 'c');
	CHECK_RESULT(region_access(import, SF_OP_READ, WHOLE, &word, 8), DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_RESULT(region_access(import, SF_OP_WRITE, EDGE, &word, 8), DOCA_ERROR_CONNECTION_ABORTED);
	say_word(peer.sock, 'e');
	sf_region_close(import);
	sf_domain_close(domain);
	peer_end(&peer);
	free(data);
}

static void a_read_only_region_of_another_process_is_not_written(void)
{
	struct sf_domain *domain;
	struct sf_region *import;
	struct peer peer;
	uint64_t word = 1;
	char *data = malloc(SHARED_LEN);

	peer_fork(&peer, own_read_only);
	domain = importer_open();
	import = descriptor_hear(peer.sock, domain);
	for (uint64_t at = 0; at < 1024; at += 64) {
		CHECK_RESULT(region_access(import, SF_OP_WRITE, at, &word, 8), DOCA_ERROR_NOT_PERMITTED);
		if ((fabric->caps & SF_CAP_ATOMIC) != 0)
			CHECK_RESULT(region_access(import, SF_OP_FAA, at, &word, 8), DOCA_ERROR_NOT_PERMITTED);
	}
	CHECK_OK(region_access(import, SF_OP_READ, 0, data, SHARED_LEN));
	CHECK(filled(data, SHARED_LEN, 9));
	say_word(peer.sock, 'c');
	hear_word(peer.sock, 'c');
	say_word(peer.sock, 'e');
	sf_region_close(import);
	sf_domain_close(domain);
	peer_end(&peer);
	free(data);
}

/* The owner is stopped, so neither its program nor its agent runs. */
static void access_reaches_a_stopped_process(void)
{
	struct sf_domain *domain;
	struct sf_region *import;
	struct peer peer;
	uint64_t word = 5, old;
	doca_error_t edge;

	peer_fork(&peer, own_all);
	domain = importer_open();
	import = descriptor_hear(peer.sock, domain);
	process_stop(peer.pid);
	for (int i = 0; i < 100; i++) {
		uint64_t begin = sf_now_ms();

		CHECK_OK(region_access(import, SF_OP_WRITE, WHOLE, &word, 8));
		CHECK_OK(region_access(import, SF_OP_READ, WHOLE, &old, 8));
		CHECK(old == word);
		if ((fabric->caps & SF_CAP_ATOMIC) != 0)
			CHECK_OK(atomic(import, SF_OP_FAA, WHOLE, 0, 2, &word));
		word = i;
		CHECK(sf_now_ms() - begin < NOTICE_MS);
	}
	/* The kernel copies an edge where that is permitted; elsewhere the agent does, and it is stopped. */
	edge = region_access(import, SF_OP_WRITE, EDGE, &word, 8);
	CHECK(edge == DOCA_SUCCESS || edge == DOCA_ERROR_TIME_OUT);
	if ((fabric->caps & SF_CAP_ATOMIC) != 0) {
		uint64_t begin = sf_now_ms();

		for (int i = 0; i < 2; i++) {
			edge = atomic(import, SF_OP_FAA, RAGGED_END, 0, 1, &old);
			CHECK(edge == DOCA_ERROR_TIME_OUT ||
			      (edge == DOCA_SUCCESS && (fabric->caps & SF_CAP_OTHER_MACHINE) != 0));
		}
		CHECK(sf_now_ms() - begin < 10 * NOTICE_MS);
	}
	CHECK(kill(peer.pid, SIGCONT) == 0);
	if ((fabric->caps & SF_CAP_ATOMIC) != 0)
		CHECK_OK(atomic(import, SF_OP_FAA, RAGGED_END, 0, 1, &old));
	CHECK_OK(region_access(import, SF_OP_WRITE, EDGE, &word, 8));
	say_word(peer.sock, 'c');
	hear_word(peer.sock, 'c');
	say_word(peer.sock, 'e');
	sf_region_close(import);
	sf_domain_close(domain);
	peer_end(&peer);
}

/* The owner exports, then is stopped: a request does not block, and completes when the owner continues or dies. */
static void requests_do_not_wait_for_a_stopped_owner(void)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_domain *domain;
	struct sf_region *import;
	doca_error_t result;
	struct peer peer;
	uint64_t begin, word;
	size_t len;

	for (int killed = 0; killed < 2; killed++) {
		peer_fork(&peer, own_all);
		domain = importer_open();
		hear(peer.sock, &len, sizeof(len));
		hear(peer.sock, descriptor, len);
		process_stop(peer.pid);
		begin = sf_now_ms();
		CHECK_OK(sf_region_request(domain, descriptor, len, &import));
		for (int i = 0; i < 1000; i++)
			CHECK_RESULT(sf_region_ready(import), DOCA_ERROR_AGAIN);
		CHECK(sf_now_ms() - begin < NOTICE_MS);
		if (killed)
			peer_kill(&peer);
		else
			CHECK(kill(peer.pid, SIGCONT) == 0);
		WAIT((result = sf_region_ready(import)) != DOCA_ERROR_AGAIN);
		CHECK_RESULT(result, killed ? DOCA_ERROR_NOT_FOUND : DOCA_SUCCESS);
		if (!killed) {
			CHECK_OK(region_access(import, SF_OP_READ, WHOLE, &word, 8));
			say_word(peer.sock, 'c');
			hear_word(peer.sock, 'c');
			say_word(peer.sock, 'e');
			peer_end(&peer);
		}
		sf_region_close(import);
		sf_domain_close(domain);
	}
}

static void a_stopped_owner_is_not_found(void)
{
	char descriptor[SF_DESCRIPTOR_MAX];
	struct sf_domain *domain;
	struct sf_region *import;
	struct peer peer;
	size_t len;

	peer_fork(&peer, own_all);
	domain = importer_open();
	hear(peer.sock, &len, sizeof(len));
	hear(peer.sock, descriptor, len);
	process_stop(peer.pid);
	CHECK_RESULT(sf_region_import(domain, descriptor, len, &import), DOCA_ERROR_NOT_FOUND);
	peer_kill(&peer);
	CHECK_RESULT(sf_region_import(domain, descriptor, len, &import), DOCA_ERROR_NOT_FOUND);
	sf_domain_close(domain);
}

/* Without a connection the owner's death must be noticed too; its pages stay until the import is closed. */
static void access_is_aborted_by_the_owners_death(void)
{
	static const uint64_t places[] = {EDGE, WHOLE, RAGGED_END};
	struct sf_domain *domain;
	struct sf_region *import;
	struct peer peer;
	uint64_t end, word;

	for (int i = 0; i < 6; i++) {
		enum sf_op_kind kind = i < 3 ? SF_OP_READ : SF_OP_WRITE;
		doca_error_t result;

		peer_fork(&peer, own_all);
		domain = importer_open();
		import = descriptor_hear(peer.sock, domain);
		CHECK_OK(region_access(import, kind, places[i % 3], &word, 8));
		peer_kill(&peer);
		end = sf_now_ms() + NOTICE_MS;
		while ((result = region_access(import, kind, places[i % 3], &word, 8)) == DOCA_SUCCESS)
			CHECK(sf_now_ms() < end);
		CHECK_RESULT(result, DOCA_ERROR_CONNECTION_ABORTED);
		CHECK_RESULT(region_access(import, kind, WHOLE, &word, 8), DOCA_ERROR_CONNECTION_ABORTED);
		sf_region_close(import);
		sf_domain_close(domain);
	}
}

#define ADDERS 3

/* Imports the parent's region and adds to both words. */
static void add_to_both(int sock)
{
	struct sf_domain *domain = importer_open();
	struct sf_region *import = descriptor_hear(sock, domain);
	uint32_t rounds;
	uint64_t old;

	hear(sock, &rounds, sizeof(rounds));
	for (uint32_t i = 0; i < rounds; i++) {
		CHECK_OK(atomic(import, SF_OP_FAA, WHOLE, 0, 1, &old));
		if (i % 64 == 0)
			CHECK_OK(atomic(import, SF_OP_FAA, EDGE, 0, 1, &old));
	}
	say_word(sock, 'd');
	hear_word(sock, 'e');
	sf_region_close(import);
	sf_domain_close(domain);
}

static void access_atomics_agree_with_the_cpus(void)
{
	uint32_t rounds = rounds_of(64000);
	struct adding own[3] = {{.rounds = rounds}, {.rounds = rounds}, {.rounds = rounds, .at = WHOLE}};
	struct peer peers[ADDERS];
	pthread_t threads[3];
	struct owner owner;
	uint64_t sums[2];

	for (int i = 0; i < ADDERS; i++)
		peer_fork(&peers[i], add_to_both);
	owner_open(&owner, PAGE - 64, SHARED_LEN, ALL_RIGHTS);
	own[0].word = (_Atomic uint64_t *)(owner.memory + PAGE - 64 + EDGE);
	own[1].word = (_Atomic uint64_t *)(owner.memory + PAGE - 64 + WHOLE);
	own[2].region = owner.region;
	for (int i = 0; i < ADDERS; i++)
		descriptor_say(peers[i].sock, owner.region);
	for (int i = 0; i < ADDERS; i++)
		say(peers[i].sock, &rounds, sizeof(rounds));
	for (int i = 0; i < 3; i++)
		CHECK(pthread_create(&threads[i], NULL, add, &own[i]) == 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < ADDERS; i++)
		hear_word(peers[i].sock, 'd');
	sums[0] = atomic_load(own[0].word);
	sums[1] = atomic_load(own[1].word);
	CHECK(sums[0] == rounds + (uint64_t)ADDERS * (rounds / 64));
	CHECK(sums[1] == 2 * (uint64_t)rounds + (uint64_t)ADDERS * rounds);
	for (int i = 0; i < ADDERS; i++) {
		say_word(peers[i].sock, 'e');
		peer_end(&peers[i]);
	}
	owner_close(&owner);
}

const struct conformance_case access_cases[] = {
	CASE(access_needs_no_connection_and_no_endpoint, SIDED),
	CASE(access_gathers_and_scatters, SIDED),
	CASE(access_does_atomics, ATOMIC),
	CASE(access_keeps_rights, SIDED),
	CASE(access_stays_inside_the_region, SIDED),
	CASE(access_of_a_closed_region_is_aborted, SIDED),
	CASE(access_ends_when_its_region_closes, ATOMIC),
	CASE(access_reaches_another_process, REMOTE),
	CASE(a_read_only_region_of_another_process_is_not_written, REMOTE),
	CASE(access_reaches_a_stopped_process, REMOTE | SF_CAP_UNATTENDED),
	CASE(requests_do_not_wait_for_a_stopped_owner, REMOTE),
	CASE(a_stopped_owner_is_not_found, REMOTE),
	CASE(access_is_aborted_by_the_owners_death, REMOTE),
	CASE(access_atomics_agree_with_the_cpus, REMOTE | SF_CAP_ATOMIC | SF_CAP_ATOMIC_CPU),
	{0},
};
