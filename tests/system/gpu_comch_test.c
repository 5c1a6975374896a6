/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comch between a process on the CPU (the peer) and a kernel. Each test runs the two in separate processes, with the software GPU
 * or, if SOFTFIELD_GPU=cuda, with a CUDA GPU.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <softfield/gpu.h>

#include "base/clock.h"
#include "load.h"
#include "setup.h"
#include "support/child.h"
#include "support/stop.h"
#include "support/wait.h"

#define GPU "b5:00.0"
#define KERNEL_THREADS 128
#define ROUNDS_MIN                                                                                                               \
	10u /* rounds of a sleeper and the kernel that wakes it: at least this many, or as many as fit into ROUNDS_S             \
	     */
#define ROUNDS_MAX 20000u
#define ROUNDS_S 1.0
#define PAUSE_S 50e-6 /* longest pause before the request */

/* State shared by the two processes and the test. */
struct shared {
	volatile int peer_connected, peer_done, gpu_ready, gpu_done;
	struct load_result result;
	pid_t peer, gpu;
};

struct scenario {
	enum setup_scope scope;
	struct load_config load;
	void (*peer)(const struct scenario *scenario, const char *name);
	void (*gpu)(const struct scenario *scenario, const char *name);
};

#define DEADLINE_MS (SETUP_DEADLINE_S * 1000)

static struct shared *shared;

static bool within_deadline(double since)
{
	return sf_now_s() - since < SETUP_DEADLINE_S;
}

/* ---- the two ends ---- */

static void peer_load(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;

	setup_serve(&end, name);
	load_run(&end, &scenario->load, &shared->result);
	shared->peer_done = 1;
	setup_teardown(&end);
}

static uint32_t buf_size(const struct scenario *scenario)
{
	return (scenario->load.size + 63) / 64 * 64;
}

static void gpu_echo(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;
	struct softfield_launch *launch;

	setup_connect(&end, name);
	setup_gpu_queues(&end, scenario->load.queues, GPU, scenario->load.depth + 4, buf_size(scenario),
			 scenario->load.depth + 4);
	setup_launch(&end, scenario->scope, KERNEL_THREADS, &launch);
	shared->gpu_ready = 1;
	(void)WAIT_UNTIL_WITHIN(DEADLINE_MS, (setup_progress(&end), shared->peer_done != 0));
	CHECK(softfield_gpu_launch_query(launch) == DOCA_ERROR_IN_PROGRESS);
	__atomic_store_n(end.stop_cpu, 1, __ATOMIC_RELEASE);
	CHECK_OK(softfield_gpu_launch_wait(launch, 2000));
	CHECK_OK(softfield_gpu_launch_destroy(launch));
	setup_teardown(&end);
}

