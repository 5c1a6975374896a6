/* SPDX-License-Identifier: BSD-3-Clause */
/* When a peer that does not answer counts as lost, and when it is waited for. */
#include "base/liveness.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "support/wait.h"

#define LIMIT_NS UINT64_C(80000000)
#define OTHERS 4

static void sleep_forever(void)
{
	for (;;)
		pause();
}

static void run_forever(void)
{
	for (;;)
		;
}

static void run_seldom(void)
{
	struct sched_param none = {0};

	(void)sched_setscheduler(0, SCHED_IDLE, &none);
	run_forever();
}

static pid_t child_start(void (*body)(void))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		alarm(120);
		body();
	}
	return pid;
}

static void child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A child begins as a copy of this process, which is running. */
static void wait_for_state(pid_t pid, enum sf_process_state state)
{
	while (sf_process_state(pid) != state)
		sched_yield();
}

/* Returns the time after which the peer counted as lost, or 0 if it did not in num_looks checks. */
static uint64_t time_to_loss(pid_t pid, uint32_t num_looks)
{
	struct sf_liveness liveness;
	uint64_t begin = sf_now_ns();

	sf_liveness_begin(&liveness);
	for (uint32_t i = 0; i < num_looks; i++) {
		time_pass_ns(sf_liveness_interval(LIMIT_NS));
		if (sf_liveness_lost(&liveness, pid, LIMIT_NS))
			return sf_now_ns() - begin;
	}
	return 0;
}

static void a_stopped_process_is_given_up(void **state)
{
	pid_t pid = child_start(run_forever);

	(void)state;
	kill(pid, SIGSTOP);
	wait_for_state(pid, SF_PROCESS_IDLE);
	assert_true(time_to_loss(pid, UINT32_MAX) >= LIMIT_NS);
	child_end(pid);
}

static void a_process_that_sleeps_instead_of_answering_is_given_up(void **state)
{
	pid_t pid = child_start(sleep_forever);

	(void)state;
	wait_for_state(pid, SF_PROCESS_IDLE);
	assert_true(time_to_loss(pid, UINT32_MAX) >= LIMIT_NS);
	child_end(pid);
}

/* It gets little CPU time, because other processes use it all. */
static void a_starved_process_is_waited_for(void **state)
{
	pid_t pid = child_start(run_seldom), others[OTHERS];

	(void)state;
	for (int i = 0; i < OTHERS; i++)
		others[i] = child_start(run_forever);
	assert_int_equal(time_to_loss(pid, 200), 0);
	for (int i = 0; i < OTHERS; i++)
		child_end(others[i]);
	child_end(pid);
}

static void an_invisible_process_gets_a_longer_limit(void **state)
{
	(void)state;
	assert_true(time_to_loss(0, UINT32_MAX) >= SF_LIVENESS_UNSEEN * LIMIT_NS);
}

/* This process did not check for a long time: the peer may have answered meanwhile. */
static void our_own_stop_does_not_count(void **state)
{
	struct sf_liveness liveness;

	(void)state;
	sf_liveness_begin(&liveness);
	liveness.looked_ns -= 10 * LIMIT_NS;
	assert_false(sf_liveness_lost(&liveness, 0, LIMIT_NS));
}

static void a_process_that_runs_and_never_answers_is_given_up_eventually(void **state)
{
	struct sf_liveness liveness;

	(void)state;
	sf_liveness_begin(&liveness);
	liveness.looked_ns -= LIMIT_NS;
	assert_false(sf_liveness_lost(&liveness, getpid(), LIMIT_NS));
	liveness.begun_ns -= SF_LIVENESS_MAX_NS;
	liveness.looked_ns -= LIMIT_NS;
	assert_true(sf_liveness_lost(&liveness, getpid(), LIMIT_NS));
}

static void a_child_that_has_ended_is_not_active(void **state)
{
	pid_t pid = child_start(sleep_forever);
	siginfo_t info;

	(void)state;
	kill(pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_not_equal(sf_process_state(pid), SF_PROCESS_ACTIVE);
	child_end(pid);
	assert_int_equal(sf_process_state(pid), SF_PROCESS_UNSEEN);
}

static void *sleep_as_thread(void *tid)
{
	atomic_store((_Atomic pid_t *)tid, gettid());
	sleep_forever();
	return NULL;
}

/* Other threads of the process run meanwhile. */
static void a_thread_that_sleeps_is_given_up(void **state)
{
	struct sf_liveness liveness;
	static _Atomic pid_t tid;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, sleep_as_thread, (void *)&tid), 0);
	while (atomic_load(&tid) == 0)
		sched_yield();
	sf_liveness_begin(&liveness);
	while (!sf_liveness_thread_lost(&liveness, atomic_load(&tid), LIMIT_NS))
		;
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	sf_liveness_begin(&liveness);
	liveness.looked_ns -= LIMIT_NS;
	liveness.silent_ns = LIMIT_NS / 2;
	assert_false(sf_liveness_thread_lost(&liveness, gettid(), LIMIT_NS));
	assert_int_equal(liveness.silent_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stopped_process_is_given_up),
		cmocka_unit_test(a_process_that_sleeps_instead_of_answering_is_given_up),
		cmocka_unit_test(a_starved_process_is_waited_for),
		cmocka_unit_test(an_invisible_process_gets_a_longer_limit),
		cmocka_unit_test(our_own_stop_does_not_count),
		cmocka_unit_test(a_process_that_runs_and_never_answers_is_given_up_eventually),
		cmocka_unit_test(a_child_that_has_ended_is_not_active),
		cmocka_unit_test(a_thread_that_sleeps_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
