/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comch's data path between two processes, one core each.
 *
 *   comch_bench latency [--size 64] [--count 200000] [--cpus 0,1]
 *   comch_bench stream  [--size 64] [--count 2000000] [--depth 64] [--receives 256] [--cpus 0,1]
 *   comch_bench copy    [the same]
 *
 * latency: ping-pong, each message answered from the callback that received it; half of the round trip, median and 99th
 * percentile. stream: one way at full speed, measured at the consumer. copy: memcpy of the same buffers on one core, the
 * upper bound of a stream with one copy per message. Prints one JSON object.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "base/cpus.h"
#include "device.h"
#include "measure.h"

#define TASKS_MAX 4096
#define WARM_UP 10 /* divisor of the count */
#define WINDOWS 400
#define LOOK (1 << 22) /* polls between checks whether the peer is alive */

struct options {
	bool latency, copy;
	uint32_t size, depth, receives;
	uint64_t count;
	int cpus[2];
};

static struct options options = {.size = 64, .depth = 64, .receives = 256};

/* One process's side. */
struct side {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe; /* control */
	struct doca_pe *data_pe;
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_ctx *ctx;
	struct doca_comch_connection *connection;
	struct doca_comch_consumer *consumer;
	struct doca_comch_producer *producer;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint8_t *memory;
	uint32_t remote_consumer;
	struct doca_task *free_sends[TASKS_MAX];
	uint32_t num_free_sends;
	uint64_t received, sent;
	bool done;	   /* the control message that ends it has arrived */
	uint64_t *samples; /* latency: of each round trip, at the client */
	uint64_t last_ns, to_answer;
	bool owed; /* an answer is pending */
};

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		fprintf(stderr, "comch_bench: not pinned to CPU %d: %s\n", cpu, strerror(errno));
}

/* ---- callbacks ---- */

static struct side self;

static void on_message(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t len,
		       struct doca_comch_connection *connection)
{
	(void)event;
	(void)buffer;
	(void)len;
	(void)connection;
	self.done = true;
}

static void on_connect(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
		       uint8_t ok)
{
	(void)event;
	if (ok)
		self.connection = connection;
}

static void on_disconnect(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			  uint8_t ok)
{
	(void)event;
	(void)connection;
	(void)ok;
	self.connection = NULL;
	self.done = true;
}

static void on_new_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	(void)connection;
	self.remote_consumer = id;
}

static void on_expired_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	(void)connection;
	(void)id;
}

static void on_control_sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

/* Submits a free task. In ping-pong the peer always has receives posted, but the connection may still be starting. */
static void send_now(void)
{
	doca_error_t result;

	check(self.num_free_sends > 0 ? DOCA_SUCCESS : DOCA_ERROR_EMPTY, "sending");
	result = doca_task_submit(self.free_sends[self.num_free_sends - 1]);
	self.owed = result == DOCA_ERROR_AGAIN;
	if (self.owed)
		return;
	check(result, "sending");
	self.num_free_sends--;
}

static void answer(void)
{
	if (self.samples != NULL) {
		uint64_t now = sf_now_ns();

		self.samples[self.received - 1] = now - self.last_ns;
		self.last_ns = now;
	}
	if (self.received <= self.to_answer)
		send_now();
}

static void on_received(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	self.received++;
	if (options.latency)
		answer();
	doca_buf_reset_data_len(doca_comch_consumer_task_post_recv_get_buf(task));
	check(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)), "posting again");
}

static void on_receive_error(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	doca_buf_dec_refcount(doca_comch_consumer_task_post_recv_get_buf(task), NULL);
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}

static void on_sent(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	self.sent++;
	self.free_sends[self.num_free_sends++] = doca_comch_producer_task_send_as_task(task);
}

static void on_send_error(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	check(doca_task_get_status(doca_comch_producer_task_send_as_task(task)), "sending");
}

/* ---- set-up ---- */

static struct doca_dev_rep *open_rep(struct doca_dev *dev)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t num;

	check(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &num), "listing representors");
	for (uint32_t i = 0; i < num && rep == NULL; i++) {
		uint8_t equal = 0;

		if (doca_devinfo_rep_is_equal_pci_addr(list[i], "d8:00.0", &equal) == DOCA_SUCCESS && equal)
			check(doca_dev_rep_open(list[i], &rep), "opening a representor");
	}
	doca_devinfo_rep_destroy_list(list);
	if (rep == NULL)
		check(DOCA_ERROR_NOT_FOUND, "representor of d8:00.0");
	return rep;
}

