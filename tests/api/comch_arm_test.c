/* SPDX-License-Identifier: BSD-3-Clause */
/* Arming of a consumer on the CPU: what arrives meanwhile, through its endpoint or another source, wakes it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "comch/inbound.h"

/* ---- called by the code under test, but not reached here ---- */

doca_error_t comch_attach_parse(const void *data, size_t len, struct comch_attach *attach)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}
doca_error_t comch_child_flush_status(const struct comch_child *child)
{
	return DOCA_ERROR_BAD_STATE;
}
doca_error_t comch_consumer_listen(struct doca_comch_consumer *consumer, const struct sf_ep_handler *handler, uint32_t recv_max,
				   int event_fd, struct comch_advertisement *ad)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}
void comch_consumer_unlisten(struct doca_comch_consumer *consumer) {}
doca_error_t comch_inbound_open(struct doca_comch_consumer *consumer, struct sf_conn *conn, const struct comch_attach *attach,
				struct comch_inbound **inbound)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}
void comch_task_post_recv_arrived(struct doca_comch_consumer_task_post_recv *task, const struct comch_arrival *arrival) {}
void comch_task_post_recv_flushed(struct doca_comch_consumer_task_post_recv *task, doca_error_t status) {}

/* ---- an endpoint that notices rings while it is armed, and a source whose producer rings as soon as it is armed ---- */

static bool ep_armed, ep_due, woken, source_ready;

static bool ep_arm(struct sf_ep *ep)
{
	ep_armed = !ep_due;
	return ep_due;
}

static void ring(void)
{
	woken |= ep_armed;
}

static void flush_recvs(struct sf_ep *ep) {}

static const struct sf_fabric_ops provider = {.ep_arm = ep_arm, .ep_flush_recvs = flush_recvs};
static struct sf_ep ep = {.ops = &provider};

static bool source_rings_when_armed(struct comch_inbound *inbound)
{
	ring();
	return source_ready;
}

static bool source_wants_receives(struct comch_inbound *inbound)
{
	comch_consumer_want_recvs(inbound->consumer);
	return false;
}

static bool arm(bool (*source_arm)(struct comch_inbound *))
{
	const struct comch_inbound_ops ops = {.name = "test", .arm = source_arm};
	struct doca_comch_consumer consumer = {.ep = &ep, .num_posted = 1};
	struct comch_inbound source = {.ops = &ops, .consumer = &consumer};

	consumer.child.ctx.state = DOCA_CTX_STATE_RUNNING;
	consumer.inbound = &source;
	ep_armed = woken = false;
	return comch_consumer_cpu_path.arm(&consumer);
}

static void ring_while_arming_wakes(void **state)
{
	ep_due = source_ready = false;
	assert_false(arm(source_rings_when_armed));
	assert_true(woken);
}

static void existing_messages_are_due(void **state)
{
	ep_due = false;
	source_ready = true;
	assert_true(arm(source_rings_when_armed));
	ep_due = true;
	source_ready = false;
	assert_true(arm(source_rings_when_armed));
}

static void source_without_arm_is_always_due(void **state)
{
	ep_due = source_ready = false;
	assert_true(arm(NULL));
}

static void receives_flushed_while_arming_are_due(void **state)
{
	ep_due = source_ready = false;
	assert_true(arm(source_wants_receives));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_while_arming_wakes),
		cmocka_unit_test(existing_messages_are_due),
		cmocka_unit_test(source_without_arm_is_always_due),
		cmocka_unit_test(receives_flushed_while_arming_are_due),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
