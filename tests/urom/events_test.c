/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event-driven programs: the whole life of each context in a loop that sleeps in epoll whenever progress has nothing to do. A
 * lost wake-up shows as a sleep that nothing ends.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/slow.h"
#include "support/urom_rig.h"
#include "urom_graph.h"

#define GRAPH "worker_graph"
#define LOST_MS 8000
#define IDLE_MS 300
#define ROUNDS 8000
#define SPINS_MAX 20000
#define CYCLES 12
#define THREADS 3

#define SLOWER (slow_build() ? 10 : 1)

static struct urom_rig rig;

/* ---- a loop ---- */

struct loop {
	struct doca_pe *pe;
	int epoll_fd;
	bool lazy;	     /* one progress call in each iteration */
	uint32_t seed;	     /* of the random spins around the request; 0: none */
	uint64_t num_sleeps; /* number of sleeps that an event ended */
};

static void loop_open(struct loop *loop, struct doca_pe *pe)
{
	doca_notification_handle_t handle;
	struct epoll_event event = {.events = EPOLLIN};

	*loop = (struct loop){.pe = pe, .epoll_fd = epoll_create1(EPOLL_CLOEXEC)};
	assert_true(loop->epoll_fd >= 0);
	assert_int_equal(doca_pe_get_notification_handle(pe, &handle), DOCA_SUCCESS);
	assert_int_equal(epoll_ctl(loop->epoll_fd, EPOLL_CTL_ADD, handle, &event), 0);
}

static void loop_close(struct loop *loop)
{
	close(loop->epoll_fd);
}

static void spin(struct loop *loop)
{
	if (loop->seed == 0)
		return;
	loop->seed = loop->seed * 1664525u + 1013904223u;
	for (volatile uint32_t turns = (loop->seed >> 8) % SPINS_MAX; turns != 0; turns--)
		;
}

static void do_what_is_due(struct loop *loop)
{
	while (doca_pe_progress(loop->pe) != 0 && !loop->lazy)
		;
}

/* Returns false if no event came within ms. */
static bool sleep_till_event(struct loop *loop, int ms)
{
	struct epoll_event event;

	spin(loop);
	assert_int_equal(doca_pe_request_notification(loop->pe), DOCA_SUCCESS);
	spin(loop);
	int num = epoll_wait(loop->epoll_fd, &event, 1, ms);
	assert_int_equal(doca_pe_clear_notification(loop->pe, 0), DOCA_SUCCESS);
	loop->num_sleeps += num == 1;
	return num == 1;
}

static bool turn(struct loop *loop, int ms)
{
	do_what_is_due(loop);
	return sleep_till_event(loop, ms);
}

static void loop_until_state(struct loop *loop, struct doca_ctx *ctx, enum doca_ctx_states wanted)
{
	enum doca_ctx_states state;

	for (;;) {
		do_what_is_due(loop);
		assert_int_equal(doca_ctx_get_state(ctx, &state), DOCA_SUCCESS);
		if (state == wanted)
			return;
		if (!sleep_till_event(loop, LOST_MS))
			fail_msg("no wake-up for %d ms, in state %d, not %d", LOST_MS, (int)state, (int)wanted);
	}
}

static void loop_until(struct loop *loop, const uint32_t *count, uint32_t wanted)
{
	for (;;) {
		do_what_is_due(loop);
		if (*count >= wanted)
			return;
		if (!sleep_till_event(loop, LOST_MS))
			fail_msg("no wake-up for %d ms, %u of %u have ended", LOST_MS, *count, wanted);
	}
}

static double cpu_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* No more events are due, so the loop must sleep. The first iterations may handle the last events. */
static void assert_sleeps(struct loop *loop)
{
	double before = cpu_seconds();
	int turns = 0;

	while (turn(loop, IDLE_MS))
		assert_true(++turns < 20);
	assert_true(cpu_seconds() - before < 0.2);
}

/* ---- loopbacks ---- */

struct counter {
	uint32_t ended, good;
};

static void looped_back(doca_error_t result, union doca_data cookie, uint64_t value)
{
	struct counter *counter = (struct counter *)cookie.ptr;

	(void)value;
	counter->ended++;
	counter->good += result == DOCA_SUCCESS;
}

