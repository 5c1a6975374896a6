/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules of Comch, with both sides in one process. The environment has SOFTFIELD_STALL_MS=200. */
#include "scenario.h"

#include <poll.h>

#include "support/comch_side.h"
#include "support/test_dev.h"

#define QUIET_NS UINT64_C(700000000) /* longer than a report takes */
#define BYTES 4096

static struct comch_side server, client;

static void connect_sides(void)
{
	server = client = (struct comch_side){.pe = NULL};
	side_init_server(&server, "validation");
	side_init_client(&client, "validation");
	side_connect(&server, &client);
}

static void disconnect_sides(void)
{
	side_fini(&client, &server);
	side_fini(&server, NULL);
}

static void progress_all(struct data_side *data)
{
	(void)doca_pe_progress(server.pe);
	(void)doca_pe_progress(client.pe);
	(void)doca_pe_progress(data->pe);
}

/* Until the report, or for as long as one would take. */
static bool waits_on(bool wrong, uint64_t begin_ns)
{
	return wrong ? scenario_num_reports() == 0 : sf_now_ns() < begin_ns + QUIET_NS;
}

/* ---- control ---- */

static void no_representor(bool wrong)
{
	struct doca_dev *dev = test_dev_open_pci(DPU_DEV);
	struct doca_dev_rep *rep = side_open_rep(dev, HOST_DEV);
	struct doca_comch_server *created = NULL;

	if (doca_comch_server_create(dev, wrong ? NULL : rep, "validation", &created) == DOCA_SUCCESS)
		CHECK_OK(doca_comch_server_destroy(created));
	CHECK_OK(doca_dev_rep_close(rep));
	CHECK_OK(doca_dev_close(dev));
}

static void server_on_the_wrong_node(bool wrong)
{
	struct doca_dev *dpu = test_dev_open_pci(DPU_DEV), *host = test_dev_open_pci(HOST_DEV);
	struct doca_dev_rep *rep = side_open_rep(dpu, HOST_DEV);
	struct doca_comch_server *created = NULL;

	if (doca_comch_server_create(wrong ? host : dpu, rep, "validation", &created) == DOCA_SUCCESS)
		CHECK_OK(doca_comch_server_destroy(created));
	CHECK_OK(doca_dev_rep_close(rep));
	CHECK_OK(doca_dev_close(dpu));
	CHECK_OK(doca_dev_close(host));
}

static void client_on_the_wrong_node(bool wrong)
{
	struct doca_dev *dev = test_dev_open_pci(wrong ? DPU_DEV : HOST_DEV);
	struct doca_comch_client *created = NULL;

	if (doca_comch_client_create(dev, "validation", &created) == DOCA_SUCCESS)
		CHECK_OK(doca_comch_client_destroy(created));
	CHECK_OK(doca_dev_close(dev));
}

static void client_destroyed_before_its_consumer(bool wrong)
{
	struct data_side consumer = {.pe = NULL};

	connect_sides();
	data_init_consumer(&consumer, &client, NULL, 1, BYTES);
	CHECK_OK(softfield_validation_set_name(client.ctx, "rpc"));
	if (wrong)
		assert_int_equal(doca_comch_client_destroy(client.client), DOCA_ERROR_IN_USE);
	data_fini(&consumer);
	disconnect_sides();
}

/* ---- data ---- */

static void consumer_without_receives(bool wrong)
{
	struct data_side consumer = {.pe = NULL};

	connect_sides();
	data_init_consumer(&consumer, &client, NULL, 1, BYTES);
	CHECK_OK(softfield_validation_set_name(consumer.consumer, "results"));
	data_start(&consumer, server.pe, client.pe);
	if (!wrong)
		(void)data_post(&consumer, 0, BYTES);
	for (uint64_t begin_ns = sf_now_ns(); waits_on(wrong, begin_ns);)
		progress_all(&consumer);
	data_fini(&consumer);
	disconnect_sides();
}

