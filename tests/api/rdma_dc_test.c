/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA with the DC transport: the same results as with RC, and one export for any number of peers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rdma_cm_side.h"

#define PEERS 5

struct fixture {
	struct cm_side server, peers[PEERS];
};

static void set_dc(struct cm_side *side)
{
	CHECK_OK(doca_rdma_set_transport_type(side->rig.rdma, DOCA_RDMA_TRANSPORT_TYPE_DC));
}

static int setup(void **state)
{
	static struct fixture f;

	cm_side_prepare(&f.server, 2, PEERS);
	set_dc(&f.server);
	rdma_rig_start(&f.server.rig);
	for (int i = 0; i < PEERS; i++) {
		cm_side_prepare(&f.peers[i], i % 2 == 0 ? 0 : 3, 1);
		set_dc(&f.peers[i]);
		rdma_rig_start(&f.peers[i].rig);
	}
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < PEERS; i++)
		rdma_rig_fini(&f->peers[i].rig);
	rdma_rig_fini(&f->server.rig);
	return 0;
}

static void dc_can_be_selected(void **state)
{
	struct fixture *f = *state;
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(f->server.rig.dev);
	enum doca_rdma_transport_type transport;
	uint32_t len;

	CHECK_OK(doca_rdma_cap_transport_type_is_supported(devinfo, DOCA_RDMA_TRANSPORT_TYPE_DC));
	assert_int_equal(doca_rdma_cap_transport_type_is_supported(devinfo, (enum doca_rdma_transport_type)2),
			 DOCA_ERROR_NOT_SUPPORTED);
	CHECK_OK(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(devinfo, DOCA_RDMA_TRANSPORT_TYPE_DC, &len));
	CHECK_OK(doca_rdma_get_transport_type(f->server.rig.rdma, &transport));
	assert_int_equal(transport, DOCA_RDMA_TRANSPORT_TYPE_DC);
	assert_int_equal(doca_rdma_set_transport_type(f->server.rig.rdma, DOCA_RDMA_TRANSPORT_TYPE_RC), DOCA_ERROR_BAD_STATE);
}

/* A connection for each peer, as with RC. */
static void a_connection_for_each_peer(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma_connection *to[PEERS], *from[PEERS];
	const void *there, *here;
	size_t there_size, here_size;

	for (uint32_t i = 0; i < PEERS; i++) {
		CHECK_OK(doca_rdma_export(f->server.rig.rdma, &there, &there_size, &to[i]));
		CHECK_OK(doca_rdma_export(f->peers[i].rig.rdma, &here, &here_size, &from[i]));
		CHECK_OK(doca_rdma_connect(f->server.rig.rdma, here, here_size, to[i]));
		CHECK_OK(doca_rdma_connect(f->peers[i].rig.rdma, there, there_size, from[i]));
		CHECK_OK(rig_receive(&f->server.rig, NULL, 0));
		CHECK_OK(rig_receive(&f->peers[i].rig, NULL, 0));
		CHECK_OK(rig_send_imm(&f->peers[i].rig, from[i], NULL, i, 0));
		CHECK_OK(rig_send_imm(&f->server.rig, to[i], NULL, 100 + i, 0));
		RDMA_RIG_WAIT(&f->server.rig, &f->peers[i].rig,
			      f->server.rig.num_received == i + 1 && f->peers[i].rig.num_received == 1);
		assert_ptr_equal(f->server.rig.from, to[i]);
		assert_int_equal(f->server.rig.immediate, i);
		assert_int_equal(f->peers[i].rig.immediate, 100 + i);
	}
}

