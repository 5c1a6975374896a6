/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_aes_gcm.h
 * AES-GCM: authenticated encryption of messages in memory maps, this process's own or imported ones.
 *
 *     doca_aes_gcm_create(dev, &aes_gcm);
 *     doca_pe_connect_ctx(pe, doca_aes_gcm_as_ctx(aes_gcm));
 *     doca_aes_gcm_task_encrypt_set_conf(aes_gcm, encrypted, failed, 16);      // 16 tasks
 *     doca_ctx_start(doca_aes_gcm_as_ctx(aes_gcm));                            // DOCA_SUCCESS: it is RUNNING
 *     doca_aes_gcm_key_create(aes_gcm, bytes, DOCA_AES_GCM_KEY_256, &key);
 *     doca_aes_gcm_task_encrypt_alloc_init(aes_gcm, src, dst, key, iv, 12, 16, 20, user_data, &task);
 *     doca_task_submit(doca_aes_gcm_task_encrypt_as_task(task));               // then doca_pe_progress() until a callback
 *
 * Both tasks read the data sections of the source's list and append to the data section of the destination:
 *
 *     encrypt:  source  AAD | plaintext           destination  AAD | ciphertext | tag
 *     decrypt:  source  AAD | ciphertext | tag    destination  AAD | plaintext
 *
 * The AAD (additional authenticated data) is the first aad_size bytes. It is authenticated and copied, not encrypted. AAD and
 * plaintext may be empty. Source and destination should not overlap.
 *
 * The IV must never be used twice with one key. The task keeps the pointer to it, and reads the bytes when it is submitted.
 * A length of 0 means 12 zero bytes; 1 to 11 bytes are hashed, as in NIST SP 800-38D.
 *
 * doca_task_try_submit() rejects a wrong task with DOCA_ERROR_INVALID_VALUE; doca_task_submit() does not check, and the error
 * callback reports the status:
 *
 * - DOCA_ERROR_IO_FAILED: decrypt: the tag does not match; or the exporter of imported memory died, destroyed its memory map, or
 *   does not answer
 * - DOCA_ERROR_INVALID_VALUE: a source that is shorter than AAD and tag or exceeds the capabilities, too little room in the
 *   destination, a buffer outside its memory map, a memory map without the device, a missing key, a key of another context, or a
 *   wrong size of IV or tag
 * - DOCA_ERROR_NOT_PERMITTED: a memory map's access flags or a read-only export forbid it
 * - DOCA_ERROR_NOT_SUPPORTED: GPU memory that no CPU can access
 * - DOCA_ERROR_DRIVER: libcrypto failed
 * - DOCA_ERROR_BAD_STATE: flushed, because the context was stopped or another task failed first
 *
 * A decrypt task whose tag does not match writes nothing. A failed task takes its context to STOPPING and flushes the tasks
 * behind it.
 *
 * libcrypto encrypts and decrypts in doca_pe_progress(), in the order of submission. If the device has engine threads (the
 * topology's `engine_threads`), they process large messages, which may complete out of order. A context and its keys belong to
 * the thread of its progress engine. (Core guide, "DOCA Execution Model"; task functions: doca_pe.h)
 *
 * A setter of a task in flight changes nothing and logs a line.
 *
 * @retval DOCA_ERROR_INVALID_VALUE *_set_conf: both types together have more tasks than doca_aes_gcm_cap_get_max_num_tasks()
 * @retval DOCA_ERROR_NOT_SUPPORTED *_set_conf, *_supported: the profile (SOFTFIELD_PROFILE) has no AES-GCM
 * @retval DOCA_ERROR_BAD_STATE *_set_conf: the context is not IDLE
 * @retval DOCA_ERROR_INVALID_VALUE *_alloc_init: iv_length is above 12, or tag_size neither 12 nor 16
 * @retval DOCA_ERROR_BAD_STATE *_alloc_init: the context is not RUNNING
 * @retval DOCA_ERROR_NO_MEMORY *_alloc_init: all configured tasks are allocated
 * @retval DOCA_ERROR_INVALID_VALUE *_key_create, *_is_key_type_supported: no such key type
 */
#ifndef DOCA_AES_GCM_H_
#define DOCA_AES_GCM_H_

#include <inttypes.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** An AES-GCM context: an object with a context (doca_aes_gcm_as_ctx). */
struct doca_aes_gcm;

/**
 * The device cannot be closed before the context is destroyed. The memory maps of all buffers must have the device.
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_create(struct doca_dev *dev, struct doca_aes_gcm **aes_gcm);

/** @retval DOCA_ERROR_IN_USE the context is not IDLE, has keys, or a graph uses it */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_destroy(struct doca_aes_gcm *aes_gcm);

/** Lives as long as the AES-GCM context. */
DOCA_EXPERIMENTAL
struct doca_ctx *doca_aes_gcm_as_ctx(struct doca_aes_gcm *aes_gcm);

/** The most tasks of one context, those of both types together. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_get_max_num_tasks(struct doca_aes_gcm *aes_gcm, uint32_t *max_num_tasks);

/** A key of one context, for any number of its tasks. */
struct doca_aes_gcm_key;

/** The length of a key. */
enum doca_aes_gcm_key_type {
	DOCA_AES_GCM_KEY_128 = 1, /**< 16 bytes */
	DOCA_AES_GCM_KEY_256 = 2, /**< 32 bytes */
};

/**
 * Copies raw_key; the program may destroy its own copy afterwards. Allowed in any state of the context.
 * @param raw_key as many bytes as raw_key_type says
 * @retval DOCA_ERROR_NOT_SUPPORTED libcrypto does not permit AES-GCM with such a key
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_key_create(struct doca_aes_gcm *aes_gcm, const void *raw_key, enum doca_aes_gcm_key_type raw_key_type,
				     struct doca_aes_gcm_key **key);

/**
 * Erases the key. Tasks that are not in flight may still refer to it; set another one before you submit them again.
 * @retval DOCA_ERROR_IN_USE a task in flight uses the key
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_key_destroy(struct doca_aes_gcm_key *key);

/** A task that encrypts a message. */
struct doca_aes_gcm_task_encrypt;

/**
 * @name Encrypt tasks
 * Every device has them, with both key types and both sizes of tag.
 * @{
 */

typedef void (*doca_aes_gcm_task_encrypt_completion_cb_t)(struct doca_aes_gcm_task_encrypt *task, union doca_data task_user_data,
							  union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_supported(const struct doca_devinfo *devinfo);

/** The most bytes of an IV. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_iv_len(const struct doca_devinfo *devinfo, uint32_t *max_iv_len);

DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_is_key_type_supported(const struct doca_devinfo *devinfo,
								 enum doca_aes_gcm_key_type key_type);

/** The most bytes of a source, AAD included. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size);

/** The most buffers in the list of a source or a destination. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_encrypt_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
								     uint32_t *max_list_num_elem);

/** @param num_tasks at least 1 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_encrypt_set_conf(struct doca_aes_gcm *aes_gcm,
						doca_aes_gcm_task_encrypt_completion_cb_t task_completion_cb,
						doca_aes_gcm_task_encrypt_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Buffers, key and IV may be NULL if they are set before the task is submitted.
 * @param src_buff a buffer or the head of a list: AAD, then plaintext
 * @param dst_buff a buffer or the head of a list: takes AAD, ciphertext and tag
 * @param iv lives until the task is submitted
 * @param iv_length bytes, 0 to 12
 * @param tag_size bytes, 12 or 16
 * @param aad_size bytes
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_encrypt_alloc_init(struct doca_aes_gcm *aes_gcm, struct doca_buf const *src_buff,
						  struct doca_buf *dst_buff, struct doca_aes_gcm_key *key, const uint8_t *iv,
						  uint32_t iv_length, uint32_t tag_size, uint32_t aad_size,
						  union doca_data user_data, struct doca_aes_gcm_task_encrypt **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_aes_gcm_task_encrypt_as_task(struct doca_aes_gcm_task_encrypt *task);

DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_src(struct doca_aes_gcm_task_encrypt *task, struct doca_buf const *src_buff);

DOCA_EXPERIMENTAL
struct doca_buf const *doca_aes_gcm_task_encrypt_get_src(const struct doca_aes_gcm_task_encrypt *task);

DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_dst(struct doca_aes_gcm_task_encrypt *task, struct doca_buf *dst_buff);

DOCA_EXPERIMENTAL
struct doca_buf *doca_aes_gcm_task_encrypt_get_dst(const struct doca_aes_gcm_task_encrypt *task);

DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_key(struct doca_aes_gcm_task_encrypt *task, struct doca_aes_gcm_key *key);

DOCA_EXPERIMENTAL
struct doca_aes_gcm_key *doca_aes_gcm_task_encrypt_get_key(const struct doca_aes_gcm_task_encrypt *task);

/** @param iv lives until the task is submitted */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_iv(struct doca_aes_gcm_task_encrypt *task, const uint8_t *iv, uint32_t iv_length);

/** The pointer that was set. @param iv_length receives the length; may be NULL */
DOCA_EXPERIMENTAL
const uint8_t *doca_aes_gcm_task_encrypt_get_iv(const struct doca_aes_gcm_task_encrypt *task, uint32_t *iv_length);

DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_tag_size(struct doca_aes_gcm_task_encrypt *task, uint32_t tag_size);

DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_encrypt_get_tag_size(const struct doca_aes_gcm_task_encrypt *task);

DOCA_EXPERIMENTAL
void doca_aes_gcm_task_encrypt_set_aad_size(struct doca_aes_gcm_task_encrypt *task, uint32_t aad_size);

DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_encrypt_get_aad_size(const struct doca_aes_gcm_task_encrypt *task);

/** @} */

/** A task that checks a message's tag and decrypts it. */
struct doca_aes_gcm_task_decrypt;

/**
 * @name Decrypt tasks
 * Every device has them, with both key types and both sizes of tag.
 * @{
 */

typedef void (*doca_aes_gcm_task_decrypt_completion_cb_t)(struct doca_aes_gcm_task_decrypt *task, union doca_data task_user_data,
							  union doca_data ctx_user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_supported(const struct doca_devinfo *devinfo);

/** The most bytes of an IV. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_iv_len(const struct doca_devinfo *devinfo, uint32_t *max_iv_len);

DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_96_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_tag_128_supported(const struct doca_devinfo *devinfo);

DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_is_key_type_supported(const struct doca_devinfo *devinfo,
								 enum doca_aes_gcm_key_type key_type);

/** The most bytes of a source, AAD and tag included. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *max_buffer_size);

/** The most buffers in the list of a source or a destination. */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_cap_task_decrypt_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
								     uint32_t *max_list_num_elem);

/** @param num_tasks at least 1 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_decrypt_set_conf(struct doca_aes_gcm *aes_gcm,
						doca_aes_gcm_task_decrypt_completion_cb_t task_completion_cb,
						doca_aes_gcm_task_decrypt_completion_cb_t task_error_cb, uint32_t num_tasks);

/**
 * Buffers, key and IV may be NULL if they are set before the task is submitted.
 * @param src_buff a buffer or the head of a list: AAD, ciphertext, then tag
 * @param dst_buff a buffer or the head of a list: takes AAD and plaintext
 * @param iv lives until the task is submitted
 * @param iv_length bytes, 0 to 12
 * @param tag_size bytes, 12 or 16
 * @param aad_size bytes
 */
DOCA_EXPERIMENTAL
doca_error_t doca_aes_gcm_task_decrypt_alloc_init(struct doca_aes_gcm *aes_gcm, struct doca_buf const *src_buff,
						  struct doca_buf *dst_buff, struct doca_aes_gcm_key *key, const uint8_t *iv,
						  uint32_t iv_length, uint32_t tag_size, uint32_t aad_size,
						  union doca_data user_data, struct doca_aes_gcm_task_decrypt **task);

DOCA_EXPERIMENTAL
struct doca_task *doca_aes_gcm_task_decrypt_as_task(struct doca_aes_gcm_task_decrypt *task);

DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_src(struct doca_aes_gcm_task_decrypt *task, struct doca_buf const *src_buff);

DOCA_EXPERIMENTAL
struct doca_buf const *doca_aes_gcm_task_decrypt_get_src(const struct doca_aes_gcm_task_decrypt *task);

DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_dst(struct doca_aes_gcm_task_decrypt *task, struct doca_buf *dst_buff);

DOCA_EXPERIMENTAL
struct doca_buf *doca_aes_gcm_task_decrypt_get_dst(const struct doca_aes_gcm_task_decrypt *task);

DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_key(struct doca_aes_gcm_task_decrypt *task, struct doca_aes_gcm_key *key);

DOCA_EXPERIMENTAL
struct doca_aes_gcm_key *doca_aes_gcm_task_decrypt_get_key(const struct doca_aes_gcm_task_decrypt *task);

/** @param iv lives until the task is submitted */
DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_iv(struct doca_aes_gcm_task_decrypt *task, const uint8_t *iv, uint32_t iv_length);

/** The pointer that was set. @param iv_length receives the length; may be NULL */
DOCA_EXPERIMENTAL
const uint8_t *doca_aes_gcm_task_decrypt_get_iv(const struct doca_aes_gcm_task_decrypt *task, uint32_t *iv_length);

DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_tag_size(struct doca_aes_gcm_task_decrypt *task, uint32_t tag_size);

DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_decrypt_get_tag_size(const struct doca_aes_gcm_task_decrypt *task);

DOCA_EXPERIMENTAL
void doca_aes_gcm_task_decrypt_set_aad_size(struct doca_aes_gcm_task_decrypt *task, uint32_t aad_size);

DOCA_EXPERIMENTAL
uint32_t doca_aes_gcm_task_decrypt_get_aad_size(const struct doca_aes_gcm_task_decrypt *task);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
