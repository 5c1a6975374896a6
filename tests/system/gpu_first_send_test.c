/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first messages to a consumer on a GPU are accepted, even while the agent of its process does not answer: they wait, are
 * sent in order, and wake a producer that sleeps. The GPU's process runs this program again; its kernel returns every message.
 */
#include <dirent.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <softfield/gpu.h>

#include "base/clock.h"
#include "setup.h"

#define GPU "b5:00.0"
#define MESSAGES 4
#define SIZE 64
#define WAIT_S 60 /* only a hang takes longer */

/* ---- the GPU's process ---- */

/* The test's next command, or 0 when the test has exited. */
static char next_word(int sock, struct setup_end *end)
{
	struct pollfd ready = {.fd = sock, .events = POLLIN};
	char word = 0;

	while (poll(&ready, 1, 0) == 0)
		setup_progress(end);
	return read(sock, &word, 1) == 1 ? word : 0;
}

static int gpu_run(const char *name, int sock)
{
	static struct setup_end end;
	struct softfield_launch *launch;

	alarm(2 * WAIT_S);
	setup_connect(&end, name);
	setup_gpu_queues(&end, 1, GPU, 2 * MESSAGES, SIZE, 2 * MESSAGES);
	CHECK_OK(write(sock, "r", 1) == 1 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
	if (next_word(sock, &end) != 'k')
		return 1;
	setup_launch(&end, SETUP_THREAD, 1, &launch);
	(void)next_word(sock, &end);
	__atomic_store_n(end.stop_cpu, 1, __ATOMIC_RELEASE);
	CHECK_OK(softfield_gpu_launch_wait(launch, WAIT_S * 1000));
	CHECK_OK(softfield_gpu_launch_destroy(launch));
	setup_teardown(&end);
	return 0;
}

/* ---- this process's queue ---- */

static struct setup_end end;
static struct doca_buf_inventory *inventory;
static struct doca_comch_producer_task_send *sends[MESSAGES];
static uint32_t num_sent, num_failed, num_back;
static doca_error_t status;
static pid_t gpu;
static int gpu_sock;

static void sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	assert_ptr_equal(task, sends[num_sent % MESSAGES]);
	num_sent++;
}

static void send_failed(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	assert_ptr_equal(task, sends[num_failed % MESSAGES]);
	num_failed++;
	status = doca_task_get_status(doca_comch_producer_task_send_as_task(task));
}

static void recv_ended(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	CHECK_OK(doca_buf_dec_refcount(doca_comch_consumer_task_post_recv_get_buf(task), NULL));
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void came_back(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	const uint8_t *imm = doca_comch_consumer_task_post_recv_get_imm_data(task);

	assert_non_null(imm);
	assert_int_equal(imm[0], num_back % MESSAGES); /* in the order of the submits */
	num_back++;
	recv_ended(task, task_data, ctx_data);
}

static struct doca_buf *buf_at(uint32_t slot, size_t len)
{
	struct setup_queue *queue = &end.queues[0];
	struct doca_buf *buf;

	CHECK_OK(doca_buf_inventory_buf_get_by_addr(inventory, queue->mmap, queue->memory + slot * SIZE, SIZE, &buf));
	CHECK_OK(doca_buf_set_data(buf, queue->memory + slot * SIZE, len));
	return buf;
}

static void post_recv(uint32_t slot)
{
	struct doca_comch_consumer_task_post_recv *task;

	CHECK_OK(doca_comch_consumer_task_post_recv_alloc_init(end.queues[0].consumer, buf_at(slot, 0), &task));
	CHECK_OK(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
}

#define WAIT(condition)                                                                                                          \
	do {                                                                                                                     \
		double since_ = sf_now_s();                                                                                      \
		while (!(condition)) {                                                                                           \
			doca_pe_progress(end.pe);                                                                                \
			if (sf_now_s() - since_ > WAIT_S)                                                                        \
				fail_msg("waited too long for " #condition);                                                     \
		}                                                                                                                \
	} while (0)

static bool gpu_is_ready(void)
{
	struct pollfd ready = {.fd = gpu_sock, .events = POLLIN};
	char word = 0;

	return poll(&ready, 1, 0) == 1 && read(gpu_sock, &word, 1) == 1 && word == 'r';
}

static void launch_kernel(void)
{
	assert_int_equal(write(gpu_sock, "k", 1), 1);
}

static int set_up_idle(void **state)
{
	static const struct setup_tasks tasks = {.sends = MESSAGES,
						 .recvs = 2 * MESSAGES,
						 .memory_len = 4 * MESSAGES * SIZE,
						 .sent = sent,
						 .send_failed = send_failed,
						 .received = came_back,
						 .recv_failed = recv_ended,
						 .one_pe = true};
	void *user_data[] = {NULL};
	char name[64], number[16];
	int socks[2];

	(void)state;
	memset(&end, 0, sizeof(end));
	num_sent = num_failed = num_back = 0;
	snprintf(name, sizeof(name), "gpu first send %d", (int)getpid());
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, socks), 0);
	snprintf(number, sizeof(number), "%d", socks[1]);
	fflush(NULL);
	gpu = fork();
	assert_true(gpu >= 0);
	if (gpu == 0) {
		close(socks[0]);
		execl("/proc/self/exe", "gpu_first_send_test", name, number, (char *)NULL);
		_exit(127);
	}
	close(socks[1]);
	gpu_sock = socks[0];
	setup_serve(&end, name);
	setup_cpu_queues(&end, 1, &tasks, user_data);
	CHECK_OK(doca_buf_inventory_create(4 * MESSAGES, &inventory));
	CHECK_OK(doca_buf_inventory_start(inventory));
	for (uint32_t i = 0; i < 2 * MESSAGES; i++)
		post_recv(i);
	WAIT(gpu_is_ready());
	while (doca_pe_progress(end.pe))
		;
	return 0;
}

static int set_up(void **state)
{
	(void)set_up_idle(state);
	launch_kernel();
	return 0;
}

static void free_sends(void)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		CHECK_OK(doca_buf_dec_refcount((struct doca_buf *)(uintptr_t)doca_comch_producer_task_send_get_buf(sends[i]),
					       NULL));
		doca_task_free(doca_comch_producer_task_send_as_task(sends[i]));
	}
}

