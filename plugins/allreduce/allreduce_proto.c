/* SPDX-License-Identifier: BSD-3-Clause */
#include "allreduce_proto.h"

#include <string.h>

#define RING_MIN 32768			/* bytes of a piece: below, the many messages of a ring cost more than it gains */
#define ADDRESS_MAX (UINT64_C(1) << 47) /* end of a process's address space */

uint32_t allreduce_element_size(uint8_t type)
{
	return type == ALLREDUCE_FLOAT || type == ALLREDUCE_INT32 ? 4 : 8;
}

enum allreduce_algorithm allreduce_piece_algorithm(const struct allreduce_shape *shape)
{
	uint64_t largest = shape->total < shape->piece_max ? shape->total : shape->piece_max;

	return largest >= RING_MIN && shape->num_ranks > 2 ? ALLREDUCE_RING : ALLREDUCE_TREE;
}

doca_error_t allreduce_known_error(uint64_t status)
{
	return status > DOCA_SUCCESS && status <= DOCA_ERROR_DEVICE_FATAL_ERROR ? (doca_error_t)status : DOCA_ERROR_UNEXPECTED;
}

bool allreduce_tls_allows_memory(const char *tls)
{
	static const char *const names[] = {"cma", "sm", "shm"};
	bool negated = tls != NULL && tls[0] == '^', named = tls == NULL;

	for (const char *at = tls != NULL ? tls + negated : ""; *at != '\0' && !named;
	     at += strcspn(at, ",") + (at[strcspn(at, ",")] != '\0')) {
		size_t len = strcspn(at, ",");
		named = !negated && len == 3 && strncmp(at, "all", len) == 0;
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			named |= len == strlen(names[i]) && strncmp(at, names[i], len) == 0;
	}
	return named != negated;
}

/* ---- parts ---- */

static bool is_shape(const struct allreduce_shape *shape)
{
	return shape->num_ranks != 0 && shape->num_ranks <= ALLREDUCE_RANKS_MAX && shape->type < ALLREDUCE_TYPES &&
	       shape->op < ALLREDUCE_OPS && shape->algorithm < ALLREDUCE_ALGORITHMS && shape->piece_max >= ALLREDUCE_PIECE_MIN &&
	       shape->piece_max <= ALLREDUCE_PIECE_MAX && shape->piece_max % ALLREDUCE_PIECE_MIN == 0 && shape->total != 0 &&
	       shape->total < ADDRESS_MAX && shape->total % allreduce_element_size(shape->type) == 0;
}

/* The offset is a multiple of the piece length, and each piece but the last has that length. */
static bool is_piece(const struct allreduce_shape *shape, uint64_t offset, size_t len)
{
	uint64_t left = offset < shape->total ? shape->total - offset : 0;

	return is_shape(shape) && (shape->algorithm == ALLREDUCE_TREE || shape->algorithm == ALLREDUCE_RING) &&
	       offset % shape->piece_max == 0 && len != 0 && len == (left < shape->piece_max ? left : shape->piece_max);
}

static bool is_range(uint64_t address, uint64_t len)
{
	return address != 0 && address < ADDRESS_MAX && len <= ADDRESS_MAX - address;
}

static bool is_place(const struct allreduce_place *place, uint64_t total)
{
	return is_range(place->send, total) && is_range(place->receive, total) &&
	       is_range(place->guard, sizeof(struct allreduce_guard)) && place->guard % sizeof(uint64_t) == 0 &&
	       place->serial != 0;
}

static bool is_process(uint64_t process, uint64_t board)
{
	return process > 1 && process <= INT32_MAX && is_range(board, sizeof(struct allreduce_board)) &&
	       board % sizeof(uint64_t) == 0;
}