static void submit(struct doca_urom_worker *worker, struct counter *counter)
{
	assert_int_equal(urom_graph_task_loopback(worker, (union doca_data){.ptr = counter}, counter->ended, looped_back),
			 DOCA_SUCCESS);
}

/* ---- an exchange with one participant, which must be polled several times ---- */

struct exchange {
	uint32_t asked;
};

static doca_error_t allgather(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req)
{
	struct exchange *exchange = (struct exchange *)coll_info;

	memcpy(rbuf, sbuf, msglen);
	exchange->asked = 0;
	*req = exchange;
	return DOCA_SUCCESS;
}

static doca_error_t req_test(void *req)
{
	return ((struct exchange *)req)->asked++ < 3 ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;
}

static doca_error_t req_free(void *req)
{
	(void)req;
	return DOCA_SUCCESS;
}

static struct doca_urom_domain *make_domain(struct doca_pe *pe, struct doca_urom_worker *worker, struct exchange *exchange)
{
	struct doca_urom_domain_oob_coll oob = {allgather, req_test, req_free, exchange, 1, 0};
	struct doca_urom_domain *domain;
	uint64_t id = 7;

	assert_int_equal(doca_urom_domain_create(&domain), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(pe, doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_set_oob(domain, &oob), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_set_workers(domain, &id, &worker, 1), DOCA_SUCCESS);
	return domain;
}

static void group_listed(struct doca_urom_service_get_workers_by_gid_task *task, union doca_data task_user_data,
			 union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	++*(uint32_t *)task_user_data.ptr;
	assert_int_equal(doca_urom_service_get_workers_by_gid_task_release(task), DOCA_SUCCESS);
}

static void ask_for_group(struct doca_urom_service *service, uint32_t *count)
{
	struct doca_urom_service_get_workers_by_gid_task *task;

	assert_int_equal(doca_urom_service_get_workers_by_gid_task_allocate_init(service, 5, group_listed, &task), DOCA_SUCCESS);
	struct doca_task *base = doca_urom_service_get_workers_by_gid_task_as_task(task);
	doca_task_set_user_data(base, (union doca_data){.ptr = count});
	assert_int_equal(doca_task_submit(base), DOCA_SUCCESS);
}

/* ---- the whole life ---- */

static void whole_life(struct loop *loop)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, GRAPH);
	struct doca_ctx *ctx = doca_urom_worker_as_ctx(worker);
	struct counter counter = {0};
	struct exchange exchange = {0};
	uint32_t listed = 0;

	assert_int_equal(doca_urom_worker_set_gid(worker, 5), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS);
	loop_until_state(loop, ctx, DOCA_CTX_STATE_RUNNING);
	assert_sleeps(loop);
	for (uint32_t i = 0; i < 50; i++) {
		submit(worker, &counter);
		submit(worker, &counter);
		loop_until(loop, &counter.ended, 2 * i + 2);
	}
	assert_int_equal(counter.good, 100);
	ask_for_group(rig.service, &listed);
	loop_until(loop, &listed, 1);

	struct doca_urom_domain *domain = make_domain(loop->pe, worker, &exchange);
	assert_int_equal(doca_ctx_start(doca_urom_domain_as_ctx(domain)), DOCA_ERROR_IN_PROGRESS);
	loop_until_state(loop, doca_urom_domain_as_ctx(domain), DOCA_CTX_STATE_RUNNING);
	assert_sleeps(loop);
	assert_int_equal(doca_ctx_stop(doca_urom_domain_as_ctx(domain)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_domain_destroy(domain), DOCA_SUCCESS);

	kill(urom_rig_process_of(&rig, worker), SIGKILL); /* nothing is in flight, but the program is notified all the same */
	loop_until_state(loop, ctx, DOCA_CTX_STATE_IDLE);
	assert_sleeps(loop);
	assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS);
	loop_until_state(loop, ctx, DOCA_CTX_STATE_RUNNING);
	submit(worker, &counter);
	assert_int_equal(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	loop_until(loop, &counter.ended, 101);
	loop_until_state(loop, ctx, DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
	assert_sleeps(loop);
}

static void the_whole_life_without_polling(void **state)
{
	struct loop loop;

	(void)state;
	loop_open(&loop, rig.pe);
	whole_life(&loop);
	loop_close(&loop);
}

static void the_same_with_one_progress_a_turn(void **state)
{
	struct loop loop;

	(void)state;
	loop_open(&loop, rig.pe);
	loop.lazy = true;
	whole_life(&loop);
	assert_int_equal(doca_pe_set_event_mode(rig.pe, DOCA_PE_EVENT_MODE_PROGRESS_ALL), DOCA_SUCCESS);
	whole_life(&loop);
	loop_close(&loop);
}

static void a_start_that_fails_wakes(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, GRAPH);
	struct loop loop;

	(void)state;
	loop_open(&loop, rig.pe);
	assert_int_equal(doca_urom_worker_set_plugins(worker, UINT64_C(1) << 40), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_urom_worker_as_ctx(worker)), DOCA_ERROR_IN_PROGRESS);
	loop_until_state(&loop, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
	loop_close(&loop);
}

