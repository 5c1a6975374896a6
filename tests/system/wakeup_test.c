/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No wake-up is lost. A million completions arrive around the moment when event-driven programs lose them: after the last
 * progress call, before the request for a notification. In every second round they are guaranteed to arrive before the request,
 * in the others at any time around it. A sleep that nothing ends fails the test.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/ctx.h"
#include "support/comch_side.h"
#include "support/provider.h"
#include "support/slow.h"

#define LOST_MS 5000
#define BURST_MAX 8
#define TASKS 64 /* receives posted, or tasks in flight: enough for a burst that is seen in two parts */
#define SPINS_MAX 2000

static uint32_t total; /* completions */

/* Shared memory of the sleeping and the completing side. */
struct window {
	_Atomic uint32_t open;	 /* the round whose last progress call is over */
	_Atomic uint32_t filled; /* the round whose completions have been made */
};

static uint32_t random_next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Spins a little, then yields, because both sides may share a core. */
static void wait_for_round(_Atomic uint32_t *word, uint32_t round)
{
	uint64_t end = sf_now_ns() + LOST_MS * UINT64_C(1000000);

	for (uint32_t spins = 0; atomic_load_explicit(word, memory_order_acquire) < round; spins++) {
		if (spins < SPINS_MAX)
			continue;
		sched_yield();
		if (spins % SPINS_MAX == 0 && sf_now_ns() > end)
			fail_msg("the other side never came to round %u", round);
	}
}

static void spin(uint32_t turns)
{
	for (volatile uint32_t i = 0; i < turns; i++)
		;
}

struct sleeper {
	struct doca_pe *pe;
	struct pollfd wait;
	struct window *window;
	uint32_t round, seed, in_window;
};

static void sleeper_init(struct sleeper *sleeper, struct doca_pe *pe, struct window *window)
{
	doca_notification_handle_t handle;

	assert_int_equal(doca_pe_get_notification_handle(pe, &handle), DOCA_SUCCESS);
	*sleeper = (struct sleeper){
		.pe = pe, .wait = {.fd = handle, .events = POLLIN}, .window = window, .seed = (uint32_t)sf_now_ns()};
	printf("seed %u\n", sleeper->seed);
}

/* One round. The event mode alternates; with PROGRESS_ALL nothing clears the notification. */
static void sleeper_round(struct sleeper *sleeper, const uint32_t *done)
{
	bool all = sleeper->round % 1024 >= 512;

	while (doca_pe_progress(sleeper->pe))
		;
	if (*done == total)
		return;
	sleeper->round++;
	atomic_store_explicit(&sleeper->window->open, sleeper->round, memory_order_release);
	if (sleeper->round % 2 == 0)
		wait_for_round(&sleeper->window->filled, sleeper->round);
	else
		spin(random_next(&sleeper->seed) % 1000);
	sleeper->in_window += atomic_load_explicit(&sleeper->window->filled, memory_order_relaxed) >= sleeper->round;
	assert_int_equal(doca_pe_set_event_mode(sleeper->pe,
						all ? DOCA_PE_EVENT_MODE_PROGRESS_ALL : DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE),
			 DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(sleeper->pe), DOCA_SUCCESS);
	if (sleeper->round % 3 == 0) /* one more call, as programs do: if it finds something, the handle is readable, too */
		(void)doca_pe_progress(sleeper->pe);
	if (poll(&sleeper->wait, 1, LOST_MS) != 1)
		fail_msg("nothing ended the sleep of round %u", sleeper->round);
	if (!all)
		assert_int_equal(doca_pe_clear_notification(sleeper->pe, 0), DOCA_SUCCESS);
}

/* ---- Comch, between two processes ---- */

static struct comch_side own;
static struct data_side data;

static void send_one(uint32_t consumer_id)
{
	doca_error_t result;

	do {
		doca_pe_progress(data.pe);
		result = data_send(&data, 0, 32, consumer_id, NULL, 0, false);
	} while (result == DOCA_ERROR_NO_MEMORY); /* until earlier sends are reported as complete */
	assert_int_equal(result, DOCA_SUCCESS);
}

