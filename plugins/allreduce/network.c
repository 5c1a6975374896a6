/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "worker_allreduce.h"

#define AM_ID 0
#define SMALL_MAX 128 /* bytes of a message without a piece, which is copied */

_Static_assert(sizeof(struct allreduce_offer) <= SMALL_MAX && ALLREDUCE_NUMBER_SIZE <= SMALL_MAX, "what goes without a piece");

/* ---- open and close ---- */

static void message_keep(struct allreduce *allreduce, const struct allreduce_message *message, const void *data, size_t len)
{
	bool fits = allreduce->kept_bytes + len + sizeof(struct inbound) <= ALLREDUCE_KEPT_MAX;
	struct inbound *inbound = fits ? (struct inbound *)malloc(sizeof(*inbound) + len) : NULL;
	bool whole = inbound != NULL;

	if (!whole)
		inbound = (struct inbound *)malloc(sizeof(*inbound));
	if (inbound == NULL)
		return;
	inbound->message = *message;
	inbound->lacks_data = !whole;
	inbound->len = whole ? (uint32_t)len : 0;
	memcpy(inbound->data, data, inbound->len);
	allreduce->kept_bytes += inbound->len + sizeof(*inbound);
	STAILQ_INSERT_TAIL(&allreduce->inbox, inbound, in_inbox);
}

/* Only keeps the message, because this runs inside UCX: in its TCP (1.13) a send from here can fail an assertion, if the
 * connection is broken and its events are pending. */
static ucs_status_t message_receive(void *arg, const void *head, size_t head_len, void *data, size_t len,
				    const ucp_am_recv_param_t *param)
{
	struct allreduce *allreduce = (struct allreduce *)arg;
	struct allreduce_message message;

	if ((param->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) == 0 &&
	    allreduce_message_parse(head, head_len, len, allreduce->network.id, &message) == DOCA_SUCCESS &&
	    message.kind != ALLREDUCE_HANDSHAKE)
		message_keep(allreduce, &message, data, len);
	return UCS_OK;
}

doca_error_t network_open(struct allreduce *allreduce)
{
	/* TCP reports a process's death immediately. Messages arrive whole: they are no larger than a command. UCX sends buffered
	 * data in segments of this size, 8 KiB by default, with a system call each. */
	static const struct ucx_side_setting settings[] = {{"TLS", "tcp"}, {"RNDV_THRESH", "inf"}, {"TCP_TX_SEG_SIZE", "64K"}};
	const ucp_am_handler_param_t handler = {
		.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_FLAGS | UCP_AM_HANDLER_PARAM_FIELD_CB |
			      UCP_AM_HANDLER_PARAM_FIELD_ARG,
		.id = AM_ID,
		.flags = UCP_AM_FLAG_WHOLE_MSG,
		.cb = message_receive,
		.arg = allreduce,
	};
	struct network *network = &allreduce->network;

	if (getrandom(&network->id, sizeof(network->id), 0) != sizeof(network->id))
		return DOCA_ERROR_OPERATING_SYSTEM;
	doca_error_t result = ucx_side_open_with(&network->side, UCP_FEATURE_AM | UCP_FEATURE_WAKEUP, settings,
						 sizeof(settings) / sizeof(settings[0]));
	if (result != DOCA_SUCCESS)
		return result;
	ucs_status_t status = ucp_worker_set_am_recv_handler(network->side.worker, &handler);
	if (status != UCS_OK)
		ucx_side_close(&network->side);
	return ucx_side_error(status);
}

/* Buffers of a send, kept until UCX has completed it. */
struct send {
	SLIST_ENTRY(send) next;
	struct allreduce *allreduce;
	struct piece *piece;
	struct allreduce_message message;
	uint8_t data[SMALL_MAX];
};

void network_close(struct allreduce *allreduce)
{
	struct network *network = &allreduce->network;

	ucx_side_close(&network->side); /* flushes sends */
	for (struct send *send; (send = SLIST_FIRST(&network->free_sends)) != NULL;) {
		SLIST_REMOVE_HEAD(&network->free_sends, next);
		free(send);
	}
	free(network->peers);
}

/* ---- peers ---- */

static struct peer *find_peer(const struct allreduce *allreduce, uint32_t rank)
{
	return rank < allreduce->network.num_peers ? &allreduce->network.peers[rank] : NULL;
}

static struct peer *make_peer(struct allreduce *allreduce, uint32_t rank)
{
	struct network *network = &allreduce->network;

	if (rank >= network->num_peers) {
		uint32_t num = rank + 1 > 2 * network->num_peers ? rank + 1 : 2 * network->num_peers;
		struct peer *peers = (struct peer *)realloc(network->peers, num * sizeof(*peers));

		if (peers == NULL)
			return NULL;
		memset(peers + network->num_peers, 0, (num - network->num_peers) * sizeof(*peers));
		network->peers = peers;
		network->num_peers = num;
	}
	return &network->peers[rank];
}