static void make_server(const char *name)
{
	self.dev = device_open("03:00.0");
	self.rep = open_rep(self.dev);
	check(doca_comch_server_create(self.dev, self.rep, name, &self.server), "creating the server");
	self.ctx = doca_comch_server_as_ctx(self.server);
	check(doca_pe_connect_ctx(self.pe, self.ctx), "connecting");
	check(doca_comch_server_task_send_set_conf(self.server, on_control_sent, on_control_sent, 4), "configuring");
	check(doca_comch_server_event_msg_recv_register(self.server, on_message), "configuring");
	check(doca_comch_server_event_connection_status_changed_register(self.server, on_connect, on_disconnect), "configuring");
	check(doca_comch_server_event_consumer_register(self.server, on_new_consumer, on_expired_consumer), "configuring");
	check(doca_ctx_start(self.ctx), "starting the server");
}

static void make_client(const char *name)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	self.dev = device_open("d8:00.0");
	check(doca_comch_client_create(self.dev, name, &self.client), "creating the client");
	self.ctx = doca_comch_client_as_ctx(self.client);
	check(doca_pe_connect_ctx(self.pe, self.ctx), "connecting");
	check(doca_comch_client_task_send_set_conf(self.client, on_control_sent, on_control_sent, 4), "configuring");
	check(doca_comch_client_event_msg_recv_register(self.client, on_message), "configuring");
	check(doca_comch_client_event_consumer_register(self.client, on_new_consumer, on_expired_consumer), "configuring");
	if (doca_ctx_start(self.ctx) != DOCA_ERROR_IN_PROGRESS)
		check(DOCA_ERROR_INITIALIZATION, "starting the client");
	while (state == DOCA_CTX_STATE_STARTING) {
		doca_pe_progress(self.pe);
		doca_ctx_get_state(self.ctx, &state);
	}
	check(doca_comch_client_get_connection(self.client, &self.connection), "connecting to the server");
}

static void make_memory(void)
{
	uint32_t num = options.depth + options.receives;
	size_t len = (size_t)num * options.size;

	self.memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (self.memory == MAP_FAILED)
		check(DOCA_ERROR_NO_MEMORY, "memory");
	memset(self.memory, 1, len);
	check(doca_mmap_create(&self.mmap), "mmap");
	check(doca_mmap_add_dev(self.mmap, self.dev), "mmap");
	check(doca_mmap_set_permissions(self.mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_LOCAL_READ_WRITE), "mmap");
	check(doca_mmap_set_memrange(self.mmap, self.memory, len), "mmap");
	check(doca_mmap_start(self.mmap), "mmap");
	check(doca_buf_inventory_create(num, &self.inventory), "inventory");
	check(doca_buf_inventory_start(self.inventory), "inventory");
}

static void make_consumer(void)
{
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;
	struct doca_ctx *ctx;

	check(doca_comch_consumer_create(self.connection, self.mmap, &self.consumer), "consumer");
	ctx = doca_comch_consumer_as_ctx(self.consumer);
	check(doca_pe_connect_ctx(self.data_pe, ctx), "consumer");
	check(doca_comch_consumer_task_post_recv_set_conf(self.consumer, on_received, on_receive_error, options.receives),
	      "consumer");
	if (doca_ctx_start(ctx) != DOCA_ERROR_IN_PROGRESS)
		check(DOCA_ERROR_INITIALIZATION, "starting the consumer");
	while (state == DOCA_CTX_STATE_STARTING || self.remote_consumer == 0) {
		doca_pe_progress(self.pe);
		doca_pe_progress(self.data_pe);
		doca_ctx_get_state(ctx, &state);
	}
	for (uint32_t i = 0; i < options.receives; i++) {
		struct doca_comch_consumer_task_post_recv *task;
		struct doca_buf *buf;

		check(doca_buf_inventory_buf_get_by_addr(self.inventory, self.mmap, self.memory + (size_t)i * options.size,
							 options.size, &buf),
		      "buffer");
		check(doca_comch_consumer_task_post_recv_alloc_init(self.consumer, buf, &task), "receive");
		check(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)), "receive");
	}
}