/* All peers connect with the details of one export; messages, reads and writes work as on any connection. */
static void one_export_for_all_peers(void **state)
{
	struct fixture *f = *state;
	struct doca_rdma_connection *to, *from[PEERS];
	const void *there, *here, *descriptor;
	size_t there_size, here_size, len;

	CHECK_OK(doca_rdma_export(f->server.rig.rdma, &there, &there_size, &to));
	CHECK_OK(doca_mmap_export_rdma(f->server.rig.mmap, f->server.rig.dev, &descriptor, &len));
	for (uint32_t i = 0; i < PEERS; i++) {
		struct rdma_rig *peer = &f->peers[i].rig;

		CHECK_OK(doca_rdma_export(peer->rdma, &here, &here_size, &from[i]));
		CHECK_OK(doca_rdma_connect(peer->rdma, there, there_size, from[i]));
		rdma_rig_import(peer, descriptor, len);
		memset(peer->memory, (int)(i + 1), 100);
		struct doca_buf *src = rig_source(peer, 0, 100), *dst = rig_remote_room(peer, i * 100, 100);
		CHECK_OK(rig_write(peer, from[i], src, dst, 0));
		CHECK_OK(rig_receive(&f->server.rig, NULL, 0));
		CHECK_OK(rig_send_imm(peer, from[i], NULL, i, 1));
		RDMA_RIG_WAIT(&f->server.rig, peer, f->server.rig.num_received == i + 1 && peer->num_good == 2);
		assert_ptr_equal(f->server.rig.from, to);
		assert_int_equal(f->server.rig.immediate, i);
		assert_int_equal(f->server.rig.memory[i * 100 + 99], i + 1);
		rig_put(src);
		rig_put(dst);
		if (i == 2) { /* it chooses one peer to send to */
			CHECK_OK(doca_rdma_connect(f->server.rig.rdma, here, here_size, to));
			CHECK_OK(rig_receive(peer, NULL, 0));
			CHECK_OK(rig_send(&f->server.rig, to, NULL, 0));
			RDMA_RIG_WAIT(&f->server.rig, peer, peer->num_received == 1);
		}
	}
	/* A peer that stops does not affect the others. */
	rdma_rig_stop(&f->peers[1].rig);
	CHECK_OK(rig_receive(&f->server.rig, NULL, 0));
	CHECK_OK(rig_send_imm(&f->peers[4].rig, from[4], NULL, 44, 0));
	RDMA_RIG_WAIT(&f->server.rig, &f->peers[4].rig, f->server.rig.immediate == 44);
	CHECK_OK(doca_rdma_connection_disconnect(to));
	(void)doca_pe_progress(f->server.rig.pe);
	CHECK_OK(rig_send(&f->peers[3].rig, from[3], NULL, 0));
	RDMA_RIG_WAIT(&f->server.rig, &f->peers[3].rig, f->peers[3].rig.num_failed == 1);
	for (int i = 0; i < PEERS; i++) {
		CHECK_OK(doca_mmap_destroy(f->peers[i].rig.remote));
		f->peers[i].rig.remote = NULL;
	}
}

static void by_address(void **state)
{
	struct fixture *f = *state;

	CHECK_OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, CM_PORT));
	for (uint32_t i = 0; i < PEERS; i++) {
		cm_call_device(&f->peers[i], f->server.rig.dev, i);
		RDMA_RIG_WAIT(&f->server.rig, &f->peers[i].rig,
			      f->server.num_established == i + 1 && f->peers[i].num_established == 1);
		CHECK_OK(rig_receive(&f->server.rig, NULL, 0));
		CHECK_OK(rig_send(&f->peers[i].rig, f->peers[i].established, NULL, 0));
		RDMA_RIG_WAIT(&f->server.rig, &f->peers[i].rig, f->server.rig.num_received == i + 1);
		assert_ptr_equal(f->server.rig.from, f->server.all[i]);
	}
}

/* DC does not connect to RC, neither by descriptors, from either side, nor by address. */
static void not_with_rc(void **state)
{
	struct fixture *f = *state;
	struct cm_side rc;
	struct doca_rdma_connection *to, *from;
	const void *there, *here;
	size_t there_size, here_size;

	cm_side_prepare(&rc, 0, 2);
	rdma_rig_start(&rc.rig);
	CHECK_OK(doca_rdma_export(f->server.rig.rdma, &there, &there_size, &to));
	CHECK_OK(doca_rdma_export(rc.rig.rdma, &here, &here_size, &from));
	assert_int_equal(doca_rdma_connect(f->server.rig.rdma, here, here_size, to), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_rdma_connect(rc.rig.rdma, there, there_size, from), DOCA_ERROR_INVALID_VALUE);
	CHECK_OK(doca_rdma_start_listen_to_port(f->server.rig.rdma, CM_PORT));
	cm_call_device(&rc, f->server.rig.dev, 0);
	RDMA_RIG_WAIT(&f->server.rig, &rc.rig, rc.num_failed == 1);
	cm_events_are(&f->server, "");
	rdma_rig_fini(&rc.rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(dc_can_be_selected, setup, teardown),
		cmocka_unit_test_setup_teardown(a_connection_for_each_peer, setup, teardown),
		cmocka_unit_test_setup_teardown(one_export_for_all_peers, setup, teardown),
		cmocka_unit_test_setup_teardown(by_address, setup, teardown),
		cmocka_unit_test_setup_teardown(not_with_rc, setup, teardown),
	};

	return cmocka_run_group_tests_name("rdma with DC", tests, NULL, NULL);
}
