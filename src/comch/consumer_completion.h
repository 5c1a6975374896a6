/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a consumer's completions would go on a DPA. It can be configured; without a DPA it cannot be started. */
#ifndef COMCH_CONSUMER_COMPLETION_H
#define COMCH_CONSUMER_COMPLETION_H

#include <doca_comch_consumer.h>

/* Adds or removes a consumer that uses the completion; NULL does nothing. FULL: it has max_num_consumers. */
doca_error_t comch_consumer_completion_use(struct doca_comch_consumer_completion *completion);
void comch_consumer_completion_forget(struct doca_comch_consumer_completion *completion);

#endif
