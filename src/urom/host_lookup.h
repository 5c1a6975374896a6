/* SPDX-License-Identifier: BSD-3-Clause */
/* The addresses of a host, in bounded time: a resolver that hangs is left to itself. */
#ifndef UROM_HOST_LOOKUP_H
#define UROM_HOST_LOOKUP_H

#include <netdb.h>
#include <stdint.h>

#include <doca_error.h>

#define UROM_LOOKUPS_MAX 4 /* that a resolver has not answered yet, of a process */

/*
 * found is the caller's, to be freed with freeaddrinfo. NOT_FOUND: there is no such host, or the resolver cannot say. TIME_OUT:
 * it has said nothing for limit_ns, in which whoever asks it did not wait for a processor, or to UROM_LOOKUPS_MAX before this.
 * NO_MEMORY. Logged, all of them.
 */
doca_error_t urom_host_look_up(const char *host, uint16_t port, uint64_t limit_ns, struct addrinfo **found);

#endif
