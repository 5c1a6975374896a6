/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom_fake_comm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

struct sf_comm *fake_comms;

static void *copy_of(const void *data, size_t len)
{
	void *copy = malloc(len != 0 ? len : 1);

	if (copy == NULL)
		abort();
	if (len != 0)
		memcpy(copy, data, len);
	return copy;
}

/* ---- peers ---- */

static struct fake_peer *add_peer(struct sf_comm *comm, void *user)
{
	struct fake_peer *peer = (struct fake_peer *)calloc(1, sizeof(*peer));

	if (peer == NULL)
		abort();
	peer->base.user = user;
	strcpy(peer->base.address, "10.0.0.1:1");
	peer->comm = comm;
	peer->next = comm->peers;
	comm->peers = peer;
	return peer;
}

static void remove_peer(struct fake_peer *peer)
{
	struct fake_peer **at = &peer->comm->peers;

	while (*at != peer)
		at = &(*at)->next;
	*at = peer->next;
	for (uint32_t i = 0; i < peer->num_sent; i++)
		free(peer->sent[i].body);
	free(peer);
}

bool fake_is_there(const struct sf_comm *comm, const struct fake_peer *peer)
{
	const struct fake_peer *at = comm->peers;

	while (at != NULL && at != peer)
		at = at->next;
	return at != NULL;
}

struct fake_peer *fake_arrive(struct sf_comm *comm)
{
	struct fake_peer *peer = add_peer(comm, NULL);

	comm->options.handler->arrived(comm->options.user, &peer->base);
	return fake_is_there(comm, peer) ? peer : NULL;
}

void fake_deliver(struct fake_peer *peer, const struct urom_head *head, const void *body, size_t len)
{
	struct sf_comm *comm = peer->comm;
	void *own_head = copy_of(head, sizeof(*head)), *own_body = copy_of(body, len);

	comm->options.handler->message(comm->options.user, &peer->base, own_head, sizeof(*head), own_body, len);
	free(own_head);
	free(own_body);
}

void fake_lose(struct fake_peer *peer)
{
	struct sf_comm *comm = peer->comm;

	comm->options.handler->lost(comm->options.user, &peer->base, DOCA_ERROR_CONNECTION_RESET);
	if (fake_is_there(comm, peer))
		remove_peer(peer);
}

bool fake_take_sent(struct fake_peer *peer, struct fake_sent *sent)
{
	if (peer->num_sent == 0)
		return false;
	*sent = peer->sent[0];
	memmove(&peer->sent[0], &peer->sent[1], --peer->num_sent * sizeof(peer->sent[0]));
	return true;
}

/* ---- what the code under test calls ---- */

doca_error_t sf_comm_open(const struct sf_comm_options *options, struct sf_comm **out)
{
	struct sf_comm *comm = (struct sf_comm *)calloc(1, sizeof(*comm));

	if (comm == NULL)
		abort();
	comm->options = *options;
	comm->fd = eventfd(1, EFD_CLOEXEC);
	comm->next = fake_comms;
	fake_comms = comm;
	*out = comm;
	return DOCA_SUCCESS;
}

void sf_comm_close(struct sf_comm *comm)
{
	struct sf_comm **at = &fake_comms;

	while (*at != comm)
		at = &(*at)->next;
	*at = comm->next;
	while (comm->peers != NULL)
		remove_peer(comm->peers);
	close(comm->fd);
	free(comm);
}

doca_error_t sf_comm_hand(int door, int fd, const char *address, const struct sf_comm_key *key)
{
	(void)door;
	(void)fd;
	(void)address;
	(void)key;
	return DOCA_SUCCESS;
}

doca_error_t sf_comm_connect(struct sf_comm *comm, const struct sf_comm_target *target, void *user, struct sf_comm_peer **peer)
{
	(void)target;
	*peer = &add_peer(comm, user)->base;
	return DOCA_SUCCESS;
}

doca_error_t sf_comm_send(struct sf_comm *comm, struct sf_comm_peer *base, const void *head, size_t head_len, const void *body,
			  size_t len)
{
	struct fake_peer *peer = (struct fake_peer *)base;

	if (!fake_is_there(comm, peer))
		abort();
	if (head_len != sizeof(struct urom_head) || len > comm->options.body_max)
		return DOCA_ERROR_TOO_BIG;
	if (peer->num_sent == FAKE_SENT_MAX) {
		struct fake_sent oldest;

		(void)fake_take_sent(peer, &oldest);
		free(oldest.body);
	}
	struct fake_sent *sent = &peer->sent[peer->num_sent++];
	memcpy(&sent->head, head, sizeof(sent->head));
	sent->body = (uint8_t *)copy_of(body, len);
	sent->len = len;
	return DOCA_SUCCESS;
}

pid_t sf_comm_process(const struct sf_comm_peer *peer)
{
	(void)peer;
	return 0;
}

bool sf_comm_connected(const struct sf_comm_peer *peer)
{
	(void)peer;
	return true;
}

size_t sf_comm_backlog(const struct sf_comm_peer *peer)
{
	(void)peer;
	return 0;
}

void sf_comm_cork(struct sf_comm *comm)
{
	(void)comm;
}
void sf_comm_uncork(struct sf_comm *comm)
{
	(void)comm;
}
void sf_comm_push(struct sf_comm *comm)
{
	(void)comm;
}

void sf_comm_disconnect(struct sf_comm *comm, struct sf_comm_peer *peer)
{
	(void)comm;
	remove_peer((struct fake_peer *)peer);
}

void sf_comm_drop(struct sf_comm *comm, struct sf_comm_peer *peer)
{
	sf_comm_disconnect(comm, peer);
}

bool sf_comm_poll(struct sf_comm *comm)
{
	return fake_poll(comm);
}
int sf_comm_fd(const struct sf_comm *comm)
{
	return comm->fd;
}

bool sf_comm_arm(struct sf_comm *comm)
{
	(void)comm;
	return true;
}

/* ---- the input ---- */

struct urom_head fake_head(struct fake_input *input)
{
	uint8_t kind = fake_byte(input), numbers = fake_byte(input);
	struct urom_head head = urom_head_make((enum urom_kind)(kind % (UROM_KINDS + 1)),
					       (doca_error_t)(kind >= 128 ? fake_byte(input) : 0), numbers & 15, numbers >> 4);

	head.size = fake_byte(input) % 4 != 0 ? fake_byte(input) : UINT64_MAX - fake_byte(input);
	if (kind == 255)
		head.version = fake_byte(input);
	return head;
}
