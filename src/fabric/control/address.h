/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a process is found on a network, as text that stands beside a name or in a descriptor:
 *
 *   10.0.0.1:4711,[fe80::5054:ff:fe12:3456]:4712#000102030405060708090a0b0c0d0e0f
 *
 * One to eight addresses in the order in which they are to be tried, in numbers, and the token that is to be brought there. At a
 * port that a program listens to there is no token. It comes from other processes: parsed whole or not at all.
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

/* False, not logged: it is none. */
bool sf_addresses_parse(const char *text, struct sf_addresses *addresses);

/* Of the other end of a TCP channel. False: it is none. *scope, of IPv6 only, is the interface by which it is reached. */
bool sf_address_of_peer(int fd, struct sf_address *address, uint32_t *scope);
/* The same as text, for a log line. */
void sf_address_show_peer(int fd, char text[SF_ADDRESS_MAX]);

/* Addresses for which there is no room are left out, the last first. The text without any is empty. */
void sf_addresses_format(const struct sf_addresses *addresses, char text[SF_ADDRESS_MAX]);

#endif
