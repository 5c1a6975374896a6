/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SOFTFIELD_PROFILE: what the card lacks is reported as NOT_SUPPORTED and rejected, its limits apply, and the table is that of
 * docs/profiles.md. A process reads the variable once, so the test runs once for each value, and each case knows its value.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dma_fixture.h"

#include <doca_comch.h>
#include <doca_rdma.h>
#include <doca_sha.h>

#include "base/profile.h"
#include "support/log_lines.h"

#define CARD (UINT64_C(2) << 20)
#define TABLE_MAX 8192

static const char *docs; /* path of docs/profiles.md */

static bool is_profile(const char *name)
{
	const char *text = getenv("SOFTFIELD_PROFILE");

	return strcmp(text != NULL ? text : "none", name) == 0;
}

static bool is_card(void)
{
	return is_profile("bluefield2") || is_profile("bluefield3");
}

/* ---- the table ---- */

static char *docs_text(void)
{
	FILE *file = fopen(docs, "r");
	char *text = calloc(1, 1 << 16);

	assert_non_null(file);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	return text;
}

static const char *cell(char *text, size_t size, uint64_t value, bool is_limit)
{
	if (!is_limit)
		snprintf(text, size, "%s", value ? "yes" : "no");
	else if (value == 0)
		snprintf(text, size, "-");
	else
		snprintf(text, size, "%llu", (unsigned long long)value);
	return text;
}

static size_t row_print(char *at, size_t size, const struct sf_profile_row *row, bool is_limit)
{
	char cells[SF_PROFILES][32];

	for (int i = 0; i < SF_PROFILES; i++)
		cell(cells[i], sizeof(cells[i]), row->value[i], is_limit);
	return (size_t)snprintf(at, size, "| %s | %s | %s | %s | %s |\n", row->name, cells[0], cells[1], cells[2], row->source);
}

static void expect_in_docs(const char *table)
{
	char *text = docs_text();

	if (strstr(text, table) == NULL)
		fail_msg("docs/profiles.md must have these lines:\n%s", table);
	free(text);
}

static void tables_are_those_of_the_docs(void **state)
{
	char table[TABLE_MAX];
	size_t len = 0;

	(void)state;
	for (int i = 0; i < SF_PROFILE_FEATURES; i++)
		len += row_print(table + len, sizeof(table) - len, sf_profile_feature_row((enum sf_profile_feature)i), false);
	snprintf(table + len, sizeof(table) - len, "\n");
	expect_in_docs(table);
	len = 0;
	for (int i = 0; i < SF_PROFILE_LIMITS; i++)
		len += row_print(table + len, sizeof(table) - len, sf_profile_limit_row((enum sf_profile_limit)i), true);
	snprintf(table + len, sizeof(table) - len, "\n");
	expect_in_docs(table);
}

static bool has_figure(const struct sf_profile_row *row)
{
	return row->value[SF_PROFILE_BLUEFIELD2] != 0 || row->value[SF_PROFILE_BLUEFIELD3] != 0;
}

/* Each figure names a source that the page gives. */
static void figures_have_sources(void **state)
{
	char *text = docs_text(), key[64];

	(void)state;
	for (int i = 0; i < SF_PROFILE_FEATURES + SF_PROFILE_LIMITS; i++) {
		const struct sf_profile_row *row =
			i < SF_PROFILE_FEATURES ? sf_profile_feature_row((enum sf_profile_feature)i)
						: sf_profile_limit_row((enum sf_profile_limit)(i - SF_PROFILE_FEATURES));

		snprintf(key, sizeof(key), "\n| `%s` |", row->source);
		if (has_figure(row) != (strstr(text, key) != NULL))
			fail_msg("%s: source %s", row->name, row->source);
	}
	free(text);
}

/* A limit that is only reported, not enforced, may not be below ours: nothing would hold a program to it. */
static void limits_that_are_only_reported_are_not_below_ours(void **state)
{
	static const enum sf_profile_limit answered[] = {SF_PROFILE_DMA_LIST_LEN, SF_PROFILE_COMCH_MSG_SIZE,
							 SF_PROFILE_COMCH_BUF_SIZE, SF_PROFILE_RDMA_QUEUE_SIZE,
							 SF_PROFILE_RDMA_LIST_LEN};

	(void)state;
	for (size_t i = 0; i < sizeof(answered) / sizeof(answered[0]); i++) {
		const struct sf_profile_row *row = sf_profile_limit_row(answered[i]);

		for (int card = SF_PROFILE_BLUEFIELD2; card < SF_PROFILES; card++)
			assert_true(row->value[card] == 0 || row->value[card] >= row->value[SF_PROFILE_NONE]);
	}
}

