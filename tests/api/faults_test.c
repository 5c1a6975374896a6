/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SOFTFIELD_FAULTS in the core: each fault causes the status that docs/faults.md promises, at the occurrence that the rule names,
 * and the same seed repeats it. A process reads the variable once, so each case is a process of its own: this program, run again
 * with the name of the case.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_buf_pool.h>

#include "dma_fixture.h"
#include "support/fault_cases.h"
#include "support/log_lines.h"
#include "support/test_dev.h"

#define LEN 64
#define SUBMITS 200
#define LATE_MS 50

/* ---- the cases, each in its own process ---- */

static struct doca_task *copy_task(struct fixture *f, struct doca_buf **src, struct doca_buf **dst)
{
	*src = source(f, 0, LEN);
	*dst = destination(f, SIZE / 2, LEN);
	return rig_task(&f->rig, *src, *dst);
}

/* Submits one task num times; answers gets '.' for success and 'A' for AGAIN. Accepted tasks succeed. */
static void submits(struct fixture *f, uint32_t num, char *answers)
{
	struct doca_buf *src, *dst;
	struct doca_task *task = copy_task(f, &src, &dst);

	f->rig.keep = true;
	for (uint32_t i = 0; i < num; i++) {
		uint32_t good = f->rig.num_good;
		doca_error_t result;

		assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
		result = doca_task_submit(task);
		answers[i] = result == DOCA_SUCCESS ? '.' : 'A';
		assert_true(result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN);
		if (result == DOCA_SUCCESS)
			RIG_WAIT(&f->rig, f->rig.num_good == good + 1);
	}
	answers[num] = '\0';
	doca_task_free(task);
	rig_put(src);
	rig_put(dst);
}

static void expect_submits(void **state, const char *expected)
{
	char answers[SUBMITS + 1];

	setup(state);
	submits(*state, (uint32_t)strlen(expected), answers);
	assert_string_equal(answers, expected);
	teardown(state);
}

static void submit_again_nth(void **state)
{
	expect_submits(state, "..A.....");
}

static void submit_again_after_every_count(void **state)
{
	expect_submits(state, "...A.A......");
}

static void submit_again_elsewhere(void **state)
{
	expect_submits(state, "........");
}

/* Run by the case that compares runs. */
static void submit_again_rate(void **state)
{
	char answers[SUBMITS + 1];

	setup(state);
	submits(*state, SUBMITS, answers);
	printf("answers %s\n", answers);
	teardown(state);
}

static void task_fail(void **state)
{
	struct doca_buf *src, *dst;
	struct fixture *f;

	setup(state);
	f = *state;
	src = source(f, 0, LEN);
	dst = destination(f, SIZE / 2, LEN);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	memset(f->memory + SIZE / 2, 0x77, LEN);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_ERROR_IO_FAILED);
	assert_int_equal(f->memory[SIZE / 2], 0x77);
	assert_int_equal(rig_data_len(dst), 0);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	rig_start(&f->rig);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	rig_put(src);
	rig_put(dst);
	teardown(state);
}

static void copy_slow(void **state)
{
	struct doca_buf *src, *dst;
	struct fixture *f;
	uint64_t begin;

	setup(state);
	f = *state;
	src = source(f, 0, LEN);
	dst = destination(f, SIZE / 2, LEN);
	begin = sf_now_ns();
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	assert_true(sf_now_ns() - begin >= LATE_MS * UINT64_C(1000000));
	assert_memory_equal(f->memory, f->memory + SIZE / 2, LEN);
	rig_put(src);
	rig_put(dst);
	teardown(state);
}

static void alloc_task(void **state)
{
	struct doca_dma_task_memcpy *task, *other;
	struct doca_buf *src, *dst;
	struct fixture *f;

	setup(state);
	f = *state;
	task = (struct doca_dma_task_memcpy *)copy_task(f, &src, &dst);
	assert_int_equal(doca_dma_task_memcpy_alloc_init(f->rig.dma, src, dst, (union doca_data){0}, &other),
			 DOCA_ERROR_NO_MEMORY);
	assert_int_equal(doca_dma_task_memcpy_alloc_init(f->rig.dma, src, dst, (union doca_data){0}, &other), DOCA_SUCCESS);
	doca_task_free(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(other));
	rig_put(src);
	rig_put(dst);
	teardown(state);
}