static doca_error_t parse_verdict(bool good)
{
	return good ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* ---- commands ---- */

static bool is_command(const struct allreduce_command *command, size_t body_len)
{
	const struct allreduce_shape *shape = &command->shape;

	switch (command->kind) {
	case ALLREDUCE_PIECE:
		return is_piece(shape, command->offset, body_len) && command->rank < shape->num_ranks;
	case ALLREDUCE_VECTOR:
		return is_shape(shape) && command->rank < shape->num_ranks && body_len == sizeof(struct allreduce_vector);
	case ALLREDUCE_CANCEL:
		return shape->num_ranks <= ALLREDUCE_RANKS_MAX && command->rank < shape->num_ranks && body_len == 0;
	case ALLREDUCE_ATTACH:
		return body_len == sizeof(struct allreduce_attach);
	case ALLREDUCE_PROVE:
	case ALLREDUCE_DETACH:
		return body_len == 0;
	default:
		return false;
	}
}

doca_error_t allreduce_command_parse(const void *data, size_t len, struct allreduce_command *command, const void **body,
				     size_t *body_len)
{
	if (len < sizeof(*command))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(command, data, sizeof(*command));
	*body = (const uint8_t *)data + sizeof(*command);
	*body_len = len - sizeof(*command);
	return parse_verdict(is_command(command, *body_len));
}

doca_error_t allreduce_attach_parse(const void *body, size_t len, struct allreduce_attach *attach)
{
	if (len != sizeof(*attach))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(attach, body, sizeof(*attach));
	return parse_verdict(is_process(attach->process, attach->board));
}

doca_error_t allreduce_vector_parse(const void *body, size_t len, const struct allreduce_shape *shape,
				    struct allreduce_vector *vector)
{
	if (len != sizeof(*vector))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(vector, body, sizeof(*vector));
	return parse_verdict(vector->attachment == 0 || is_place(&vector->place, shape->total));
}

/* ---- answers ---- */

doca_error_t allreduce_attached_parse(const void *data, size_t len, struct allreduce_attached *attached)
{
	if (data == NULL || len != sizeof(*attached))
		return DOCA_ERROR_UNEXPECTED;
	memcpy(attached, data, sizeof(*attached));
	return attached->attachment != 0 && attached->worker <= INT32_MAX && attached->daemon <= INT32_MAX
		       ? DOCA_SUCCESS
		       : DOCA_ERROR_UNEXPECTED;
}

doca_error_t allreduce_done_parse(const void *data, size_t len, struct allreduce_done *done)
{
	if (data == NULL || len != sizeof(*done))
		return DOCA_ERROR_UNEXPECTED;
	memcpy(done, data, sizeof(*done));
	if (done->as_pieces > 1 || done->algorithm >= ALLREDUCE_AUTO ||
	    (done->as_pieces != 0 && done->algorithm == ALLREDUCE_DIRECT))
		return DOCA_ERROR_UNEXPECTED;
	return DOCA_SUCCESS;
}

/* ---- messages ---- */

static bool is_message(const struct allreduce_message *message, size_t data_len)
{
	const struct allreduce_shape *shape = &message->shape;

	switch (message->kind) {
	case ALLREDUCE_HANDSHAKE:
		return data_len == 0;
	case ALLREDUCE_DATA: /* a part of a piece, possibly empty */
		return is_shape(shape) && shape->algorithm <= ALLREDUCE_RING && message->source < shape->num_ranks &&
		       message->offset < shape->total && message->offset % shape->piece_max == 0 &&
		       data_len <= shape->piece_max && data_len % allreduce_element_size(shape->type) == 0;
	case ALLREDUCE_ABORT:
		return message->source < ALLREDUCE_RANKS_MAX && data_len == 0;
	case ALLREDUCE_OFFER:
	case ALLREDUCE_CHALLENGE:
	case ALLREDUCE_PROOF:
	case ALLREDUCE_VERDICT:
	case ALLREDUCE_LEFT:
		return is_shape(shape) && shape->num_ranks <= ALLREDUCE_DIRECT_RANKS_MAX && message->source < shape->num_ranks &&
		       data_len == (message->kind == ALLREDUCE_OFFER	   ? sizeof(struct allreduce_offer)
				    : message->kind == ALLREDUCE_CHALLENGE ? ALLREDUCE_NUMBER_SIZE
									   : 0);
	default:
		return false;
	}
}

doca_error_t allreduce_message_parse(const void *head, size_t head_len, size_t data_len, uint64_t key,
				     struct allreduce_message *message)
{
	if (head_len != sizeof(*message))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(message, head, sizeof(*message));
	return parse_verdict(message->key == key && is_message(message, data_len));
}

doca_error_t allreduce_offer_parse(const void *data, size_t len, const struct allreduce_shape *shape,
				   struct allreduce_offer *offer)
{
	if (len != sizeof(*offer))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(offer, data, sizeof(*offer));
	return parse_verdict(offer->attachment == 0 ||
			     (is_process(offer->process, offer->board) && is_place(&offer->place, shape->total)));
}

doca_error_t allreduce_address_parse(const void *data, size_t room, struct allreduce_address *address, const void **ucp)
{
	if (room < sizeof(*address))
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(address, data, sizeof(*address));
	*ucp = (const uint8_t *)data + offsetof(struct allreduce_address, ucp);
	return parse_verdict(address->len != 0 && address->len <= room - offsetof(struct allreduce_address, ucp));
}