/* The first column is what Softfield reports. */
static void column_of_softfield_is_what_it_reports(void **state)
{
	struct doca_dev *dev;
	struct doca_devinfo *info;
	uint32_t number;
	uint64_t size;

	(void)state;
	if (!is_profile("none"))
		skip();
	dev = test_dev_open(0);
	info = doca_dev_as_devinfo(dev);
	for (int i = 0; i < SF_PROFILE_FEATURES; i++)
		assert_true(sf_profile_has((enum sf_profile_feature)i));
	assert_int_equal(doca_comch_cap_get_max_msg_size(info, &number), DOCA_SUCCESS);
	assert_int_equal(number, sf_profile_limit_row(SF_PROFILE_COMCH_MSG_SIZE)->value[0]);
	assert_int_equal(doca_comch_cap_get_max_clients(info, &number), DOCA_SUCCESS);
	assert_int_equal(number, sf_profile_limit_row(SF_PROFILE_COMCH_CLIENTS)->value[0]);
	assert_int_equal(doca_rdma_cap_get_max_message_size(info, &number), DOCA_SUCCESS);
	assert_int_equal(number, sf_profile_limit_row(SF_PROFILE_RDMA_MSG_SIZE)->value[0]);
	assert_int_equal(doca_rdma_cap_get_max_send_buf_list_len(info, &number), DOCA_SUCCESS);
	assert_int_equal(number, sf_profile_limit_row(SF_PROFILE_RDMA_LIST_LEN)->value[0]);
	assert_int_equal(doca_rdma_cap_get_max_send_queue_size(info, &number), DOCA_SUCCESS);
	assert_int_equal(number, sf_profile_limit_row(SF_PROFILE_RDMA_QUEUE_SIZE)->value[0]);
	assert_int_equal(doca_dma_cap_task_memcpy_get_max_buf_list_len(info, &number), DOCA_SUCCESS);
	assert_int_equal(number, sf_profile_limit_row(SF_PROFILE_DMA_LIST_LEN)->value[0]);
	assert_int_equal(doca_sha_cap_get_max_src_buf_size(info, &size), DOCA_SUCCESS);
	assert_int_equal(size, sf_profile_limit_row(SF_PROFILE_SHA_BUF_SIZE)->value[0]);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

/* ---- what a card lacks ---- */

static void features_of_the_card(void **state)
{
	static const bool bluefield2[] = {true, true, true, true, false, false, false};
	static const bool bluefield3[] = {true, false, false, true, true, true, true};

	(void)state;
	if (!is_card())
		skip();
	for (int i = 0; i < SF_PROFILE_FEATURES; i++)
		assert_int_equal(sf_profile_has((enum sf_profile_feature)i),
				 (is_profile("bluefield2") ? bluefield2 : bluefield3)[i]);
}

static void unused_hash(struct doca_sha_task_hash *task, union doca_data user, union doca_data ctx)
{
	(void)task;
	(void)user;
	(void)ctx;
}

static void unused_partial(struct doca_sha_task_partial_hash *task, union doca_data user, union doca_data ctx)
{
	(void)task;
	(void)user;
	(void)ctx;
}

/* The capability query logs nothing; the use logs a line. */
static void sha_is_supported_or_not(void **state)
{
	doca_error_t expected = is_profile("bluefield3") ? DOCA_ERROR_NOT_SUPPORTED : DOCA_SUCCESS;
	struct doca_dev *dev;
	struct doca_sha *sha;

	(void)state;
	if (!is_card())
		skip();
	dev = test_dev_open(0);
	log_lines_forget();
	for (int i = DOCA_SHA_ALGORITHM_SHA1; i <= DOCA_SHA_ALGORITHM_SHA512; i++) {
		enum doca_sha_algorithm algorithm = (enum doca_sha_algorithm)i;

		assert_int_equal(doca_sha_cap_task_hash_get_supported(doca_dev_as_devinfo(dev), algorithm), expected);
		assert_int_equal(doca_sha_cap_task_partial_hash_get_supported(doca_dev_as_devinfo(dev), algorithm), expected);
	}
	assert_int_equal(log_lines_count(), 0);
	assert_int_equal(doca_sha_create(dev, &sha), DOCA_SUCCESS);
	assert_int_equal(doca_sha_task_hash_set_conf(sha, unused_hash, unused_hash, 1), expected);
	if (expected != DOCA_SUCCESS)
		log_lines_expect("the profile bluefield3 (SOFTFIELD_PROFILE) has no SHA", "", "check the capability");
	assert_int_equal(doca_sha_task_partial_hash_set_conf(sha, unused_partial, unused_partial, 1), expected);
	if (expected != DOCA_SUCCESS)
		log_lines_expect("the profile bluefield3 (SOFTFIELD_PROFILE) has no SHA", "", "check the capability");
	assert_int_equal(log_lines_count(), 0);
	assert_int_equal(doca_sha_destroy(sha), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

/* ---- limits of the card ---- */

static void limits_are_the_lower_ones(void **state)
{
	(void)state;
	if (!is_card())
		skip();
	assert_int_equal(sf_profile_limit(SF_PROFILE_DMA_BUF_SIZE, UINT64_C(1) << 31), CARD);
	assert_int_equal(sf_profile_limit(SF_PROFILE_DMA_BUF_SIZE, 4096), 4096);
	assert_int_equal(sf_profile_limit(SF_PROFILE_AES_GCM_BUF_SIZE, 12345), 12345); /* no source states the card's limit */
}

/* Independent of SOFTFIELD_DMA_MAX_BUF_SIZE. */
static void dma_reports_the_size_of_the_card(void **state)
{
	struct doca_dev *dev;
	uint64_t size = 0;

	(void)state;
	if (!is_card())
		skip();
	setenv("SOFTFIELD_DMA_MAX_BUF_SIZE", "2147483648", 1);
	dev = test_dev_open(0);
	assert_int_equal(doca_dma_cap_task_memcpy_get_max_buf_size(doca_dev_as_devinfo(dev), &size), DOCA_SUCCESS);
	assert_int_equal(size, CARD);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
}

static void dma_copies_up_to_the_size_of_the_card(void **state)
{
	struct doca_buf *src, *dst, *long_src, *long_dst;
	struct fixture *f;

	if (!is_card())
		skip();
	setup(state);
	f = *state;
	src = source(f, 0, CARD);
	dst = destination(f, SIZE / 2, CARD);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	assert_memory_equal(f->memory, f->memory + SIZE / 2, CARD);
	long_src = source(f, 0, CARD + 1);
	long_dst = destination(f, SIZE / 2, CARD + 1);
	log_lines_forget();
	assert_int_equal(rig_copy(&f->rig, long_src, long_dst), DOCA_ERROR_IO_FAILED);
	log_lines_expect("2097153 bytes exceed the 2097152", getenv("SOFTFIELD_PROFILE"), "several tasks");
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	rig_start(&f->rig);
	expect_wrong(f, long_src, long_dst, DOCA_ERROR_IO_FAILED);
	rig_put(src);
	rig_put(dst);
	rig_put(long_src);
	rig_put(long_dst);
	teardown(state);
}

/* ---- an unknown name ---- */

static void unknown_name_opens_no_device(void **state)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t num;

	(void)state;
	if (!is_profile("bluefeild3"))
		skip();
	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	log_lines_forget();
	assert_int_equal(doca_dev_open(list[0], &dev), DOCA_ERROR_BAD_CONFIG);
	log_lines_expect("SOFTFIELD_PROFILE is bluefeild3", "not a profile", "did you mean bluefield3");
	assert_int_equal(doca_dev_open(list[0], &dev), DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_those_of_the_docs),
		cmocka_unit_test(figures_have_sources),
		cmocka_unit_test(limits_that_are_only_reported_are_not_below_ours),
		cmocka_unit_test(column_of_softfield_is_what_it_reports),
		cmocka_unit_test(unknown_name_opens_no_device),
		cmocka_unit_test(features_of_the_card),
		cmocka_unit_test(sha_is_supported_or_not),
		cmocka_unit_test(limits_are_the_lower_ones),
		cmocka_unit_test(dma_reports_the_size_of_the_card),
		cmocka_unit_test(dma_copies_up_to_the_size_of_the_card),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s docs/profiles.md\n", argv[0]);
		return 2;
	}
	docs = argv[1];
	return cmocka_run_group_tests(tests, log_lines_setup, NULL);
}