static void make_producer(void)
{
	struct doca_ctx *ctx;

	check(doca_comch_producer_create(self.connection, &self.producer), "producer");
	ctx = doca_comch_producer_as_ctx(self.producer);
	check(doca_pe_connect_ctx(self.data_pe, ctx), "producer");
	check(doca_comch_producer_task_send_set_conf(self.producer, on_sent, on_send_error, options.depth), "producer");
	check(doca_ctx_start(ctx), "starting the producer");
	for (uint32_t i = 0; i < options.depth; i++) {
		size_t at = (size_t)(options.receives + i) * options.size;
		struct doca_comch_producer_task_send *task;
		struct doca_buf *buf;

		check(doca_buf_inventory_buf_get_by_data(self.inventory, self.mmap, self.memory + at, options.size, &buf),
		      "buffer");
		check(doca_comch_producer_task_send_alloc_init(self.producer, buf, NULL, 0, self.remote_consumer, &task), "send");
		self.free_sends[self.num_free_sends++] = doca_comch_producer_task_send_as_task(task);
	}
}

static void make_side(bool server, const char *name, int ready)
{
	char byte = 0;

	pin(options.cpus[server ? 0 : 1]);
	check(doca_pe_create(&self.pe), "progress engine");
	check(doca_pe_create(&self.data_pe), "progress engine");
	if (server) {
		make_server(name);
		if (write(ready, &byte, 1) != 1)
			exit(1);
		while (self.connection == NULL)
			doca_pe_progress(self.pe);
	} else {
		if (read(ready, &byte, 1) != 1)
			exit(1);
		make_client(name);
	}
	make_memory();
	make_consumer();
	make_producer();
}

/* ---- measuring ---- */

/* Polls the control engine at times, so that no process waits for a dead one. */
static void check_peer(void)
{
	enum doca_ctx_states state;

	doca_pe_progress(self.pe);
	doca_ctx_get_state(self.ctx, &state);
	if (self.connection == NULL || state != DOCA_CTX_STATE_RUNNING)
		check(DOCA_ERROR_CONNECTION_ABORTED, "the other process");
}

static void wait_received(uint64_t number)
{
	for (uint64_t polls = 1; self.received < number; polls++) {
		doca_pe_progress(self.data_pe);
		if (self.owed)
			send_now();
		if (polls % LOOK == 0)
			check_peer();
	}
}

static void ping(void)
{
	uint64_t warm_up = options.count / WARM_UP, total = options.count + warm_up, *samples, p50;

	self.samples = calloc(total, sizeof(*self.samples));
	if (self.samples == NULL)
		check(DOCA_ERROR_NO_MEMORY, "samples");
	self.to_answer = total - 1;
	self.last_ns = sf_now_ns();
	send_now();
	wait_received(total);
	samples = self.samples + warm_up;
	p50 = samples_median(samples, options.count);
	printf("{\"test\": \"latency\", \"size\": %u, \"count\": %" PRIu64 ", \"p50_ns\": %.1f, \"p99_ns\": %.1f}\n",
	       options.size, options.count, (double)p50 / 2, (double)percentile(samples, options.count, 99) / 2);
	free(self.samples);
}

static void pong(void)
{
	wait_received(options.count + options.count / WARM_UP);
}

static void stream_out(void)
{
	uint64_t total = options.count + options.count / WARM_UP, submitted = 0;

	while (self.sent < total) {
		while (submitted < total && self.num_free_sends > 0) {
			doca_error_t result = doca_task_submit(self.free_sends[self.num_free_sends - 1]);

			if (result == DOCA_ERROR_AGAIN)
				break;
			check(result, "sending");
			self.num_free_sends--;
			submitted++;
		}
		doca_pe_progress(self.data_pe);
	}
}

static void print_rates(const char *test, uint64_t window, uint64_t whole_ns, uint64_t median_ns)
{
	printf("{\"test\": \"%s\", \"size\": %u, \"count\": %" PRIu64 ", \"msgs_per_s\": %.0f, \"bytes_per_s\": %.0f, "
	       "\"median_window_msgs_per_s\": %.0f}\n",
	       test, options.size, options.count, (double)(window * WINDOWS) * 1e9 / (double)whole_ns,
	       (double)(window * WINDOWS) * options.size * 1e9 / (double)whole_ns, (double)window * 1e9 / (double)median_ns);
}

/* Prints the total rate and the median over windows: on a busy machine, windows in which one of the two processes did not run are
 * not significant for Comch. */
static void stream_in(void)
{
	uint64_t window = options.count / WINDOWS, windows[WINDOWS], begin, end;

	wait_received(options.count / WARM_UP);
	begin = sf_now_ns();
	end = begin;
	for (int i = 0; i < WINDOWS; i++) {
		uint64_t from = end;

		wait_received(options.count / WARM_UP + (uint64_t)(i + 1) * window);
		end = sf_now_ns();
		windows[i] = end - from;
	}
	print_rates("stream", window, end - begin, samples_median(windows, WINDOWS));
	wait_received(options.count + options.count / WARM_UP);
}

