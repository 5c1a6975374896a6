/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's client that sends arbitrary messages about domains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "raw_client.h"
#include "urom/directory.h"

static struct urom_rig rig;
static struct raw_client service;
static uint8_t directory[256], digest[UROM_DIGEST_SIZE];
static size_t directory_len;

/* Packs a valid directory of one process with a worker. */
static void pack_directory(void)
{
	const struct urom_entry_worker worker = {7, {NULL, 0}};
	size_t len = urom_entry_pack(&worker, 1, NULL, 0, NULL, 0);
	size_t place = urom_directory_place(directory, urom_directory_begin(directory, 1), len);

	(void)urom_entry_pack(&worker, 1, NULL, 0, directory + place, len);
	directory_len = place + len;
	assert_int_equal(urom_digest(directory, directory_len, digest), DOCA_SUCCESS);
}

static int join(void **state)
{
	uint8_t body[512];

	(void)state;
	if (!urom_rig_open(&rig, NULL))
		return -1;
	pack_directory();
	client_open(rig.port);
	client_authenticate();
	client_say(UROM_SPAWN, 1, body, client_spawn_body(urom_rig_plugin(&rig, "worker_graph"), body, sizeof(body)));
	if (!client_await(&client.lost, &client.num_spawned, 1))
		return -1;
	service = client;
	client_open_worker(rig.port, &service.spawned);
	client_say(UROM_JOIN, 1, service.spawned.token, UROM_TOKEN_SIZE);
	return client_await(&client.lost, &client.num_answers, 1) && client.last.kind == UROM_JOINED ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	client_close();
	client = service;
	client_close();
	urom_rig_close(&rig);
	return 0;
}

static void say(enum urom_kind kind, uint64_t number, uint64_t size, uint64_t offset, const void *body, size_t len)
{
	struct urom_head head = urom_head_make(kind, DOCA_SUCCESS, offset, number);

	head.size = size;
	client_send(&head, sizeof(head), body, len);
}

/* Waits for the next answer; checks its kind and status, for that domain. */
static void assert_answer(uint64_t number, enum urom_kind kind, doca_error_t status)
{
	uint32_t seen = client.num_answers;

	assert_true(client_await(&client.lost, &client.num_answers, seen + 1));
	assert_false(client.lost);
	assert_int_equal(client.num_answers, seen + 1);
	assert_int_equal(client.last.subject, number);
	assert_int_equal(client.last.kind, kind);
	assert_int_equal(client.last.status, status);
}

static void offer_and_send(uint64_t number, const uint8_t *bytes, size_t len)
{
	say(UROM_DOMAIN_OFFER, number, len, 0, digest, sizeof(digest));
	assert_answer(number, UROM_DOMAIN_WANTED, DOCA_SUCCESS);
	say(UROM_DOMAIN_PART, number, len, 0, bytes, len);
}

static void assert_good_one_is_taken(uint64_t number)
{
	offer_and_send(number, directory, directory_len);
	assert_answer(number, UROM_DOMAIN_READY, DOCA_SUCCESS);
}

static void one_that_is_known_is_not_asked_for(void **state)
{
	(void)state;
	assert_good_one_is_taken(1);
	say(UROM_DOMAIN_OFFER, 2, directory_len, 0, digest, sizeof(digest));
	assert_answer(2, UROM_DOMAIN_READY, DOCA_SUCCESS);
	say(UROM_DOMAIN_LEAVE, 1, 0, 0, NULL, 0);
	say(UROM_DOMAIN_OFFER, 3, directory_len, 0, digest, sizeof(digest));
	assert_answer(3, UROM_DOMAIN_READY, DOCA_SUCCESS); /* number 2 still holds the directory */
	say(UROM_DOMAIN_LEAVE, 2, 0, 0, NULL, 0);
	say(UROM_DOMAIN_LEAVE, 3, 0, 0, NULL, 0);
	assert_good_one_is_taken(4); /* the directory was forgotten with its last number */
}