static pid_t start(void (*body)(const struct scenario *, const char *), const struct scenario *scenario, const char *name)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		body(scenario, name);
		exit(0);
	}
	return pid;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	if (waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void begin(const struct scenario *scenario)
{
	static int number;
	char name[64];

	memset(shared, 0, sizeof(*shared));
	snprintf(name, sizeof(name), "gpu-test-%d-%d", (int)getpid(), number++);
	shared->peer = start(scenario->peer != NULL ? scenario->peer : peer_load, scenario, name);
	shared->gpu = start(scenario->gpu != NULL ? scenario->gpu : gpu_echo, scenario, name);
}

static void echo(enum setup_scope scope, uint32_t queues, uint32_t size, uint32_t depth, uint32_t imm_len, uint64_t messages)
{
	const struct scenario scenario = {
		.scope = scope,
		.load = {.queues = queues, .size = size, .depth = depth, .imm_len = imm_len, .messages = messages}};

	begin(&scenario);
	assert_int_equal(wait_for(shared->peer), 0);
	shared->peer_done = 1;
	assert_int_equal(wait_for(shared->gpu), 0);
	assert_int_equal(shared->result.wrong, 0);
}

/* ---- messages ---- */

static void every_size_comes_back(void **state)
{
	static const uint32_t sizes[] = {1, 3, 8, 11, 12, 13, 47, 48, 49, 76, 100, 144, 145, 4096, 4097, 65536};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		echo(SETUP_THREAD, 1, sizes[i], 4, 0, 50);
}

static void every_size_comes_back_at_block_scope(void **state)
{
	static const uint32_t sizes[] = {1, 12, 13, 48, 49, 76, 144, 145, 4096, 5000, 65536};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		echo(SETUP_BLOCK, 1, sizes[i], 16, 0, 200);
}

static void every_size_comes_back_at_warp_scope(void **state)
{
	static const uint32_t sizes[] = {1, 12, 13, 48, 49, 76, 144, 145, 4096, 65536};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		echo(SETUP_WARP, 1, sizes[i], 16, 0, 200);
}

static void every_size_comes_back_through_two_blocks(void **state)
{
	static const uint32_t sizes[] = {1, 48, 49, 144, 145, 4096, 65536};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		echo(SETUP_PIPE, 2, sizes[i], 16, 0, 200);
	echo(SETUP_PIPE, 1, 20, 8, 5, 100);
}

static void rings_wrap_many_times(void **state)
{
	echo(SETUP_THREAD, 1, 40, 16, 0, 20000);
	echo(SETUP_BLOCK, 1, 3000, 16, 0, 5000); /* the arena wraps, too */
}

static void immediate_data_travels_with_any_size(void **state)
{
	echo(SETUP_THREAD, 1, 16, 4, 32, 100); /* both fit into the line */
	echo(SETUP_THREAD, 1, 40, 4, 32, 100); /* in the overflow slot */
	echo(SETUP_BLOCK, 1, 60, 8, 32, 100);
	echo(SETUP_WARP, 1, 112, 8, 32, 100);
	echo(SETUP_THREAD, 1, 113, 4, 32, 100); /* too long for line and overflow slot */
	echo(SETUP_BLOCK, 1, 4000, 8, 7, 100);
	echo(SETUP_WARP, 1, 20, 8, 5, 100);
}

static void queues_do_not_mix(void **state)
{
	echo(SETUP_THREAD, 4, 64, 8, 0, 500);
	echo(SETUP_BLOCK, 4, 32, 8, 0, 500);
}

/* ---- handles ---- */

static void gpu_handles_before_running(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_comch_gpu_consumer *gpu_consumer;
	struct doca_comch_gpu_producer *gpu_producer;
	struct doca_mmap *mmap_;
	void *memory;

	setup_connect(&end, name);
	CHECK_OK(doca_gpu_create(GPU, &end.gpu));
	CHECK_OK(doca_gpu_mem_alloc(end.gpu, 4096, 4096, DOCA_GPU_MEM_TYPE_GPU, &memory, NULL));
	CHECK_OK(doca_mmap_create(&mmap_));
	CHECK_OK(doca_mmap_add_dev(mmap_, end.dev));
	CHECK_OK(doca_mmap_set_memrange(mmap_, memory, 4096));
	CHECK_OK(doca_mmap_set_permissions(mmap_, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	CHECK_OK(doca_mmap_start(mmap_));
	CHECK_OK(doca_comch_consumer_create(end.connection, mmap_, &consumer));
	CHECK_OK(doca_comch_producer_create(end.connection, &producer));
	CHECK(doca_comch_consumer_get_gpu_handle(consumer, &gpu_consumer) == DOCA_ERROR_BAD_STATE);
	CHECK(doca_comch_producer_get_gpu_handle(producer, &gpu_producer) == DOCA_ERROR_BAD_STATE);
	CHECK(doca_comch_consumer_get_gpu_handle(NULL, &gpu_consumer) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_comch_producer_get_gpu_handle(producer, NULL) == DOCA_ERROR_INVALID_VALUE);
	/* the number of tasks sizes the rings, so start fails without it */
	CHECK_OK(doca_ctx_set_datapath_on_gpu(doca_comch_producer_as_ctx(producer), end.gpu));
	CHECK_OK(doca_pe_connect_ctx(end.pe, doca_comch_producer_as_ctx(producer)));
	CHECK(doca_ctx_start(doca_comch_producer_as_ctx(producer)) == DOCA_ERROR_BAD_STATE);
	CHECK_OK(doca_comch_producer_set_dev_max_num_send(producer, 8));
	CHECK_OK(doca_ctx_start(doca_comch_producer_as_ctx(producer)));
	CHECK_OK(doca_comch_producer_get_gpu_handle(producer, &gpu_producer));
	CHECK(doca_gpu_destroy(end.gpu) == DOCA_ERROR_IN_USE);
	shared->gpu_done = 1;
	_exit(0);
}

static void peer_waits(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;
	double since = sf_now_s();

	setup_serve(&end, name);
	shared->peer_connected = 1;
	while (!shared->gpu_done && !end.lost && within_deadline(since))
		doca_pe_progress(end.pe);
	_exit(0);
}

static void handles_are_there_while_running_only(void **state)
{
	const struct scenario scenario = {.peer = peer_waits, .gpu = gpu_handles_before_running};

	begin(&scenario);
	assert_int_equal(wait_for(shared->gpu), 0);
	shared->gpu_done = 1;
	assert_int_equal(wait_for(shared->peer), 0);
}

/* ---- what goes wrong ---- */

struct one_send {
	int sent, failed;
	doca_error_t status;
};

static void one_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct one_send *)ctx_data.ptr)->sent++;
}