static int tear_down(void **state)
{
	int result;

	(void)state;
	if (gpu != 0) {
		assert_int_equal(write(gpu_sock, "q", 1), 1);
		while (waitpid(gpu, &result, WNOHANG) == 0)
			doca_pe_progress(end.pe);
		assert_int_equal(result, 0);
	}
	close(gpu_sock);
	end.lost = true;
	free_sends();
	setup_stop_queues(&end);
	CHECK_OK(doca_buf_inventory_destroy(inventory));
	setup_teardown(&end);
	return 0;
}

/* ---- what holds the agent back ---- */

static pid_t agent_of(pid_t pid)
{
	char path[300];
	struct dirent *entry;
	pid_t tid = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		char name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/comm", (int)pid, entry->d_name);
		file = fopen(path, "r");
		if (file == NULL)
			continue;
		if (fgets(name, sizeof(name), file) != NULL && strcmp(name, "softfield-agent\n") == 0)
			tid = atoi(entry->d_name);
		fclose(file);
	}
	closedir(dir);
	return tid;
}

/* Stops only the agent: the program and its kernel keep running. */
static void hold_agent(void)
{
	pid_t agent = agent_of(gpu);
	int result;

	assert_true(agent != 0);
	assert_int_equal(ptrace(PTRACE_SEIZE, agent, NULL, NULL), 0);
	assert_int_equal(ptrace(PTRACE_INTERRUPT, agent, NULL, NULL), 0);
	assert_int_equal(waitpid(agent, &result, __WALL), agent);
}

static void release_agent(void)
{
	assert_int_equal(ptrace(PTRACE_DETACH, agent_of(gpu), NULL, NULL), 0);
}

/* Stops the whole process. When this returns, none of its threads runs. */
static void hold_process(void)
{
	int result;

	assert_int_equal(kill(gpu, SIGSTOP), 0);
	assert_int_equal(waitpid(gpu, &result, WUNTRACED), gpu);
	assert_true(WIFSTOPPED(result));
}

static void release_process(void)
{
	assert_int_equal(kill(gpu, SIGCONT), 0);
}

/* ---- tests ---- */

static void submit_all(void)
{
	for (uint32_t i = 0; i < MESSAGES; i++)
		CHECK_OK(doca_task_submit(doca_comch_producer_task_send_as_task(sends[i])));
}

/* For a kernel that may not have posted its receives yet. */
static void submit_all_until_accepted(void)
{
	double since = sf_now_s();
	doca_error_t result;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		do
			result = doca_task_submit(doca_comch_producer_task_send_as_task(sends[i]));
		while (result == DOCA_ERROR_AGAIN && sf_now_s() - since < WAIT_S);
		assert_int_equal(result, DOCA_SUCCESS);
	}
}

/* The first task that names the consumer begins to connect. */
static void make_sends(void)
{
	for (uint32_t i = 0; i < MESSAGES; i++) {
		uint8_t number = (uint8_t)i;

		CHECK_OK(doca_comch_producer_task_send_alloc_init(end.queues[0].producer, buf_at(2 * MESSAGES + i, SIZE - 1),
								  &number, 1, end.queues[0].remote_id, &sends[i]));
	}
}

static void wait_while_held(void (*hold)(void))
{
	hold();
	make_sends();
	submit_all();
	for (int i = 0; i < 100; i++)
		doca_pe_progress(end.pe);
	assert_int_equal(num_sent + num_failed, 0);
}

/* Requests a notification, makes one more progress call, then sleeps. */
static void sleep_until(const uint32_t *count)
{
	struct pollfd wake = {.events = POLLIN};

	assert_int_equal(doca_pe_get_notification_handle(end.pe, &wake.fd), DOCA_SUCCESS);
	while (*count < MESSAGES) {
		assert_int_equal(doca_pe_request_notification(end.pe), DOCA_SUCCESS);
		if (doca_pe_progress(end.pe) != 0)
			continue;
		assert_int_equal(poll(&wake, 1, WAIT_S * 1000), 1);
		assert_int_equal(doca_pe_clear_notification(end.pe, 0), DOCA_SUCCESS);
	}
}

