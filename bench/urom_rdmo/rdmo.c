/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote direct memory operations by a worker, compared to UCX puts from the initiator to the same memory over the same
 * network. Starts its own daemon (UROM_DAEMON, UROM_PLUGIN_PATH); this process is the target, a child the initiator.
 *
 *   urom_rdmo_bench [--kind append] [--size 64] [--pieces 16] [--count 20000] [--window 64]
 *
 * Measures one operation at a time, each with its flush, and the same number in windows, with a flush after each. --kind
 * scatter: an operation has --pieces pieces of that size, compared to as many puts. Prints one JSON object.
 */
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpus.h"
#include "measure.h"
#include "support/urom_rig.h"
#include "ucx_side.h"
#include "urom_rdmo.h"

#define PLUGIN "worker_rdmo"
#define CLIENT 1
#define ADDRESS_MAX 4096
#define DATA_BYTES (256u << 20)
#define PIECES_MAX 256
#define LATENCIES 2000
#define WAIT_NS UINT64_C(30000000000)

static struct {
	bool scatter;
	uint32_t pieces, window;
	uint64_t count;
	size_t size;
} options = {.pieces = 16, .window = 64, .count = 20000, .size = 64};

/* Memory shared by target and initiator. */
static struct board {
	_Atomic int initiator_is_there, target_is_there, wants_reset, done;
	uint8_t initiator[ADDRESS_MAX], target[ADDRESS_MAX], worker[ADDRESS_MAX], rkey[ADDRESS_MAX];
	uint64_t initiator_len, queue, pointer_region, data_region, pointer, data;
} * board;

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s failed\n", what);
	exit(1);
}

/* Three processes on two CPUs: the worker gets the second, target and initiator the first. For its own puts, while the worker
 * sleeps, the initiator moves to the second. */
static int bench_cpus[2];

static void run_on(int which)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(bench_cpus[which], &cpus);
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void progress(ucp_worker_h ucp)
{
	if (ucp_worker_progress(ucp) == 0)
		(void)sched_yield();
}

/* ---- the initiator ---- */

static struct ucx_side own;
static struct urom_rdmo_queue *queue;
static struct ucx_endpoint *target_endpoint;
static ucp_rkey_h rkey;
static uint8_t *bytes;
static uint64_t num_flushed;
static uint64_t put_offset;

static void flushed(doca_error_t result, union doca_data cookie)
{
	(void)cookie;
	check(result, "a flush");
	num_flushed++;
}

static void rdmo_flush(void)
{
	uint64_t before = num_flushed;

	check(urom_rdmo_flush(queue, (union doca_data){0}, flushed), "a flush");
	while (num_flushed == before)
		progress(own.worker);
}

static void rdmo_operation(void)
{
	struct urom_rdmo_piece pieces[PIECES_MAX];

	if (!options.scatter) {
		check(urom_rdmo_append(queue, 0, board->pointer, board->pointer_region, board->data_region, bytes, options.size),
		      "an append");
		return;
	}
	for (uint32_t i = 0; i < options.pieces; i++)
		pieces[i] = (struct urom_rdmo_piece){board->data + 2 * i * options.size, board->data_region, bytes, options.size};
	check(urom_rdmo_scatter(queue, 0, pieces, options.pieces), "a scatter");
}

static void wait_for(ucs_status_ptr_t request)
{
	must(!UCS_PTR_IS_ERR(request), "a request");
	if (request == NULL)
		return;
	while (ucp_request_check_status(request) == UCS_INPROGRESS)
		progress(own.worker);
	ucp_request_free(request);
}

static void put_flush(void)
{
	const ucp_request_param_t param = {.op_attr_mask = 0};

	wait_for(ucp_ep_flush_nbx(target_endpoint->ep, &param));
}

static void put_done(void *request, ucs_status_t status, void *user_data)
{
	(void)user_data;
	must(status == UCS_OK, "a put");
	ucp_request_free(request);
}

static void put_operation(void)
{
	const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK, .cb.send = put_done};

	for (uint32_t i = 0; i < (options.scatter ? options.pieces : 1); i++) {
		must(!UCS_PTR_IS_ERR(
			     ucp_put_nbx(target_endpoint->ep, bytes, options.size, board->data + put_offset, rkey, &param)),
		     "a put");
		put_offset = (put_offset + 2 * options.size) % (DATA_BYTES / 2);
	}
}