static void one_failed(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	struct one_send *one = ctx_data.ptr;

	one->failed++;
	one->status = doca_task_get_status(doca_comch_producer_task_send_as_task(task));
}

static void no_recv(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data) {}

/* The kernel posts receives of 64 bytes. */
static void peer_sends_too_much(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;
	struct one_send one = {0};
	void *user_data[] = {&one};
	struct setup_tasks tasks = {.sends = 4,
				    .recvs = 4,
				    .memory_len = 8192,
				    .sent = one_sent,
				    .send_failed = one_failed,
				    .received = no_recv,
				    .recv_failed = no_recv,
				    .one_pe = true};
	struct doca_comch_producer_task_send *task;
	struct doca_buf_inventory *inventory;
	struct doca_buf *small, *large;
	double since = sf_now_s();
	doca_error_t result;

	setup_serve(&end, name);
	setup_cpu_queues(&end, 1, &tasks, user_data);
	CHECK_OK(doca_buf_inventory_create(2, &inventory));
	CHECK_OK(doca_buf_inventory_start(inventory));
	CHECK_OK(doca_buf_inventory_buf_get_by_data(inventory, end.queues[0].mmap, end.queues[0].memory, 64, &small));
	CHECK_OK(doca_buf_inventory_buf_get_by_data(inventory, end.queues[0].mmap, end.queues[0].memory, 65, &large));
	CHECK_OK(doca_comch_producer_task_send_alloc_init(end.queues[0].producer, small, NULL, 0, 1, &task));
	while ((result = doca_task_submit(doca_comch_producer_task_send_as_task(task))) == DOCA_ERROR_AGAIN &&
	       within_deadline(since))
		setup_progress(&end);
	CHECK_OK(result); /* 64 bytes fit */
	while (one.sent == 0 && within_deadline(since))
		setup_progress(&end);
	CHECK(one.sent == 1);
	doca_comch_producer_task_send_set_buf(task, large);
	while ((result = doca_task_submit(doca_comch_producer_task_send_as_task(task))) == DOCA_ERROR_AGAIN &&
	       within_deadline(since))
		setup_progress(&end);
	CHECK_OK(result); /* 65 bytes do not fit: the task's error callback reports it */
	while (one.failed == 0 && within_deadline(since))
		setup_progress(&end);
	CHECK(one.failed == 1 && one.status == DOCA_ERROR_TOO_BIG);
	doca_comch_producer_task_send_set_buf(task, small);
	CHECK_OK(doca_task_submit(doca_comch_producer_task_send_as_task(task))); /* the receive stayed posted */
	while (one.sent == 1 && within_deadline(since))
		setup_progress(&end);
	CHECK(one.sent == 2);
	shared->peer_done = 1;
	_exit(0);
}

