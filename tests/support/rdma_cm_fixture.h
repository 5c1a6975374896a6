/* SPDX-License-Identifier: BSD-3-Clause */
/* A listener and a caller on two devices, created for each test. Include it after cmocka. */
#ifndef TEST_RDMA_CM_FIXTURE_H
#define TEST_RDMA_CM_FIXTURE_H

#include "support/rdma_cm_side.h"

struct fixture {
	struct cm_side server, client;
};

/* Indices of devices in the topology of this test. */
enum { SERVER_DEVICE = 2, CLIENT_DEVICE = 0 };

static inline int prepare(void **state)
{
	static struct fixture f;

	cm_side_prepare(&f.server, SERVER_DEVICE, 1);
	cm_side_prepare(&f.client, CLIENT_DEVICE, 1);
	*state = &f;
	return 0;
}

static inline void start(struct fixture *f)
{
	rdma_rig_start(&f->server.rig);
	rdma_rig_start(&f->client.rig);
	CHECK_OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, CM_PORT));
}

static inline int setup(void **state)
{
	(void)prepare(state);
	start(*state);
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	rdma_rig_fini(&f->client.rig);
	rdma_rig_fini(&f->server.rig);
	return 0;
}

#define WAIT(condition) RDMA_RIG_WAIT(&f->server.rig, &f->client.rig, condition)

static inline void call(struct fixture *f, uint64_t data)
{
	cm_call_device(&f->client, f->server.rig.dev, data);
}

static inline void connect_both(struct fixture *f)
{
	uint32_t server = f->server.num_established, client = f->client.num_established;

	call(f, 77);
	WAIT(f->server.num_established == server + 1 && f->client.num_established == client + 1);
}

/* Sends a message each way, and checks the connection of each. */
static inline void talk(struct fixture *f, struct doca_rdma_connection *to_server, struct doca_rdma_connection *to_client)
{
	struct rdma_rig *server = &f->server.rig, *client = &f->client.rig;
	struct doca_buf *there = rig_room(server, 100, 50), *here = rig_room(client, 200, 50);
	struct doca_buf *ask = rig_source(client, 1000, 40), *answer = rig_source(server, 2000, 30);
	uint32_t at_server = server->num_received, at_client = client->num_received;

	memset(client->memory + 1000, 0x5a, 40);
	memset(server->memory + 2000, 0xa5, 30);
	CHECK_OK(rig_receive(server, there, 0));
	CHECK_OK(rig_receive(client, here, 0));
	CHECK_OK(rig_send(client, to_server, ask, 0));
	WAIT(server->num_received == at_server + 1);
	assert_ptr_equal(server->from, to_client);
	assert_memory_equal(server->memory + 100, client->memory + 1000, 40);
	CHECK_OK(rig_send(server, to_client, answer, 0));
	WAIT(client->num_received == at_client + 1);
	assert_ptr_equal(client->from, to_server);
	assert_memory_equal(client->memory + 200, server->memory + 2000, 30);
	rig_put(there);
	rig_put(here);
	rig_put(ask);
	rig_put(answer);
}

static inline void talk_on_last(struct fixture *f)
{
	talk(f, f->client.established, f->server.established);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_IDLE(name) cmocka_unit_test_setup_teardown(name, prepare, teardown)

#endif
