/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks that complete inside their submit, as one-sided ones between two processes do, mixed with tasks that go through the
 * fabric: callbacks come in the order of submission. The peer runs this program again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/rdma_peer.h"

#define SIZE (256 << 10)
#define ROUNDS 40

#define STEPS 96
#define AT_A_TIME 3

static struct {
	struct rdma_rig rig;
	struct doca_rdma_connection *to;
	uint64_t seed;
	uint64_t submitted;
	bool bursts;
	struct doca_buf *bufs[2 * STEPS];
	uint32_t num_bufs;
} steps;

static struct doca_buf *step_buf(bool remote, uint64_t at, bool data)
{
	return steps.bufs[steps.num_bufs++] = rdma_rig_buf(&steps.rig, remote, at, 8, data);
}

/* Submits a random task. Some complete inside their submit if nothing else is in flight; others go through the fabric. */
static void step(struct rdma_rig *a)
{
	uint64_t number = steps.submitted++, at = 8192 + number * 16;
	struct doca_rdma_connection *to = steps.to;

	steps.seed = steps.seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	switch (steps.seed >> 33 & 7) {
	case 0:
	case 1:
		CHECK_OK(rig_write(a, to, step_buf(false, at, true), step_buf(true, at, false), number));
		break;
	case 2:
	case 3:
		CHECK_OK(rig_read(a, to, step_buf(true, at, true), step_buf(false, at, false), number));
		break;
	case 4:
		CHECK_OK(rig_add(a, to, step_buf(true, 4096, true), step_buf(false, at, false), 1, number));
		break;
	case 5:
		CHECK_OK(rig_write_imm(a, to, step_buf(false, at, true), step_buf(true, at, false), 7, number));
		break;
	default:
		CHECK_OK(rig_send(a, to, NULL, number));
	}
}

/* Keeps AT_A_TIME tasks in flight. In bursts, waits until all have ended before it submits the next, so that tasks that
 * complete inside their submit are followed by others. */
static void go_on(struct rdma_rig *a)
{
	if (steps.bursts && steps.submitted != a->num_ended)
		return;
	while (steps.submitted < STEPS && steps.submitted - a->num_ended < AT_A_TIME)
		step(a);
}

/* All are submitted from callbacks, except the first. */
static void callbacks_come_in_the_order_of_submission(void **state)
{
	struct rdma_rig *rig = &steps.rig;
	struct peer peer;

	(void)state;
	peer_folder_make();
	peer_spawn(&peer, "taker");
	rdma_rig_prepare(rig, 0, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(rig);
	peer_meet(peer.socket, rig, &steps.to);
	peer_expect(peer.socket, 'r');
	for (uint64_t round = 0; round < ROUNDS; round++) {
		rig->num_ended = 0;
		steps.submitted = steps.num_bufs = 0;
		steps.seed = round;
		steps.bursts = round % 2 != 0;
		rig->on_ended = go_on;
		step(rig);
		RDMA_RIG_WAIT(rig, NULL, rig->num_ended == STEPS);
		rig->on_ended = NULL;
		CHECK(rig->num_failed == 0);
		for (uint64_t i = 0; i < STEPS; i++)
			CHECK(rig->order[i] == i);
		for (uint32_t i = 0; i < steps.num_bufs; i++)
			rig_put(steps.bufs[i]);
	}
	rdma_rig_fini(rig);
	peer_notify(peer.socket, 'q');
	peer_wait(&peer);
	peer_folder_remove();
}

static void taker(int socket)
{
	static struct rdma_rig rig;
	struct doca_rdma_connection *connection;
	char word = 0;

	alarm(PEER_LIFE_S);
	rdma_rig_prepare(&rig, 1, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&rig);
	peer_meet(socket, &rig, &connection);
	rig.resubmits = UINT32_MAX;
	for (uint64_t i = 0; i < 2 * AT_A_TIME; i++)
		CHECK_OK(rig_receive(&rig, NULL, i));
	peer_notify(socket, 'r');
	while (!peer_has_said(socket, &word))
		(void)doca_pe_progress(rig.pe);
	rig.resubmits = 0;
	rdma_rig_fini(&rig);
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		taker(atoi(argv[2]));
		return 0;
	}
	const struct CMUnitTest tests[] = {cmocka_unit_test(callbacks_come_in_the_order_of_submission)};

	return cmocka_run_group_tests_name("rdma callbacks", tests, NULL, NULL);
}