static int sender(const char *name, struct window *window)
{
	uint32_t seed = 1, sent = 0;

	alarm(120);
	side_init_client(&own, name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(own.ctx) == DOCA_CTX_STATE_RUNNING && own.num_new_consumers == 1, own.pe, NULL, NULL, NULL);
	data_init_producer(&data, &own, NULL, TASKS, 4096);
	data_start(&data, NULL, NULL);
	send_one(own.new_consumer_id);
	sent++;
	SIDE_WAIT(data.num_done == 1, data.pe, NULL, NULL,
		  NULL); /* it leaves once the connection is up; later ones leave from submit */
	for (uint32_t round = 1; sent < total; round++) {
		uint32_t burst = 1 + random_next(&seed) % BURST_MAX;

		wait_for_round(&window->open, round);
		if (round % 2 != 0)
			spin(random_next(&seed) % 1000);
		for (; burst != 0 && sent < total; burst--, sent++)
			send_one(own.new_consumer_id);
		atomic_store_explicit(&window->filled, round, memory_order_release);
	}
	atomic_store_explicit(&window->filled, UINT32_MAX, memory_order_release);
	SIDE_WAIT(data.num_done == total, data.pe, own.pe, NULL, NULL);
	data_fini(&data);
	SIDE_WAIT(side_state(own.ctx) == DOCA_CTX_STATE_IDLE, own.pe, NULL, NULL, NULL); /* the server ends the connection */
	side_fini(&own, NULL);
	return 0;
}

