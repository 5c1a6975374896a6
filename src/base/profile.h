/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of cards: SOFTFIELD_PROFILE=bluefield2|bluefield3 takes away what that card lacks, as far as public sources state it.
 * docs/profiles.md has the table, with each source. Without a profile a device has all that Softfield has.
 *
 * A library asks once, when its context is created or configured, never for each task:
 *
 *     cap call:   return sf_profile_has(SF_PROFILE_AES_GCM) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
 *     set_conf:   result = sf_profile_require(SF_PROFILE_AES_GCM); if (result != DOCA_SUCCESS) return result;
 *     a limit:    *max = sf_profile_limit(SF_PROFILE_AES_GCM_BUF_SIZE, AES_GCM_LEN_MAX);
 */
#ifndef SF_BASE_PROFILE_H
#define SF_BASE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_error.h>

#include "base/visibility.h"

enum sf_profile { SF_PROFILE_NONE, SF_PROFILE_BLUEFIELD2, SF_PROFILE_BLUEFIELD3, SF_PROFILES };

enum sf_profile_feature {
	SF_PROFILE_DMA_MEMCPY,
	SF_PROFILE_SHA,
	SF_PROFILE_COMPRESS_DEFLATE,
	SF_PROFILE_DECOMPRESS_DEFLATE,
	SF_PROFILE_DECOMPRESS_LZ4,
	SF_PROFILE_ERASURE_CODING,
	SF_PROFILE_AES_GCM,
	SF_PROFILE_FEATURES
};

enum sf_profile_limit {
	SF_PROFILE_DMA_BUF_SIZE, /* bytes of one task */
	SF_PROFILE_DMA_LIST_LEN, /* buffers of one list */
	SF_PROFILE_SHA_BUF_SIZE,
	SF_PROFILE_COMPRESS_BUF_SIZE,
	SF_PROFILE_DECOMPRESS_BUF_SIZE,
	SF_PROFILE_ERASURE_CODING_BLOCK_SIZE,
	SF_PROFILE_AES_GCM_BUF_SIZE,
	SF_PROFILE_COMCH_MSG_SIZE, /* bytes of one control message */
	SF_PROFILE_COMCH_CLIENTS,  /* of one server */
	SF_PROFILE_COMCH_BUF_SIZE, /* bytes of one message of a producer */
	SF_PROFILE_RDMA_MSG_SIZE,
	SF_PROFILE_RDMA_QUEUE_SIZE,
	SF_PROFILE_RDMA_LIST_LEN,
	SF_PROFILE_LIMITS
};

/* A line of the table: what each card has, and the source of that. */
struct sf_profile_row {
	const char *name;
	uint64_t value[SF_PROFILES]; /* of a feature: whether it is there. Of a limit: 0 where no public source states it */
	const char *source;
};

SF_API const struct sf_profile_row *sf_profile_feature_row(enum sf_profile_feature feature);
SF_API const struct sf_profile_row *sf_profile_limit_row(enum sf_profile_limit limit);

/* The profile of this process, read once. One that does not exist is logged, once, and is NONE here. */
SF_API enum sf_profile sf_profile_get(void);

/* As SOFTFIELD_PROFILE has it; "none" for NONE. */
SF_API const char *sf_profile_name(enum sf_profile profile);

/* BAD_CONFIG, logged: SOFTFIELD_PROFILE names no profile. So that nobody believes that a program passed under it. */
SF_API doca_error_t sf_profile_check(void);

/* Whether the card has it. Silent: programs ask one device after the other. */
SF_API bool sf_profile_has(enum sf_profile_feature feature);

/* For the call that would use it: NOT_SUPPORTED, logged with the profile's name, where the card lacks it. */
SF_API doca_error_t sf_profile_require(enum sf_profile_feature feature);

/* The card's limit, or ours where it is lower or no public source states the card's. */
SF_API uint64_t sf_profile_limit(enum sf_profile_limit limit, uint64_t ours);

#endif
