/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI rank with its own worker, which has the plugin allreduce. Errors end the program. */
#ifndef BENCH_MPI_RANK_H
#define BENCH_MPI_RANK_H

#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_urom.h>

#include "device.h"
#include "measure.h"
#include "urom_allreduce.h"

#define DEVICE "0000:d8:00.0"
#define CHECK(call) check(begun(call), #call)

static int rank, num_ranks;
static struct doca_dev *dev;
static struct doca_pe *pe;
static struct doca_urom_service *service;
static struct doca_urom_worker *worker;
static struct doca_urom_domain *domain;
static struct urom_allreduce_comm *comm;

/* Progress completes a start or stop. */
static inline doca_error_t begun(doca_error_t result)
{
	return result == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : result;
}

/* ---- the service, the worker and the domain ---- */

static inline void await(struct doca_ctx *ctx, enum doca_ctx_states wanted)
{
	enum doca_ctx_states state;

	do {
		(void)doca_pe_progress(pe);
		CHECK(doca_ctx_get_state(ctx, &state));
	} while (state != wanted);
}

static inline doca_error_t gather(void *sbuf, void *rbuf, size_t len, void *info, void **req)
{
	MPI_Request *request = (MPI_Request *)malloc(sizeof(*request));

	(void)info;
	*req = request;
	MPI_Iallgather(sbuf, (int)len, MPI_BYTE, rbuf, (int)len, MPI_BYTE, MPI_COMM_WORLD, request);
	return DOCA_SUCCESS;
}

static inline doca_error_t gather_test(void *req)
{
	int done;

	MPI_Test((MPI_Request *)req, &done, MPI_STATUS_IGNORE);
	return done ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}

static inline doca_error_t gather_free(void *req)
{
	free(req);
	return DOCA_SUCCESS;
}

static inline uint64_t find_plugin(void)
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

/* message_size: of the channel, within the daemon's limit. */
static inline void open_worker(size_t message_size)
{
	struct doca_urom_domain_oob_coll oob = {gather, gather_test, gather_free, NULL, (uint32_t)num_ranks, (uint32_t)rank};
	uint64_t id = (uint64_t)rank;

	CHECK(doca_pe_create(&pe));
	CHECK(doca_urom_service_create(&service));
	CHECK(doca_pe_connect_ctx(pe, doca_urom_service_as_ctx(service)));
	dev = device_open(DEVICE);
	CHECK(doca_urom_service_set_dev(service, dev));
	CHECK(doca_urom_service_set_max_comm_msg_size(service, message_size));
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

static inline void close_worker(void)
{
	CHECK(urom_allreduce_comm_destroy(comm));
	CHECK(doca_ctx_stop(doca_urom_domain_as_ctx(domain)));
	CHECK(doca_urom_domain_destroy(domain));
	CHECK(doca_ctx_stop(doca_urom_worker_as_ctx(worker)));
	await(doca_urom_worker_as_ctx(worker), DOCA_CTX_STATE_IDLE);
	CHECK(doca_urom_worker_destroy(worker));
	CHECK(doca_ctx_stop(doca_urom_service_as_ctx(service)));
	CHECK(doca_urom_service_destroy(service));
	CHECK(doca_pe_destroy(pe));
	CHECK(doca_dev_close(dev));
}

#endif
