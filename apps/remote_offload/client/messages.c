/* SPDX-License-Identifier: BSD-3-Clause */
#include "messages.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "remote_offload/frame.h"
#include "remote_offload/kernels.h"

DOCA_LOG_REGISTER(CLIENT::MESSAGES);

/* A ring is about this large, so that it stays in the cache. */
#define RING_BYTES (64U * 1024)
#define RING_FRAMES_MAX 1024U
/* With long messages a ring still has this many, which differ from each other. */
#define RING_FRAMES_MIN 4U
/* Longest answer of a function to a shorter request. */
#define ANSWER_ROOM 64U
/* Generated messages are the same in every run. */
#define SEED 0x9e3779b97f4a7c15ULL

#define KERNEL_ECHO OFFLOAD_FUNCTION_COUNT

static bool kernel_find(const char *name, uint32_t *kernel)
{
	static const char *const names[] = {
#define NAME(id, name_, function, answer_max) [OFFLOAD_##id] = name_,
		OFFLOAD_FUNCTIONS(NAME)
#undef NAME
			[KERNEL_ECHO] = "echo",
	};

	for (*kernel = 0; *kernel <= KERNEL_ECHO; (*kernel)++) {
		if (strcmp(name, names[*kernel]) == 0)
			return true;
	}
	DOCA_LOG_ERR("unknown kernel %s; see --help", name);
	return false;
}

static void fill_random(uint8_t *bytes, uint32_t len, uint64_t *state)
{
	for (uint32_t i = 0; i < len; i++) {
		*state ^= *state << 13; /* xorshift64 */
		*state ^= *state >> 7;
		*state ^= *state << 17;
		bytes[i] = (uint8_t)(*state >> 32);
	}
}

static doca_error_t rings_alloc(struct messages *messages, uint32_t request_len, uint32_t response_len)
{
	uint32_t larger = request_len > response_len ? request_len : response_len;
	uint32_t count = RING_BYTES / (larger + FRAME_OVERHEAD);

	count = count < RING_FRAMES_MIN ? RING_FRAMES_MIN : count;
	messages->count = count > RING_FRAMES_MAX ? RING_FRAMES_MAX : count;
	messages->request_size = request_len + FRAME_OVERHEAD;
	messages->response_size = response_len + FRAME_OVERHEAD;
	messages->requests = malloc((size_t)messages->count * messages->request_size);
	messages->echoed = malloc((size_t)messages->count * messages->response_size);
	messages->responses = malloc((size_t)messages->count * messages->response_size);
	if (messages->requests == NULL || messages->echoed == NULL || messages->responses == NULL) {
		messages_fini(messages);
		DOCA_LOG_ERR("out of memory for messages of %u bytes", larger);
		return DOCA_ERROR_NO_MEMORY;
	}
	return DOCA_SUCCESS;
}

static void pair_put(struct messages *messages, uint32_t at, const uint8_t *request, const uint8_t *response)
{
	uint8_t *sent = messages->requests + (size_t)at * messages->request_size;
	uint8_t *echoed = messages->echoed + (size_t)at * messages->response_size;
	uint8_t *answer = messages->responses + (size_t)at * messages->response_size;
	uint32_t response_len = messages->response_size - FRAME_OVERHEAD;

	frame_put_header(sent, FRAME_CLIENT_REQUEST, messages->request_size - FRAME_OVERHEAD);
	memcpy(sent + FRAME_OVERHEAD, request, messages->request_size - FRAME_OVERHEAD);
	frame_put_header(echoed, FRAME_CLIENT_REQUEST, response_len);
	memcpy(echoed + FRAME_OVERHEAD, response, response_len);
	frame_put_header(answer, FRAME_CLIENT_RESPONSE, response_len);
	memcpy(answer + FRAME_OVERHEAD, response, response_len);
}

static uint32_t kernel_run(uint32_t kernel, uint8_t *payload, uint32_t len)
{
	return kernel == KERNEL_ECHO ? len : offload_apply(kernel, payload, len, 0, 1);
}

static doca_error_t payload_generate(struct messages *messages, const struct client_config *config)
{
	uint32_t len = config->message_size, kernel;
	uint64_t state = SEED;
	uint8_t *request, *answer;
	doca_error_t result;

	if (!kernel_find(config->kernel, &kernel))
		return DOCA_ERROR_INVALID_VALUE;
	request = calloc(1, (size_t)len + ANSWER_ROOM);
	answer = calloc(1, (size_t)len + ANSWER_ROOM);
	result = request != NULL && answer != NULL ? rings_alloc(messages, len, kernel_run(kernel, answer, len))
						   : DOCA_ERROR_NO_MEMORY;
	for (uint32_t i = 0; result == DOCA_SUCCESS && i < messages->count; i++) {
		fill_random(request, len, &state);
		memcpy(answer, request, len);
		kernel_run(kernel, answer, len);
		pair_put(messages, i, request, answer);
	}
	free(request);
	free(answer);
	return result;
}

doca_error_t messages_init(struct messages *messages, const struct client_config *config)
{
	doca_error_t result;

	*messages = (struct messages){0};
	if (config->generate)
		return payload_generate(messages, config);
	result = rings_alloc(messages, (uint32_t)strlen(config->message), (uint32_t)strlen(config->expected));
	for (uint32_t i = 0; result == DOCA_SUCCESS && i < messages->count; i++)
		pair_put(messages, i, (const uint8_t *)config->message, (const uint8_t *)config->expected);
	return result;
}

void messages_fini(struct messages *messages)
{
	free(messages->requests);
	free(messages->echoed);
	free(messages->responses);
	*messages = (struct messages){0};
}
