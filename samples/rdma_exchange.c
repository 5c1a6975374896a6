/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common.h"
#include "rdma_exchange.h"
#include "rdma_socket.h"

doca_error_t bytes_set(struct bytes *bytes, const void *data, size_t len)
{
	if (len > sizeof(bytes->data))
		return sample_failed("a descriptor", DOCA_ERROR_TOO_BIG);
	memcpy(bytes->data, data, len);
	bytes->len = len;
	return DOCA_SUCCESS;
}

/* ---- by files that the user copies ---- */

static doca_error_t wait_for_enter(void)
{
	int c;

	fflush(stdout);
	while ((c = getchar()) != '\n')
		if (c == EOF)
			return sample_failed("Enter", DOCA_ERROR_IO_FAILED);
	return DOCA_SUCCESS;
}

/* The user names the first connection's file; the others have a number added. */
static const char *file_of(const char *path, uint32_t connection, char room[PATH_ROOM + 8])
{
	snprintf(room, PATH_ROOM + 8, connection == 0 ? "%s" : "%s.%u", path, connection);
	return room;
}

static doca_error_t leave_files(const struct options *options, const struct papers *ours)
{
	char room[PATH_ROOM + 8];
	doca_error_t status = DOCA_SUCCESS;

	for (uint32_t i = 0; i < options->num_connections && status == DOCA_SUCCESS; i++)
		status = sample_leave(file_of(options->local_path, i, room), ours->connections[i].data, ours->connections[i].len);
	if (status == DOCA_SUCCESS && ours->resource.len != 0)
		status = sample_leave(options->resource_path, ours->resource.data, ours->resource.len);
	return status;
}

static doca_error_t read_files(const struct options *options, bool expect_resource, struct papers *theirs)
{
	char room[PATH_ROOM + 8];
	doca_error_t status = DOCA_SUCCESS;
	struct bytes *bytes;

	for (uint32_t i = 0; i < options->num_connections && status == DOCA_SUCCESS; i++) {
		bytes = &theirs->connections[i];
		status = sample_await(file_of(options->remote_path, i, room), bytes->data, sizeof(bytes->data), &bytes->len);
	}
	bytes = &theirs->resource;
	if (status == DOCA_SUCCESS && expect_resource)
		status = sample_await(options->resource_path, bytes->data, sizeof(bytes->data), &bytes->len);
	return status;
}

static doca_error_t exchange_by_files(const struct options *options, const struct papers *ours, bool expect_resource,
				      struct papers *theirs)
{
	doca_error_t status = leave_files(options, ours);

	if (status != DOCA_SUCCESS)
		return status;
	printf("copy to the peer: %s", options->local_path);
	if (ours->resource.len != 0)
		printf(" and %s", options->resource_path);
	printf("\nthen copy from the peer: %s", options->remote_path);
	if (expect_resource)
		printf(" and %s", options->resource_path);
	printf("\nand press Enter\n");
	status = wait_for_enter();
	return status == DOCA_SUCCESS ? read_files(options, expect_resource, theirs) : status;
}

/* ---- by a socket, whose data is untrusted ---- */

static doca_error_t send_bytes(int socket, const struct bytes *bytes)
{
	uint32_t len = htonl((uint32_t)bytes->len);
	doca_error_t status = socket_write(socket, &len, sizeof(len));

	return status == DOCA_SUCCESS ? socket_write(socket, bytes->data, bytes->len) : status;
}

static doca_error_t receive_bytes(int socket, bool expected, struct bytes *bytes)
{
	uint32_t len;
	doca_error_t status = socket_read(socket, &len, sizeof(len));

	if (status != DOCA_SUCCESS)
		return status;
	len = ntohl(len);
	if (len > sizeof(bytes->data) || (len != 0) != expected) {
		fprintf(stderr, "the peer sends a descriptor of %u bytes, %s\n", len,
			expected ? "give 1 to 4096" : "where none is expected");
		return DOCA_ERROR_INVALID_VALUE;
	}
	bytes->len = len;
	return socket_read(socket, bytes->data, len);
}

static doca_error_t exchange_by_socket(const struct exchange *exchange, const struct papers *ours, bool expect_resource,
				       struct papers *theirs)
{
	const uint32_t num = exchange->options->num_connections;
	doca_error_t status = DOCA_SUCCESS;

	for (uint32_t i = 0; i < num && status == DOCA_SUCCESS; i++)
		status = send_bytes(exchange->socket, &ours->connections[i]);
	if (status == DOCA_SUCCESS)
		status = send_bytes(exchange->socket, &ours->resource);
	for (uint32_t i = 0; i < num && status == DOCA_SUCCESS; i++)
		status = receive_bytes(exchange->socket, true, &theirs->connections[i]);
	if (status == DOCA_SUCCESS)
		status = receive_bytes(exchange->socket, expect_resource, &theirs->resource);
	return status;
}

/* ---- both ways ---- */

doca_error_t exchange_open(struct exchange *exchange, const struct options *options, const char *me, const char *peer)
{
	exchange->options = options;
	exchange->socket = -1;
	return options->peer[0] != '\0' ? socket_meet(options->peer, me, peer, &exchange->socket) : DOCA_SUCCESS;
}

doca_error_t exchange_papers(struct exchange *exchange, const struct papers *ours, bool expect_resource, struct papers *theirs)
{
	if (exchange->socket >= 0)
		return exchange_by_socket(exchange, ours, expect_resource, theirs);
	return exchange_by_files(exchange->options, ours, expect_resource, theirs);
}

#define FINISHED 'f'

doca_error_t exchange_wait(struct exchange *exchange, const char *for_what)
{
	char said;

	if (exchange->socket < 0) {
		printf("when %s, press Enter\n", for_what);
		return wait_for_enter();
	}
	doca_error_t status = socket_read(exchange->socket, &said, sizeof(said));

	if (status == DOCA_SUCCESS && said != FINISHED)
		return sample_failed("the peer's word that it has finished", DOCA_ERROR_INVALID_VALUE);
	return status;
}

void exchange_finished(struct exchange *exchange)
{
	const char said = FINISHED;

	if (exchange->socket >= 0)
		(void)socket_write(exchange->socket, &said, sizeof(said)); /* a peer that does not wait may have ended */
}

void exchange_close(struct exchange *exchange)
{
	if (exchange->socket >= 0)
		close(exchange->socket);
}
