/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/consumer_completion.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "comch/limits.h"

struct doca_comch_consumer_completion {
	uint32_t max_num_consumers;
	uint32_t max_num_recv;
	uint32_t imm_data_len;
	atomic_uint num_consumers;
};

doca_error_t comch_consumer_completion_use(struct doca_comch_consumer_completion *completion)
{
	if (atomic_fetch_add(&completion->num_consumers, 1) < completion->max_num_consumers)
		return DOCA_SUCCESS;
	atomic_fetch_sub(&completion->num_consumers, 1);
	SF_LOG_ERR("the consumer completion has %u consumers already: raise max_num_consumers", completion->max_num_consumers);
	return DOCA_ERROR_FULL;
}

void comch_consumer_completion_forget(struct doca_comch_consumer_completion *completion)
{
	if (completion != NULL)
		atomic_fetch_sub(&completion->num_consumers, 1);
}

static doca_error_t no_dpa(const void *completion, const void *argument)
{
	if (completion == NULL || argument == NULL) {
		SF_LOG_ERR("%s is NULL", completion == NULL ? "consumer_comp" : "the second argument");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("a consumer completion belongs to a DPA, and there is none here; use the CPU or a GPU data path");
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_comch_consumer_completion_create(struct doca_comch_consumer_completion **out)
{
	struct doca_comch_consumer_completion *completion;

	if (out == NULL) {
		SF_LOG_ERR("consumer_comp is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	completion = (struct doca_comch_consumer_completion *)calloc(1, sizeof(*completion));
	if (completion == NULL) {
		SF_LOG_ERR("no memory for a consumer completion");
		return DOCA_ERROR_NO_MEMORY;
	}
	completion->max_num_consumers = 1;
	completion->max_num_recv = 1;
	completion->imm_data_len = COMCH_IMM_MAX;
	atomic_init(&completion->num_consumers, 0);
	*out = completion;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_destroy(struct doca_comch_consumer_completion *completion)
{
	if (completion == NULL) {
		SF_LOG_ERR("consumer_comp is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (atomic_load(&completion->num_consumers) > 0) {
		SF_LOG_ERR("%u consumers still use the completion: destroy them first", atomic_load(&completion->num_consumers));
		return DOCA_ERROR_BAD_STATE;
	}
	free(completion);
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_set_dpa_thread(struct doca_comch_consumer_completion *completion,
							   struct doca_dpa_thread *dpa_thread)
{
	return no_dpa(completion, dpa_thread);
}

doca_error_t doca_comch_consumer_completion_start(struct doca_comch_consumer_completion *completion)
{
	return no_dpa(completion, completion);
}

doca_error_t doca_comch_consumer_completion_stop(struct doca_comch_consumer_completion *completion)
{
	if (completion == NULL) {
		SF_LOG_ERR("consumer_comp is NULL");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("the consumer completion was never started");
	return DOCA_ERROR_BAD_STATE;
}

doca_error_t doca_comch_consumer_completion_get_dpa_handle(struct doca_comch_consumer_completion *completion,
							   doca_dpa_dev_comch_consumer_completion_t *handle)
{
	return no_dpa(completion, handle);
}

/* NULL of NULL. */
#define FIELD(completion, field) ((completion) != NULL ? &(completion)->field : NULL)

static doca_error_t set_number(struct doca_comch_consumer_completion *completion, uint32_t *field, uint32_t value, uint32_t min,
			       uint32_t max, const char *what)
{
	if (completion == NULL || value < min || value > max) {
		if (completion == NULL)
			SF_LOG_ERR("consumer_comp is NULL");
		else
			SF_LOG_ERR("%s is %u: give %u to %u", what, value, min, max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*field = value;
	return DOCA_SUCCESS;
}

static doca_error_t get_number(const struct doca_comch_consumer_completion *completion, const uint32_t *field, uint32_t *value)
{
	if (completion == NULL || value == NULL) {
		SF_LOG_ERR("%s is NULL", completion == NULL ? "consumer_comp" : "the output argument");
		return DOCA_ERROR_INVALID_VALUE;
	}
	*value = *field;
	return DOCA_SUCCESS;
}

doca_error_t doca_comch_consumer_completion_set_max_num_consumers(struct doca_comch_consumer_completion *completion,
								  uint32_t max_num_consumers)
{
	return set_number(completion, FIELD(completion, max_num_consumers), max_num_consumers, 1, COMCH_CONSUMERS_MAX,
			  "max_num_consumers");
}

doca_error_t doca_comch_consumer_completion_get_max_num_consumers(const struct doca_comch_consumer_completion *completion,
								  uint32_t *max_num_consumers)
{
	return get_number(completion, FIELD(completion, max_num_consumers), max_num_consumers);
}

doca_error_t doca_comch_consumer_completion_set_max_num_recv(struct doca_comch_consumer_completion *completion,
							     uint32_t max_num_recv)
{
	return set_number(completion, FIELD(completion, max_num_recv), max_num_recv, 1, COMCH_DATA_TASKS_MAX, "max_num_recv");
}

doca_error_t doca_comch_consumer_completion_get_max_num_recv(const struct doca_comch_consumer_completion *completion,
							     uint32_t *max_num_recv)
{
	return get_number(completion, FIELD(completion, max_num_recv), max_num_recv);
}

doca_error_t doca_comch_consumer_completion_set_imm_data_len(struct doca_comch_consumer_completion *completion,
							     uint32_t imm_data_len)
{
	return set_number(completion, FIELD(completion, imm_data_len), imm_data_len, 0, COMCH_IMM_MAX, "imm_data_len");
}

doca_error_t doca_comch_consumer_completion_get_imm_data_len(const struct doca_comch_consumer_completion *completion,
							     uint32_t *imm_data_len)
{
	return get_number(completion, FIELD(completion, imm_data_len), imm_data_len);
}
