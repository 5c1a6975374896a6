/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
#include "setup.h"
#include "support/test_dev.h"
#include "support/wait.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <softfield/gpu.h>

#define CONTROL_TASKS 8
#define SERVER_DEV "03:00.0"
#define SERVER_REP "d8:00.0"
#define CLIENT_DEV "d8:00.0"

static void die(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

struct doca_dev_rep *setup_open_rep(struct doca_dev *dev, const char *pci_addr)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t num;

	CHECK_OK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &num));
	for (uint32_t i = 0; i < num && rep == NULL; i++) {
		uint8_t equal = 0;

		if (doca_devinfo_rep_is_equal_pci_addr(list[i], pci_addr, &equal) == DOCA_SUCCESS && equal)
			CHECK_OK(doca_dev_rep_open(list[i], &rep));
	}
	doca_devinfo_rep_destroy_list(list);
	if (rep == NULL)
		die("no such representor");
	return rep;
}

/* ---- the connection ---- */

static void task_done(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void message(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t len,
		    struct doca_comch_connection *connection)
{
}

static struct setup_end *end_of(struct doca_comch_connection *connection)
{
	return doca_comch_connection_get_user_data(connection).ptr;
}

static struct setup_end *serving; /* the one server of the process */

static void connected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
		      uint8_t successful)
{
	if (!successful)
		return;
	doca_comch_connection_set_user_data(connection, (union doca_data){.ptr = serving});
	serving->connection = connection;
}

static void disconnected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			 uint8_t successful)
{
	serving->lost = true;
}

static void new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	struct setup_end *end = end_of(connection) != NULL ? end_of(connection) : serving;

	end->remote_consumers++;
}

static void expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id) {}

void setup_listen(struct setup_end *end, const char *name)
{
	struct doca_ctx *ctx;

	serving = end;
	end->dev_addr = SERVER_DEV;
	end->dev = test_dev_open_pci(SERVER_DEV);
	end->rep = setup_open_rep(end->dev, SERVER_REP);
	CHECK_OK(doca_pe_create(&end->pe));
	CHECK_OK(doca_comch_server_create(end->dev, end->rep, name, &end->server));
	CHECK_OK(doca_comch_server_task_send_set_conf(end->server, task_done, task_done, CONTROL_TASKS));
	CHECK_OK(doca_comch_server_event_msg_recv_register(end->server, message));
	CHECK_OK(doca_comch_server_event_connection_status_changed_register(end->server, connected, disconnected));
	CHECK_OK(doca_comch_server_event_consumer_register(end->server, new_consumer, expired_consumer));
	ctx = doca_comch_server_as_ctx(end->server);
	CHECK_OK(doca_pe_connect_ctx(end->pe, ctx));
	CHECK_OK(doca_ctx_start(ctx));
}

void setup_accept(struct setup_end *end)
{
	double deadline = sf_now_s() + SETUP_DEADLINE_S;
	uint32_t num_idle = 0;

	while (end->connection == NULL && sf_now_s() < deadline)
		turn_end(&num_idle, doca_pe_progress(end->pe) != 0);
	if (end->connection == NULL)
		die("no client came");
}

void setup_serve(struct setup_end *end, const char *name)
{
	setup_listen(end, name);
	setup_accept(end);
}

static bool try_connect(struct setup_end *end, const char *name)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;
	struct doca_ctx *ctx;
	uint32_t num_idle = 0;

	CHECK_OK(doca_comch_client_create(end->dev, name, &end->client));
	CHECK_OK(doca_comch_client_task_send_set_conf(end->client, task_done, task_done, CONTROL_TASKS));
	CHECK_OK(doca_comch_client_event_msg_recv_register(end->client, message));
	CHECK_OK(doca_comch_client_event_consumer_register(end->client, new_consumer, expired_consumer));
	ctx = doca_comch_client_as_ctx(end->client);
	CHECK_OK(doca_pe_connect_ctx(end->pe, ctx));
	CHECK_OK(doca_ctx_start(ctx) == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE);
	while (state == DOCA_CTX_STATE_STARTING) {
		turn_end(&num_idle, doca_pe_progress(end->pe) != 0);
		CHECK_OK(doca_ctx_get_state(ctx, &state));
	}
	if (state == DOCA_CTX_STATE_RUNNING)
		return true;
	while (state != DOCA_CTX_STATE_IDLE) {
		doca_pe_progress(end->pe);
		CHECK_OK(doca_ctx_get_state(ctx, &state));
	}
	CHECK_OK(doca_comch_client_destroy(end->client));
	return false;
}

