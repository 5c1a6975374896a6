/* SPDX-License-Identifier: BSD-3-Clause */
#include "tokens.h"

#include <string.h>

#include "urom/auth.h"
#include "worker.h"

void tokens_add(struct worker *worker, const uint8_t token[UROM_TOKEN_SIZE])
{
	if (worker->num_tokens == WORKER_TOKENS_MAX) { /* the client of the oldest never came */
		memmove(worker->tokens[0], worker->tokens[1], sizeof(worker->tokens[0]) * (WORKER_TOKENS_MAX - 1));
		worker->num_tokens--;
	}
	memcpy(worker->tokens[worker->num_tokens++], token, UROM_TOKEN_SIZE);
}

bool tokens_use(struct worker *worker, const void *token, size_t len)
{
	for (uint32_t i = 0; i < worker->num_tokens && len == UROM_TOKEN_SIZE; i++) {
		if (!urom_bytes_equal(worker->tokens[i], token, UROM_TOKEN_SIZE))
			continue;
		memcpy(worker->tokens[i], worker->tokens[--worker->num_tokens], UROM_TOKEN_SIZE);
		return true;
	}
	return false;
}