static void alloc_buf(void **state)
{
	struct doca_buf_pool *pool;
	struct doca_buf *buf, *second;
	struct fixture *f;

	setup(state);
	f = *state;
	buf = source(f, 0, LEN);
	assert_int_equal(doca_buf_inventory_buf_get_by_data(f->rig.inventory, f->mmap, f->memory, LEN, &second),
			 DOCA_ERROR_NO_MEMORY);
	second = source(f, 0, LEN);
	rig_put(buf);
	rig_put(second);
	assert_int_equal(doca_buf_pool_create(4, LEN, f->mmap, &pool), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_start(pool), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_buf_alloc(pool, &buf), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_buf_alloc(pool, &second), DOCA_ERROR_EMPTY);
	assert_int_equal(doca_buf_pool_buf_alloc(pool, &second), DOCA_SUCCESS);
	rig_put(buf);
	rig_put(second);
	assert_int_equal(doca_buf_pool_stop(pool), DOCA_SUCCESS);
	assert_int_equal(doca_buf_pool_destroy(pool), DOCA_SUCCESS);
	teardown(state);
}

static void alloc_pool(void **state)
{
	static struct rig rig;

	rig_prepare(&rig, test_dev_open(0));
	assert_int_equal(doca_ctx_start(rig.ctx), DOCA_ERROR_NO_MEMORY);
	assert_int_equal(rig.state, DOCA_CTX_STATE_IDLE);
	rig_start(&rig);
	rig_fini(&rig);
}

/* Exports the host's memory and imports it on the DPU. */
static struct doca_mmap *mmap_import(struct rig *rig, struct doca_dev *host, uint8_t *memory, struct doca_mmap **exported)
{
	struct doca_mmap *imported;
	const void *descriptor;
	size_t len;

