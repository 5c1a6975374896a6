/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bytes from a stranger at the TCP port of UROM's front door, and from an authenticated peer. A stranger is never reported. The
 * messages of a peer lie completely in our memory and respect the length limit. Nothing is left of a connection that has ended.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "urom/comm/comm_private.h"

#define BODY_MAX 5000
#define POLLS_MAX 10000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct sf_comm *strangers, *peers;
static struct sockaddr_storage port;
static int door; /* of peers */
static uint32_t num_arrived;
static uint64_t sum; /* bytes that were read */

static void arrived(void *user, struct sf_comm_peer *peer)
{
	assert(user == &peers); /* a stranger does not have our key */
	assert(strcmp(peer->address, "fuzz") == 0);
	num_arrived++;
}

static void message(void *user, struct sf_comm_peer *peer, const void *head, size_t head_len, const void *body, size_t body_len)
{
	const uint8_t *bytes = (const uint8_t *)head;

	(void)user;
	assert(head_len <= SF_COMM_HEAD_MAX && body_len <= BODY_MAX);
	for (size_t i = 0; i < head_len; i++)
		sum += bytes[i];
	bytes = (const uint8_t *)body;
	for (size_t i = 0; i < body_len; i++)
		sum += bytes[i];
	if (head_len == 1)
		sf_comm_disconnect(peers, peer);
	else if (head_len == 2)
		sf_comm_drop(peers, peer);
	else if (head_len % 2 == 1)
		(void)sf_comm_send(peers, peer, head, head_len, body, body_len);
}

static void lost(void *user, struct sf_comm_peer *peer, doca_error_t why)
{
	(void)user;
	(void)peer;
	(void)why;
}

static doca_error_t hand(void *user, uint64_t worker, int fd, const char *address)
{
	(void)user;
	(void)fd;
	(void)address;
	return worker % 2 == 0 ? DOCA_ERROR_NOT_FOUND : DOCA_SUCCESS;
}

static const struct sf_comm_handler handler = {.arrived = arrived, .message = message, .lost = lost, .hand = hand};

static void set_up(void)
{
	const struct sockaddr_in loopback = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	const struct sf_comm_key key = {{1}};
	struct sf_comm_options options = {.handler = &handler, .user = &strangers, .body_max = BODY_MAX};
	int ends[2];

	if (strangers != NULL)
		return;
	assert(sf_comm_open(&options, &strangers) == DOCA_SUCCESS);
	assert(sf_comm_listen(strangers, (const struct sockaddr *)&loopback, sizeof(loopback), &key, NULL, &port) ==
	       DOCA_SUCCESS);
	options.user = &peers;
	assert(sf_comm_open(&options, &peers) == DOCA_SUCCESS);
	assert(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0);
	assert(sf_comm_listen_behind(peers, ends[1]) == DOCA_SUCCESS);
	door = ends[0];
}

static bool is_empty(const struct sf_comm *comm)
{
	return comm->num_guests == 0 && comm->num_peers == 0;
}

static void poll_some(struct sf_comm *comm, const uint8_t **at, size_t *left)
{
	for (size_t polls = *left != 0 ? **at % 8 : 1; polls != 0; polls--)
		(void)sf_comm_poll(comm);
	if (*left != 0) {
		(*at)++;
		(*left)--;
	}
}

/* Pieces of the input, with polls between them. A piece begins with its length and the number of polls after it. */
static void play(struct sf_comm *comm, int fd, const uint8_t *at, size_t left)
{
	uint8_t answer[4096];

	while (left > 2) {
		size_t len = ((size_t)at[0] | (size_t)(at[1] & 15) << 8) + 1;

		at += 2;
		left -= 2;
		len = len < left ? len : left;
		(void)send(fd, at, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		at += len;
		left -= len;
		poll_some(comm, &at, &left);
		(void)recv(fd, answer, sizeof(answer), MSG_DONTWAIT);
	}
	(void)shutdown(fd, SHUT_WR);
	for (int i = 0; i < POLLS_MAX && !is_empty(comm); i++) {
		(void)sf_comm_poll(comm);
		while (recv(fd, answer, sizeof(answer), MSG_DONTWAIT) > 0)
			;
	}
	close(fd);
	for (int i = 0; i < POLLS_MAX && !is_empty(comm); i++)
		(void)sf_comm_poll(comm);
	assert(is_empty(comm));
}

static void play_stranger(const uint8_t *data, size_t size)
{
	const struct linger reset = {1, 0}; /* no port waits for further data */
	const struct comm_preamble preamble = {COMM_MAGIC, SF_COMM_LISTENER};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	if (connect(fd, (const struct sockaddr *)&port, sizeof(struct sockaddr_in)) != 0) {
		close(fd);
		return;
	}
	while (strangers->num_guests == 0)
		(void)sf_comm_poll(strangers);
	if (size != 0 && data[0] % 4 != 0) /* the handshake's bytes are the ones to test */
		(void)send(fd, &preamble, sizeof(preamble), MSG_NOSIGNAL);
	play(strangers, fd, data + (size != 0), size - (size != 0));
}

static void play_peer(const uint8_t *data, size_t size)
{
	int ends[2];

	assert(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
	assert(sf_comm_hand(door, ends[1], "fuzz", NULL) == DOCA_SUCCESS);
	close(ends[1]);
	uint32_t before = num_arrived;
	while (num_arrived == before)
		(void)sf_comm_poll(peers);
	play(peers, ends[0], data, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	set_up();
	if (size == 0)
		return 0;
	if (data[0] % 2 == 0)
		play_stranger(data + 1, size - 1);
	else
		play_peer(data + 1, size - 1);
	return 0;
}
