/* SPDX-License-Identifier: BSD-3-Clause */
/* The table. Each line of QUERIES has a query's signature, library, name and function. */
#include "capability.h"

#include <string.h>

#include <doca_aes_gcm.h>
#include <doca_clock.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#ifdef HAVE_ISAL
#include <doca_erasure_coding.h>
#endif
#include <doca_mmap.h>
#include <doca_mmap_advise.h>
#include <doca_sha.h>
#include <doca_sync_event.h>

#define QUERIES(YES_NO, BYTE, U32, U64)                                                                                          \
	BYTE(common, hotplug_manager, doca_devinfo_cap_is_hotplug_manager_supported)                                             \
	BYTE(common, notification_moderation, doca_devinfo_cap_is_notification_moderation_supported)                             \
	BYTE(common, accelerate_resource_reclaim, doca_devinfo_cap_is_accelerate_resource_reclaim_supported)                     \
	BYTE(common, rep_filter_all, doca_devinfo_rep_cap_is_filter_all_supported)                                               \
	BYTE(common, rep_filter_net, doca_devinfo_rep_cap_is_filter_net_supported)                                               \
	BYTE(common, rep_filter_emulated, doca_devinfo_rep_cap_is_filter_emulated_supported)                                     \
	BYTE(common, mmap_export_pci, doca_mmap_cap_is_export_pci_supported)                                                     \
	BYTE(common, mmap_create_from_export_pci, doca_mmap_cap_is_create_from_export_pci_supported)                             \
	U64(common, mmap_max_export_access_token_size, doca_mmap_cap_get_max_export_access_token_size)                           \
	U32(common, num_completion_vectors, doca_ctx_cap_get_num_completion_vectors)                                             \
	YES_NO(clock, nic_free_running, doca_clock_cap_nic_free_running_is_supported)                                            \
	YES_NO(clock, nic_real_time, doca_clock_cap_nic_real_time_is_supported)                                                  \
	YES_NO(clock, nic_dpa_timer, doca_clock_cap_nic_dpa_timer_is_supported)                                                  \
	YES_NO(mmap_advise, task_cache_invalidate, doca_mmap_advise_cap_task_cache_invalidate_is_supported)                      \
	U64(mmap_advise, task_cache_invalidate_max_buf_size, doca_mmap_advise_task_cache_invalidate_get_max_buf_size)            \
	YES_NO(comch, server, doca_comch_cap_server_is_supported)                                                                \
	YES_NO(comch, client, doca_comch_cap_client_is_supported)                                                                \
	U32(comch, max_name_len, doca_comch_cap_get_max_name_len)                                                                \
	U32(comch, max_msg_size, doca_comch_cap_get_max_msg_size)                                                                \
	U32(comch, max_recv_queue_size, doca_comch_cap_get_max_recv_queue_size)                                                  \
	U32(comch, max_send_tasks, doca_comch_cap_get_max_send_tasks)                                                            \
	U32(comch, max_clients, doca_comch_cap_get_max_clients)                                                                  \
	YES_NO(comch_producer, supported, doca_comch_producer_cap_is_supported)                                                  \
	U32(comch_producer, max_num_tasks, doca_comch_producer_cap_get_max_num_tasks)                                            \
	U32(comch_producer, max_buf_size, doca_comch_producer_cap_get_max_buf_size)                                              \
	U32(comch_producer, max_buf_list_len, doca_comch_producer_cap_get_max_buf_list_len)                                      \
	U32(comch_producer, max_producers, doca_comch_producer_cap_get_max_producers)                                            \
	YES_NO(comch_consumer, supported, doca_comch_consumer_cap_is_supported)                                                  \
	U32(comch_consumer, max_num_tasks, doca_comch_consumer_cap_get_max_num_tasks)                                            \
	U32(comch_consumer, max_buf_size, doca_comch_consumer_cap_get_max_buf_size)                                              \
	U32(comch_consumer, max_buf_list_len, doca_comch_consumer_cap_get_max_buf_list_len)                                      \
	U32(comch_consumer, max_consumers, doca_comch_consumer_cap_get_max_consumers)                                            \
	U32(comch_consumer, max_imm_data_len, doca_comch_consumer_cap_get_max_imm_data_len)                                      \
	YES_NO(sync_event, create_from_export, doca_sync_event_cap_is_create_from_export_supported)                              \
	YES_NO(sync_event, remote_net_create_from_export, doca_sync_event_cap_remote_net_is_create_from_export_supported)        \
	YES_NO(sync_event, export_to_remote_pci, doca_sync_event_cap_is_export_to_remote_pci_supported)                          \
	YES_NO(sync_event, export_to_remote_net, doca_sync_event_cap_is_export_to_remote_net_supported)                          \
	YES_NO(sync_event, export_to_dpa, doca_sync_event_cap_is_export_to_dpa_supported)                                        \
	YES_NO(sync_event, export_to_gpu, doca_sync_event_cap_is_export_to_gpu_supported)                                        \
	YES_NO(sync_event, remote_net_export_to_dpa, doca_sync_event_cap_remote_net_is_export_to_dpa_supported)                  \
	YES_NO(sync_event, remote_net_export_to_gpu, doca_sync_event_cap_remote_net_is_export_to_gpu_supported)                  \
	YES_NO(sync_event, task_get, doca_sync_event_cap_task_get_is_supported)                                                  \
	YES_NO(sync_event, task_notify_set, doca_sync_event_cap_task_notify_set_is_supported)                                    \
	YES_NO(sync_event, task_notify_add, doca_sync_event_cap_task_notify_add_is_supported)                                    \
	YES_NO(sync_event, task_wait_eq, doca_sync_event_cap_task_wait_eq_is_supported)                                          \
	YES_NO(sync_event, task_wait_neq, doca_sync_event_cap_task_wait_neq_is_supported)                                        \
	U32(sha, max_list_buf_num_elem, doca_sha_cap_get_max_list_buf_num_elem)                                                  \
	U64(sha, max_src_buf_size, doca_sha_cap_get_max_src_buf_size)