static void message_larger_than_the_receive_is_refused(void **state)
{
	const struct scenario scenario = {
		.scope = SETUP_THREAD, .load = {.queues = 1, .size = 64, .depth = 4}, .peer = peer_sends_too_much};

	begin(&scenario);
	assert_int_equal(wait_for(shared->peer), 0);
	shared->peer_done = 1;
	wait_for(shared->gpu); /* its peer has exited without notice; another test covers that ending */
}

/* Stops the GPU's process before the first message, while none of its memory is mapped here. */
static void peer_sends_to_a_stopped_process(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;
	struct one_send one = {0};
	void *user_data[] = {&one};
	struct setup_tasks tasks = {.sends = 4,
				    .recvs = 4,
				    .memory_len = 8192,
				    .sent = one_sent,
				    .send_failed = one_failed,
				    .received = no_recv,
				    .recv_failed = no_recv,
				    .one_pe = true};
	struct doca_comch_producer_task_send *sends[4];
	struct doca_buf_inventory *inventory;
	struct doca_buf *buf;
	double since = sf_now_s(), begun;

	setup_serve(&end, name);
	setup_cpu_queues(&end, 1, &tasks, user_data);
	CHECK_OK(doca_buf_inventory_create(1, &inventory));
	CHECK_OK(doca_buf_inventory_start(inventory));
	CHECK_OK(doca_buf_inventory_buf_get_by_data(inventory, end.queues[0].mmap, end.queues[0].memory, 64, &buf));
	while ((!shared->gpu_ready || shared->gpu == 0) && within_deadline(since))
		setup_progress(&end);
	process_stop(shared->gpu);
	begun = sf_now_s();
	for (int i = 0; i < 4; i++) {
		CHECK_OK(doca_comch_producer_task_send_alloc_init(end.queues[0].producer, buf, NULL, 0, 1, &sends[i]));
		CHECK_OK(doca_task_submit(doca_comch_producer_task_send_as_task(sends[i])));
	}
	for (int i = 0; i < 20; i++)
		setup_progress(&end);
	CHECK(sf_now_s() - begun < 10); /* a submit that waited for the peer would take a second */
	CHECK(one.sent == 0 && one.failed == 0);
	CHECK(kill(shared->gpu, SIGCONT) == 0);
	while (one.sent < 4 && within_deadline(since))
		setup_progress(&end);
	CHECK(one.sent == 4);
	shared->peer_done = 1;
	_exit(0);
}

static void submit_to_a_stopped_process_does_not_wait(void **state)
{
	const struct scenario scenario = {
		.scope = SETUP_THREAD, .load = {.queues = 1, .size = 64, .depth = 4}, .peer = peer_sends_to_a_stopped_process};

	int peer;

	begin(&scenario);
	peer = wait_for(shared->peer);
	if (peer != 0) /* the test may have failed earlier; then SIGCONT would wake a process that LeakSanitizer has stopped while
			  it exits */
		kill(shared->gpu, SIGCONT);
	shared->peer_done = 1;
	wait_for(shared->gpu); /* its peer has exited without notice; another test covers that ending */
	assert_int_equal(peer, 0);
}

