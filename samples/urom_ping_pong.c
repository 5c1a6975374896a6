/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two MPI ranks, each with a worker on its DPU; the workers are in one domain, which the ranks gather over MPI. Rank 1 sends
 * a message through its worker, rank 0 gets it from its own worker and sends it back.
 *
 *   mpirun -np 2 urom_ping_pong -d mlx5_2 -m "some words"
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#include "common.h"
#include "urom_common.h"
#include "urom_sandbox.h"

#define MESSAGE_MAX 1024
#define PING 0x50494e47
#define PONG 0x504f4e47
#define ALL_BITS UINT64_MAX

struct options {
	char device[DOCA_DEVINFO_IBDEV_NAME_SIZE];
	char message[MESSAGE_MAX];
};

struct player {
	const struct options *options;
	int rank;
	struct doca_pe *pe;
	struct doca_urom_service *service;
	struct doca_urom_worker *worker;
	struct doca_urom_domain *domain;
};

/* ---- a domain's exchange ---- */

static doca_error_t gather(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req)
{
	MPI_Request *request;

	(void)coll_info;
	if (msglen > INT_MAX)
		return DOCA_ERROR_TOO_BIG;
	request = malloc(sizeof(*request));
	if (request == NULL)
		return DOCA_ERROR_NO_MEMORY;
	*req = request;
	if (MPI_Iallgather(sbuf, (int)msglen, MPI_BYTE, rbuf, (int)msglen, MPI_BYTE, MPI_COMM_WORLD, request) == MPI_SUCCESS)
		return DOCA_SUCCESS;
	free(request);
	return DOCA_ERROR_IO_FAILED;
}