static void a_stop_of_one_that_starts_wakes(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, GRAPH);
	struct doca_ctx *ctx = doca_urom_worker_as_ctx(worker);
	struct loop loop;

	(void)state;
	loop_open(&loop, rig.pe);
	for (uint32_t turns = 0; turns < 8; turns++) {
		enum doca_ctx_states now = DOCA_CTX_STATE_STARTING;

		assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS);
		for (uint32_t i = 0; i < turns; i++) {
			do_what_is_due(&loop);
			assert_int_equal(doca_ctx_get_state(ctx, &now), DOCA_SUCCESS);
			if (now == DOCA_CTX_STATE_RUNNING)
				break; /* a busy machine needs fewer wake-ups, and no more are due */
			assert_true(sleep_till_event(&loop, LOST_MS));
		}
		assert_int_equal(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
		loop_until_state(&loop, ctx, DOCA_CTX_STATE_IDLE);
	}
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
	loop_close(&loop);
}

static void the_end_of_the_daemon_wakes(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, GRAPH);
	struct loop loop;

	(void)state;
	loop_open(&loop, rig.pe);
	assert_int_equal(doca_ctx_start(doca_urom_worker_as_ctx(worker)), DOCA_ERROR_IN_PROGRESS);
	loop_until_state(&loop, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_RUNNING);
	kill(rig.daemon.pid, SIGKILL);
	loop_until_state(&loop, doca_urom_service_as_ctx(rig.service), DOCA_CTX_STATE_IDLE);
	loop_until_state(&loop, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE);
	assert_sleeps(&loop);
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
	assert_int_equal(program_wait(&rig.daemon), 128 + SIGKILL);
	rig.daemon.pid = 0;
	loop_close(&loop);
}

/* ---- around the notification request ---- */

/* An answer takes as long as a spin does: it arrives before the request, between the request and the sleep, or afterwards. */
static void answers_come_around_the_arm(void **state)
{
	struct doca_urom_worker *worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, GRAPH);
	struct counter counter = {0};
	uint32_t listed = 0;
	struct loop loop;

	(void)state;
	loop_open(&loop, rig.pe);
	assert_true(urom_rig_start_worker(&rig, worker));
	loop.seed = (uint32_t)sf_now_ns() | 1;
	print_message("seed %u\n", loop.seed);
	for (uint32_t i = 0; i < ROUNDS / SLOWER; i++) {
		loop.lazy = i % 3 == 0;
		submit(worker, &counter);
		if (i % 16 == 0)
			ask_for_group(rig.service, &listed);
		loop_until(&loop, &counter.ended, i + 1);
		loop_until(&loop, &listed, i / 16 + 1);
	}
	assert_int_equal(counter.good, ROUNDS / SLOWER);
	print_message("%llu sleeps\n", (unsigned long long)loop.num_sleeps);
	loop.lazy = false;
	assert_int_equal(doca_ctx_stop(doca_urom_worker_as_ctx(worker)), DOCA_ERROR_IN_PROGRESS);
	loop_until_state(&loop, doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE);
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
	loop_close(&loop);
}

