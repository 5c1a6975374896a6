/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The network addresses of a process, as text in a descriptor or next to a listener's name:
 *
 *   10.0.0.1:4711,[fe80::5054:ff:fe12:3456]:4712#000102030405060708090a0b0c0d0e0f
 *
 * One to eight numeric addresses in the order of trying, and the token that a caller must present. A port that a program listens
 * to has no token. The text is untrusted: it is parsed completely or rejected.
 */
#ifndef SF_FABRIC_CONTROL_ADDRESS_H
#define SF_FABRIC_CONTROL_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "fabric/fabric.h"
#include "fabric/key.h"

#define SF_ADDRESSES_MAX 8

struct sf_address {
	uint8_t bytes[16]; /* an IPv4 address takes the first 4 */
	bool is_ipv6;
	uint16_t port;
};

struct sf_addresses {
	struct sf_address at[SF_ADDRESSES_MAX];
	uint32_t num;
	bool has_token;
	struct sf_key token;
};

/* Returns false, not logged, if the text is invalid. */
bool sf_addresses_parse(const char *text, struct sf_addresses *addresses);

/* The address of the other end of a TCP channel; false if it has none. *scope is the interface of an IPv6 link-local
 * address. */
bool sf_address_of_peer(int fd, struct sf_address *address, uint32_t *scope);
/* The same as text, for a log line. */
void sf_address_show_peer(int fd, char text[SF_ADDRESS_MAX]);

/* Drops the last addresses if they do not fit. No addresses give an empty text. */
void sf_addresses_format(const struct sf_addresses *addresses, char text[SF_ADDRESS_MAX]);

#endif
