/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/alert.h"

#include <string.h>
#include <sys/socket.h>

/* A TLS record begins with its kind and the major version, which is always 3. */
static bool is_record(const void *bytes, size_t len, uint8_t kind)
{
	const uint8_t head[SF_ALERT_HEAD_SIZE] = {kind, 3};

	return len >= sizeof(head) && memcmp(bytes, head, sizeof(head)) == 0;
}

bool sf_alert_asks_for_tls(const void *bytes, size_t len)
{
	return is_record(bytes, len, 22);
}

bool sf_alert_is(const void *bytes, size_t len)
{
	return is_record(bytes, len, 21);
}

bool sf_alert_reason(const void *bytes, size_t len, uint8_t *reason)
{
	if (!sf_alert_is(bytes, len) || len < SF_ALERT_SIZE)
		return false;
	*reason = ((const uint8_t *)bytes)[SF_ALERT_SIZE - 1];
	return true;
}

void sf_alert_send(int fd, enum sf_alert_reason reason)
{
	const uint8_t alert[SF_ALERT_SIZE] = {21, 3, 3, 0, 2, 2, (uint8_t)reason};

	(void)send(fd, alert, sizeof(alert), MSG_NOSIGNAL | MSG_DONTWAIT);
}