static pid_t start_sender(const char *name, int window_fd)
{
	char fd[16];
	pid_t pid;

	snprintf(fd, sizeof(fd), "%d", window_fd);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		execl("/proc/self/exe", "wakeup_test", name, fd, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void comch_completions_around_the_request_wake(void **state)
{
	int fd = memfd_create("window", 0), status;
	struct window *window;
	struct sleeper sleeper;
	char name[64];
	pid_t pid;

	(void)state;
	assert_int_equal(ftruncate(fd, 4096), 0);
	window = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(window != MAP_FAILED);
	snprintf(name, sizeof(name), "wakeup test %d", (int)getpid());
	side_init_server(&own, name);
	assert_int_equal(doca_ctx_start(own.ctx), DOCA_SUCCESS);
	pid = start_sender(name, fd);
	SIDE_WAIT(own.connection != NULL, own.pe, NULL, NULL, NULL);
	data_init_consumer(&data, &own, NULL, TASKS, TASKS * 64);
	data.repost = true;
	data_start(&data, own.pe, NULL);
	for (size_t i = 0; i < TASKS; i++)
		data_post(&data, i * 64, 64);
	sleeper_init(&sleeper, data.pe, window);
	while (data.num_done < total)
		sleeper_round(&sleeper, &data.num_done);
	assert_int_equal(data.num_done, total);
	assert_int_equal(data.num_errors, 0);
	assert_true(sleeper.in_window >= sleeper.round / 2);
	data.repost = false;
	data_fini(&data);
	side_fini(&own, NULL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	munmap(window, 4096);
	close(fd);
}

/* ---- an internal context whose tasks another thread ends ---- */

struct late_ctx {
	struct doca_ctx base;
	struct sf_task_pool pool;
	struct window window;
	pthread_t thread;
	_Atomic(struct doca_task *) submitted, ended; /* stacks, emptied as a whole */
	_Atomic bool armed, leave;
	int event_fd;
	uint32_t completed;
};

static void stack_push(_Atomic(struct doca_task *) *stack, struct doca_task *task)
{
	struct doca_task *top = atomic_load_explicit(stack, memory_order_relaxed);

	do
		task->next = top;
	while (!atomic_compare_exchange_weak(stack, &top, task));
}

static void late_publish(struct late_ctx *late, struct doca_task *task)
{
	stack_push(&late->ended, task);
	if (atomic_exchange(&late->armed, false))
		assert_int_equal(eventfd_write(late->event_fd, 1), 0);
}

/* Ends submitted tasks, in bursts, one round at a time. */
static void *late_run(void *arg)
{
	struct late_ctx *late = arg;
	struct doca_task *task = NULL;
	uint32_t seed = 2;

	for (uint32_t round = 1; !atomic_load(&late->leave); round++) {
		uint32_t burst = 1 + random_next(&seed) % BURST_MAX;

		while (atomic_load_explicit(&late->window.open, memory_order_acquire) < round && !atomic_load(&late->leave))
			sched_yield();
		if (round % 2 != 0)
			spin(random_next(&seed) % 1000);
		for (; burst != 0; burst--) {
			struct doca_task *next;

			if (task == NULL)
				task = atomic_exchange(&late->submitted, NULL);
			if (task == NULL)
				break;
			next = task->next;
			late_publish(late, task);
			task = next;
		}
		atomic_store_explicit(&late->window.filled, round, memory_order_release);
	}
	return NULL;
}

static doca_error_t late_start(struct doca_ctx *ctx)
{
	struct late_ctx *late = (struct late_ctx *)ctx;

	late->event_fd = sf_ctx_event_fd(ctx);
	return pthread_create(&late->thread, NULL, late_run, late) == 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

static void late_stop(struct doca_ctx *ctx)
{
	struct late_ctx *late = (struct late_ctx *)ctx;

	atomic_store(&late->leave, true);
	pthread_join(late->thread, NULL);
}

static bool late_progress(struct doca_ctx *ctx)
{
	struct late_ctx *late = (struct late_ctx *)ctx;
	struct doca_task *task;

	task = atomic_exchange(&late->ended, NULL);
	if (task == NULL)
		return false;
	while (task != NULL) {
		struct doca_task *next = task->next;

		sf_task_complete(task, DOCA_SUCCESS);
		task = next;
	}
	return true;
}

static bool late_arm(struct doca_ctx *ctx)
{
	struct late_ctx *late = (struct late_ctx *)ctx;

	atomic_store(&late->armed, true);
	return atomic_load(&late->ended) != NULL;
}

static const struct sf_ctx_ops late_ops = {
	.name = "late", .needs_pe = true, .start = late_start, .stop = late_stop, .progress = late_progress, .arm = late_arm};

static doca_error_t late_submit(struct doca_task *task, uint32_t flags)
{
	(void)flags;
	stack_push(&((struct late_ctx *)task->ctx)->submitted, task);
	return DOCA_SUCCESS;
}

static const struct sf_task_class late_class = {.name = "late", .size = sizeof(struct doca_task), .submit = late_submit};

static void late_completed(struct doca_task *task, union doca_data task_data, union doca_data ctx_data)
{
	struct late_ctx *late = (struct late_ctx *)task->ctx;

	(void)task_data;
	(void)ctx_data;
	if (++late->completed + TASKS <= total)
		assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	else
		doca_task_free(task);
}

static void deferred_completions_around_the_request_wake(void **state)
{
	static struct late_ctx late;
	struct sleeper sleeper;
	struct doca_task *task;
	struct doca_pe *pe;

	(void)state;
	sf_ctx_init(&late.base, &late_ops, &late.pool, 1);
	assert_int_equal(doca_pe_create(&pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(pe, &late.base), DOCA_SUCCESS);
	assert_int_equal(
		sf_task_pool_configure(&late.base, &late.pool, &late_class, late_completed, late_completed, TASKS, TASKS),
		DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(&late.base), DOCA_SUCCESS);
	for (int i = 0; i < TASKS; i++) {
		assert_int_equal(sf_task_alloc(&late.base, &late.pool, &task), DOCA_SUCCESS);
		assert_int_equal(doca_task_submit(task), DOCA_SUCCESS);
	}
	sleeper_init(&sleeper, pe, &late.window);
	while (late.completed < total)
		sleeper_round(&sleeper, &late.completed);
	assert_int_equal(late.completed, total);
	assert_true(sleeper.in_window >= sleeper.round / 2);
	assert_int_equal(doca_ctx_stop(&late.base), DOCA_SUCCESS);
	assert_int_equal(sf_ctx_fini(&late.base), DOCA_SUCCESS);
	assert_int_equal(doca_pe_destroy(pe), DOCA_SUCCESS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comch_completions_around_the_request_wake),
		cmocka_unit_test(deferred_completions_around_the_request_wake),
	};

	total = slow_build() || provider_is("tcp") ? 50000 : 1000000;
	if (argc == 3) {
		struct window *window = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(argv[2]), 0);

		return window != MAP_FAILED ? sender(argv[1], window) : 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