	assert_int_equal(doca_mmap_create(exported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(*exported, host), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(*exported, memory, LEN), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(*exported, DOCA_ACCESS_FLAG_PCI_READ_WRITE), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(*exported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_export_pci(*exported, host, &descriptor, &len), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create_from_export(NULL, descriptor, len, rig->dev, &imported), DOCA_SUCCESS);
	return imported;
}

static void access_fail(void **state)
{
	static uint8_t theirs[LEN] = {1}, ours[LEN];
	static struct rig rig;
	struct doca_dev *host = test_dev_open_pci("d8:00.0");
	struct doca_mmap *exported, *imported, *local;
	struct doca_buf *src, *dst;

	(void)state;
	rig_prepare(&rig, test_dev_open_pci("03:00.0"));
	rig_start(&rig);
	imported = mmap_import(&rig, host, theirs, &exported);
	local = rig_mmap(&rig, ours, LEN, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
	src = rig_source(&rig, imported, theirs, LEN);
	dst = rig_destination(&rig, local, ours, LEN);
	assert_int_equal(rig_copy(&rig, src, dst), DOCA_SUCCESS);
	assert_int_equal(ours[0], 1);
	assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	assert_int_equal(rig_copy(&rig, src, dst), DOCA_ERROR_IO_FAILED);
	rig_put(src);
	rig_put(dst);
	assert_int_equal(doca_mmap_destroy(imported), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(local), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_destroy(exported), DOCA_SUCCESS);
	rig_fini(&rig);
	assert_int_equal(doca_dev_close(host), DOCA_SUCCESS);
}

/* ---- notifications ---- */

static bool is_readable(const struct doca_pe *pe, int timeout_ms)
{
	struct epoll_event event;
	doca_notification_handle_t handle;
	int set = epoll_create1(EPOLL_CLOEXEC), num;

	assert_int_equal(doca_pe_get_notification_handle(pe, &handle), DOCA_SUCCESS);
	event = (struct epoll_event){.events = EPOLLIN};
	assert_int_equal(epoll_ctl(set, EPOLL_CTL_ADD, handle, &event), 0);
	num = epoll_wait(set, &event, 1, timeout_ms);
	close(set);
	return num == 1;
}

/* A task is due, and a notification is requested. */
static void request(struct fixture *f, struct doca_buf **src, struct doca_buf **dst)
{
	assert_int_equal(doca_task_submit(copy_task(f, src, dst)), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(f->rig.pe), DOCA_SUCCESS);
}

static void end(struct fixture *f, struct doca_buf *src, struct doca_buf *dst)
{
	RIG_WAIT(&f->rig, f->rig.num_good == 1);
	rig_put(src);
	rig_put(dst);
}

static void notify_lost(void **state)
{
	struct doca_buf *src, *dst;
	struct fixture *f;

	setup(state);
	f = *state;
	request(f, &src, &dst);
	assert_false(is_readable(f->rig.pe, 0));
	assert_int_equal(doca_pe_clear_notification(f->rig.pe, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(f->rig.pe), DOCA_SUCCESS);
	assert_true(is_readable(f->rig.pe, 0));
	assert_int_equal(doca_pe_clear_notification(f->rig.pe, 0), DOCA_SUCCESS);
	end(f, src, dst);
	teardown(state);
}

static void notify_late(void **state)
{
	struct doca_buf *src, *dst;
	struct fixture *f;
	uint64_t begin;

	setup(state);
	f = *state;
	begin = sf_now_ns();
	request(f, &src, &dst);
	assert_true(is_readable(f->rig.pe, 60000));
	assert_true(sf_now_ns() - begin >= LATE_MS * UINT64_C(1000000));
	assert_int_equal(doca_pe_clear_notification(f->rig.pe, 0), DOCA_SUCCESS);
	assert_false(is_readable(f->rig.pe, 0));
	assert_int_equal(doca_pe_request_notification(f->rig.pe), DOCA_SUCCESS);
	assert_true(is_readable(f->rig.pe, 0)); /* the rule affects only the first one */
	assert_int_equal(doca_pe_clear_notification(f->rig.pe, 0), DOCA_SUCCESS);
	end(f, src, dst);
	teardown(state);
}

/* ---- devices ---- */

static void device_open(void **state)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t num;

	(void)state;
	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	assert_int_equal(doca_dev_open(list[0], &dev), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(doca_dev_open(list[0], &dev), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
}

static void device_remove(void **state)
{
	struct doca_devinfo **before, **after;
	struct doca_buf *src, *dst;
	struct doca_dev *dev;
	struct fixture *f;
	uint32_t num_before, num_after;

	assert_int_equal(doca_devinfo_create_list(&before, &num_before), DOCA_SUCCESS);
	setup(state);
	f = *state;
	src = source(f, 0, LEN);
	dst = destination(f, SIZE / 2, LEN);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_SUCCESS);
	assert_int_equal(doca_buf_reset_data_len(dst), DOCA_SUCCESS);
	assert_int_equal(rig_copy(&f->rig, src, dst), DOCA_ERROR_BAD_STATE);
	RIG_WAIT(&f->rig, f->rig.state == DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_devinfo_create_list(&after, &num_after), DOCA_SUCCESS);
	assert_int_equal(num_after, num_before - 1);
	assert_int_equal(doca_dev_open(before[0], &dev), DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(doca_dev_open(after[0], &dev), DOCA_SUCCESS);
	assert_int_equal(doca_dev_close(dev), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_destroy_list(before), DOCA_SUCCESS);
	assert_int_equal(doca_devinfo_destroy_list(after), DOCA_SUCCESS);
	rig_put(src);
	rig_put(dst);
	teardown(state);
}

/* ---- invalid rules ---- */

static void expect_rejected(const char *what, const char *advice)
{
	struct doca_devinfo **list;
	struct doca_dev *dev;
	uint32_t num;

	log_lines_open();
	assert_int_equal(doca_devinfo_create_list(&list, &num), DOCA_SUCCESS);
	log_lines_forget();
	assert_int_equal(doca_dev_open(list[0], &dev), DOCA_ERROR_BAD_CONFIG);
	log_lines_expect("SOFTFIELD_FAULTS", what, advice);
	assert_int_equal(doca_dev_open(list[0], &dev), DOCA_ERROR_BAD_CONFIG);
	assert_int_equal(log_lines_count(), 0);
	assert_int_equal(doca_devinfo_destroy_list(list), DOCA_SUCCESS);
}

static void unknown_fault(void **state)
{
	(void)state;
	expect_rejected("unknown fault submit.agian", "did you mean submit.again");
}

static void unknown_setting(void **state)
{
	(void)state;
	expect_rejected("unknown fault setting raet", "did you mean rate");
}

static void unusable_value(void **state)
{
	(void)state;
	expect_rejected("rate=2", "0 to 1");
}

static void missing_ms(void **state)
{
	(void)state;
	expect_rejected("copy.slow needs ms=", "");
}

static void missing_file(void **state)
{
	(void)state;
	expect_rejected("/nonexistent/faults", "No such file");
}

/* ---- the runner ---- */

static const struct fault_case cases[] = {
	{"submit_again_nth", "seed=1; submit.again nth=3 on=dma", submit_again_nth},
	{"submit_again_after_every_count", "submit.again after=2 every=2 count=2", submit_again_after_every_count},
	{"submit_again_elsewhere", "submit.again on=rdma", submit_again_elsewhere},
	{"task_fail", "task.fail nth=2", task_fail},
	{"copy_slow", "copy.slow ms=50", copy_slow},
	{"alloc_task", "alloc.task nth=2", alloc_task},
	{"alloc_buf", "alloc.buf nth=2", alloc_buf},
	{"alloc_pool", "alloc.pool nth=1", alloc_pool},
	{"access_fail", "access.fail nth=2 on=dpu0", access_fail},
	{"notify_lost", "notify.lost nth=1", notify_lost},
	{"notify_late", "notify.late ms=50 nth=1", notify_late},
	{"device_open", "device.open nth=1", device_open},
	{"device_remove", "device.remove nth=2", device_remove},
	{"unknown_fault", "submit.agian rate=1", unknown_fault},
	{"unknown_setting", "submit.again raet=1", unknown_setting},
	{"unusable_value", "submit.again rate=2", unusable_value},
	{"missing_ms", "copy.slow", missing_ms},
	{"missing_file", "/nonexistent/faults", missing_file},
	{"submit_again_rate", NULL, submit_again_rate},
};

#define NUM_CASES (sizeof(cases) / sizeof(cases[0]))

static void each_fault_shows_as_documented(void **state)
{
	(void)state;
	fault_cases_expect(cases, NUM_CASES);
}

static void rate_run(const char *faults, char answers[SUBMITS + 1])
{
	char output[4096], *at;

	assert_int_equal(fault_case_spawn("submit_again_rate", faults, output, sizeof(output)), 0);
	at = strstr(output, "answers ");
	assert_non_null(at);
	memcpy(answers, at + strlen("answers "), SUBMITS);
	answers[SUBMITS] = '\0';
}

static uint32_t refused(const char *answers)
{
	uint32_t num = 0;

	for (; *answers != '\0'; answers++)
		num += *answers == 'A';
	return num;
}

static void the_same_seed_repeats_a_run(void **state)
{
	char first[SUBMITS + 1], again[SUBMITS + 1], other[SUBMITS + 1];

	(void)state;
	rate_run("seed=7; submit.again rate=0.3", first);
	rate_run("seed=7; submit.again rate=0.3", again);
	rate_run("seed=8; submit.again rate=0.3", other);
	assert_string_equal(first, again);
	assert_string_not_equal(first, other);
	assert_true(refused(first) > SUBMITS / 10 && refused(first) < SUBMITS / 2);
}

static void a_file_holds_rules_too(void **state)
{
	char path[] = "/tmp/softfield-faults-XXXXXX", answers[SUBMITS + 1];
	static const char text[] = "# the third one\nseed=3\n\nsubmit.again nth=3   # of each context\n";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	close(fd);
	rate_run(path, answers);
	unlink(path);
	assert_int_equal(refused(answers), 1);
	assert_int_equal(answers[2], 'A');
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_fault_shows_as_documented),
		cmocka_unit_test(the_same_seed_repeats_a_run),
		cmocka_unit_test(a_file_holds_rules_too),
	};

	return argc == 2 ? fault_case_run(cases, NUM_CASES, argv[1]) : cmocka_run_group_tests(tests, NULL, NULL);
}
