/* SPDX-License-Identifier: BSD-3-Clause */
#include "control_message.h"

#include <stdio.h>

#include "big_endian.h"

#define HEADER_SIZE 8
#define EXCHANGE_SIZE (HEADER_SIZE + 4)
#define TERMS_SIZE 20		/* of version 1 */
#define TERMS_SIZE_BATCH 24	/* of version 2, with batch_bytes */
#define TERMS_MAGIC 0x5346524fu /* "SFRO" */
#define TERMS_VERSION 1		/* the lowest supported */
#define TERMS_VERSION_BATCH 2

static uint8_t *word_put(uint8_t *at, uint32_t value)
{
	big_put32(at, value);
	return at + sizeof(value);
}

static bool is_exchange(uint32_t id)
{
	return id == CONTROL_EXCHANGE_CONSUMER_ID_REQUEST || id == CONTROL_EXCHANGE_CONSUMER_ID_RESPONSE;
}

uint32_t control_message_pack(const struct control_message *message, uint8_t *buffer)
{
	bool exchange = is_exchange(message->id);
	uint8_t *at = word_put(buffer, exchange ? EXCHANGE_SIZE : HEADER_SIZE);

	at = word_put(at, message->id);
	if (exchange)
		at = word_put(at, message->consumer_id);
	if (message->has_terms) {
		at = word_put(at, TERMS_MAGIC);
		at = word_put(at, TERMS_VERSION_BATCH);
		at = word_put(at, message->terms.queues);
		at = word_put(at, message->terms.max_concurrent_messages);
		at = word_put(at, message->terms.max_message_length);
		at = word_put(at, message->terms.batch_bytes);
	}
	return (uint32_t)(at - buffer);
}

/* Terms of a later version keep these fields in front. */
static void unpack_terms(const uint8_t *at, size_t len, struct control_message *message)
{
	bool batch;

	if (len < TERMS_SIZE || big_get32(at) != TERMS_MAGIC || big_get32(at + 4) < TERMS_VERSION)
		return;
	batch = big_get32(at + 4) >= TERMS_VERSION_BATCH;
	if (batch && len < TERMS_SIZE_BATCH)
		return;
	message->has_terms = true;
	message->terms.queues = big_get32(at + 8);
	message->terms.max_concurrent_messages = big_get32(at + 12);
	message->terms.max_message_length = big_get32(at + 16);
	message->terms.batch_bytes = batch ? big_get32(at + 20) : 0;
}

/* bytes is private: no other process can write to it. */
static const char *message_unpack(const uint8_t *bytes, size_t len, struct control_message *message)
{
	uint32_t size = big_get32(bytes), id = big_get32(bytes + 4);

	if (size < HEADER_SIZE || size > len)
		return "its size field contradicts its length";
	if (id > CONTROL_EXCHANGE_CONSUMER_ID_RESPONSE)
		return "unknown id";
	message->id = (enum control_message_id)id;
	if (!is_exchange(id))
		return NULL;
	if (size != EXCHANGE_SIZE)
		return "not the size of a consumer id exchange";
	message->consumer_id = big_get32(bytes + HEADER_SIZE);
	unpack_terms(bytes + size, len - size, message);
	return NULL;
}

const char *control_message_unpack(const uint8_t *bytes, size_t len, struct control_message *message)
{
	uint8_t copy[CONTROL_MESSAGE_MAX];

	memset(message, 0, sizeof(*message));
	if (len < HEADER_SIZE)
		return "shorter than a header";
	/* The peer may still write to the message, so it is copied once. All fields lie in these first bytes. */
	memcpy(copy, bytes, len < sizeof(copy) ? len : sizeof(copy));
	return message_unpack(copy, len, message);
}

bool control_terms_match(const struct control_terms *server, const struct control_terms *orchestrator, char *why, size_t why_size)
{
	if (server->queues != orchestrator->queues) {
		snprintf(why, why_size,
			 "the server has %u --cpu and the orchestrator --num-gpu-threads %u: start both with the same number",
			 server->queues, orchestrator->queues);
		return false;
	}
	if (server->max_message_length != orchestrator->max_message_length) {
		snprintf(why, why_size,
			 "the server has --max-message-length %u and the orchestrator %u: start both with the same length",
			 server->max_message_length, orchestrator->max_message_length);
		return false;
	}
	return true;
}
