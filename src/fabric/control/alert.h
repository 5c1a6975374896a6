/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How one side reports to the other, before anything is proven, that there will be no channel: an alert of TLS, in clear. A side
 * with TLS understands it, and so do those without a key and without TLS. Nobody signs it: it decides what is logged, and nothing
 * else.
 */
#ifndef SF_FABRIC_CONTROL_ALERT_H
#define SF_FABRIC_CONTROL_ALERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SF_ALERT_HEAD_SIZE 2 /* bytes that say whether it is one */
#define SF_ALERT_SIZE 7

/* Its reasons, by TLS's numbers. */
enum sf_alert_reason {
	SF_ALERT_KEY = 40,   /* handshake_failure: the keys differ, or one side has none */
	SF_ALERT_OTHER = 70, /* protocol_version: one side speaks TLS, and the other does not */
};

/* Of the first bytes that a peer says. */
bool sf_alert_asks_for_tls(const void *bytes, size_t len);
bool sf_alert_is(const void *bytes, size_t len);
/* False: not all of it is there. */
bool sf_alert_reason(const void *bytes, size_t len, uint8_t *reason);

void sf_alert_send(int fd, enum sf_alert_reason reason);

#endif
