/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The allreduce plugin beside MPI_Iallreduce: sums of a vector of floats over all ranks. Rank 0 prints one JSON object.
 *
 *   mpirun -np 4 urom_allreduce_bench [--bytes 1048576] [--message 65536] [--count 50] [--seconds 2]
 *
 * Latency: from the call until the result is there, the slowest rank's, median over so many. Computing: each rank computes in slices
 * of some 50 us and asks in between whether the allreduce is there, begins the next at once, and counts its slices: beside the same
 * without any allreduce, of the time that passes and of the processor's time that the rank itself takes.
 */
#include <getopt.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_log.h>
#include <doca_pe.h>

#include "measure.h"
#include "urom_allreduce.h"

#define DEVICE "0000:d8:00.0"
#define SLICE 12000 /* additions */
#define CHECK(call) check(begun(call), #call)

static struct {
	size_t bytes, message;
	int count;
	double seconds;
} options = {.bytes = 1 << 20, .message = 1 << 16, .count = 50, .seconds = 2};

static int rank, num_ranks;
static struct doca_pe *pe;
static struct doca_urom_service *service;
static struct doca_urom_worker *worker;
static struct doca_urom_domain *domain;
static struct urom_allreduce_comm *comm;

/* A start or stop goes on by progress. */
static doca_error_t begun(doca_error_t result) { return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result; }

/* ---- the service, the worker and the domain ---- */

static struct doca_dev *open_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];
	uint32_t num;
	CHECK(doca_devinfo_create_list(&list, &num));
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		CHECK(doca_devinfo_get_pci_addr_str(list[i], address));
		if (strcmp(address, DEVICE) == 0)
			CHECK(doca_dev_open(list[i], &dev));
	}
	CHECK(doca_devinfo_destroy_list(list));
	check(dev != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, DEVICE);
	return dev;
}

static void await(struct doca_ctx *ctx, enum doca_ctx_states wanted)
{
	enum doca_ctx_states state;
	do {
		(void)doca_pe_progress(pe);
		CHECK(doca_ctx_get_state(ctx, &state));
	} while (state != wanted);
}

static doca_error_t gather(void *sbuf, void *rbuf, size_t len, void *info, void **req)
{
	MPI_Request *request = (MPI_Request *)malloc(sizeof(*request));
	(void)info;
	*req = request;
	MPI_Iallgather(sbuf, (int)len, MPI_BYTE, rbuf, (int)len, MPI_BYTE, MPI_COMM_WORLD, request);
	return DOCA_SUCCESS;
}

static doca_error_t gather_test(void *req)
{
	int done;
	MPI_Test((MPI_Request *)req, &done, MPI_STATUS_IGNORE);
	return done ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}

static doca_error_t gather_free(void *req)
{
	free(req);
	return DOCA_SUCCESS;
}

static uint64_t find_plugin(void)
{
	const struct doca_urom_service_plugin_info *plugins;
	size_t num;
	CHECK(doca_urom_service_get_plugins_list(service, &plugins, &num));
	for (size_t i = 0; i < num; i++) {
		if (strcmp(plugins[i].plugin_name, "worker_allreduce") != 0)
			continue;
		CHECK(urom_allreduce_init(plugins[i].id, plugins[i].version));
		return plugins[i].id;
	}
	check(DOCA_ERROR_NOT_FOUND, "worker_allreduce");
	return 0;
}