static doca_error_t gather_test(void *req)
{
	int done = 0;

	if (MPI_Test(req, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
		return DOCA_ERROR_IO_FAILED;
	return done ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS;
}

static doca_error_t gather_free(void *req)
{
	free(req);
	return DOCA_SUCCESS;
}

static doca_error_t join_domain(struct player *player)
{
	struct doca_urom_domain_oob_coll oob = {gather, gather_test, gather_free, NULL, 2, (uint32_t)player->rank};
	uint64_t id = (uint64_t)player->rank;
	doca_error_t status = doca_urom_domain_create(&player->domain);

	if (status != DOCA_SUCCESS)
		return sample_failed("domain", status);
	struct doca_ctx *ctx = doca_urom_domain_as_ctx(player->domain);
	status = doca_pe_connect_ctx(player->pe, ctx);
	if (status == DOCA_SUCCESS)
		status = doca_urom_domain_set_oob(player->domain, &oob);
	if (status == DOCA_SUCCESS)
		status = doca_urom_domain_set_workers(player->domain, &id, &player->worker, 1);
	if (status == DOCA_SUCCESS)
		status = doca_ctx_start(ctx);
	if (status == DOCA_ERROR_IN_PROGRESS)
		status = urom_await_running(player->pe, ctx);
	if (status == DOCA_SUCCESS)
		return status;
	doca_urom_domain_destroy(player->domain);
	return sample_failed("start of the domain", status);
}

static void leave_domain(struct player *player)
{
	(void)doca_ctx_stop(doca_urom_domain_as_ctx(player->domain));
	doca_error_t status = doca_urom_domain_destroy(player->domain);

	if (status != DOCA_SUCCESS)
		(void)sample_failed("end of the domain", status);
}

/* ---- a message ---- */

struct send {
	bool done;
	doca_error_t status;
};

static void sent(doca_error_t result, union doca_data cookie)
{
	struct send *send = cookie.ptr;

	send->status = result;
	send->done = true;
}

static doca_error_t send_message(struct player *player, uint64_t tag, const char *text)
{
	struct send send = {0};
	doca_error_t status = urom_sandbox_task_send(player->worker, (union doca_data){.ptr = &send},
						     (uint64_t)(1 - player->rank), tag, text, strlen(text), sent);

	if (status == DOCA_SUCCESS)
		status = sample_progress_until(player->pe, &send.done);
	if (status == DOCA_SUCCESS)
		status = send.status;
	return status == DOCA_SUCCESS ? status : sample_failed("send", status);
}

struct receipt {
	bool done;
	doca_error_t status;
	char text[MESSAGE_MAX];
};

static void received(doca_error_t result, union doca_data cookie, const void *data, size_t len, uint64_t tag)
{
	struct receipt *receipt = cookie.ptr;

	(void)tag;
	receipt->status = result;
	receipt->done = true;
	if (result == DOCA_SUCCESS)
		memcpy(receipt->text, data, len); /* shorter than len_max, so a zero follows */
}

static doca_error_t receive_message(struct player *player, uint64_t tag, struct receipt *receipt)
{
	doca_error_t status = urom_sandbox_task_receive(player->worker, (union doca_data){.ptr = receipt}, tag, ALL_BITS,
							MESSAGE_MAX - 1, received);

	if (status == DOCA_SUCCESS)
		status = sample_progress_until(player->pe, &receipt->done);
	if (status == DOCA_SUCCESS)
		status = receipt->status;
	return status == DOCA_SUCCESS ? status : sample_failed("receive", status);
}

static doca_error_t play(struct player *player)
{
	struct receipt receipt = {0};
	doca_error_t status;

	if (player->rank == 0) {
		status = receive_message(player, PING, &receipt);
		if (status != DOCA_SUCCESS)
			return status;
		printf("rank 0 got the ping: %s\n", receipt.text);
		return send_message(player, PONG, receipt.text);
	}
	status = send_message(player, PING, player->options->message);
	if (status == DOCA_SUCCESS)
		status = receive_message(player, PONG, &receipt);
	if (status == DOCA_SUCCESS && strcmp(receipt.text, player->options->message) != 0)
		status = sample_failed("pong", DOCA_ERROR_UNEXPECTED);
	if (status == DOCA_SUCCESS)
		printf("rank 1 got the pong: %s\n", receipt.text);
	return status;
}

/* ---- service, worker, domain ---- */

static doca_error_t play_with_worker(struct player *player)
{
	doca_error_t status = urom_await_running(player->pe, doca_urom_worker_as_ctx(player->worker));

	if (status == DOCA_SUCCESS)
		status = join_domain(player);
	if (status != DOCA_SUCCESS)
		return status;
	status = play(player);
	leave_domain(player);
	return status;
}

static doca_error_t play_with_service(struct player *player)
{
	const struct doca_urom_service_plugin_info *sandbox;
	doca_error_t status = urom_find_plugin(player->service, "worker_sandbox", &sandbox);

	if (status != DOCA_SUCCESS)
		return status;
	status = urom_sandbox_init(sandbox->id, sandbox->version);
	if (status != DOCA_SUCCESS)
		return sample_failed("worker_sandbox", status);
	status = urom_begin_worker(player->pe, player->service, (uint64_t)player->rank, NULL, sandbox->id, &player->worker);
	if (status != DOCA_SUCCESS)
		return status;
	status = play_with_worker(player);
	doca_error_t stopped = urom_stop_worker(player->pe, player->worker);
	return status == DOCA_SUCCESS ? stopped : status;
}

static doca_error_t play_on_device(struct player *player, struct doca_dev *dev)
{
	doca_error_t status = doca_pe_create(&player->pe);

	if (status != DOCA_SUCCESS)
		return sample_failed("progress engine", status);
	status = urom_start_service(player->pe, dev, &player->service);
	if (status == DOCA_SUCCESS) {
		status = play_with_service(player);
		urom_stop_service(player->service);
	}
	doca_pe_destroy(player->pe);
	return status;
}

/* ---- options ---- */

static doca_error_t take_text(const char *what, const char *value, char *out, size_t room)
{
	if (strlen(value) >= room) {
		fprintf(stderr, "the %s has more than %zu bytes\n", what, room - 1);
		return DOCA_ERROR_TOO_BIG;
	}
	strcpy(out, value);
	return DOCA_SUCCESS;
}

static doca_error_t take_device(void *value, void *config)
{
	struct options *options = config;

	return take_text("name of the device", value, options->device, sizeof(options->device));
}

static doca_error_t take_message(void *value, void *config)
{
	struct options *options = config;

	return take_text("message", value, options->message, sizeof(options->message));
}

static doca_error_t read_options(int argc, char **argv, struct options *options)
{
	doca_error_t status = doca_argp_init("urom_ping_pong", options);

	if (status == DOCA_SUCCESS)
		status = urom_add_option("d", "device", "IB device name", DOCA_ARGP_TYPE_STRING, take_device);
	if (status == DOCA_SUCCESS)
		status = urom_add_option("m", "message", "Specify ping pong message", DOCA_ARGP_TYPE_STRING, take_message);
	if (status == DOCA_SUCCESS)
		status = doca_argp_start(argc, argv);
	doca_argp_destroy();
	return status;
}

static doca_error_t run(int argc, char **argv)
{
	struct options options = {.message = "there and back"};
	struct player player = {.options = &options};
	struct doca_dev *dev;
	int num_ranks;

	MPI_Comm_rank(MPI_COMM_WORLD, &player.rank);
	MPI_Comm_size(MPI_COMM_WORLD, &num_ranks);
	if (sample_log_to_stderr() != DOCA_SUCCESS || read_options(argc, argv, &options) != DOCA_SUCCESS)
		return DOCA_ERROR_INVALID_VALUE;
	if (num_ranks != 2) {
		fprintf(stderr, "urom_ping_pong needs two ranks (mpirun -np 2), not %d\n", num_ranks);
		return DOCA_ERROR_INVALID_VALUE;
	}
	doca_error_t status = urom_open_device(options.device, &dev);
	if (status != DOCA_SUCCESS)
		return status;
	status = play_on_device(&player, dev);
	doca_dev_close(dev);
	return status;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	doca_error_t status = run(argc, argv);
	if (status != DOCA_SUCCESS)
		MPI_Abort(MPI_COMM_WORLD, 1); /* the other rank would wait */
	MPI_Finalize();
	return 0;
}