/* Uses the buffers of depth and receives in turn, in shared memory like those of a started mmap. */
static int copy(void)
{
	size_t len = (size_t)(options.depth + options.receives) * options.size;
	uint64_t window = options.count / WINDOWS, windows[WINDOWS], begin, end;
	uint8_t *to, *from;

	pin(options.cpus[0]);
	to = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (to == MAP_FAILED)
		check(DOCA_ERROR_NO_MEMORY, "memory");
	memset(to, 1, len);
	from = to + (size_t)options.receives * options.size;
	begin = end = sf_now_ns();
	for (int i = 0; i < WINDOWS; i++) {
		uint64_t since = end;

		for (uint64_t n = 0; n < window; n++)
			memcpy(to + n % options.receives * options.size, from + n % options.depth * options.size, options.size);
		end = sf_now_ns();
		windows[i] = end - since;
	}
	print_rates("copy", window, end - begin, samples_median(windows, WINDOWS));
	return 0;
}

/* The server runs until the client has counted: it ends on the client's message or the client's end. */
static void finish(bool server)
{
	struct doca_comch_task_send *task;

	if (server) {
		while (!self.done)
			doca_pe_progress(self.pe);
		return;
	}
	check(doca_comch_client_task_send_alloc_init(self.client, self.connection, "end", 3, &task), "ending");
	(void)doca_task_submit(doca_comch_task_send_as_task(task));
}

static void run_side(bool server, const char *name, int ready)
{
	if (server)
		self.to_answer = UINT64_MAX;
	make_side(server, name, ready);
	if (options.latency && server)
		pong();
	else if (options.latency)
		ping();
	else if (server)
		stream_out();
	else
		stream_in();
	fflush(stdout);
	finish(server);
	fflush(stdout);
	_exit(0); /* the tests check the tear-down */
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {{"size", 1, NULL, 's'},	  {"count", 1, NULL, 'n'}, {"depth", 1, NULL, 'd'},
					      {"receives", 1, NULL, 'r'}, {"cpus", 1, NULL, 'c'},  {NULL, 0, NULL, 0}};
	int option;

	options.cpus[0] = sf_usable_cpu(0);
	options.cpus[1] = sf_usable_cpu(1);
	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (option == 's')
			options.size = (uint32_t)atoi(optarg);
		else if (option == 'n')
			options.count = (uint64_t)atoll(optarg);
		else if (option == 'd')
			options.depth = (uint32_t)atoi(optarg);
		else if (option == 'r')
			options.receives = (uint32_t)atoi(optarg);
		else if (option != 'c' || sscanf(optarg, "%d,%d", &options.cpus[0], &options.cpus[1]) != 2)
			exit(2);
	}
	options.latency = optind < argc && strcmp(argv[optind], "latency") == 0;
	options.copy = optind < argc && strcmp(argv[optind], "copy") == 0;
	if (optind >= argc || (!options.latency && !options.copy && strcmp(argv[optind], "stream") != 0) || options.size == 0 ||
	    options.depth == 0 || options.depth > TASKS_MAX || options.receives == 0 || options.receives > TASKS_MAX) {
		fprintf(stderr, "usage: comch_bench latency|stream|copy [--size B] [--count N] [--depth N] [--receives N] "
				"[--cpus A,B]\n");
		exit(2);
	}
	if (options.count == 0)
		options.count = options.latency ? 200000 : 2000000;
}

int main(int argc, char **argv)
{
	char name[64];
	int ready[2], status = 0;
	pid_t child;

	parse(argc, argv);
	if (options.copy)
		return copy();
	snprintf(name, sizeof(name), "comch_bench.%d", (int)getpid());
	if (pipe(ready) != 0)
		return 1;
	child = fork();
	if (child < 0)
		return 1;
	if (child == 0) {
		/* The server does not measure: it answers or sends the stream, and ends after the client. */
		close(ready[0]);
		run_side(true, name, ready[1]);
	}
	close(ready[1]);
	pid_t client = fork();

	if (client == 0)
		run_side(false, name, ready[0]);
	close(ready[0]);
	if (client < 0 || waitpid(client, &status, 0) != client || status != 0) {
		kill(child, SIGKILL);
		status = 1;
	}
	waitpid(child, NULL, 0);
	return status == 0 ? 0 : 1;
}
