/* SPDX-License-Identifier: BSD-3-Clause */
/* How the verbs provider numbers messages on the timeline: both ends of a connection use the same number, and no two messages
 * share one. No device is needed: an end is what sf_verbs_conn_side makes of a queue pair's number. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "fabric/verbs/trace.h"

/* One side of a connection, with what its flow numbers are made of. */
struct side {
	struct vb_domain domain;
	struct vb_ep ep;
	struct ibv_qp qp;
	struct ibv_mr mr;
	struct vb_mr block_mr;
	struct vb_block block;
	struct vb_conn conn;
};

static struct side here, there;

static void side_init(struct side *side, uint8_t domain, uint32_t qpn, uint32_t psn)
{
	memset(side, 0, sizeof(*side));
	memset(side->domain.id.bytes, domain, sizeof(side->domain.id.bytes) / 2);
	side->ep.base.domain = &side->domain.base;
	side->qp.qp_num = qpn;
	side->block_mr.mr = &side->mr;
	side->conn.base.ep = &side->ep.base;
	side->conn.qp = &side->qp;
	side->conn.psn = psn;
	side->conn.block = &side->block;
	side->conn.block_mr = &side->block_mr;
}

/* Each side learns what the handshake carries about the other. */
static void sides_meet(void)
{
	struct sf_msg_side side;

	sf_verbs_conn_side(&here.conn, &side);
	memcpy(&there.conn.peer, side.bytes, sizeof(there.conn.peer));
	sf_verbs_conn_side(&there.conn, &side);
	memcpy(&here.conn.peer, side.bytes, sizeof(here.conn.peer));
}

static int setup(void **state)
{
	(void)state;
	side_init(&here, 0x11, 17, 0x123456);
	side_init(&there, 0x22, 18, 0x654321);
	sides_meet();
	return 0;
}

static void both_ends_number_a_message_alike(void **state)
{
	(void)state;
	for (uint32_t number = 1; number <= 100; number++) {
		assert_true(sf_verbs_flow_out(&here.conn, number) == sf_verbs_flow_in(&there.conn, number));
		assert_true(sf_verbs_flow_out(&there.conn, number) == sf_verbs_flow_in(&here.conn, number));
	}
}

static void each_message_has_a_flow_of_its_own(void **state)
{
	const uint64_t flow = sf_verbs_flow_out(&here.conn, 1);

	(void)state;
	assert_true(flow != 0);
	assert_true(flow != sf_verbs_flow_out(&here.conn, 2));
	assert_true(flow != sf_verbs_flow_out(&there.conn, 1));
}

/* A later connection may have a queue pair of the same number, on this machine or on another. */
static void each_connection_has_flows_of_its_own(void **state)
{
	const uint64_t flow = sf_verbs_flow_out(&here.conn, 1);

	(void)state;
	side_init(&there, 0x22, 18, 0x654322);
	sides_meet();
	assert_true(flow != sf_verbs_flow_out(&here.conn, 1));
	side_init(&there, 0x22, 19, 0x654321);
	sides_meet();
	assert_true(flow != sf_verbs_flow_out(&here.conn, 1));
	side_init(&there, 0x23, 18, 0x654321);
	sides_meet();
	assert_true(flow != sf_verbs_flow_out(&here.conn, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(both_ends_number_a_message_alike, setup),
		cmocka_unit_test_setup(each_message_has_a_flow_of_its_own, setup),
		cmocka_unit_test_setup(each_connection_has_flows_of_its_own, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
