/* SPDX-License-Identifier: BSD-3-Clause */
/* An RDMA instance that connects by address, and a record of its callbacks. Include it after cmocka, or after a CHECK. */
#ifndef TEST_RDMA_CM_SIDE_H
#define TEST_RDMA_CM_SIDE_H

#include <arpa/inet.h>
#include <stdio.h>
#include <unistd.h>

#include "support/descriptors.h"
#include "support/rdma_rig.h"
#include "support/sanitizers.h"

#define CM_EVENTS 4096
#define CM_CONNECTIONS 1024

/* Twenty ports from here on belong to this process: others may run the same tests on the same devices now. */
static inline uint16_t cm_port(void)
{
	return (uint16_t)(2000 + getpid() % 3000 * 20);
}

#define CM_PORT cm_port()

enum cm_policy { CM_ACCEPT, CM_REJECT, CM_WAIT };

struct cm_side {
	struct rdma_rig rig;	    /* must be first: the context's user data points to it */
	enum cm_policy policy;	    /* what the request callback does */
	bool may_be_gone;	    /* the caller may close before its request is accepted */
	bool end_again;		    /* the disconnection callback disconnects */
	char events[CM_EVENTS + 1]; /* q: request, e: established, f: failure, d: disconnection */
	uint32_t num_events;
	uint32_t num_requests, num_established, num_failed, num_ended;
	uint32_t ended_tasks; /* when the last disconnection callback ran */
	struct doca_rdma_connection *requested, *established, *last;
	struct doca_rdma_connection *all[CM_CONNECTIONS]; /* established, in order */
	uint64_t established_data, end_data;
};

static inline void cm_note(struct cm_side *side, char what, struct doca_rdma_connection *connection)
{
	side->events[side->num_events++ % CM_EVENTS] = what;
	side->last = connection;
}

static inline void cm_requested(struct doca_rdma_connection *connection, union doca_data ctx_data)
{
	struct cm_side *side = ctx_data.ptr;

	cm_note(side, 'q', connection);
	side->requested = connection;
	if (side->policy == CM_ACCEPT) {
		doca_error_t result = doca_rdma_connection_accept(connection, NULL, 0);

		CHECK(result == DOCA_SUCCESS || (side->may_be_gone && result == DOCA_ERROR_CONNECTION_ABORTED));
		CHECK_OK(doca_rdma_connection_set_user_data(connection, (union doca_data){.u64 = 1000 + side->num_requests}));
	} else if (side->policy == CM_REJECT) {
		CHECK_OK(doca_rdma_connection_reject(connection));
	}
	side->num_requests++;
}

static inline void cm_established(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	struct cm_side *side = ctx_data.ptr;

	cm_note(side, 'e', connection);
	side->established = connection;
	side->all[side->num_established++ % CM_CONNECTIONS] = connection;
	side->established_data = data.u64;
}

static inline void cm_failed(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	struct cm_side *side = ctx_data.ptr;

	cm_note(side, 'f', connection);
	side->num_failed++;
	side->end_data = data.u64;
}

static inline void cm_ended(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	struct cm_side *side = ctx_data.ptr;

	cm_note(side, 'd', connection);
	side->num_ended++;
	side->ended_tasks = side->rig.num_ended;
	side->end_data = data.u64;
	if (side->end_again)
		CHECK_OK(doca_rdma_connection_disconnect(connection));
}

/* Does everything except the start. */
static inline void cm_side_prepare(struct cm_side *side, uint32_t device, uint16_t connections)
{
	memset(side, 0, sizeof(*side));
	rdma_rig_prepare(&side->rig, device, 64 << 10, RIG_ALL, RIG_ALL);
	side->end_again = true;
	CHECK_OK(doca_rdma_set_max_num_connections(side->rig.rdma, connections));
	CHECK_OK(doca_rdma_set_connection_state_callbacks(side->rig.rdma, cm_requested, cm_established, cm_failed, cm_ended));
}

static inline void cm_events_are(const struct cm_side *side, const char *events)
{
	CHECK(side->num_events == strlen(events) && memcmp(side->events, events, side->num_events) == 0);
}

/* The address of a device in one of its forms, as text. */
static inline void cm_text(struct doca_dev *dev, enum doca_rdma_addr_type type, char text[64])
{
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(dev);
	struct doca_rdma_gid gid;
	uint8_t bytes[16];

	if (type == DOCA_RDMA_ADDR_TYPE_IPv4)
		CHECK_OK(doca_devinfo_get_ipv4_addr(devinfo, bytes, DOCA_DEVINFO_IPV4_ADDR_SIZE));
	else if (type == DOCA_RDMA_ADDR_TYPE_IPv6)
		CHECK_OK(doca_devinfo_get_ipv6_addr(devinfo, bytes, DOCA_DEVINFO_IPV6_ADDR_SIZE));
	else
		CHECK_OK(doca_rdma_cap_get_gid(devinfo, 0, 1, &gid));
	CHECK(inet_ntop(type == DOCA_RDMA_ADDR_TYPE_IPv4 ? AF_INET : AF_INET6, type == DOCA_RDMA_ADDR_TYPE_GID ? gid.raw : bytes,
			text, 64) != NULL);
}

static inline doca_error_t cm_call(struct cm_side *side, enum doca_rdma_addr_type type, const char *text, uint16_t port,
				   uint64_t data)
{
	struct doca_rdma_addr *addr;
	doca_error_t result;

	CHECK_OK(doca_rdma_addr_create(type, text, port, &addr));
	result = doca_rdma_connect_to_addr(side->rig.rdma, addr, (union doca_data){.u64 = data});
	CHECK_OK(doca_rdma_addr_destroy(addr));
	return result;
}

/* Calls the IPv6 address, which every device has. */
static inline void cm_call_device(struct cm_side *side, struct doca_dev *dev, uint64_t data)
{
	char text[64];

	cm_text(dev, DOCA_RDMA_ADDR_TYPE_IPv6, text);
	CHECK_OK(cm_call(side, DOCA_RDMA_ADDR_TYPE_IPv6, text, CM_PORT, data));
}

/* KiB of memory that this process uses; 0 with a sanitizer, which keeps freed memory and finds leaks itself. */
static inline uint64_t cm_resident_kib(void)
{
#if HAS_SANITIZER
	return 0;
#else
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long total, resident = 0;

	CHECK(file != NULL && fscanf(file, "%lu %lu", &total, &resident) == 2);
	fclose(file);
	return resident * 4;
#endif
}

#endif