/* Looks up the rank's address in the domain. */
static doca_error_t look_up(struct allreduce *allreduce, uint32_t rank, struct allreduce_address *address, const void **ucp)
{
	void *found;

	if (doca_urom_worker_domain_addr_lookup(allreduce->ctx, rank, &found) != DOCA_SUCCESS)
		return DOCA_ERROR_NOT_FOUND;
	return allreduce_address_parse(found, offsetof(struct allreduce_address, ucp) + ALLREDUCE_ADDRESS_MAX, address, ucp);
}

static doca_error_t open_endpoint(struct allreduce *allreduce, struct peer *peer, const void *ucp, uint32_t len)
{
	if (peer->endpoint != NULL)
		ucx_side_release(&allreduce->network.side, peer->endpoint);
	peer->endpoint = NULL;
	doca_error_t result = ucx_side_endpoint_get_untrusted(&allreduce->network.side, ucp, len, &peer->endpoint);
	if (result == DOCA_SUCCESS)
		ucx_side_hold(peer->endpoint);
	return result;
}

doca_error_t network_connect(struct allreduce *allreduce, uint32_t rank)
{
	const struct allreduce_message handshake = {.kind = ALLREDUCE_HANDSHAKE};
	struct allreduce_address address;
	const void *ucp;
	struct peer *peer = make_peer(allreduce, rank);
	doca_error_t result = look_up(allreduce, rank, &address, &ucp);

	if (result != DOCA_SUCCESS || peer == NULL)
		return result != DOCA_SUCCESS ? result : DOCA_ERROR_NO_MEMORY;
	if (peer->id == address.id && peer->endpoint != NULL)
		return peer->endpoint->failed ? DOCA_ERROR_CONNECTION_ABORTED : DOCA_SUCCESS;
	peer->id = address.id;
	result = open_endpoint(allreduce, peer, ucp, address.len);
	/* UCX connects with the first message, and detects the peer's end only then. */
	return result == DOCA_SUCCESS ? network_send(allreduce, rank, &handshake, NULL, 0, NULL) : result;
}

bool network_is_dead(const struct allreduce *allreduce, uint32_t rank)
{
	const struct peer *peer = find_peer(allreduce, rank);

	return peer != NULL && peer->endpoint != NULL && peer->endpoint->failed;
}

bool network_lost_any(struct allreduce *allreduce)
{
	struct network *network = &allreduce->network;
	bool any = network->failures_seen != network->side.num_failures;

	network->failures_seen = network->side.num_failures;
	return any;
}

bool network_is_self(struct allreduce *allreduce, uint32_t rank)
{
	struct allreduce_address address;
	const void *ucp;

	return look_up(allreduce, rank, &address, &ucp) == DOCA_SUCCESS && address.id == allreduce->network.id;
}

/* ---- sending ---- */

static struct send *take_send(struct allreduce *allreduce)
{
	struct send *send = SLIST_FIRST(&allreduce->network.free_sends);

	if (send != NULL)
		SLIST_REMOVE_HEAD(&allreduce->network.free_sends, next);
	else
		send = (struct send *)malloc(sizeof(*send));
	return send;
}

static void send_done(void *request, ucs_status_t status, void *user)
{
	struct send *send = (struct send *)user;

	(void)status; /* the endpoint's error handler reports a failed peer */
	ucp_request_free(request);
	if (send->piece != NULL)
		piece_sent(send->piece);
	SLIST_INSERT_HEAD(&send->allreduce->network.free_sends, send, next);
}

doca_error_t network_send(struct allreduce *allreduce, uint32_t rank, const struct allreduce_message *message, const void *data,
			  size_t len, struct piece *piece)
{
	struct peer *peer = find_peer(allreduce, rank);

	if (peer == NULL || peer->endpoint == NULL || peer->endpoint->failed)
		return DOCA_ERROR_CONNECTION_ABORTED;
	struct send *send = take_send(allreduce);
	if (send == NULL)
		return DOCA_ERROR_NO_MEMORY;
	send->allreduce = allreduce;
	send->piece = piece;
	send->message = *message;
	send->message.key = peer->id;
	if (piece == NULL && len != 0)
		data = memcpy(send->data, data, len);
	const ucp_request_param_t param = {
		.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS | UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA,
		.flags = UCP_AM_SEND_FLAG_EAGER,
		.cb = {.send = send_done},
		.user_data = send,
	};
	ucs_status_ptr_t request =
		ucp_am_send_nbx(peer->endpoint->ep, AM_ID, &send->message, sizeof(send->message), data, len, &param);
	if (!UCS_PTR_IS_PTR(request))
		SLIST_INSERT_HEAD(&allreduce->network.free_sends, send, next);
	if (UCS_PTR_IS_ERR(request)) {
		peer->endpoint->failed = true;
		allreduce->network.side.num_failures++;
		return DOCA_ERROR_CONNECTION_ABORTED;
	}
	if (UCS_PTR_IS_PTR(request) && piece != NULL)
		piece->sends++;
	return DOCA_SUCCESS;
}