static void open_worker(void)
{
	struct doca_urom_domain_oob_coll oob = {gather, gather_test, gather_free, NULL, (uint32_t)num_ranks, (uint32_t)rank};
	uint64_t id = (uint64_t)rank;
	CHECK(doca_pe_create(&pe));
	CHECK(doca_urom_service_create(&service));
	CHECK(doca_pe_connect_ctx(pe, doca_urom_service_as_ctx(service)));
	CHECK(doca_urom_service_set_dev(service, open_device()));
	CHECK(doca_urom_service_set_max_comm_msg_size(service, options.message));
	CHECK(doca_ctx_start(doca_urom_service_as_ctx(service)));
	CHECK(doca_urom_worker_create(&worker));
	CHECK(doca_pe_connect_ctx(pe, doca_urom_worker_as_ctx(worker)));
	CHECK(doca_urom_worker_set_service(worker, service));
	CHECK(doca_urom_worker_set_id(worker, DOCA_UROM_WORKER_ID_ANY));
	CHECK(doca_urom_worker_set_plugins(worker, find_plugin()));
	CHECK(doca_ctx_start(doca_urom_worker_as_ctx(worker)));
	await(doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_RUNNING);
	CHECK(doca_urom_domain_create(&domain));
	CHECK(doca_pe_connect_ctx(pe, doca_urom_domain_as_ctx(domain)));
	CHECK(doca_urom_domain_set_oob(domain, &oob));
	CHECK(doca_urom_domain_set_workers(domain, &id, &worker, 1));
	CHECK(doca_ctx_start(doca_urom_domain_as_ctx(domain)));
	await(doca_urom_domain_as_ctx(domain), DOCA_CTX_STATE_RUNNING);
	CHECK(urom_allreduce_comm_create(worker, (uint32_t)rank, (uint32_t)num_ranks, UROM_ALLREDUCE_DEPTH, &comm));
}

static void close_worker(void)
{
	CHECK(urom_allreduce_comm_destroy(comm));
	CHECK(doca_ctx_stop(doca_urom_domain_as_ctx(domain)));
	CHECK(doca_urom_domain_destroy(domain));
	CHECK(doca_ctx_stop(doca_urom_worker_as_ctx(worker)));
	await(doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE);
	CHECK(doca_urom_worker_destroy(worker));
	CHECK(doca_ctx_stop(doca_urom_service_as_ctx(service)));
	CHECK(doca_urom_service_destroy(service));
}

/* ---- an allreduce, of either kind ---- */

struct side {
	const char *name;
	void (*begin)(struct side *side);
	bool (*is_done)(struct side *side);
	float *in, *out;
	size_t count;
	uint64_t tag;
	bool done;
	MPI_Request request;
};

static void urom_finished(doca_error_t result, union doca_data cookie)
{
	check(result, "allreduce");
	((struct side *)cookie.ptr)->done = true;
}

static void urom_begin(struct side *side)
{
	const struct urom_allreduce_args args = {side->tag++, side->in, side->out, side->count, UROM_ALLREDUCE_FLOAT, UROM_ALLREDUCE_SUM,
						 UROM_ALLREDUCE_AUTO};
	side->done = false;
	CHECK(urom_allreduce_task(comm, (union doca_data){.ptr = side}, &args, urom_finished));
}

static bool urom_is_done(struct side *side)
{
	while (!side->done && doca_pe_progress(pe) != 0)
		;
	return side->done;
}

static void mpi_begin(struct side *side)
{
	MPI_Iallreduce(side->in, side->out, (int)side->count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &side->request);
}

static bool mpi_is_done(struct side *side)
{
	int done;
	MPI_Test(&side->request, &done, MPI_STATUS_IGNORE);
	return done != 0;
}

static void none_begin(struct side *side) { (void)side; }

/* ---- measuring ---- */

