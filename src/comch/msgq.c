/* SPDX-License-Identifier: BSD-3-Clause */
/* No device here has a DPA, so no message queue can be created, and whoever passes one has made it up. */
#include <doca_comch_msgq.h>

#include "base/log.h"

/* For what takes an object and perhaps another argument. */
static doca_error_t refuse(const char *function, const void *object, const void *argument)
{
	if (object == NULL || argument == NULL) {
		SF_LOG_ERR("%s: no %s given", function, object == NULL ? "first argument" : "second argument");
		return DOCA_ERROR_INVALID_VALUE;
	}
	SF_LOG_ERR("%s: no device here has a DPA (doca_dpa_cap_is_supported): use a server and a client (doca_comch.h)",
		   function);
	return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_comch_msgq_create(struct doca_dev *dev, struct doca_comch_msgq **msgq)
{
	return refuse(__func__, dev, msgq);
}

doca_error_t doca_comch_msgq_destroy(struct doca_comch_msgq *msgq)
{
	return refuse(__func__, msgq, msgq);
}

doca_error_t doca_comch_msgq_set_dpa_consumer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
	return refuse(__func__, msgq, dpa);
}

doca_error_t doca_comch_msgq_set_max_num_consumers(struct doca_comch_msgq *msgq, uint32_t max_num_consumers)
{
	return refuse(__func__, msgq, msgq);
}

doca_error_t doca_comch_msgq_set_dpa_producer(struct doca_comch_msgq *msgq, struct doca_dpa *dpa)
{
	return refuse(__func__, msgq, dpa);
}

doca_error_t doca_comch_msgq_set_max_num_producers(struct doca_comch_msgq *msgq, uint32_t max_num_producers)
{
	return refuse(__func__, msgq, msgq);
}

doca_error_t doca_comch_msgq_start(struct doca_comch_msgq *msgq)
{
	return refuse(__func__, msgq, msgq);
}

doca_error_t doca_comch_msgq_stop(struct doca_comch_msgq *msgq)
{
	return refuse(__func__, msgq, msgq);
}

doca_error_t doca_comch_msgq_consumer_create(struct doca_comch_msgq *msgq, struct doca_comch_consumer **consumer)
{
	return refuse(__func__, msgq, consumer);
}

doca_error_t doca_comch_msgq_producer_create(struct doca_comch_msgq *msgq, struct doca_comch_producer **producer)
{
	return refuse(__func__, msgq, producer);
}
