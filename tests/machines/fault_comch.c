/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch: messages that the host's side returns, and a producer with a consumer on the host's side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/comch_side.h"

#include "fault_flow.h"

#define MESSAGE_LEN 2048
#define RECEIVES 4
#define DATA_LEN 65536

enum kind { MEMORY = 1, ROUND };

struct message {
	uint64_t kind, round;
	union {
		uint8_t bytes[MESSAGE_LEN];
		struct fault_introduction memory;
	};
};

static struct {
	struct comch_side side;
	struct data_side data;
	struct message introduction;
	bool has_data, is_introduced, introduction_sent, was_running;
	uint64_t echo; /* a round to be returned, or 0 */
	uint32_t sent;
	bool is_awaited; /* a message was sent and its echo is awaited */
} c;

const struct fault_introduction *fault_introduced(void)
{
	return c.is_introduced ? &c.introduction.memory : NULL;
}

static void heard(struct comch_side *side, const uint8_t *bytes, uint32_t len, struct doca_comch_connection *connection)
{
	static struct message message;

	(void)side;
	(void)connection;
	CHECK(len == sizeof(message));
	memcpy(&message, bytes, len);
	if (message.kind == MEMORY) {
		c.introduction = message;
		c.is_introduced = true;
		return;
	}
	CHECK(message.kind == ROUND && message.round == fault_comch.rounds + 1);
	CHECK(pattern_is(message.bytes, MESSAGE_LEN, message.round));
	if (fault_is_dpu)
		c.is_awaited = false;
	else
		c.echo = message.round;
	fault_comch.rounds++;
}

/* Returns false if the message cannot be sent now, or no longer. */
static bool message_send(const struct message *message)
{
	struct doca_comch_task_send *task;
	doca_error_t status;

	if (c.side.connection == NULL)
		return false;
	if (c.side.server != NULL)
		status = doca_comch_server_task_send_alloc_init(c.side.server, c.side.connection, message, sizeof(*message),
								&task);
	else
		status = doca_comch_client_task_send_alloc_init(c.side.client, c.side.connection, message, sizeof(*message),
								&task);
	if (status == DOCA_ERROR_BAD_STATE) /* the context is about to stop */
		return false;
	CHECK(status == DOCA_SUCCESS);
	status = doca_task_submit(doca_comch_task_send_as_task(task));
	if (status == DOCA_SUCCESS) {
		c.sent++;
		return true;
	}
	doca_task_free(doca_comch_task_send_as_task(task));
	CHECK(status == DOCA_ERROR_AGAIN || status == DOCA_ERROR_NOT_CONNECTED);
	return false;
}

static bool round_send(uint64_t round)
{
	static struct message message;

	message = (struct message){.kind = ROUND, .round = round};
	pattern_write(message.bytes, MESSAGE_LEN, round);
	return message_send(&message);
}

static void comch_open(struct flow *flow)
{
	memset(&c, 0, sizeof(c));
	if (fault_is_dpu)
		side_init_server(&c.side, "faults");
	else
		side_init_client(&c.side, "faults");
	c.side.on_msg = heard;
	flow->pe = c.side.pe;
	if (!fault_is_dpu) {
		c.introduction.kind = MEMORY;
		fault_dma_export(&c.introduction.memory.pci);
		fault_rdma_export(&c.introduction.memory.rdma);
	}
	CHECK(doca_ctx_start(c.side.ctx) == (fault_is_dpu ? DOCA_SUCCESS : DOCA_ERROR_IN_PROGRESS));
}

static void comch_turn(struct flow *flow)
{
	static uint32_t errors_reported;
	const bool is_running = side_state(c.side.ctx) == DOCA_CTX_STATE_RUNNING;

	if (c.side.num_send_errors == 0)
		errors_reported = 0;
	else if (errors_reported != c.side.num_send_errors)
		fault_failed(flow, "send", c.side.send_status);
	errors_reported = c.side.num_send_errors;
	c.was_running = c.was_running || is_running;
	flow->is_met = flow->is_met || (c.side.connection != NULL && (fault_is_dpu ? c.is_introduced : c.introduction_sent));
	flow->is_ended = fault_is_dpu ? c.side.num_disconnects != 0 : side_state(c.side.ctx) == DOCA_CTX_STATE_IDLE;
	flow->under_way = c.sent - c.side.num_sent - c.side.num_send_errors + (c.is_awaited && !flow->is_ended);
	if (!is_running || flow->is_ended)
		return;
	if (!fault_is_dpu && !c.introduction_sent)
		c.introduction_sent = message_send(&c.introduction);
	if (c.echo != 0 && round_send(c.echo))
		c.echo = 0;
	if (fault_is_dpu && flow->is_met && flow->under_way == 0 && fault_may_begin(flow))
		c.is_awaited = round_send(flow->rounds + 1);
}