static uint64_t latency(void (*operation)(void), void (*flush)(void))
{
	static uint64_t times[LATENCIES];

	for (int i = 0; i < LATENCIES; i++) {
		uint64_t from = sf_now_ns();

		operation();
		flush();
		times[i] = sf_now_ns() - from;
	}
	return samples_median(times, LATENCIES);
}

static double rate(void (*operation)(void), void (*flush)(void))
{
	uint64_t from = sf_now_ns();

	for (uint64_t i = 0; i < options.count; i++) {
		operation();
		if (i % options.window == options.window - 1)
			flush();
	}
	flush();
	return (double)options.count * 1e9 / (double)(sf_now_ns() - from);
}

/* Between flushes the target may set the pointer. */
static void reset_pointer(void)
{
	board->wants_reset = 1;
	while (board->wants_reset)
		progress(own.worker);
}

static void connect_all(void)
{
	struct urom_rdmo_initiator *initiator;
	uint64_t until = sf_now_ns() + WAIT_NS;

	check(ucx_side_open(&own, UCP_FEATURE_AM | UCP_FEATURE_RMA), "UCX");
	must(own.address_len <= ADDRESS_MAX, "the address");
	memcpy(board->initiator, own.address, own.address_len);
	board->initiator_len = own.address_len;
	board->initiator_is_there = 1;
	while (!board->target_is_there)
		must(sf_now_ns() < until, "waiting for the target");
	check(urom_rdmo_initiator_create(own.worker, &initiator), "the initiator");
	check(urom_rdmo_queue_open(initiator, board->worker, CLIENT, board->queue, &queue), "the queue");
	check(ucx_side_endpoint_get(&own, board->target, &target_endpoint), "the target");
	must(ucp_ep_rkey_unpack(target_endpoint->ep, board->rkey, &rkey) == UCS_OK, "the key");
	bytes = (uint8_t *)calloc(1, options.size);
	must(bytes != NULL, "memory");
}

static void initiate(void)
{
	connect_all();
	rdmo_operation();
	rdmo_flush();
	put_operation();
	put_flush();
	run_on(0);
	uint64_t rdmo_ns = latency(rdmo_operation, rdmo_flush);
	reset_pointer();
	double rdmo_rate = rate(rdmo_operation, rdmo_flush);
	run_on(1);
	uint64_t put_ns = latency(put_operation, put_flush);
	double put_rate = rate(put_operation, put_flush);
	printf("{\"kind\": \"%s\", \"size\": %zu, \"pieces\": %u, \"window\": %u, \"rdmo_ns\": %" PRIu64 ", \"put_ns\": %" PRIu64
	       ", \"rdmo_per_s\": %.0f, \"put_per_s\": %.0f}\n",
	       options.scatter ? "scatter" : "append", options.size, options.scatter ? options.pieces : 1, options.window,
	       rdmo_ns, put_ns, rdmo_rate, put_rate);
	fflush(stdout);
	board->done = 1;
	_exit(0); /* the target cleans up the rest */
}

/* ---- the target ---- */

static struct urom_rig rig;
static struct doca_urom_worker *worker;
static struct ucx_side target;
static uint64_t number;
static int num_answers;

static void answered(doca_error_t result, union doca_data cookie, uint64_t made)
{
	(void)cookie;
	check(result, "a command");
	number = made;
	num_answers++;
}

static void initialized(doca_error_t result, union doca_data cookie, const void *addr, uint64_t addr_len)
{
	must(result == DOCA_SUCCESS && addr_len <= ADDRESS_MAX, "the client");
	memcpy(board->worker, addr, addr_len);
	answered(result, cookie, 0);
}

static uint64_t await_answer(doca_error_t submitted)
{
	int before = num_answers;

	check(submitted, "a command");
	while (num_answers == before)
		(void)doca_pe_progress(rig.pe);
	return number;
}

