/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "rdma_address.h"

#define LETTER_AT (MEMORY_SIZE / 2) /* offset in the memory where the descriptor is sent and received */
#define LETTER_ROOM (MEMORY_SIZE / 2)

/* ---- connection callbacks ---- */

static void requested(struct doca_rdma_connection *connection, union doca_data side)
{
	doca_error_t status = doca_rdma_connection_accept(connection, NULL, 0);

	if (status != DOCA_SUCCESS)
		((struct side *)side.ptr)->status = sample_failed("accept", status);
}

static void established(struct doca_rdma_connection *connection, union doca_data none, union doca_data data)
{
	struct side *side = data.ptr;

	(void)none;
	if (side->num_established == side->options.num_connections)
		side->status = sample_failed("one more connection", DOCA_ERROR_UNEXPECTED);
	else
		side->connections[side->num_established++] = connection;
}

static void failed(struct doca_rdma_connection *connection, union doca_data none, union doca_data side)
{
	(void)connection;
	(void)none;
	((struct side *)side.ptr)->status = sample_failed("call of the responder's address", DOCA_ERROR_CONNECTION_ABORTED);
}

static void disconnected(struct doca_rdma_connection *connection, union doca_data none, union doca_data side)
{
	(void)connection;
	(void)none;
	((struct side *)side.ptr)->num_disconnected++;
}

static void letter_sent(struct doca_rdma_task_send *task, union doca_data none, union doca_data side)
{
	(void)none;
	side_task_ended(side, doca_rdma_task_send_as_task(task));
}

static void letter_received(struct doca_rdma_task_receive *task, union doca_data none, union doca_data side)
{
	(void)none;
	((struct side *)side.ptr)->letter_len = doca_rdma_task_receive_get_result_len(task);
	side_task_ended(side, doca_rdma_task_receive_as_task(task));
}

doca_error_t address_configure(struct side *side)
{
	doca_error_t status = doca_rdma_set_connection_state_callbacks(side->rdma, requested, established, failed, disconnected);

	if (status == DOCA_SUCCESS && side->sample->export != NULL)
		status = doca_rdma_task_send_set_conf(side->rdma, letter_sent, letter_sent, 1);
	if (status == DOCA_SUCCESS && side->sample->import != NULL)
		status = doca_rdma_task_receive_set_conf(side->rdma, letter_received, letter_received, 1);
	return status;
}

/* ---- connecting and listening ---- */

static doca_error_t find_type(const struct options *options, enum doca_rdma_addr_type *type)
{
	const char *said = options->server_type;

	if (said[0] == '\0')
		said = strchr(options->server, ':') != NULL ? "ipv6" : "ipv4";
	if (strcasecmp(said, "ip4") == 0 || strcasecmp(said, "ipv4") == 0)
		*type = DOCA_RDMA_ADDR_TYPE_IPv4;
	else if (strcasecmp(said, "ip6") == 0 || strcasecmp(said, "ipv6") == 0)
		*type = DOCA_RDMA_ADDR_TYPE_IPv6;
	else if (strcasecmp(said, "gid") == 0)
		*type = DOCA_RDMA_ADDR_TYPE_GID;
	else
		return sample_failed("-sat (ipv4, ipv6 or gid)", DOCA_ERROR_INVALID_VALUE);
	return DOCA_SUCCESS;
}

static doca_error_t call(struct side *side)
{
	const struct options *options = &side->options;
	enum doca_rdma_addr_type type = DOCA_RDMA_ADDR_TYPE_IPv6;
	struct doca_rdma_addr *address;
	doca_error_t status = find_type(options, &type);

	if (status != DOCA_SUCCESS)
		return status;
	status = doca_rdma_addr_create(type, options->server, options->port, &address);
	if (status != DOCA_SUCCESS)
		return sample_failed(options->server, status);
	for (uint32_t i = 0; i < options->num_connections && status == DOCA_SUCCESS; i++)
		status = doca_rdma_connect_to_addr(side->rdma, address, (union doca_data){0});
	(void)doca_rdma_addr_destroy(address);
	return status == DOCA_SUCCESS ? status : sample_failed("call", status);
}

static doca_error_t listen_to_port(struct side *side)
{
	doca_error_t status = doca_rdma_start_listen_to_port(side->rdma, side->options.port);

	if (status != DOCA_SUCCESS)
		return sample_failed("listening", status);
	printf("listening to port %u\n", side->options.port);
	fflush(stdout);
	return status;
}

/* ---- the descriptor ---- */

static doca_error_t send_letter(struct side *side)
{
	static struct bytes descriptor;
	struct doca_rdma_task_send *task;
	struct doca_buf *src;
	doca_error_t status = side->sample->export(side, &descriptor);

	if (status == DOCA_SUCCESS && descriptor.len > LETTER_ROOM)
		status = sample_failed("descriptor", DOCA_ERROR_TOO_BIG);
	if (status != DOCA_SUCCESS)
		return status;
	memcpy(side->memory + LETTER_AT, descriptor.data, descriptor.len);
	status = side_data(side, LETTER_AT, descriptor.len, &src);
	if (status != DOCA_SUCCESS)
		return status;
	status = doca_rdma_task_send_allocate_init(side->rdma, side->connections[0], src, (union doca_data){0}, &task);
	return status == DOCA_SUCCESS ? side_run(side, doca_rdma_task_send_as_task(task)) : sample_failed("task", status);
}

static doca_error_t receive_letter(struct side *side)
{
	static struct bytes descriptor;
	struct doca_rdma_task_receive *task;
	struct doca_buf *dst;
	doca_error_t status = side_room(side, LETTER_AT, LETTER_ROOM, &dst);

	if (status != DOCA_SUCCESS)
		return status;
	status = doca_rdma_task_receive_allocate_init(side->rdma, dst, (union doca_data){0}, &task);
	if (status != DOCA_SUCCESS)
		return sample_failed("task", status);
	status = side_run(side, doca_rdma_task_receive_as_task(task));
	if (status == DOCA_SUCCESS)
		status = bytes_set(&descriptor, side->memory + LETTER_AT, side->letter_len);
	return status == DOCA_SUCCESS ? side->sample->import(side, &descriptor) : status;
}

/* ---- open and close ---- */

doca_error_t address_connect(struct side *side)
{
	doca_error_t status = side->sample->listens ? listen_to_port(side) : call(side);

	if (status == DOCA_SUCCESS)
		status = side_progress_until(side, &side->num_established, side->options.num_connections);
	if (status == DOCA_SUCCESS && side->sample->export != NULL)
		status = send_letter(side);
	if (status == DOCA_SUCCESS && side->sample->import != NULL)
		status = receive_letter(side);
	return status;
}

doca_error_t address_wait_for_end(struct side *side)
{
	return side_progress_until(side, &side->num_disconnected, 1);
}

void address_disconnect(struct side *side)
{
	for (uint32_t i = 0; i < side->num_established; i++)
		(void)doca_rdma_connection_disconnect(side->connections[i]);
}
