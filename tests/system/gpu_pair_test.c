/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comch between the kernels of two processes: a producer and a consumer on a GPU at each end, connected by proxy threads. One
 * kernel sends and checks; the other one echoes.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <softfield/gpu.h>

#include "base/clock.h"
#include "gpu_pair_kernel.h"
#include "setup.h"
#include "support/child.h"
#include "support/wait.h"

#define GPU "b5:00.0"
#define DEPTH 8u
#define WAIT_S 60 /* only a hang takes longer */

struct load {
	uint64_t messages;
	uint32_t size, imm_len;
};

/* State shared by the processes. */
struct shared {
	volatile int echo_ready, ping_done;
	volatile uint64_t got; /* so far */
	struct ping_result result;
};

static struct shared *shared;

static void run_echo(const struct load *load, const char *name)
{
	static struct setup_end end;
	struct softfield_launch *launch;

	setup_connect(&end, name);
	setup_gpu_queues(&end, 1, GPU, DEPTH + 4, (load->size + 63) / 64 * 64, DEPTH + 4);
	setup_launch(&end, SETUP_THREAD, 1, &launch);
	shared->echo_ready = 1;
	(void)WAIT_UNTIL((setup_progress(&end), shared->ping_done != 0));
	__atomic_store_n(end.stop_cpu, 1, __ATOMIC_RELEASE);
	CHECK_OK(softfield_gpu_launch_wait(launch, WAIT_S * 1000));
	CHECK_OK(softfield_gpu_launch_destroy(launch));
	setup_teardown(&end);
}

static void launch_ping(struct setup_end *end, const struct load *load, struct softfield_launch **launch)
{
	const struct softfield_kernel kernel = {"ping_thread", ping_thread, NULL, 0};
	const struct ping_args args = {.queue = end->echo_queues,
				       .stop = end->args.stop,
				       .result = &shared->result,
				       .messages = load->messages,
				       .size = load->size,
				       .imm_len = load->imm_len};

	CHECK_OK(softfield_gpu_launch(end->gpu, &kernel, 1, 1, &args, sizeof(args), launch));
}

static bool ping_has_ended(struct setup_end *end, struct softfield_launch *launch)
{
	setup_progress(end);
	shared->got = __atomic_load_n(&shared->result.got, __ATOMIC_RELAXED);
	return softfield_gpu_launch_query(launch) != DOCA_ERROR_IN_PROGRESS;
}

/* Returns when the kernel ends: it has received everything, or a device call reports that the peer is lost. */
static void run_ping(const struct load *load, const char *name)
{
	static struct setup_end end;
	struct softfield_launch *launch;

	setup_serve(&end, name);
	setup_gpu_queues(&end, 1, GPU, 2 * DEPTH, (load->size + 63) / 64 * 64, DEPTH);
	launch_ping(&end, load, &launch);
	(void)WAIT_UNTIL(ping_has_ended(&end, launch));
	__atomic_store_n(end.stop_cpu, 1, __ATOMIC_RELEASE);
	CHECK_OK(softfield_gpu_launch_wait(launch, WAIT_S * 1000));
	CHECK_OK(softfield_gpu_launch_destroy(launch));
	shared->ping_done = 1;
	setup_teardown(&end);
}

static pid_t start(void (*body)(const struct load *, const char *), const struct load *load)
{
	char name[64];
	pid_t pid;

	snprintf(name, sizeof(name), "gpu-pair-%d", (int)getpid());
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		body(load, name);
		exit(0);
	}
	return pid;
}

static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void exchange(uint32_t size, uint32_t imm_len, uint64_t messages)
{
	const struct load load = {.messages = messages, .size = size, .imm_len = imm_len};
	pid_t ping, echo;

	memset(shared, 0, sizeof(*shared));
	ping = start(run_ping, &load);
	echo = start(run_echo, &load);
	assert_int_equal(status_of(ping), 0);
	shared->ping_done = 1;
	assert_int_equal(status_of(echo), 0);
	assert_int_equal(shared->result.status, DOCA_SUCCESS);
	assert_int_equal(shared->result.got, messages);
	assert_int_equal(shared->result.wrong, 0);
}

static void every_size_comes_back(void **state)
{
	static const uint32_t sizes[] = {1, 12, 48, 49, 144, 145, 4096, 65536};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		exchange(sizes[i], 0, 100);
}

static void immediate_data_comes_back(void **state)
{
	(void)state;
	exchange(16, 32, 100);
	exchange(120, 32, 100);
	exchange(5000, 7, 100);
}

static void queues_wrap_many_times(void **state)
{
	(void)state;
	exchange(40, 0, 5000);
}

static void a_kernel_ends_when_the_other_process_dies(void **state)
{
	const struct load load = {.messages = UINT64_MAX, .size = 32};
	pid_t ping, echo;

	(void)state;
	memset(shared, 0, sizeof(*shared));
	ping = start(run_ping, &load);
	echo = start(run_echo, &load);
	assert_true(WAIT_UNTIL(shared->got > 0));
	assert_int_equal(kill(echo, SIGKILL), 0);
	assert_int_equal(status_of(echo), 128 + SIGKILL);
	assert_int_equal(status_of(ping), 0);
	assert_int_not_equal(shared->result.status, DOCA_SUCCESS);
	assert_int_equal(shared->result.wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_comes_back),
		cmocka_unit_test(immediate_data_comes_back),
		cmocka_unit_test(queues_wrap_many_times),
		cmocka_unit_test(a_kernel_ends_when_the_other_process_dies),
	};

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