static uint64_t *make_region(size_t len, bool shared, uint64_t *region)
{
	const ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_LENGTH | UCP_MEM_MAP_PARAM_FIELD_FLAGS,
					     .length = len,
					     .flags = UCP_MEM_MAP_ALLOCATE};
	ucp_mem_attr_t attr = {.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS};
	ucp_mem_h memh;
	void *packed = NULL;
	size_t packed_len = 0;

	must(ucp_mem_map(target.context, &params, &memh) == UCS_OK && ucp_mem_query(memh, &attr) == UCS_OK &&
		     ucp_rkey_pack(target.context, memh, &packed, &packed_len) == UCS_OK && packed_len <= ADDRESS_MAX,
	     "a region");
	memset(attr.address, 0, len);
	if (shared)
		memcpy(board->rkey, packed, packed_len);
	*region = await_answer(urom_rdmo_task_mr_register(worker, (union doca_data){0}, (uintptr_t)attr.address, len, packed,
							  packed_len, answered));
	ucp_rkey_buffer_release(packed);
	return (uint64_t *)attr.address;
}

static void serve(pid_t child)
{
	int status;

	must(urom_rig_open(&rig, NULL), "the service");
	check(urom_rdmo_init(urom_rig_plugin(&rig, PLUGIN), urom_rig_plugin_version(&rig, PLUGIN)), "the plugin");
	worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, PLUGIN);
	doca_cpu_set_t cpus;
	DOCA_CPU_ZERO(&cpus);
	DOCA_CPU_SET(bench_cpus[1], &cpus);
	must(worker != NULL && doca_urom_worker_set_cpuset(worker, cpus) == DOCA_SUCCESS && urom_rig_start_worker(&rig, worker),
	     "the worker");
	run_on(0);
	check(ucx_side_open(&target, UCP_FEATURE_RMA | UCP_FEATURE_AMO64 | UCP_FEATURE_AM), "UCX");
	must(target.address_len <= ADDRESS_MAX, "the address");
	memcpy(board->target, target.address, target.address_len);
	(void)await_answer(urom_rdmo_task_client_init(worker, (union doca_data){0}, CLIENT, target.address, target.address_len,
						      initialized));
	uint64_t *pointer = make_region(4096, false, &board->pointer_region);
	uint64_t *data = make_region(DATA_BYTES, true, &board->data_region);
	*pointer = board->data = (uintptr_t)data;
	board->pointer = (uintptr_t)pointer;
	while (!board->initiator_is_there)
		must(waitpid(child, &status, WNOHANG) == 0, "the initiator");
	board->queue = await_answer(
		urom_rdmo_task_rq_create(worker, (union doca_data){0}, board->initiator, board->initiator_len, answered));
	board->target_is_there = 1;
	while (!board->done) {
		progress(target.worker);
		if (!board->wants_reset)
			continue;
		*pointer = (uintptr_t)data;
		board->wants_reset = 0;
	}
	(void)urom_rig_stop_worker(&rig, worker);
	urom_rig_close(&rig);
}

/* ---- the command line ---- */

static void parse(int argc, char **argv)
{
	static const struct option known[] = {
		{"kind", required_argument, NULL, 'k'},	  {"size", required_argument, NULL, 's'},
		{"pieces", required_argument, NULL, 'p'}, {"count", required_argument, NULL, 'n'},
		{"window", required_argument, NULL, 'w'}, {NULL, 0, NULL, 0},
	};

	for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
		if (option == 'k')
			options.scatter = strcmp(optarg, "scatter") == 0;
		else if (option == 's')
			options.size = strtoul(optarg, NULL, 10);
		else if (option == 'p')
			options.pieces = (uint32_t)strtoul(optarg, NULL, 10);
		else if (option == 'n')
			options.count = strtoull(optarg, NULL, 10);
		else if (option == 'w')
			options.window = (uint32_t)strtoul(optarg, NULL, 10);
		else
			exit(2);
	}
	uint64_t appended = (options.count > LATENCIES ? options.count : LATENCIES + 1) * options.size;
	if (options.size == 0 || options.window == 0 || options.pieces == 0 || options.pieces > PIECES_MAX ||
	    appended > DATA_BYTES / 2)
		exit(2);
}

int main(int argc, char **argv)
{
	parse(argc, argv);
	bench_cpus[0] = sf_usable_cpu(0);
	bench_cpus[1] = sf_usable_cpu(1);
	board = (struct board *)mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t child = fork(); /* before UCX is initialized */
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		initiate();
	}
	serve(child);
	(void)waitpid(child, NULL, 0);
	return 0;
}
