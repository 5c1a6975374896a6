/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the AES-GCM samples: a started context with a key, an input and an output buffer. */
#ifndef SAMPLES_AES_GCM_COMMON_H
#define SAMPLES_AES_GCM_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_aes_gcm.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#define INPUT_ROOM 4096
#define TAG_SIZE 16
#define OUTPUT_ROOM (INPUT_ROOM + TAG_SIZE)
#define HEADER "sample" /* the AAD: readable, but protected against changes */

/* Real programs exchange them securely. An IV must never be used twice with one key. */
extern const uint8_t sample_key[32], sample_iv[12];

struct safe {
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_aes_gcm *aes_gcm;
	struct doca_aes_gcm_key *key;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_buf *input, *output; /* in memory: the input at its beginning, then the output */
	uint8_t memory[INPUT_ROOM + OUTPUT_ROOM];
	bool ended;
	doca_error_t status; /* of the completed task */
};

/* Does all but the task's configuration, the start and the key. Prints errors. */
doca_error_t safe_open(struct safe *safe, const void *input, size_t len);
void safe_close(struct safe *safe);

/* Starts the context and creates the key. */
doca_error_t safe_start(struct safe *safe);

/* Submits a task and waits for its completion; the callback must set safe->ended and safe->status. */
doca_error_t safe_run(struct safe *safe, struct doca_task *task);

/* Returns the data of the output buffer. */
const uint8_t *safe_output(const struct safe *safe, size_t *len);

#endif