/* One iteration of an epoll loop: an engine is progressed only if its handle is readable. */
static void event_loop_turn(struct pollfd *handles, struct doca_pe **engines, nfds_t num)
{
	(void)poll(handles, num, 10);
	for (nfds_t i = 0; i < num; i++) {
		if ((handles[i].revents & POLLIN) == 0)
			continue;
		CHECK_OK(doca_pe_clear_notification(engines[i], 0));
		while (doca_pe_progress(engines[i]) != 0)
			;
		CHECK_OK(doca_pe_request_notification(engines[i]));
	}
}

/* The loop watches the control channel's engine; the consumer has another engine, whose event reports that it has started. */
static void consumer_start_lost_in_an_event_loop(bool wrong)
{
	struct pollfd handles[2] = {{.events = POLLIN}, {.events = POLLIN}};
	struct data_side consumer = {.pe = NULL};

	connect_sides();
	data_init_consumer(&consumer, &client, NULL, 1, BYTES);
	CHECK_OK(softfield_validation_set_name(consumer.consumer, "results"));
	struct doca_pe *engines[2] = {client.pe, consumer.pe};
	for (int i = 0; i < 2; i++) {
		CHECK_OK(doca_pe_get_notification_handle(engines[i], &handles[i].fd));
		CHECK_OK(doca_pe_request_notification(engines[i]));
	}
	assert_int_equal(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	while (wrong ? scenario_num_reports() == 0 : side_state(consumer.ctx) != DOCA_CTX_STATE_RUNNING) {
		(void)doca_pe_progress(server.pe); /* the other process */
		event_loop_turn(handles, engines, wrong ? 1 : 2);
	}
	SIDE_WAIT(side_state(consumer.ctx) == DOCA_CTX_STATE_RUNNING, server.pe, client.pe, consumer.pe, NULL);
	data_fini(&consumer);
	disconnect_sides();
}

struct sending {
	struct data_side consumer, producer;
	struct doca_comch_producer_task_send *task;
};

static void sending_start(struct sending *sending)
{
	connect_sides();
	data_init_consumer(&sending->consumer, &client, NULL, 1, BYTES);
	data_init_producer(&sending->producer, &server, NULL, 1, BYTES);
	data_start(&sending->consumer, server.pe, client.pe);
	(void)data_post(&sending->consumer, 0, BYTES);
	data_start(&sending->producer, server.pe, client.pe);
	sending->producer.keep = true;
	SIDE_WAIT(server.num_new_consumers == 1, server.pe, client.pe, NULL, NULL);
}

static void sending_end(struct sending *sending)
{
	data_fini(&sending->producer);
	data_fini(&sending->consumer);
	disconnect_sides();
}

static void send_it(struct sending *sending, struct doca_buf *buf)
{
	CHECK_OK(doca_comch_producer_task_send_alloc_init(sending->producer.producer, buf, NULL, 0, server.new_consumer_id,
							  &sending->task));
	CHECK_OK(doca_task_submit(doca_comch_producer_task_send_as_task(sending->task)));
	SIDE_WAIT(sending->producer.num_done == 1, server.pe, client.pe, sending->consumer.pe, sending->producer.pe);
	doca_task_free(doca_comch_producer_task_send_as_task(sending->task));
}

static void send_refused(struct sending *sending, struct doca_buf *buf)
{
	CHECK_OK(doca_comch_producer_task_send_alloc_init(sending->producer.producer, buf, NULL, 0, server.new_consumer_id,
							  &sending->task));
	assert_int_equal(doca_task_submit(doca_comch_producer_task_send_as_task(sending->task)), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_comch_producer_task_send_as_task(sending->task));
}

/* The buffer is long enough, but its data length was never set. */
static void zero_data_length(bool wrong)
{
	struct sending sending = {.task = NULL};
	struct doca_buf *buf;

	sending_start(&sending);
	buf = wrong ? data_buf_empty(&sending.producer.memory, 0, 64) : data_buf_full(&sending.producer.memory, 0, 64);
	CHECK_OK(softfield_validation_set_name(buf, "request"));
	send_it(&sending, buf);
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	sending_end(&sending);
}

/* From an inventory of one, so that the buffer is not linked in a list of free ones. */
static void sent_after_its_last_reference(bool wrong)
{
	struct doca_buf_inventory *inventory;
	struct sending sending = {.task = NULL};
	struct doca_buf *buf;

	sending_start(&sending);
	CHECK_OK(doca_buf_inventory_create(1, &inventory));
	CHECK_OK(doca_buf_inventory_start(inventory));
	CHECK_OK(doca_buf_inventory_buf_get_by_data(inventory, sending.producer.memory.mmap, sending.producer.memory.bytes, 64,
						    &buf));
	if (wrong) {
		CHECK_OK(doca_buf_dec_refcount(buf, NULL));
		send_refused(&sending, buf);
	} else {
		send_it(&sending, buf);
		CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	}
	CHECK_OK(doca_buf_inventory_destroy(inventory));
	sending_end(&sending);
}

/* The slow path carries data. Without a fast path there is no other way, and no report. */
static void data_on_the_slow_path(bool wrong)
{
	struct data_side consumer = {.pe = NULL};

	connect_sides();
	CHECK_OK(softfield_validation_set_name(client.connection, "bulk"));
	if (wrong) {
		data_init_consumer(&consumer, &client, NULL, 1, BYTES);
		data_start(&consumer, server.pe, client.pe);
		(void)data_post(&consumer, 0, BYTES);
	}
	for (uint32_t i = 0; wrong ? scenario_num_reports() == 0 : i < 3000; i++) {
		CHECK_OK(side_send(&client, "data", 4));
		SIDE_WAIT(client.num_sent == i + 1, server.pe, client.pe, NULL, NULL);
	}
	if (wrong)
		data_fini(&consumer);
	disconnect_sides();
}

static const struct scenario scenarios[] = {
	SCENARIO(no_representor, "SF-COMCH-002: comch server: doca_comch_server_create: repr is NULL; fix: open one of "
				 "doca_devinfo_rep_create_list of the server's own device"),
	SCENARIO(server_on_the_wrong_node,
		 "SF-COMCH-003: comch server: doca_comch_server_create: device host0/0000:d8:00.0 is on a host; fix: run the "
		 "program on the other node (softfield run --node), or open a device of this one"),
	SCENARIO(client_on_the_wrong_node,
		 "SF-COMCH-003: comch client: doca_comch_client_create: device dpu0/0000:03:00.0 is on a DPU; fix: run the "
		 "program on the other node (softfield run --node), or open a device of this one"),
	SCENARIO(client_destroyed_before_its_consumer,
		 "SF-CTX-005: comch client \"rpc\" (0x): doca_comch_client_destroy: its connections have 1 producers and "
		 "consumers; fix: stop and destroy its producers and consumers first"),
	SCENARIO(consumer_without_receives, "SF-COMCH-001: comch consumer \"results\" (0x): doca_task_submit: it runs for T s, "
					    "and no receive was ever posted; fix: submit doca_comch_consumer_task_post_recv "
					    "tasks as soon as the consumer is RUNNING, and again in their callback"),
	SCENARIO(consumer_start_lost_in_an_event_loop,
		 "SF-PE-005: comch consumer \"results\" (0x): doca_pe_progress: connect of comch consumer \"validation\" on "
		 "host0/0000:d8:00.0 has taken T s, and nothing wakes the program to progress it: no notification is requested, "
		 "or "
		 "it is not waited for; fix: after doca_ctx_start, and after each event: progress until it returns 0, "
		 "doca_pe_request_notification, then wait"),
	SCENARIO(data_on_the_slow_path, "SF-COMCH-004: comch connection \"bulk\" (0x): doca_task_submit: 1000 control messages "
					"within a second, and it has "
					"a producer or consumer; fix: send data with a producer to the peer's consumer "
					"(doca_comch_producer_task_send), and keep control messages for control"),
	SCENARIO(zero_data_length,
		 "SF-BUF-007: buf \"request\" (0x): doca_task_submit: a comch producer send task sends it, and it has no data; "
		 "fix: call doca_buf_set_data, or take it by doca_buf_inventory_buf_get_by_data"),
	SCENARIO(sent_after_its_last_reference,
		 "SF-BUF-002: buf (0x): doca_task_submit: a comch producer send task has it, and it was released already; fix: "
		 "count one doca_buf_dec_refcount for each doca_buf_inc_refcount and each buffer taken"),
};

int main(void)
{
	return scenarios_run("comch", scenarios, sizeof(scenarios) / sizeof(scenarios[0]));
}