#define COMPRESS_QUERIES(YES_NO, U32, U64)                                                                                       \
	YES_NO(compress, task_compress_deflate, doca_compress_cap_task_compress_deflate_is_supported)                            \
	U64(compress, task_compress_deflate_max_buf_size, doca_compress_cap_task_compress_deflate_get_max_buf_size)              \
	U32(compress, task_compress_deflate_max_buf_list_len, doca_compress_cap_task_compress_deflate_get_max_buf_list_len)      \
	YES_NO(compress, task_decompress_deflate, doca_compress_cap_task_decompress_deflate_is_supported)                        \
	U64(compress, task_decompress_deflate_max_buf_size, doca_compress_cap_task_decompress_deflate_get_max_buf_size)          \
	U32(compress, task_decompress_deflate_max_buf_list_len, doca_compress_cap_task_decompress_deflate_get_max_buf_list_len)  \
	YES_NO(compress, task_decompress_lz4, doca_compress_cap_task_decompress_lz4_is_supported)                                \
	U64(compress, task_decompress_lz4_max_buf_size, doca_compress_cap_task_decompress_lz4_get_max_buf_size)                  \
	U32(compress, task_decompress_lz4_max_buf_list_len, doca_compress_cap_task_decompress_lz4_get_max_buf_list_len)          \
	YES_NO(compress, task_decompress_lz4_stream, doca_compress_cap_task_decompress_lz4_stream_is_supported)                  \
	U64(compress, task_decompress_lz4_stream_max_buf_size, doca_compress_cap_task_decompress_lz4_stream_get_max_buf_size)    \
	U32(compress, task_decompress_lz4_stream_max_buf_list_len,                                                               \
	    doca_compress_cap_task_decompress_lz4_stream_get_max_buf_list_len)                                                   \
	YES_NO(compress, task_decompress_lz4_block, doca_compress_cap_task_decompress_lz4_block_is_supported)                    \
	U64(compress, task_decompress_lz4_block_max_buf_size, doca_compress_cap_task_decompress_lz4_block_get_max_buf_size)      \
	U32(compress, task_decompress_lz4_block_max_buf_list_len,                                                                \
	    doca_compress_cap_task_decompress_lz4_block_get_max_buf_list_len)

