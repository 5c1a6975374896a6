/* SPDX-License-Identifier: BSD-3-Clause */
/* An AES-GCM context, its keys and its tasks. */
#ifndef AES_GCM_AES_GCM_H
#define AES_GCM_AES_GCM_H

#include <doca_aes_gcm.h>

#include "aes_gcm/cipher.h"
#include "core/offload.h"
#include "mem/reg_cache.h"

/* The limits of AES-GCM, which the capability calls report. */
#define AES_GCM_TASKS_MAX 65536 /* of both types together */
#define AES_GCM_LIST_MAX SF_REG_LIST_MAX
#define AES_GCM_LEN_MAX (UINT64_C(2) << 20)	/* bytes of a source; programs allocate this much for a destination */
#define AES_GCM_SLICE (UINT64_C(256) << 10)	/* bytes of a task that one progress call processes */
#define AES_GCM_ENGINE_MIN (UINT64_C(64) << 10) /* bytes from which an engine thread pays off */

/* One cipher for each thread that uses the key: first the ctx's, then the engine's. */
struct doca_aes_gcm_key {
	struct doca_aes_gcm *aes_gcm;
	uint32_t num_ciphers;
	struct aes_gcm_cipher ciphers[];
};

/* Common to both types of task. */
struct aes_gcm_task {
	struct doca_task base;
	const struct doca_buf *src;
	struct doca_buf *dst;
	struct doca_aes_gcm_key *key;
	const uint8_t *iv; /* in the program's memory; copied at submit */
	uint32_t iv_len, tag_size, aad_size;
	bool key_suits;	    /* key is of the task's context; one of another context may be destroyed before the task is checked */
	uint32_t nonce_len; /* of nonce; 0: the program's IV is invalid */
	bool encrypts;
	uint64_t done;		       /* bytes of the source that earlier slices processed, or AES_GCM_REFUSED */
	uint8_t nonce[AES_GCM_IV_MAX]; /* the IV of this submit */
	uint8_t tag[AES_GCM_TAG_MAX];  /* decrypt: the part of the source's tag that earlier slices read */
};

#define AES_GCM_REFUSED UINT64_MAX /* the submit has rejected the task, logged why, and set its status */

struct doca_aes_gcm_task_encrypt {
	struct aes_gcm_task common;
};

struct doca_aes_gcm_task_decrypt {
	struct aes_gcm_task common;
};

/* A task in a context whose device has engine threads. */
struct aes_gcm_engine_task {
	struct aes_gcm_task common;
	struct sf_offload_job job;
	struct sf_reg_list from, to;
};

enum { AES_GCM_ENCRYPT_POOL, AES_GCM_DECRYPT_POOL, AES_GCM_POOLS };

struct doca_aes_gcm {
	struct doca_ctx ctx;
	struct doca_dev *dev;
	struct sf_task_pool pools[AES_GCM_POOLS];
	struct sf_offload offload;
	struct sf_reg_cache reg_cache;
	uint32_t num_keys;
	uint8_t *scratch; /* while it runs: AES_GCM_SCRATCH_SIZE bytes for each thread, as a key's ciphers */
};

/* Buffer of a thread for output that must not be written yet. */
#define AES_GCM_PAGE 4096
#define AES_GCM_SCRATCH_SIZE (AES_GCM_LEN_MAX + 2 * AES_GCM_PAGE) /* the longest source and a tag, at any page offset */

/* The number of threads: the ctx's and the engine's. */
uint32_t aes_gcm_num_threads(const struct doca_aes_gcm *aes_gcm);

/* Execution of the tasks. */
extern const struct sf_offload_ops aes_gcm_task_ops;
doca_error_t aes_gcm_submit(struct doca_task *base, uint32_t flags);
doca_error_t aes_gcm_validate(const struct doca_task *base);

/* ---- for both types of task ---- */

doca_error_t aes_gcm_task_configure(struct doca_aes_gcm *aes_gcm, int pool, doca_task_completion_cb_t completed,
				    doca_task_completion_cb_t failed, uint32_t num_tasks);

/* The arguments of both alloc_init functions, except the output. */
struct aes_gcm_arguments {
	const struct doca_buf *src;
	struct doca_buf *dst;
	struct doca_aes_gcm_key *key;
	const uint8_t *iv;
	uint32_t iv_len, tag_size, aad_size;
	union doca_data user_data;
};

doca_error_t aes_gcm_task_alloc(struct doca_aes_gcm *aes_gcm, int pool, const struct aes_gcm_arguments *arguments,
				struct aes_gcm_task **task);

/* Implement the setters of both types; setter is the public function's name. With task NULL or in flight they only log. */
void aes_gcm_task_set_src(struct aes_gcm_task *task, const struct doca_buf *src, const char *setter);
void aes_gcm_task_set_dst(struct aes_gcm_task *task, struct doca_buf *dst, const char *setter);
void aes_gcm_task_set_key(struct aes_gcm_task *task, struct doca_aes_gcm_key *key, const char *setter);
void aes_gcm_task_set_iv(struct aes_gcm_task *task, const uint8_t *iv, uint32_t iv_len, const char *setter);
void aes_gcm_task_set_tag_size(struct aes_gcm_task *task, uint32_t tag_size, const char *setter);
void aes_gcm_task_set_aad_size(struct aes_gcm_task *task, uint32_t aad_size, const char *setter);

#endif
