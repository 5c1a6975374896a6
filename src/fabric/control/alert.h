/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rejects a channel before authentication by a TLS alert in clear text. Peers with TLS, without TLS and without a key understand
 * it. It is not signed, so it only decides what is logged.
 */
#ifndef SF_FABRIC_CONTROL_ALERT_H
#define SF_FABRIC_CONTROL_ALERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SF_ALERT_HEAD_SIZE 2 /* bytes that identify an alert */
#define SF_ALERT_SIZE 7

/* The reasons, as TLS alert numbers. */
enum sf_alert_reason {
	SF_ALERT_KEY = 40,   /* handshake_failure: the keys differ, or one side has none */
	SF_ALERT_OTHER = 70, /* protocol_version: only one side uses TLS */
};

/* Returns true if the first bytes of a peer begin a TLS handshake. */
bool sf_alert_asks_for_tls(const void *bytes, size_t len);
bool sf_alert_is(const void *bytes, size_t len);
/* Returns false if the alert is incomplete. */
bool sf_alert_reason(const void *bytes, size_t len, uint8_t *reason);

void sf_alert_send(int fd, enum sf_alert_reason reason);

#endif
