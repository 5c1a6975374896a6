/* SPDX-License-Identifier: BSD-3-Clause */
/* Tokens of clients that the daemon has admitted. */
#ifndef UROM_WORKER_TOKENS_H
#define UROM_WORKER_TOKENS_H

#include <stdbool.h>

#include "worker.h"

/* Adds a token; drops the oldest beyond WORKER_TOKENS_MAX. */
void tokens_add(struct worker *worker, const uint8_t token[UROM_TOKEN_SIZE]);
/* Removes a token and returns whether it was there. A token is valid for one client. */
bool tokens_use(struct worker *worker, const void *token, size_t len);

#endif
