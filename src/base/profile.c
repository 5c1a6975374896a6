/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/profile.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/nearest_word.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define UNSTATED "no public figure found"

static const char *const names[] = {"none", "bluefield2", "bluefield3", NULL};

_Static_assert(sizeof(names) / sizeof(names[0]) == SF_PROFILES + 1, "a name for each profile");

/* The columns: Softfield without a profile, BlueField-2, BlueField-3. */
static const struct sf_profile_row features[SF_PROFILE_FEATURES] = {
	[SF_PROFILE_DMA_MEMCPY] = {"DMA memcpy", {1, 1, 1}, "dma-guide"},
	[SF_PROFILE_SHA] = {"SHA, one-shot and partial", {1, 1, 0}, "sha-guide"},
	[SF_PROFILE_COMPRESS_DEFLATE] = {"compress deflate", {1, 1, 0}, "compress-guide"},
	[SF_PROFILE_DECOMPRESS_DEFLATE] = {"decompress deflate", {1, 1, 1}, "compress-guide"},
	[SF_PROFILE_DECOMPRESS_LZ4] = {"decompress LZ4, stream and block", {1, 0, 1}, "compress-guide"},
	[SF_PROFILE_ERASURE_CODING] = {"erasure coding", {1, 0, 1}, "erasure-guide"},
	[SF_PROFILE_AES_GCM] = {"AES-GCM", {1, 0, 1}, "aes-gcm-guide"},
};

static const struct sf_profile_row limits[SF_PROFILE_LIMITS] = {
	[SF_PROFILE_DMA_BUF_SIZE] = {"bytes of a DMA task", {2 * GIB, 2 * MIB, 2 * MIB}, "dma-size"},
	[SF_PROFILE_DMA_LIST_LEN] = {"buffers of a DMA list", {64, 64, 64}, "dma-list"},
	[SF_PROFILE_SHA_BUF_SIZE] = {"bytes of a SHA task", {2 * GIB, 0, 0}, UNSTATED},
	[SF_PROFILE_COMPRESS_BUF_SIZE] = {"bytes of a compress task", {128 * MIB, 0, 0}, UNSTATED},
	[SF_PROFILE_DECOMPRESS_BUF_SIZE] = {"bytes of a decompress task", {128 * MIB, 0, 0}, UNSTATED},
	[SF_PROFILE_ERASURE_CODING_BLOCK_SIZE] = {"bytes of an erasure coding block", {4 * MIB, 0, 0}, UNSTATED},
	[SF_PROFILE_AES_GCM_BUF_SIZE] = {"bytes of an AES-GCM task", {2 * MIB, 0, 0}, UNSTATED},
	[SF_PROFILE_COMCH_MSG_SIZE] = {"bytes of a Comch message", {4080, 4080, 4080}, "comch-msg"},
	[SF_PROFILE_COMCH_CLIENTS] = {"clients of a Comch server", {8192, 0, 0}, UNSTATED},
	[SF_PROFILE_COMCH_BUF_SIZE] = {"bytes of a producer's message", {GIB, GIB, GIB}, "comch-guide"},
	[SF_PROFILE_RDMA_MSG_SIZE] = {"bytes of an RDMA message", {2 * GIB, GIB, GIB}, "rdma-msg"},
	[SF_PROFILE_RDMA_QUEUE_SIZE] = {"tasks of an RDMA queue", {32768, 32768, 32768}, "rdma-caps"},
	[SF_PROFILE_RDMA_LIST_LEN] = {"buffers of an RDMA list", {16, 30, 30}, "rdma-caps"},
};

static enum sf_profile profile;
static doca_error_t profile_status;
static pthread_once_t profile_once = PTHREAD_ONCE_INIT;

static void profile_read(void)
{
	const char *text = secure_getenv("SOFTFIELD_PROFILE");

	if (text == NULL || text[0] == '\0')
		return;
	for (int i = 0; i < SF_PROFILES; i++) {
		if (strcmp(text, names[i]) == 0) {
			profile = (enum sf_profile)i;
			return;
		}
	}
	const char *nearest = sf_nearest_word(text, names, 0);

	SF_LOG_ERR("SOFTFIELD_PROFILE is %.48s, which is not a profile: %s%s", text, nearest != NULL ? "did you mean " : "use ",
		   nearest != NULL ? nearest : "bluefield2, bluefield3 or none");
	profile_status = DOCA_ERROR_BAD_CONFIG;
}

enum sf_profile sf_profile_get(void)
{
	pthread_once(&profile_once, profile_read);
	return profile;
}

doca_error_t sf_profile_check(void)
{
	pthread_once(&profile_once, profile_read);
	return profile_status;
}

const char *sf_profile_name(enum sf_profile which)
{
	return names[which];
}

const struct sf_profile_row *sf_profile_feature_row(enum sf_profile_feature feature)
{
	return &features[feature];
}

const struct sf_profile_row *sf_profile_limit_row(enum sf_profile_limit limit)
{
	return &limits[limit];
}

bool sf_profile_has(enum sf_profile_feature feature)
{
	return features[feature].value[sf_profile_get()] != 0;
}

doca_error_t sf_profile_require(enum sf_profile_feature feature)
{
	if (sf_profile_has(feature))
		return DOCA_SUCCESS;
	SF_LOG_ERR("the profile %s (SOFTFIELD_PROFILE) has no %s: check the capability first, and provide an alternative",
		   names[profile], features[feature].name);
	return DOCA_ERROR_NOT_SUPPORTED;
}

uint64_t sf_profile_limit(enum sf_profile_limit limit, uint64_t ours)
{
	uint64_t stated = sf_profile_get() != SF_PROFILE_NONE ? limits[limit].value[profile] : 0;

	return stated != 0 && stated < ours ? stated : ours;
}
