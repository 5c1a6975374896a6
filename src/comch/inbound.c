/* SPDX-License-Identifier: BSD-3-Clause */
/* Which mailbox producers a consumer on the CPU can receive from. */
#include "comch/inbound.h"

#include "base/log.h"

doca_error_t comch_inbound_open(struct doca_comch_consumer *consumer, struct sf_link *link, const struct comch_attach *attach,
				struct comch_inbound **inbound)
{
	(void)link;
	(void)inbound;
	SF_LOG_ERR("consumer %u: producer %u sends by mailbox, which this build does not receive; it is refused", consumer->child.id,
		   attach->producer_id);
	return DOCA_ERROR_NOT_SUPPORTED;
}