/* Requests pass from workers' threads to the service's thread and back; each thread sleeps while it waits. */
struct thread {
	pthread_t id;
	uint64_t plugin;
	uint32_t seed;
	struct counter counter;
};

static atomic_uint num_running;
static int all_ended_fd;

static struct doca_urom_worker *worker_on(struct doca_pe *pe, uint64_t plugin)
{
	struct doca_urom_worker *worker;

	assert_int_equal(doca_urom_worker_create(&worker), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(pe, doca_urom_worker_as_ctx(worker)), DOCA_SUCCESS);
	assert_int_equal(doca_urom_worker_set_service(worker, rig.service), DOCA_SUCCESS);
	assert_int_equal(doca_urom_worker_set_plugins(worker, plugin), DOCA_SUCCESS);
	return worker;
}

static void *cycle(void *arg)
{
	struct thread *thread = (struct thread *)arg;
	struct doca_pe *pe;
	struct loop loop;

	assert_int_equal(doca_pe_create(&pe), DOCA_SUCCESS);
	struct doca_urom_worker *worker = worker_on(pe, thread->plugin);
	struct doca_ctx *ctx = doca_urom_worker_as_ctx(worker);
	loop_open(&loop, pe);
	loop.seed = thread->seed;
	for (uint32_t i = 0; i < CYCLES; i++) {
		assert_int_equal(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS);
		loop_until_state(&loop, ctx, DOCA_CTX_STATE_RUNNING);
		submit(worker, &thread->counter);
		loop_until(&loop, &thread->counter.ended, i + 1);
		assert_int_equal(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
		loop_until_state(&loop, ctx, DOCA_CTX_STATE_IDLE);
	}
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
	loop_close(&loop);
	assert_int_equal(doca_pe_destroy(pe), DOCA_SUCCESS);
	if (atomic_fetch_sub(&num_running, 1) == 1)
		assert_int_equal(eventfd_write(all_ended_fd, 1), 0);
	return NULL;
}

static void requests_between_threads_that_sleep(void **state)
{
	struct thread threads[THREADS] = {{.seed = 1}};
	struct loop loop;

	(void)state;
	struct epoll_event event = {.events = EPOLLIN};
	loop_open(&loop, rig.pe);
	all_ended_fd = eventfd(0, EFD_CLOEXEC);
	assert_int_equal(epoll_ctl(loop.epoll_fd, EPOLL_CTL_ADD, all_ended_fd, &event), 0);
	atomic_store(&num_running, THREADS);
	for (uint32_t i = 0; i < THREADS; i++) {
		threads[i].plugin = urom_rig_plugin(&rig, GRAPH);
		threads[i].seed = (uint32_t)sf_now_ns() | 1;
		assert_int_equal(pthread_create(&threads[i].id, NULL, cycle, &threads[i]), 0);
	}
	while (atomic_load(&num_running) != 0) /* a lost wake-up is reported by the thread that misses it */
		(void)turn(&loop, 10 * LOST_MS);
	for (uint32_t i = 0; i < THREADS; i++) {
		pthread_join(threads[i].id, NULL);
		assert_int_equal(threads[i].counter.good, CYCLES);
	}
	close(all_ended_fd);
	loop_close(&loop);
}

static int open_rig(void **state)
{
	(void)state;
	return urom_rig_open(&rig, NULL) ? 0 : -1;
}

static int close_rig(void **state)
{
	(void)state;
	urom_rig_close(&rig);
	return 0;
}

#define WITH_RIG(test) cmocka_unit_test_setup_teardown(test, open_rig, close_rig)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_RIG(the_whole_life_without_polling),
		WITH_RIG(the_same_with_one_progress_a_turn),
		WITH_RIG(a_start_that_fails_wakes),
		WITH_RIG(a_stop_of_one_that_starts_wakes),
		WITH_RIG(the_end_of_the_daemon_wakes),
		WITH_RIG(answers_come_around_the_arm),
		WITH_RIG(requests_between_threads_that_sleep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