/* Runs until the peer is gone, then waits for kernel and contexts to end. */
static void gpu_loses_peer(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;
	struct softfield_launch *launch;
	enum doca_ctx_states consumer, producer;
	double since = sf_now_s();

	setup_connect(&end, name);
	setup_gpu_queues(&end, 1, GPU, 8, 64, 8);
	setup_launch(&end, scenario->scope, KERNEL_THREADS, &launch);
	shared->gpu_ready = 1;
	/* the device calls fail, so the kernel ends although nothing asked it to */
	(void)WAIT_UNTIL_WITHIN(DEADLINE_MS,
				(setup_progress(&end), softfield_gpu_launch_query(launch) != DOCA_ERROR_IN_PROGRESS));
	CHECK_OK(softfield_gpu_launch_query(launch));
	CHECK(*end.stop_cpu == 0);
	do {
		setup_progress(&end);
		CHECK_OK(doca_ctx_get_state(doca_comch_consumer_as_ctx(end.queues[0].consumer), &consumer));
		CHECK_OK(doca_ctx_get_state(doca_comch_producer_as_ctx(end.queues[0].producer), &producer));
	} while ((consumer != DOCA_CTX_STATE_IDLE || producer != DOCA_CTX_STATE_IDLE) && within_deadline(since));
	CHECK(consumer == DOCA_CTX_STATE_IDLE && producer == DOCA_CTX_STATE_IDLE);
	CHECK_OK(softfield_gpu_launch_destroy(launch));
	end.queues_stopped = true;
	setup_teardown(&end);
}

static void peer_is_killed(enum setup_scope scope)
{
	const struct scenario scenario = {
		.scope = scope, .load = {.queues = 1, .size = 32, .depth = 8, .messages = UINT64_MAX}, .gpu = gpu_loses_peer};

	begin(&scenario);
	assert_true(WAIT_UNTIL_WITHIN(DEADLINE_MS, shared->gpu_ready));
	kill(shared->peer, SIGKILL);
	wait_for(shared->peer);
	assert_int_equal(wait_for(shared->gpu), 0);
}

static void kernel_ends_when_the_peer_is_killed(void **state)
{
	peer_is_killed(SETUP_THREAD);
	peer_is_killed(SETUP_BLOCK);
}

static void peer_sees_the_gpu_process_die(void **state)
{
	const struct scenario scenario = {
		.scope = SETUP_THREAD, .load = {.queues = 1, .size = 32, .depth = 8, .messages = UINT64_MAX}, .peer = peer_waits};

	begin(&scenario);
	assert_true(WAIT_UNTIL_WITHIN(DEADLINE_MS, shared->peer_connected));
	kill(shared->gpu, SIGKILL);
	wait_for(shared->gpu);
	assert_int_equal(wait_for(shared->peer), 0);
}

static void gpu_stops_its_contexts_first(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;
	struct softfield_launch *launch;

	setup_connect(&end, name);
	setup_gpu_queues(&end, 1, GPU, 8, 64, 8);
	setup_launch(&end, scenario->scope, KERNEL_THREADS, &launch);
	for (int i = 0; i < 100; i++)
		setup_progress(&end);
	/* the kernel sees the cancel immediately; only progress frees the memory, and by then the kernel has ended */
	doca_ctx_stop(doca_comch_consumer_as_ctx(end.queues[0].consumer));
	(void)WAIT_UNTIL_WITHIN(DEADLINE_MS, softfield_gpu_launch_query(launch) != DOCA_ERROR_IN_PROGRESS);
	CHECK_OK(softfield_gpu_launch_query(launch));
	CHECK_OK(softfield_gpu_launch_destroy(launch));
	shared->peer_done = 1;
	_exit(0);
}

/* ---- idle ---- */

/* Wake-ups and CPU time allowed in one second of an idle kernel. A wake-up costs several times as much on a busy machine, so
 * the number of wake-ups is what counts. A thread that polls has few wake-ups, but uses all of the time. */
#define IDLE_WAKES_MAX 400
#define IDLE_SECONDS 0.1

static double cpu_seconds(const struct rusage *usage)
{
	return (double)usage->ru_utime.tv_sec + 1e-6 * (double)usage->ru_utime.tv_usec + (double)usage->ru_stime.tv_sec +
	       1e-6 * (double)usage->ru_stime.tv_usec;
}