/* Both types of AES-GCM tasks have the same queries. */
#define AES_GCM_QUERIES(YES_NO, KEY, U32, U64, type)                                                                             \
	YES_NO(aes_gcm, task_##type, doca_aes_gcm_cap_task_##type##_is_supported)                                                \
	YES_NO(aes_gcm, task_##type##_tag_96, doca_aes_gcm_cap_task_##type##_is_tag_96_supported)                                \
	YES_NO(aes_gcm, task_##type##_tag_128, doca_aes_gcm_cap_task_##type##_is_tag_128_supported)                              \
	KEY(aes_gcm, task_##type##_key, doca_aes_gcm_cap_task_##type##_is_key_type_supported)                                    \
	U32(aes_gcm, task_##type##_max_iv_len, doca_aes_gcm_cap_task_##type##_get_max_iv_len)                                    \
	U64(aes_gcm, task_##type##_max_buf_size, doca_aes_gcm_cap_task_##type##_get_max_buf_size)                                \
	U32(aes_gcm, task_##type##_max_list_buf_num_elem, doca_aes_gcm_cap_task_##type##_get_max_list_buf_num_elem)

/* Queries that need a context or an algorithm besides the device. */
#define SHA_QUERIES(PER_ALGORITHM)                                                                                               \
	PER_ALGORITHM(task_hash, doca_sha_cap_task_hash_get_supported, CAPABILITY_FLAG)                                          \
	PER_ALGORITHM(task_partial_hash, doca_sha_cap_task_partial_hash_get_supported, CAPABILITY_FLAG)                          \
	PER_ALGORITHM(min_dst_buf_size, doca_sha_cap_get_min_dst_buf_size, CAPABILITY_NUMBER)                                    \
	PER_ALGORITHM(partial_hash_block_size, doca_sha_cap_get_partial_hash_block_size, CAPABILITY_NUMBER)

/* Queries of optional libraries. */
#ifdef HAVE_ISAL
#define ERASURE_CODING_QUERIES(YES_NO, U32, U64)                                                                                 \
	YES_NO(erasure_coding, task_create, doca_ec_cap_task_create_is_supported)                                                \
	YES_NO(erasure_coding, task_update, doca_ec_cap_task_update_is_supported)                                                \
	YES_NO(erasure_coding, task_recover, doca_ec_cap_task_recover_is_supported)                                              \
	YES_NO(erasure_coding, task_galois_mul, doca_ec_cap_task_galois_mul_is_supported)                                        \
	U64(erasure_coding, max_block_size, doca_ec_cap_get_max_block_size)                                                      \
	U32(erasure_coding, max_buf_list_len, doca_ec_cap_get_max_buf_list_len)
#else
#define ERASURE_CODING_QUERIES(YES_NO, U32, U64)
#endif

/* ---- one function for each query, with a common signature ---- */

static doca_error_t yes_no(doca_error_t result, uint64_t *value)
{
	*value = result == DOCA_SUCCESS;
	return result == DOCA_ERROR_NOT_SUPPORTED ? DOCA_SUCCESS : result;
}

#define ASK(function) static doca_error_t ask_##function(struct doca_devinfo *devinfo, int argument, uint64_t *value)
#define ASK_YES_NO(library, name, function)                                                                                      \
	ASK(function)                                                                                                            \
	{                                                                                                                        \
		return yes_no(function(devinfo), value);                                                                         \
	}
#define ASK_NUMBER(type, function)                                                                                               \
	ASK(function)                                                                                                            \
	{                                                                                                                        \
		type number = 0;                                                                                                 \
		doca_error_t result = function(devinfo, &number);                                                                \
		*value = number;                                                                                                 \
		return result;                                                                                                   \
	}
#define ASK_BYTE(library, name, function) ASK_NUMBER(uint8_t, function)
#define ASK_U32(library, name, function) ASK_NUMBER(uint32_t, function)
#define ASK_U64(library, name, function) ASK_NUMBER(uint64_t, function)
QUERIES(ASK_YES_NO, ASK_BYTE, ASK_U32, ASK_U64)
ERASURE_CODING_QUERIES(ASK_YES_NO, ASK_U32, ASK_U64)

/* ---- SHA's algorithms ---- */

ASK(doca_sha_cap_task_hash_get_supported)
{
	return yes_no(doca_sha_cap_task_hash_get_supported(devinfo, (enum doca_sha_algorithm)argument), value);
}

ASK(doca_sha_cap_task_partial_hash_get_supported)
{
	return yes_no(doca_sha_cap_task_partial_hash_get_supported(devinfo, (enum doca_sha_algorithm)argument), value);
}

#define ASK_ALGORITHM(function)                                                                                                  \
	ASK(function)                                                                                                            \
	{                                                                                                                        \
		uint32_t number = 0;                                                                                             \
		doca_error_t result = function(devinfo, (enum doca_sha_algorithm)argument, &number);                             \
		*value = number;                                                                                                 \
		return result;                                                                                                   \
	}
ASK_ALGORITHM(doca_sha_cap_get_min_dst_buf_size)
ASK_ALGORITHM(doca_sha_cap_get_partial_hash_block_size)

/* ---- AES-GCM's key types ---- */

#define ASK_KEY(library, name, function)                                                                                         \
	ASK(function)                                                                                                            \
	{                                                                                                                        \
		return yes_no(function(devinfo, (enum doca_aes_gcm_key_type)argument), value);                                   \
	}
AES_GCM_QUERIES(ASK_YES_NO, ASK_KEY, ASK_U32, ASK_U64, encrypt)
AES_GCM_QUERIES(ASK_YES_NO, ASK_KEY, ASK_U32, ASK_U64, decrypt)

/* ---- limits of a context, which is created for the query ---- */

#define ASK_CONTEXT(function, type, create, destroy)                                                                             \
	ASK(function)                                                                                                            \
	{                                                                                                                        \
		struct doca_dev *dev;                                                                                            \
		struct type *object;                                                                                             \
		uint32_t number = 0;                                                                                             \
		doca_error_t result = doca_dev_open(devinfo, &dev);                                                              \
		if (result != DOCA_SUCCESS)                                                                                      \
			return result;                                                                                           \
		result = create(dev, &object);                                                                                   \
		if (result == DOCA_SUCCESS) {                                                                                    \
			result = function(object, &number);                                                                      \
			destroy(object);                                                                                         \
		}                                                                                                                \
		doca_dev_close(dev);                                                                                             \
		*value = number;                                                                                                 \
		return result;                                                                                                   \
	}
ASK_YES_NO(dma, task_memcpy, doca_dma_cap_task_memcpy_is_supported)
ASK_U32(dma, task_memcpy_max_buf_list_len, doca_dma_cap_task_memcpy_get_max_buf_list_len)
ASK_U64(dma, task_memcpy_max_buf_size, doca_dma_cap_task_memcpy_get_max_buf_size)
ASK_CONTEXT(doca_dma_cap_get_max_num_tasks, doca_dma, doca_dma_create, doca_dma_destroy)
ASK_CONTEXT(doca_sha_cap_get_max_num_tasks, doca_sha, doca_sha_create, doca_sha_destroy)
ASK_CONTEXT(doca_aes_gcm_cap_get_max_num_tasks, doca_aes_gcm, doca_aes_gcm_create, doca_aes_gcm_destroy)
COMPRESS_QUERIES(ASK_YES_NO, ASK_U32, ASK_U64)
ASK_CONTEXT(doca_compress_cap_get_max_num_tasks, doca_compress, doca_compress_create, doca_compress_destroy)

/* ---- the table ---- */

#define FLAG(library, name, function) {#library, #name, #function, CAPABILITY_FLAG, 0, ask_##function},
#define NUMBER(library, name, function) {#library, #name, #function, CAPABILITY_NUMBER, 0, ask_##function},

#define PER_ALGORITHM(name, function, kind)                                                                                      \
	{"sha", #name "_sha1", #function, kind, DOCA_SHA_ALGORITHM_SHA1, ask_##function},                                        \
		{"sha", #name "_sha256", #function, kind, DOCA_SHA_ALGORITHM_SHA256, ask_##function},                            \
		{"sha", #name "_sha512", #function, kind, DOCA_SHA_ALGORITHM_SHA512, ask_##function},

#define PER_KEY(library, name, function)                                                                                         \
	{#library, #name "_128", #function, CAPABILITY_FLAG, DOCA_AES_GCM_KEY_128, ask_##function},                              \
		{#library, #name "_256", #function, CAPABILITY_FLAG, DOCA_AES_GCM_KEY_256, ask_##function},

const struct capability capabilities[] = {
	QUERIES(FLAG, FLAG, NUMBER, NUMBER) /* ends with sha */
	SHA_QUERIES(PER_ALGORITHM) NUMBER(sha, max_num_tasks, doca_sha_cap_get_max_num_tasks)
		COMPRESS_QUERIES(FLAG, NUMBER, NUMBER) NUMBER(compress, max_num_tasks, doca_compress_cap_get_max_num_tasks)
			FLAG(dma, task_memcpy, doca_dma_cap_task_memcpy_is_supported)
				NUMBER(dma, task_memcpy_max_buf_list_len, doca_dma_cap_task_memcpy_get_max_buf_list_len)
					NUMBER(dma, task_memcpy_max_buf_size, doca_dma_cap_task_memcpy_get_max_buf_size)
						NUMBER(dma, max_num_tasks, doca_dma_cap_get_max_num_tasks)
							AES_GCM_QUERIES(FLAG, PER_KEY, NUMBER, NUMBER, encrypt) AES_GCM_QUERIES(
								FLAG, PER_KEY, NUMBER, NUMBER, decrypt)
								NUMBER(aes_gcm, max_num_tasks, doca_aes_gcm_cap_get_max_num_tasks)
									ERASURE_CODING_QUERIES(FLAG, NUMBER, NUMBER)};
const size_t num_capabilities = sizeof(capabilities) / sizeof(capabilities[0]);

const struct capability *capability_find_library(const char *library)
{
	for (size_t i = 0; i < num_capabilities; i++) {
		if (strcmp(capabilities[i].library, library) == 0)
			return &capabilities[i];
	}
	return NULL;
}

doca_error_t capability_ask(const struct capability *capability, struct doca_devinfo *devinfo, uint64_t *value)
{
	*value = 0;
	return capability->query(devinfo, capability->argument, value);
}
