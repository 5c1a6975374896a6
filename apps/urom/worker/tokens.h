/* SPDX-License-Identifier: BSD-3-Clause */
/* Tokens of clients that the daemon has admitted. */
#ifndef UROM_WORKER_TOKENS_H
#define UROM_WORKER_TOKENS_H

#include <stdbool.h>

#include "worker.h"

/* Keeps one; the oldest goes when there are WORKER_TOKENS_MAX. */
void tokens_add(struct worker *worker, const uint8_t token[UROM_TOKEN_SIZE]);
/* Returns whether it was there. A token is good for one client. */
bool tokens_use(struct worker *worker, const void *token, size_t len);

#endif