/* Nothing arrives for a second: the kernel's thread sleeps, and still stops immediately when asked. Other tests may disturb
 * the agent, so one undisturbed second of five is enough. */
static void gpu_is_idle(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;
	struct softfield_launch *launch;
	struct rusage before, after;
	double begun;
	bool is_calm;

	setup_connect(&end, name);
	setup_gpu_queues(&end, 1, GPU, 8, 64, 8);
	setup_launch(&end, scenario->scope, KERNEL_THREADS, &launch);
	for (begun = sf_now_s(); sf_now_s() - begun < 0.2;)
		setup_progress(&end);
	is_calm = strcmp(softfield_gpu_backend(end.gpu), "soft") != 0;
	for (int i = 0; i < 5 && !is_calm; i++) {
		getrusage(RUSAGE_SELF, &before);
		time_pass_ms(1000);
		getrusage(RUSAGE_SELF, &after);
		is_calm = after.ru_nvcsw - before.ru_nvcsw <= IDLE_WAKES_MAX &&
			  cpu_seconds(&after) - cpu_seconds(&before) <= IDLE_SECONDS;
	}
	__atomic_store_n(end.stop_cpu, 1, __ATOMIC_RELEASE);
	CHECK_OK(softfield_gpu_launch_wait(launch, 60000));
	CHECK(is_calm);
	CHECK_OK(softfield_gpu_launch_destroy(launch));
	shared->peer_done = shared->gpu_done = 1;
	setup_teardown(&end);
}

static void peer_is_idle(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;
	struct one_send one = {0};
	void *user_data[] = {&one};
	struct setup_tasks tasks = {.sends = 4,
				    .recvs = 4,
				    .memory_len = 8192,
				    .sent = one_sent,
				    .send_failed = one_failed,
				    .received = no_recv,
				    .recv_failed = no_recv,
				    .one_pe = true};

	setup_serve(&end, name);
	setup_cpu_queues(&end, 1, &tasks, user_data);
	(void)WAIT_UNTIL_WITHIN(DEADLINE_MS, (setup_progress(&end), shared->gpu_done != 0));
	setup_teardown(&end);
}

static void idle_kernel_sleeps_and_stops_at_once(void **state)
{
	const struct scenario scenario = {.scope = SETUP_THREAD, .peer = peer_is_idle, .gpu = gpu_is_idle};

	begin(&scenario);
	assert_int_equal(wait_for(shared->gpu), 0);
	shared->gpu_done = 1;
	assert_int_equal(wait_for(shared->peer), 0);
}

/* ---- event-driven ---- */

struct waiting {
	uint32_t received;
	struct doca_comch_consumer_task_post_recv *task;
};