static void comch_close(struct flow *flow)
{
	side_fini(&c.side, NULL);
	flow->pe = NULL;
}

struct flow fault_comch = {.name = "comch", .open = comch_open, .turn = comch_turn, .close = comch_close};

/* ---- a producer and a consumer ---- */

static void consumed(struct data_side *side, struct doca_task *task)
{
	struct doca_buf *buf = doca_comch_consumer_task_post_recv_get_buf((struct doca_comch_consumer_task_post_recv *)task);
	void *bytes;

	fault_data.rounds++;
	CHECK(doca_buf_get_data(buf, &bytes) == DOCA_SUCCESS);
	CHECK(side->data_len == DATA_LEN && pattern_is(bytes, DATA_LEN, fault_data.rounds));
}

static void data_open(struct flow *flow)
{
	(void)flow;
}

static void producer_open(struct flow *flow)
{
	if (c.side.num_new_consumers == 0 || c.side.connection == NULL)
		return;
	data_init_producer(&c.data, &c.side, c.side.pe, 1, DATA_LEN);
	data_start(&c.data, NULL, NULL);
	c.has_data = flow->is_met = true;
}

static void consumer_open(struct flow *flow)
{
	if (!fault_comch.is_met || side_state(c.side.ctx) != DOCA_CTX_STATE_RUNNING)
		return;
	data_init_consumer(&c.data, &c.side, c.side.pe, RECEIVES, RECEIVES * DATA_LEN);
	c.data.repost = true;
	c.data.on_done = consumed;
	c.has_data = true;
	(void)flow;
	CHECK(doca_ctx_start(c.data.ctx) == DOCA_ERROR_IN_PROGRESS);
}

static void consumer_turn(struct flow *flow)
{
	if (flow->is_met || side_state(c.data.ctx) != DOCA_CTX_STATE_RUNNING)
		return;
	for (size_t i = 0; i < RECEIVES; i++)
		(void)data_post(&c.data, i * DATA_LEN, DATA_LEN);
	flow->is_met = true;
}

static void producer_turn(struct flow *flow)
{
	static uint32_t errors_reported;
	doca_error_t status;

	if (c.data.num_errors == 0)
		errors_reported = 0;
	else if (errors_reported != c.data.num_errors)
		fault_failed(flow, "send", c.data.status);
	errors_reported = c.data.num_errors;
	if (flow->under_way != 0) {
		flow->under_way = flow->rounds + 1 != c.data.num_done + c.data.num_errors;
		if (flow->under_way != 0)
			return;
		flow->rounds += c.data.num_errors == 0;
	}
	if (flow->is_ended || c.data.num_errors != 0 || c.side.num_expired_consumers != 0 || !fault_may_begin(flow))
		return;
	pattern_write(c.data.memory.bytes, DATA_LEN, flow->rounds + 1);
	status = data_send(&c.data, 0, DATA_LEN, c.side.new_consumer_id, NULL, 0, true);
	flow->under_way = status == DOCA_SUCCESS;
	if (status != DOCA_SUCCESS && status != DOCA_ERROR_AGAIN)
		fault_failed(flow, "submit", status);
}

static void data_turn(struct flow *flow)
{
	if (!c.has_data) {
		if (fault_is_dpu)
			producer_open(flow);
		else
			consumer_open(flow);
		return;
	}
	flow->is_ended = side_state(c.data.ctx) == DOCA_CTX_STATE_IDLE;
	if (fault_is_dpu)
		producer_turn(flow);
	else
		consumer_turn(flow);
}

static void data_close(struct flow *flow)
{
	(void)flow;
	c.data.repost = false; /* receives that complete during the stop are not posted again */
	if (c.has_data)
		data_fini(&c.data);
	c.has_data = false;
}

struct flow fault_data = {.name = "data", .open = data_open, .turn = data_turn, .close = data_close};
