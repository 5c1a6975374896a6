/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks up the addresses of a host in bounded time: a resolver that hangs is abandoned. */
#ifndef UROM_HOST_LOOKUP_H
#define UROM_HOST_LOOKUP_H

#include <netdb.h>
#include <stdint.h>

#include <doca_error.h>

#define UROM_LOOKUPS_MAX 4 /* abandoned look-ups of a process that the resolver has not answered yet */

/*
 * Sets *found, which the caller frees with freeaddrinfo. NOT_FOUND: there is no such host, or the resolver does not know.
 * TIME_OUT: no reply within limit_ns, not counting time in which the thread waited for a processor; or UROM_LOOKUPS_MAX look-ups
 * are pending. NO_MEMORY. All are logged.
 */
doca_error_t urom_host_look_up(const char *host, uint16_t port, uint64_t limit_ns, struct addrinfo **found);

#endif