static void woken(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	((struct waiting *)ctx_data.ptr)->received++;
	doca_buf_reset_data_len(doca_comch_consumer_task_post_recv_get_buf(task));
	CHECK_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

static void still(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data) {}

/* Sends a request, then sleeps in epoll until the kernel's answer wakes it. The answers arrive at any time around the request. */
static void peer_sleeps_until_answered(const struct scenario *scenario, const char *name)
{
	static struct setup_end end;
	struct waiting waiting = {0};
	void *user_data[] = {&waiting};
	struct setup_tasks tasks = {.sends = 1,
				    .recvs = 1,
				    .memory_len = 8192,
				    .sent = still,
				    .send_failed = still,
				    .received = woken,
				    .recv_failed = no_recv,
				    .one_pe = true};
	struct doca_comch_producer_task_send *send;
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_buf_inventory *inventory;
	struct epoll_event event = {.events = EPOLLIN};
	struct doca_buf *buf;
	doca_notification_handle_t handle;
	double since = sf_now_s();
	uint32_t rounds = 0, seed = (uint32_t)getpid();
	int epoll = epoll_create1(0);

	setup_serve(&end, name);
	setup_cpu_queues(&end, 1, &tasks, user_data);
	CHECK_OK(doca_buf_inventory_create(2, &inventory));
	CHECK_OK(doca_buf_inventory_start(inventory));
	CHECK_OK(doca_buf_inventory_buf_get_by_addr(inventory, end.queues[0].mmap, end.queues[0].memory + 4096, 64, &buf));
	CHECK_OK(doca_comch_consumer_task_post_recv_alloc_init(end.queues[0].consumer, buf, &recv));
	CHECK_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)));
	CHECK_OK(doca_buf_inventory_buf_get_by_data(inventory, end.queues[0].mmap, end.queues[0].memory, 64, &buf));
	CHECK_OK(doca_comch_producer_task_send_alloc_init(end.queues[0].producer, buf, NULL, 0, 1, &send));
	CHECK_OK(doca_pe_get_notification_handle(end.pe, &handle));
	CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, handle, &event) == 0);
	for (double begun = sf_now_s(); rounds < ROUNDS_MIN || (rounds < ROUNDS_MAX && sf_now_s() - begun < ROUNDS_S); rounds++) {
		while (doca_task_submit(doca_comch_producer_task_send_as_task(send)) != DOCA_SUCCESS && within_deadline(since))
			doca_pe_progress(end.pe);
		while (waiting.received == rounds && within_deadline(since)) {
			while (doca_pe_progress(end.pe) != 0)
				;
			if (waiting.received != rounds)
				break;
			seed = seed * 1664525u + 1013904223u;
			for (double until = sf_now_s() + PAUSE_S * (seed >> 8) / (1 << 24); sf_now_s() < until;)
				;
			CHECK_OK(doca_pe_request_notification(end.pe));
			CHECK(epoll_wait(epoll, &event, 1, 5000) == 1);
			CHECK_OK(doca_pe_clear_notification(end.pe, 0));
		}
	}
	CHECK(waiting.received == rounds);
	shared->peer_done = 1;
	_exit(0);
}

static void sleeping_consumer_is_woken_by_the_kernel(void **state)
{
	const struct scenario scenario = {
		.scope = SETUP_THREAD, .load = {.queues = 1, .size = 64, .depth = 4}, .peer = peer_sleeps_until_answered};

	begin(&scenario);
	assert_int_equal(wait_for(shared->peer), 0);
	shared->peer_done = 1;
	wait_for(shared->gpu);
}

static void kernel_ends_when_its_consumer_is_stopped(void **state)
{
	const struct scenario scenario = {.scope = SETUP_THREAD,
					  .load = {.queues = 1, .size = 64, .depth = 4},
					  .peer = peer_is_idle,
					  .gpu = gpu_stops_its_contexts_first};

	begin(&scenario);
	assert_int_equal(wait_for(shared->gpu), 0);
	shared->gpu_done = 1;
	kill(shared->peer, SIGKILL);
	wait_for(shared->peer);
}

static int set_up(void **state)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return shared == MAP_FAILED;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_comes_back),
		cmocka_unit_test(every_size_comes_back_at_warp_scope),
		cmocka_unit_test(every_size_comes_back_at_block_scope),
		cmocka_unit_test(every_size_comes_back_through_two_blocks),
		cmocka_unit_test(rings_wrap_many_times),
		cmocka_unit_test(immediate_data_travels_with_any_size),
		cmocka_unit_test(queues_do_not_mix),
		cmocka_unit_test(handles_are_there_while_running_only),
		cmocka_unit_test(message_larger_than_the_receive_is_refused),
		cmocka_unit_test(submit_to_a_stopped_process_does_not_wait),
		cmocka_unit_test(kernel_ends_when_the_peer_is_killed),
		cmocka_unit_test(peer_sees_the_gpu_process_die),
		cmocka_unit_test(kernel_ends_when_its_consumer_is_stopped),
		cmocka_unit_test(idle_kernel_sleeps_and_stops_at_once),
		cmocka_unit_test(sleeping_consumer_is_woken_by_the_kernel),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