static void left_in_order(void (*release)(void))
{
	release();
	sleep_until(&num_sent);
	WAIT(num_back == MESSAGES);
	submit_all(); /* the connection is up */
	WAIT(num_back == 2 * MESSAGES);
	assert_int_equal(num_failed, 0);
}

static void while_the_agent_is_held_back(void **state)
{
	(void)state;
	wait_while_held(hold_agent);
	left_in_order(release_agent);
}

static void while_the_process_is_stopped(void **state)
{
	(void)state;
	wait_while_held(hold_process);
	left_in_order(release_process);
}

/* The program is already asleep when the answer arrives. */
static void while_the_producer_sleeps(void **state)
{
	struct pollfd wake = {.events = POLLIN};
	pid_t waker;
	int result;

	(void)state;
	wait_while_held(hold_process);
	assert_int_equal(doca_pe_get_notification_handle(end.pe, &wake.fd), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(end.pe), DOCA_SUCCESS);
	waker = fork();
	assert_true(waker >= 0);
	if (waker == 0)
		_exit(kill(gpu, SIGCONT) != 0);
	assert_int_equal(poll(&wake, 1, WAIT_S * 1000), 1);
	assert_int_equal(doca_pe_clear_notification(end.pe, 0), DOCA_SUCCESS);
	sleep_until(&num_sent);
	WAIT(num_back == MESSAGES);
	assert_int_equal(waitpid(waker, &result, 0), waker);
	assert_int_equal(result, 0);
}

/* No event reports receives that a kernel posts: once the connection is up, the producer must poll for them. */
static void until_the_kernel_posts_receives(void **state)
{
	struct pollfd wake = {.events = POLLIN};

	(void)state;
	wait_while_held(hold_agent);
	release_agent();
	assert_int_equal(doca_pe_get_notification_handle(end.pe, &wake.fd), DOCA_SUCCESS);
	for (int looks = 0; num_sent < MESSAGES; looks++) {
		if (looks == 1000)
			launch_kernel();
		assert_int_equal(doca_pe_request_notification(end.pe), DOCA_SUCCESS);
		doca_pe_progress(end.pe);
		assert_int_equal(poll(&wake, 1, WAIT_S * 1000), 1);
		assert_int_equal(doca_pe_clear_notification(end.pe, 0), DOCA_SUCCESS);
		if (looks < 1000)
			assert_int_equal(num_sent, 0);
	}
	WAIT(num_back == MESSAGES);
}

static void until_the_process_dies(void **state)
{
	int result;

	(void)state;
	wait_while_held(hold_process);
	assert_int_equal(kill(gpu, SIGKILL), 0);
	assert_int_equal(waitpid(gpu, &result, 0), gpu);
	gpu = 0;
	sleep_until(&num_failed);
	assert_int_equal(num_sent, 0);
	assert_int_equal(status, DOCA_ERROR_CONNECTION_ABORTED);
}

/* The connection to a process that stays stopped is given up; after the process continues, the next send reaches it. */
static void until_the_process_is_given_up(void **state)
{
	(void)state;
	wait_while_held(hold_process);
	sleep_until(&num_failed);
	assert_int_equal(num_sent, 0);
	assert_int_equal(status, DOCA_ERROR_TIME_OUT);
	release_process();
	submit_all_until_accepted();
	WAIT(num_back == MESSAGES);
}

static void until_the_producer_stops(void **state)
{
	enum doca_ctx_states idle = DOCA_CTX_STATE_RUNNING;
	struct doca_ctx *ctx = doca_comch_producer_as_ctx(end.queues[0].producer);

	(void)state;
	wait_while_held(hold_agent);
	assert_int_equal(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
	WAIT(num_failed == MESSAGES);
	assert_int_equal(num_sent, 0);
	assert_int_equal(status, DOCA_ERROR_BAD_STATE);
	release_agent();
	free_sends();
	WAIT(doca_ctx_get_state(ctx, &idle) == DOCA_SUCCESS && idle == DOCA_CTX_STATE_IDLE);
	CHECK_OK(doca_ctx_start(ctx));
	make_sends();
	submit_all_until_accepted();
	num_failed = 0;
	WAIT(num_back == MESSAGES);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(while_the_agent_is_held_back),
		TEST(while_the_process_is_stopped),
		TEST(while_the_producer_sleeps),
		cmocka_unit_test_setup_teardown(until_the_kernel_posts_receives, set_up_idle, tear_down),
		TEST(until_the_process_dies),
		TEST(until_the_process_is_given_up),
		TEST(until_the_producer_stops),
	};

	if (argc == 3)
		return gpu_run(argv[1], atoi(argv[2]));
	return cmocka_run_group_tests_name("gpu first send", tests, NULL, NULL);
}
