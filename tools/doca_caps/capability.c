/* SPDX-License-Identifier: BSD-3-Clause */
/* The table. A query has one of five shapes; a line of QUERIES gives its shape, library, name and function. */
#include "capability.h"

#include <string.h>

#include <doca_clock.h>
#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_mmap_advise.h>

#define QUERIES(YES_NO, BYTE, U32, U64)                                                                                            \
	BYTE(common, hotplug_manager, doca_devinfo_cap_is_hotplug_manager_supported)                                               \
	BYTE(common, notification_moderation, doca_devinfo_cap_is_notification_moderation_supported)                               \
	BYTE(common, accelerate_resource_reclaim, doca_devinfo_cap_is_accelerate_resource_reclaim_supported)                       \
	BYTE(common, rep_filter_all, doca_devinfo_rep_cap_is_filter_all_supported)                                                 \
	BYTE(common, rep_filter_net, doca_devinfo_rep_cap_is_filter_net_supported)                                                 \
	BYTE(common, rep_filter_emulated, doca_devinfo_rep_cap_is_filter_emulated_supported)                                       \
	BYTE(common, mmap_export_pci, doca_mmap_cap_is_export_pci_supported)                                                       \
	BYTE(common, mmap_create_from_export_pci, doca_mmap_cap_is_create_from_export_pci_supported)                               \
	U32(common, num_completion_vectors, doca_ctx_cap_get_num_completion_vectors)                                               \
	YES_NO(clock, nic_free_running, doca_clock_cap_nic_free_running_is_supported)                                              \
	YES_NO(clock, nic_real_time, doca_clock_cap_nic_real_time_is_supported)                                                    \
	YES_NO(clock, nic_dpa_timer, doca_clock_cap_nic_dpa_timer_is_supported)                                                    \
	YES_NO(mmap_advise, task_cache_invalidate, doca_mmap_advise_cap_task_cache_invalidate_is_supported)                        \
	U64(mmap_advise, task_cache_invalidate_max_buf_size, doca_mmap_advise_task_cache_invalidate_get_max_buf_size)              \
	YES_NO(comch, server, doca_comch_cap_server_is_supported)                                                                  \
	YES_NO(comch, client, doca_comch_cap_client_is_supported)                                                                  \
	U32(comch, max_name_len, doca_comch_cap_get_max_name_len)                                                                  \
	U32(comch, max_msg_size, doca_comch_cap_get_max_msg_size)                                                                  \
	U32(comch, max_recv_queue_size, doca_comch_cap_get_max_recv_queue_size)                                                    \
	U32(comch, max_send_tasks, doca_comch_cap_get_max_send_tasks)                                                              \
	U32(comch, max_clients, doca_comch_cap_get_max_clients)                                                                    \
	YES_NO(comch_producer, supported, doca_comch_producer_cap_is_supported)                                                    \
	U32(comch_producer, max_num_tasks, doca_comch_producer_cap_get_max_num_tasks)                                              \
	U32(comch_producer, max_buf_size, doca_comch_producer_cap_get_max_buf_size)                                                \
	U32(comch_producer, max_buf_list_len, doca_comch_producer_cap_get_max_buf_list_len)                                        \
	U32(comch_producer, max_producers, doca_comch_producer_cap_get_max_producers)                                              \
	YES_NO(comch_consumer, supported, doca_comch_consumer_cap_is_supported)                                                    \
	U32(comch_consumer, max_num_tasks, doca_comch_consumer_cap_get_max_num_tasks)                                              \
	U32(comch_consumer, max_buf_size, doca_comch_consumer_cap_get_max_buf_size)                                                \
	U32(comch_consumer, max_buf_list_len, doca_comch_consumer_cap_get_max_buf_list_len)                                        \
	U32(comch_consumer, max_consumers, doca_comch_consumer_cap_get_max_consumers)                                              \
	U32(comch_consumer, max_imm_data_len, doca_comch_consumer_cap_get_max_imm_data_len)

/* ---- one function for each, all of one shape ---- */

static doca_error_t yes_no(doca_error_t result, uint64_t *value)
{
	*value = result == DOCA_SUCCESS;
	return result == DOCA_ERROR_NOT_SUPPORTED ? DOCA_SUCCESS : result;
}

#define ASK(function) static doca_error_t ask_##function(struct doca_devinfo *devinfo, int argument, uint64_t *value)
#define ASK_YES_NO(library, name, function)                                                                                        \
	ASK(function)                                                                                                              \
	{                                                                                                                          \
		return yes_no(function(devinfo), value);                                                                           \
	}
#define ASK_NUMBER(type, function)                                                                                                 \
	ASK(function)                                                                                                              \
	{                                                                                                                          \
		type number = 0;                                                                                                   \
		doca_error_t result = function(devinfo, &number);                                                                  \
		*value = number;                                                                                                   \
		return result;                                                                                                     \
	}
#define ASK_BYTE(library, name, function) ASK_NUMBER(uint8_t, function)
#define ASK_U32(library, name, function) ASK_NUMBER(uint32_t, function)
#define ASK_U64(library, name, function) ASK_NUMBER(uint64_t, function)
QUERIES(ASK_YES_NO, ASK_BYTE, ASK_U32, ASK_U64)

/* ---- the table ---- */

#define FLAG(library, name, function) {#library, #name, #function, CAPABILITY_FLAG, 0, ask_##function},
#define NUMBER(library, name, function) {#library, #name, #function, CAPABILITY_NUMBER, 0, ask_##function},

const struct capability capabilities[] = {QUERIES(FLAG, FLAG, NUMBER, NUMBER)};
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