void setup_connect(struct setup_end *end, const char *name)
{
	serving = end;
	end->dev_addr = CLIENT_DEV;
	end->dev = test_dev_open_pci(CLIENT_DEV);
	CHECK_OK(doca_pe_create(&end->pe));
	if (!WAIT_UNTIL_WITHIN(SETUP_DEADLINE_S * 1000, try_connect(end, name)))
		die("no server to connect to");
	CHECK_OK(doca_comch_client_get_connection(end->client, &end->connection));
	doca_comch_connection_set_user_data(end->connection, (union doca_data){.ptr = end});
}

/* ---- queues ---- */

static struct doca_mmap *map(struct setup_end *end, void *memory, size_t len)
{
	struct doca_mmap *mmap;

	CHECK_OK(doca_mmap_create(&mmap));
	CHECK_OK(doca_mmap_add_dev(mmap, end->dev));
	CHECK_OK(doca_mmap_set_memrange(mmap, memory, len));
	CHECK_OK(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	CHECK_OK(doca_mmap_start(mmap));
	return mmap;
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	CHECK_OK(doca_ctx_get_state(ctx, &state));
	return state;
}

void setup_progress(struct setup_end *end)
{
	doca_pe_progress(end->pe);
	for (uint32_t i = 0; i < end->num_queues; i++) {
		if (end->queues[i].pe != end->pe)
			doca_pe_progress(end->queues[i].pe);
	}
}

static void start(struct setup_queue *queue, union doca_data user_data, struct doca_gpu *gpu)
{
	struct doca_ctx *consumer = doca_comch_consumer_as_ctx(queue->consumer),
			*producer = doca_comch_producer_as_ctx(queue->producer);

	if (gpu != NULL) {
		CHECK_OK(doca_ctx_set_datapath_on_gpu(consumer, gpu));
		CHECK_OK(doca_ctx_set_datapath_on_gpu(producer, gpu));
	}
	CHECK_OK(doca_pe_connect_ctx(queue->pe, consumer));
	CHECK_OK(doca_pe_connect_ctx(queue->pe, producer));
	CHECK_OK(doca_ctx_set_user_data(consumer, user_data));
	CHECK_OK(doca_ctx_set_user_data(producer, user_data));
	CHECK_OK(doca_ctx_start(consumer) == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : DOCA_ERROR_BAD_STATE);
}

/* Starts consumers first, so that the producers of the other end know them when they start. */
static void run_queues(struct setup_end *end)
{
	double deadline = sf_now_s() + SETUP_DEADLINE_S;
	uint32_t running = 0;

	while ((running < end->num_queues || end->remote_consumers < end->num_queues) && sf_now_s() < deadline) {
		setup_progress(end);
		running = 0;
		for (uint32_t i = 0; i < end->num_queues; i++)
			running += state_of(doca_comch_consumer_as_ctx(end->queues[i].consumer)) == DOCA_CTX_STATE_RUNNING;
	}
	if (running < end->num_queues || end->remote_consumers < end->num_queues)
		die("the queues do not start");
	for (uint32_t i = 0; i < end->num_queues; i++)
		CHECK_OK(doca_ctx_start(doca_comch_producer_as_ctx(end->queues[i].producer)));
}

void setup_cpu_queues(struct setup_end *end, uint32_t num, const struct setup_tasks *tasks, void *const *user_data)
{
	for (uint32_t i = 0; i < num; i++) {
		struct setup_queue *queue = &end->queues[i];

		queue->memory_len = (tasks->memory_len + 4095) / 4096 * 4096;
		queue->memory = mmap(NULL, queue->memory_len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (queue->memory == MAP_FAILED)
			die("no memory");
		memset(queue->memory, 0, queue->memory_len);
		queue->mmap = map(end, queue->memory, queue->memory_len);
		queue->pe = end->pe;
		if (!tasks->one_pe)
			CHECK_OK(doca_pe_create(&queue->pe));
		CHECK_OK(doca_comch_consumer_create(end->connection, queue->mmap, &queue->consumer));
		CHECK_OK(doca_comch_consumer_task_post_recv_set_conf(queue->consumer, tasks->received, tasks->recv_failed,
								     tasks->recvs));
		CHECK_OK(doca_comch_producer_create(end->connection, &queue->producer));
		CHECK_OK(doca_comch_producer_task_send_set_conf(queue->producer, tasks->sent, tasks->send_failed, tasks->sends));
		queue->remote_id = i + 1; /* ids are assigned in the order of creation, from 1 */
		end->num_queues = i + 1;
		start(queue, (union doca_data){.ptr = user_data[i]}, NULL);
	}
	run_queues(end);
}

static void unused_send(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data) {}
static void unused_recv(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data) {}

void setup_gpu_queues(struct setup_end *end, uint32_t num, const char *gpu_addr, uint32_t num_bufs, uint32_t buf_size,
		      uint32_t sends)
{
	struct echo_queue *echo;
	void *stop_gpu, *cpu;

	CHECK_OK(doca_gpu_create(gpu_addr, &end->gpu));
	for (uint32_t i = 0; i < num; i++) {
		struct setup_queue *queue = &end->queues[i];
		void *memory;

		queue->memory_len = (size_t)num_bufs * buf_size;
		CHECK_OK(doca_gpu_mem_alloc(end->gpu, queue->memory_len, 4096, DOCA_GPU_MEM_TYPE_GPU, &memory, NULL));
		queue->memory = memory;
		queue->mmap = map(end, queue->memory, queue->memory_len);
		queue->pe = end->pe;
		CHECK_OK(doca_comch_consumer_create(end->connection, queue->mmap, &queue->consumer));
		CHECK_OK(doca_comch_consumer_task_post_recv_set_conf(queue->consumer, unused_recv, unused_recv, num_bufs));
		CHECK_OK(doca_comch_producer_create(end->connection, &queue->producer));
		CHECK_OK(doca_comch_producer_task_send_set_conf(queue->producer, unused_send, unused_send, sends));
		queue->remote_id = i + 1;
		end->num_queues = i + 1;
		start(queue, (union doca_data){.ptr = end}, end->gpu);
	}
	run_queues(end);
	if (num_bufs > ECHO_PIPE_MAX)
		die("too many buffers for two blocks to pass on");
	CHECK_OK(doca_gpu_mem_alloc(end->gpu, num * sizeof(struct echo_pipe), 128, DOCA_GPU_MEM_TYPE_GPU, &end->pipes, NULL));
	CHECK_OK(doca_gpu_mem_alloc(end->gpu, num * sizeof(*echo), 0, DOCA_GPU_MEM_TYPE_GPU_CPU, &end->echo_queues, &cpu));
	echo = cpu;
	for (uint32_t i = 0; i < num; i++) {
		echo[i].memory = (uintptr_t)end->queues[i].memory;
		echo[i].num_bufs = num_bufs;
		echo[i].buf_size = buf_size;
		echo[i].consumer_id = end->queues[i].remote_id;
		echo[i].pipe = (struct echo_pipe *)end->pipes + i;
		CHECK_OK(doca_comch_consumer_get_gpu_handle(end->queues[i].consumer, &echo[i].consumer));
		CHECK_OK(doca_comch_producer_get_gpu_handle(end->queues[i].producer, &echo[i].producer));
	}
	CHECK_OK(doca_gpu_mem_alloc(end->gpu, sizeof(uint32_t), 0, DOCA_GPU_MEM_TYPE_GPU_CPU, &stop_gpu, &cpu));
	end->stop_cpu = cpu;
	end->args = (struct echo_args){.queues = end->echo_queues, .stop = stop_gpu, .num_queues = num};
}

/* ---- kernels ---- */

void echo_thread(const void *args);
void echo_warp(const void *args);
void echo_block(const void *args);
void echo_pipe(const void *args);
void fault(const void *args);

#ifdef HAVE_CUDA_CODE
extern const unsigned char echo_image[], echo_image_end[];
#define IMAGE echo_image
#define IMAGE_SIZE ((size_t)(echo_image_end - echo_image))
#else
#define IMAGE NULL
#define IMAGE_SIZE 0
#endif

const char *const setup_scope_names[SETUP_SCOPES] = {"thread", "warp", "block", "pipe"};

void setup_launch(struct setup_end *end, enum setup_scope scope, uint32_t block_threads, struct softfield_launch **launch)
{
	static const struct {
		const char *name;
		softfield_kernel_fn soft;
	} kernels[SETUP_SCOPES] = {
		{"echo_thread", echo_thread}, {"echo_warp", echo_warp}, {"echo_block", echo_block}, {"echo_pipe", echo_pipe}};
	struct softfield_kernel kernel = {kernels[scope].name, kernels[scope].soft, IMAGE, IMAGE_SIZE};
	bool soft = strcmp(softfield_gpu_backend(end->gpu), "soft") == 0;
	uint32_t grid = scope == SETUP_PIPE ? 2 * end->num_queues : end->num_queues, block = 1;

	if (scope == SETUP_THREAD) {
		grid = 1;
		block = end->num_queues;
	} else if (!soft) {
		block = scope == SETUP_WARP ? 32 : block_threads;
	}
	CHECK_OK(softfield_gpu_launch(end->gpu, &kernel, grid, block, &end->args, sizeof(end->args), launch));
}

void setup_launch_fault(struct setup_end *end, struct softfield_launch **launch)
{
	struct softfield_kernel kernel = {"fault", fault, IMAGE, IMAGE_SIZE};

	CHECK_OK(softfield_gpu_launch(end->gpu, &kernel, 1, 1, &end->args, sizeof(end->args), launch));
}

/* ---- the end ---- */

void setup_stop_queues(struct setup_end *end)
{
	double deadline = sf_now_s() + SETUP_DEADLINE_S;
	bool idle = false;

	if (end->queues_stopped)
		return;
	end->queues_stopped = true;
	for (uint32_t i = 0; i < end->num_queues; i++) {
		doca_ctx_stop(doca_comch_producer_as_ctx(end->queues[i].producer));
		doca_ctx_stop(doca_comch_consumer_as_ctx(end->queues[i].consumer));
	}
	while (!idle && sf_now_s() < deadline) {
		setup_progress(end);
		idle = true;
		for (uint32_t i = 0; i < end->num_queues; i++)
			idle = idle && state_of(doca_comch_producer_as_ctx(end->queues[i].producer)) == DOCA_CTX_STATE_IDLE &&
			       state_of(doca_comch_consumer_as_ctx(end->queues[i].consumer)) == DOCA_CTX_STATE_IDLE;
	}
	if (!idle)
		die("the queues do not stop");
}

static void destroy_queues(struct setup_end *end)
{
	for (uint32_t i = 0; i < end->num_queues; i++) {
		struct setup_queue *queue = &end->queues[i];

		CHECK_OK(doca_comch_producer_destroy(queue->producer));
		CHECK_OK(doca_comch_consumer_destroy(queue->consumer));
		CHECK_OK(doca_mmap_stop(queue->mmap));
		CHECK_OK(doca_mmap_destroy(queue->mmap));
		if (end->gpu != NULL)
			CHECK_OK(doca_gpu_mem_free(end->gpu, queue->memory));
		else
			munmap(queue->memory, queue->memory_len);
		if (queue->pe != end->pe)
			CHECK_OK(doca_pe_destroy(queue->pe));
	}
	end->num_queues = 0;
}

void setup_teardown(struct setup_end *end)
{
	struct doca_ctx *ctx =
		end->server != NULL ? doca_comch_server_as_ctx(end->server) : doca_comch_client_as_ctx(end->client);
	double deadline = sf_now_s() + SETUP_DEADLINE_S;

	setup_stop_queues(end);
	destroy_queues(end);
	while (end->server != NULL && !end->lost && sf_now_s() < deadline) /* the client disconnects first */
		doca_pe_progress(end->pe);
	doca_ctx_stop(ctx);
	while (state_of(ctx) != DOCA_CTX_STATE_IDLE && sf_now_s() < deadline)
		doca_pe_progress(end->pe);
	if (end->server != NULL)
		CHECK_OK(doca_comch_server_destroy(end->server));
	else
		CHECK_OK(doca_comch_client_destroy(end->client));
	CHECK_OK(doca_pe_destroy(end->pe));
	if (end->rep != NULL)
		CHECK_OK(doca_dev_rep_close(end->rep));
	CHECK_OK(doca_dev_close(end->dev));
	if (end->gpu != NULL) {
		CHECK_OK(doca_gpu_mem_free(end->gpu, end->echo_queues));
		CHECK_OK(doca_gpu_mem_free(end->gpu, end->pipes));
		CHECK_OK(doca_gpu_mem_free(end->gpu, (void *)(uintptr_t)end->args.stop));
		CHECK_OK(doca_gpu_destroy(end->gpu));
	}
}