static void offers_that_are_none(void **state)
{
	(void)state;
	say(UROM_DOMAIN_OFFER, 1, directory_len, 0, digest, sizeof(digest) - 1);
	assert_answer(1, UROM_DOMAIN_READY, DOCA_ERROR_INVALID_VALUE);
	say(UROM_DOMAIN_OFFER, 1, UINT64_C(1) + UROM_DIRECTORY_MAX, 0, digest, sizeof(digest));
	assert_answer(1, UROM_DOMAIN_READY, DOCA_ERROR_TOO_BIG);
	say(UROM_DOMAIN_OFFER, 1, UINT64_MAX, 0, digest, sizeof(digest));
	assert_answer(1, UROM_DOMAIN_READY, DOCA_ERROR_TOO_BIG);
	assert_good_one_is_taken(1);
	say(UROM_DOMAIN_OFFER, 1, directory_len, 0, digest, sizeof(digest));
	assert_answer(1, UROM_DOMAIN_READY, DOCA_ERROR_INVALID_VALUE); /* the number is already in use */
}

static void more_than_all_directories_may_have(void **state)
{
	uint8_t others[UROM_DIGEST_SIZE] = {0};

	(void)state;
	for (uint8_t i = 0; i < 3; i++) {
		others[0] = i;
		say(UROM_DOMAIN_OFFER, i, UROM_DIRECTORY_MAX, 0, others, sizeof(others));
		assert_answer(i, i < 2 ? UROM_DOMAIN_WANTED : UROM_DOMAIN_READY, i < 2 ? DOCA_SUCCESS : DOCA_ERROR_FULL);
	}
	say(UROM_DOMAIN_LEAVE, 0, 0, 0, NULL, 0);
	assert_good_one_is_taken(3);
}

static void other_bytes_than_were_offered(void **state)
{
	uint8_t other[sizeof(directory)];

	(void)state;
	memcpy(other, directory, sizeof(other));
	other[directory_len - 1] ^= 1;
	offer_and_send(1, other, directory_len);
	assert_answer(1, UROM_DOMAIN_READY, DOCA_ERROR_INVALID_VALUE);
	assert_string_equal(client.text, "its bytes do not match the offered digest");
	assert_good_one_is_taken(2);
}

static void bytes_that_are_no_directory(void **state)
{
	uint8_t noise[200];

	(void)state;
	memset(noise, 0xff, sizeof(noise));
	assert_int_equal(urom_digest(noise, sizeof(noise), digest), DOCA_SUCCESS);
	offer_and_send(1, noise, sizeof(noise));
	assert_answer(1, UROM_DOMAIN_READY, DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(urom_digest(noise, 0, digest), DOCA_SUCCESS);
	offer_and_send(2, noise, 0);
	assert_answer(2, UROM_DOMAIN_READY, DOCA_ERROR_INVALID_VALUE);
	pack_directory();
	assert_good_one_is_taken(3);
}

static void pieces_that_do_not_fit(void **state)
{
	static const struct {
		int64_t size, offset, len; /* added to the right values */
	} wrong[] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, INT64_MIN, 0}, {0, 0, 1}, {0, 0, 100}};

	(void)state;
	say(UROM_DOMAIN_PART, 1, directory_len, 0, directory, directory_len); /* never offered: no answer */
	for (uint64_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		say(UROM_DOMAIN_OFFER, i, directory_len, 0, digest, sizeof(digest));
		assert_answer(i, UROM_DOMAIN_WANTED, DOCA_SUCCESS);
		say(UROM_DOMAIN_PART, i, directory_len + (uint64_t)wrong[i].size, (uint64_t)wrong[i].offset, directory,
		    directory_len + (size_t)wrong[i].len);
		assert_answer(i, UROM_DOMAIN_READY, DOCA_ERROR_INVALID_VALUE);
	}
	assert_good_one_is_taken(100);
	say(UROM_DOMAIN_PART, 100, directory_len, 0, directory, directory_len); /* the directory is complete already */
	assert_answer(100, UROM_DOMAIN_READY, DOCA_ERROR_INVALID_VALUE);
}

#define JOINED(test) cmocka_unit_test_setup_teardown(test, join, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		JOINED(one_that_is_known_is_not_asked_for), JOINED(offers_that_are_none),
		JOINED(more_than_all_directories_may_have), JOINED(other_bytes_than_were_offered),
		JOINED(bytes_that_are_no_directory),	    JOINED(pieces_that_do_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