static double cpu_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double median_us(struct side *side)
{
	double *times = (double *)malloc((size_t)options.count * sizeof(*times)), median;
	for (int i = 0; i < options.count; i++) {
		MPI_Barrier(MPI_COMM_WORLD);
		uint64_t began = now_ns();
		side->begin(side);
		while (!side->is_done(side))
			sched_yield(); /* to the workers, which have no cores of their own here */
		double mine = (double)(now_ns() - began) * 1e-3;
		MPI_Allreduce(&mine, &times[i], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
	}
	qsort(times, (size_t)options.count, sizeof(*times), ascending);
	median = times[options.count / 2];
	free(times);
	return median;
}

static void slice(void)
{
	static volatile float keep;
	float sum = keep;
	for (int i = 0; i < SLICE; i++)
		sum = sum * 0.5f + (float)i;
	keep = sum;
}

struct work {
	double per_s, per_cpu_s; /* slices, all ranks together */
	double allreduces_per_s;
};

/* All ranks stop after the same number of allreduces, which rank 0's clock decides in the vector's place. */
static struct work compute(struct side *side)
{
	double sums[3] = {0, 0, 0}, mine[3];
	int more = 1, round = 0;
	MPI_Barrier(MPI_COMM_WORLD);
	uint64_t began = now_ns(), slices = 0;
	double cpu = cpu_s();
	for (; more; round++) {
		int last = (double)(now_ns() - began) * 1e-9 > options.seconds;
		if (side->begin != none_begin) {
			side->in[0] = (float)last;
			side->begin(side);
		}
		do {
			slice();
			slices++;
		} while (side->begin != none_begin && !side->is_done(side));
		more = side->begin == none_begin ? !last : side->out[0] == 0.0f;
	}
	double wall = (double)(now_ns() - began) * 1e-9;
	mine[0] = (double)slices / wall;
	mine[1] = (double)slices / (cpu_s() - cpu);
	mine[2] = round / wall;
	MPI_Allreduce(mine, sums, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	return (struct work){sums[0], sums[1], sums[2] / num_ranks};
}

static void compare(const struct side *urom, const struct side *mpi)
{
	for (size_t i = 0; i < urom->count; i++)
		check(urom->out[i] == mpi->out[i] ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED, "the results are not the same");
}

static void prepare(struct side *side)
{
	side->count = options.bytes / sizeof(float);
	side->in = (float *)malloc(options.bytes);
	side->out = (float *)malloc(options.bytes);
	for (size_t i = 0; i < side->count; i++) /* whole numbers: the order does not matter */
		side->in[i] = (float)((i * 31 + (size_t)rank * 17) % 1000);
}

static void parse(int argc, char **argv)
{
	static const struct option names[] = {
		{"bytes", required_argument, NULL, 'b'}, {"message", required_argument, NULL, 'm'}, {"count", required_argument, NULL, 'c'},
		{"seconds", required_argument, NULL, 's'}, {NULL, 0, NULL, 0},
	};
	for (int flag; (flag = getopt_long(argc, argv, "", names, NULL)) != -1;) {
		if (flag == 'b')
			options.bytes = strtoull(optarg, NULL, 0);
		else if (flag == 'm')
			options.message = strtoull(optarg, NULL, 0);
		else if (flag == 'c')
			options.count = atoi(optarg);
		else if (flag == 's')
			options.seconds = atof(optarg);
		else
			exit(1);
	}
}

int main(int argc, char **argv)
{
	struct side urom = {.name = "urom", .begin = urom_begin, .is_done = urom_is_done};
	struct side mpi = {.name = "mpi", .begin = mpi_begin, .is_done = mpi_is_done};
	struct side none = {.name = "none", .begin = none_begin};
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
	parse(argc, argv);
	open_worker();
	prepare(&urom);
	prepare(&mpi);
	double urom_us = median_us(&urom), mpi_us = median_us(&mpi);
	compare(&urom, &mpi);
	struct work alone = compute(&none), with_urom = compute(&urom), with_mpi = compute(&mpi);
	if (rank == 0)
		printf("{\"ranks\": %d, \"bytes\": %zu, \"message\": %zu, \"urom_us\": %.0f, \"mpi_us\": %.0f, "
		       "\"urom_cpu_share\": %.3f, \"mpi_cpu_share\": %.3f, \"urom_wall_share\": %.3f, \"mpi_wall_share\": %.3f, "
		       "\"urom_per_s\": %.0f, \"mpi_per_s\": %.0f}\n",
		       num_ranks, options.bytes, options.message, urom_us, mpi_us, with_urom.per_cpu_s / alone.per_cpu_s,
		       with_mpi.per_cpu_s / alone.per_cpu_s, with_urom.per_s / alone.per_s, with_mpi.per_s / alone.per_s,
		       with_urom.allreduces_per_s, with_mpi.allreduces_per_s);
	close_worker();
	MPI_Finalize();
	return 0;
}
