/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of cards: SOFTFIELD_PROFILE=bluefield2|bluefield3 disables the features that the card lacks, according to public
 * sources. docs/profiles.md has the table with the sources. Without a profile, a device has all features.
 *
 * A library checks once, when its context is created or configured, never for each task:
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
	SF_PROFILE_COMCH_CLIENTS,  /* clients of one server */
	SF_PROFILE_COMCH_BUF_SIZE, /* bytes of one message of a producer */
	SF_PROFILE_RDMA_MSG_SIZE,
	SF_PROFILE_RDMA_QUEUE_SIZE,
	SF_PROFILE_RDMA_LIST_LEN,
	SF_PROFILE_LIMITS
};

/* A row of the table: the value for each card, and its source. */
struct sf_profile_row {
	const char *name;
	uint64_t value[SF_PROFILES]; /* of a feature: 1 if supported; of a limit: 0 if no public source states it */
	const char *source;
};

SF_API const struct sf_profile_row *sf_profile_feature_row(enum sf_profile_feature feature);
SF_API const struct sf_profile_row *sf_profile_limit_row(enum sf_profile_limit limit);

/* The profile of this process, read once. An unknown name is logged once and counts as NONE. */
SF_API enum sf_profile sf_profile_get(void);

/* The name as in SOFTFIELD_PROFILE; "none" for NONE. */
SF_API const char *sf_profile_name(enum sf_profile profile);

/* BAD_CONFIG, logged, if SOFTFIELD_PROFILE is invalid, so that no test passes under a misspelled profile. */
SF_API doca_error_t sf_profile_check(void);

/* Whether the card has the feature. Does not log, because programs probe one device after the other. */
SF_API bool sf_profile_has(enum sf_profile_feature feature);

/* For calls that need the feature: NOT_SUPPORTED, logged with the profile's name, if the card lacks it. */
SF_API doca_error_t sf_profile_require(enum sf_profile_feature feature);

/* The card's limit; ours if that is lower, or if no public source states the card's. */
SF_API uint64_t sf_profile_limit(enum sf_profile_limit limit, uint64_t ours);

#endif
