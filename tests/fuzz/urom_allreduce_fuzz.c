/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that the parts of the allreduce plugin and its workers read from each other. An accepted message lies where its
 * receiver reads. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../../plugins/allreduce/allreduce_proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_shape(const struct allreduce_shape *shape)
{
	assert(shape->num_ranks != 0 && shape->num_ranks <= ALLREDUCE_RANKS_MAX && shape->type < ALLREDUCE_TYPES);
	assert(shape->op < ALLREDUCE_OPS && shape->algorithm < ALLREDUCE_ALGORITHMS && shape->piece_max <= ALLREDUCE_PIECE_MAX);
	assert(shape->total != 0 && shape->total % allreduce_element_size(shape->type) == 0);
}

static void check_place(const struct allreduce_place *place, uint64_t total)
{
	assert(place->send != 0 && place->send <= UINT64_MAX - total && place->receive != 0 &&
	       place->receive <= UINT64_MAX - total);
}

static void try_command(const uint8_t *data, size_t size)
{
	struct allreduce_command command;
	struct allreduce_attach attach;
	struct allreduce_vector vector;
	const void *body;
	size_t len;

	if (allreduce_command_parse(data, size, &command, &body, &len) != DOCA_SUCCESS)
		return;
	assert((const uint8_t *)body >= data && (const uint8_t *)body + len == data + size);
	if (command.kind == ALLREDUCE_ATTACH && allreduce_attach_parse(body, len, &attach) == DOCA_SUCCESS)
		assert(attach.process > 1 && attach.board != 0);
	if (command.kind == ALLREDUCE_PIECE) {
		check_shape(&command.shape);
		assert(command.offset < command.shape.total && len <= command.shape.total - command.offset &&
		       len <= command.shape.piece_max);
	}
	if (command.kind != ALLREDUCE_VECTOR)
		return;
	check_shape(&command.shape);
	if (allreduce_vector_parse(body, len, &command.shape, &vector) == DOCA_SUCCESS && vector.attachment != 0)
		check_place(&vector.place, command.shape.total);
}

static void try_message(const uint8_t *data, size_t size)
{
	struct allreduce_message message;
	struct allreduce_offer offer;

	if (size < sizeof(message))
		return;
	uint64_t key;
	memcpy(&key, data + offsetof(struct allreduce_message, key), sizeof(key));
	size_t len = size - sizeof(message);
	assert(allreduce_message_parse(data, sizeof(message), len, key + 1, &message) != DOCA_SUCCESS);
	if (allreduce_message_parse(data, sizeof(message), len, key, &message) != DOCA_SUCCESS)
		return;
	if (message.kind == ALLREDUCE_DATA || message.kind >= ALLREDUCE_OFFER) {
		check_shape(&message.shape);
		assert(message.source < message.shape.num_ranks);
	}
	if (message.kind == ALLREDUCE_OFFER &&
	    allreduce_offer_parse(data + sizeof(message), len, &message.shape, &offer) == DOCA_SUCCESS && offer.attachment != 0)
		check_place(&offer.place, message.shape.total);
}

static void try_answers(const uint8_t *data, size_t size)
{
	struct allreduce_attached attached;
	struct allreduce_done done;
	struct allreduce_address address;
	const void *ucp;

	(void)allreduce_attached_parse(data, size, &attached);
	(void)allreduce_done_parse(data, size, &done);
	if (allreduce_address_parse(data, size, &address, &ucp) == DOCA_SUCCESS)
		assert((const uint8_t *)ucp + address.len <= data + size);
	if (size >= sizeof(uint64_t)) {
		uint64_t status;

		memcpy(&status, data, sizeof(status));
		assert(allreduce_known_error(status) != DOCA_SUCCESS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = (uint8_t *)malloc(size + 1); /* so that a read beyond the end is detected */

	memcpy(copy, data, size);
	try_command(copy, size);
	try_message(copy, size);
	try_answers(copy, size);
	free(copy);
	return 0;
}
