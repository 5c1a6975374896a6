/* SPDX-License-Identifier: BSD-3-Clause */
/* No device here has a DPA, so no message queue can be created, and none that is passed can be valid. */
#include <doca_comch_msgq.h>

#include "base/log.h"

static doca_error_t msgq_null(const char *function, const char *argument)
{
	SF_LOG_ERR("%s: %s is NULL", function, argument);
	return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t msgq_reject(const char *function)
{
	SF_LOG_ERR("%s: no device here has a DPA (doca_dpa_cap_is_supported): use a server and a client (doca_comch.h)",
		   function);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **msgq)
{
	if (dev == NULL)
		return msgq_null(__func__, "dev");
	if (msgq == NULL)
		return msgq_null(__func__, "msgq");
	return msgq_reject(__func__);
}

doca_error_t doca_comch_msgq_destroy(struct doca_comch_msgq *msgq)
{
	if (msgq == NULL)
		return msgq_null(__func__, "msgq");
	return msgq_reject(__func__);
}

doca_error_t doca_comch_msgq_set_dpa_consumer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
	if (msgq == NULL)
		return msgq_null(__func__, "msgq");
	if (dpa == NULL)
		return msgq_null(__func__, "dpa");
	return msgq_reject(__func__);
}

doca_error_t doca_comch_msgq_set_max_num_consumers(struct doca_comch_msgq *msgq, uint32_t max_num_consumers)
{
	if (msgq == NULL)
		return msgq_null(__func__, "msgq");
	return msgq_reject(__func__);
}

doca_error_t doca_comch_msgq_set_dpa_producer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
	if (msgq == NULL)
		return msgq_null(__func__, "msgq");
	if (dpa == NULL)
		return msgq_null(__func__, "dpa");
	return msgq_reject(__func__);
}

doca_error_t doca_comch_msgq_set_max_num_producers(struct doca_comch_msgq *msgq, uint32_t max_num_producers)
{
	if (msgq == NULL)
		return msgq_null(__func__, "msgq");
	return msgq_reject(__func__);
}

doca_error_t doca_comch_msgq_start(struct doca_comch_msgq *msgq)
{
	if (msgq == NULL)
		return msgq_null(__func__, "msgq");
	return msgq_reject(__func__);
}

doca_error_t doca_comch_msgq_stop(struct doca_comch_msgq *msgq)
{
	if (msgq == NULL)
		return msgq_null(__func__, "msgq");
	return msgq_reject(__func__);
}

doca_error_t doca_comch_msgq_consumer_create(struct doca_comch_msgq *msgq, struct doca_comch_consumer **consumer)
{
	if (msgq == NULL)
		return msgq_null(__func__, "msgq");
	if (consumer == NULL)
		return msgq_null(__func__, "consumer");
	return msgq_reject(__func__);
}

doca_error_t doca_comch_msgq_producer_create(struct doca_comch_msgq *msgq, struct doca_comch_producer **producer)
{
	if (msgq == NULL)
		return msgq_null(__func__, "msgq");
	if (producer == NULL)
		return msgq_null(__func__, "producer");
	return msgq_reject(__func__);
}
