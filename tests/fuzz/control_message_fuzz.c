/* SPDX-License-Identifier: BSD-3-Clause */
/* Control messages as a peer may send them: an accepted message must be the same when packed again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apps/remote_offload/control_message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct control_message message, again;
	uint8_t bytes[CONTROL_MESSAGE_MAX];
	char why[256];
	uint32_t len;

	if (control_message_unpack(data, size, &message) != NULL)
		return 0;
	len = control_message_pack(&message, bytes);
	if (len > sizeof(bytes) || control_message_unpack(bytes, len, &again) != NULL || again.id != message.id ||
	    again.consumer_id != message.consumer_id || again.has_terms != message.has_terms)
		abort();
	if (message.has_terms && memcmp(&message.terms, &again.terms, sizeof(message.terms)) != 0)
		abort();
	control_terms_match(&message.terms, &again.terms, why, sizeof(why));
	return 0;
}
