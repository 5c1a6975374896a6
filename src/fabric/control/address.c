/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/address.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADDR_TEXT_MAX 56 /* "[" an IPv6 address "]:65535" and NUL */

/* Returns a number from 1 to 65535, without sign, leading zeros or trailing characters; else 0. */
static uint16_t parse_port(const char *text)
{
	size_t len = strspn(text, "0123456789");

	if (len == 0 || len > 5 || text[len] != '\0' || text[0] == '0')
		return 0;

	long port = strtol(text, NULL, 10);

	return port <= UINT16_MAX ? (uint16_t)port : 0;
}

/* Parses HOST:PORT, with an IPv6 address in brackets. Modifies the text. */
static bool parse_addr(char *text, struct sf_address *addr)
{
	char *colon = strrchr(text, ':');
	size_t len;

	if (colon == NULL)
		return false;
	*colon = '\0';
	memset(addr, 0, sizeof(*addr));
	addr->port = parse_port(colon + 1);
	len = (size_t)(colon - text);
	addr->is_ipv6 = len > 2 && text[0] == '[' && text[len - 1] == ']';
	if (addr->is_ipv6)
		text[len - 1] = '\0';
	return addr->port != 0 &&
	       inet_pton(addr->is_ipv6 ? AF_INET6 : AF_INET, addr->is_ipv6 ? text + 1 : text, addr->bytes) == 1;
}

static int hex_digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool parse_token(const char *text, struct sf_key *token)
{
	if (strlen(text) != 2 * SF_KEY_SIZE)
		return false;
	for (int i = 0; i < SF_KEY_SIZE; i++) {
		int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		token->bytes[i] = (uint8_t)(high << 4 | low);
	}
	return true;
}

bool sf_addresses_parse(const char *text, struct sf_addresses *out)
{
	struct sf_addresses addresses = {0};
	char copy[SF_ADDRESS_MAX], *next = copy, *addr, *hash;

	if (strnlen(text, SF_ADDRESS_MAX) == SF_ADDRESS_MAX)
		return false;
	strcpy(copy, text);
	hash = strchr(copy, '#');
	if (hash != NULL) {
		*hash = '\0';
		if (!parse_token(hash + 1, &addresses.token))
			return false;
		addresses.has_token = true;
	}
	while ((addr = strsep(&next, ",")) != NULL) {
		if (addresses.num == SF_ADDRESSES_MAX || !parse_addr(addr, &addresses.at[addresses.num++]))
			return false;
	}
	*out = addresses;
	return true;
}

static void format_addr(const struct sf_address *addr, char text[ADDR_TEXT_MAX])
{
	char host[INET6_ADDRSTRLEN];

	(void)inet_ntop(addr->is_ipv6 ? AF_INET6 : AF_INET, addr->bytes, host, sizeof(host));
	(void)snprintf(text, ADDR_TEXT_MAX, addr->is_ipv6 ? "[%s]:%u" : "%s:%u", host, (unsigned)addr->port);
}

void sf_addresses_format(const struct sf_addresses *addresses, char text[SF_ADDRESS_MAX])
{
	const size_t room = SF_ADDRESS_MAX - 1 - (addresses->has_token ? 1 + 2 * SF_KEY_SIZE : 0);
	char one[ADDR_TEXT_MAX];
	size_t at = 0;

	text[0] = '\0';
	for (uint32_t i = 0; i < addresses->num; i++) {
		format_addr(&addresses->at[i], one);
		if (at + (at != 0) + strlen(one) > room)
			break;
		at += (size_t)snprintf(text + at, SF_ADDRESS_MAX - at, "%s%s", at != 0 ? "," : "", one);
	}
	if (at == 0 || !addresses->has_token)
		return;
	text[at++] = '#';
	for (int i = 0; i < SF_KEY_SIZE; i++, at += 2)
		(void)snprintf(text + at, SF_ADDRESS_MAX - at, "%02x", addresses->token.bytes[i]);
}

bool sf_address_of_peer(int fd, struct sf_address *address, uint32_t *scope)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} peer = {0};
	socklen_t len = sizeof(peer);

	*address = (struct sf_address){0};
	*scope = 0;
	if (getpeername(fd, &peer.any, &len) != 0)
		return false;
	if (peer.any.sa_family == AF_INET) {
		memcpy(address->bytes, &peer.v4.sin_addr, sizeof(peer.v4.sin_addr));
		address->port = ntohs(peer.v4.sin_port);
		return true;
	}
	address->is_ipv6 = true;
	memcpy(address->bytes, &peer.v6.sin6_addr, sizeof(peer.v6.sin6_addr));
	address->port = ntohs(peer.v6.sin6_port);
	*scope = peer.v6.sin6_scope_id;
	return peer.any.sa_family == AF_INET6;
}

void sf_address_show_peer(int fd, char text[SF_ADDRESS_MAX])
{
	struct sf_addresses peer = {.num = 1};
	uint32_t scope;

	if (sf_address_of_peer(fd, &peer.at[0], &scope))
		sf_addresses_format(&peer, text);
	else
		strcpy(text, "an unknown address");
}
