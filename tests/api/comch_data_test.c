/* SPDX-License-Identifier: BSD-3-Clause */
/* Producers and consumers on the CPU; both sides in one process. */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/comch_side.h"
#include "support/test_dev.h"

#define MEMORY (64 * 1024)

static struct comch_side server, client;
static struct data_side consumer, producer;

static int connect_both(void **state)
{
	(void)state;
	side_init_server(&server, "data");
	side_init_client(&client, "data");
	side_connect(&server, &client);
	return 0;
}

static int end_both(void **state)
{
	(void)state;
	side_fini(&client, &server);
	side_fini(&server, NULL);
	return 0;
}

/* The consumer at the server, the producer at the client. */
static void start_pair(uint32_t num_tasks, size_t memory_len)
{
	data_init_consumer(&consumer, &server, NULL, num_tasks, memory_len);
	data_init_producer(&producer, &client, NULL, num_tasks, memory_len);
	data_start(&consumer, server.pe, client.pe);
	data_start(&producer, NULL, NULL);
	for (size_t i = 0; i < memory_len; i++)
		producer.memory.bytes[i] = (uint8_t)(i * 31 + 1);
}

static void end_pair(void)
{
	data_fini(&producer);
	data_fini(&consumer);
}

static void a_consumer_starts_and_the_peer_is_notified(void **state)
{
	(void)state;
	data_init_consumer(&consumer, &server, NULL, 4, MEMORY);
	assert_int_equal(consumer.id, 1); /* readable before the start */
	data_start(&consumer, server.pe, client.pe);
	assert_int_equal(client.num_new_consumers, 1);
	assert_int_equal(client.new_consumer_id, 1);
	data_fini(&consumer);
	SIDE_WAIT(client.num_expired_consumers == 1, server.pe, client.pe, NULL, NULL);
	assert_int_equal(client.expired_consumer_id, 1);
}

static void consumer_waits_for_the_peer_to_progress(void **state)
{
	(void)state;
	data_init_consumer(&consumer, &server, NULL, 4, MEMORY);
	assert_int_equal(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	for (int i = 0; i < 1000; i++) {
		doca_pe_progress(server.pe);
		doca_pe_progress(consumer.pe);
		assert_int_equal(side_state(consumer.ctx), DOCA_CTX_STATE_STARTING);
	}
	SIDE_WAIT(side_state(consumer.ctx) == DOCA_CTX_STATE_RUNNING, server.pe, consumer.pe, client.pe, NULL);
	data_fini(&consumer);
}

static void ids_count_from_one_on_each_side(void **state)
{
	struct data_side sides[6];

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		data_init_consumer(&sides[i], &server, NULL, 1, 4096);
		assert_int_equal(sides[i].id, i + 1);
		data_init_consumer(&sides[i + 3], &client, NULL, 1, 4096);
		assert_int_equal(sides[i + 3].id, i + 1);
	}
	data_init_producer(&producer, &client, NULL, 1, 4096);
	assert_int_equal(producer.id, 1);
	data_fini(&producer);
	data_init_producer(&producer, &client, NULL, 1, 4096);
	assert_int_equal(producer.id, 2); /* ids are not reused */
	data_fini(&producer);
	for (uint32_t i = 0; i < 6; i++)
		data_fini(&sides[i]);
}

/* A program may send its consumer's id in a message: the peer learns of the consumer before that message arrives. */
static void consumer_is_known_before_a_message_sent_after_its_start(void **state)
{
	(void)state;
	data_init_consumer(&consumer, &server, NULL, 4, MEMORY);
	assert_int_equal(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(side_send(&server, &consumer.id, sizeof(consumer.id)), DOCA_SUCCESS);
	SIDE_WAIT(client.num_msgs == 1, client.pe, NULL, NULL, NULL);
	assert_int_equal(client.num_new_consumers, 1);
	SIDE_WAIT(side_state(consumer.ctx) == DOCA_CTX_STATE_RUNNING, server.pe, consumer.pe, client.pe, NULL);
	data_fini(&consumer);
}

static void message_arrives_with_its_immediate_data(void **state)
{
	const uint8_t imm[] = {1, 2, 3, 4, 5};

	(void)state;
	start_pair(4, MEMORY);
	data_post(&consumer, 100, 1000);
	assert_int_equal(data_send(&producer, 7, 500, consumer.id, imm, sizeof(imm), false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 1 && producer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	assert_int_equal(consumer.data_len, 500);
	assert_memory_equal(consumer.memory.bytes + 100, producer.memory.bytes + 7, 500);
	assert_int_equal(consumer.producer_id, producer.id);
	assert_int_equal(consumer.imm_len, sizeof(imm));
	assert_memory_equal(consumer.imm, imm, sizeof(imm));
	end_pair();
}

static void received_data_is_appended(void **state)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_buf *buf;

	(void)state;
	start_pair(4, MEMORY);
	buf = data_buf_empty(&consumer.memory, 0, 100);
	assert_int_equal(doca_buf_set_data(buf, consumer.memory.bytes + 10, 20), DOCA_SUCCESS);
	assert_int_equal(doca_comch_consumer_task_post_recv_alloc_init(consumer.consumer, buf, &task), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)), DOCA_SUCCESS);
	assert_int_equal(data_send(&producer, 0, 30, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	assert_int_equal(consumer.data_len, 50);
	assert_memory_equal(consumer.memory.bytes + 30, producer.memory.bytes, 30);
	end_pair();
}

static void send_without_a_posted_receive_is_again_and_clears_by_itself(void **state)
{
	(void)state;
	start_pair(4, MEMORY);
	/* First the route must be up: only then does AGAIN mean that no receive is posted. */
	data_post(&consumer, 0, 64);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 1 && producer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	for (int i = 0; i < 100; i++)
		assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, true), DOCA_ERROR_AGAIN);
	data_post(&consumer, 0, 64);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, true), DOCA_SUCCESS); /* no progress in between */
	SIDE_WAIT(consumer.num_done == 2 && producer.num_done == 2, consumer.pe, producer.pe, NULL, NULL);
	end_pair();
}

static void too_large_message_fails_and_the_receive_stays(void **state)
{
	(void)state;
	start_pair(4, MEMORY);
	data_post(&consumer, 0, 64);
	assert_int_equal(data_send(&producer, 0, 65, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(producer.num_errors == 1, consumer.pe, producer.pe, NULL, NULL);
	assert_int_equal(producer.status, DOCA_ERROR_TOO_BIG);
	assert_int_equal(side_state(producer.ctx), DOCA_CTX_STATE_RUNNING);
	assert_int_equal(consumer.num_done + consumer.num_errors, 0);
	assert_int_equal(data_send(&producer, 0, 64, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	end_pair();
}

static void unknown_consumer_fails_the_task(void **state)
{
	(void)state;
	start_pair(4, MEMORY);
	assert_int_equal(data_send(&producer, 0, 8, 77, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(producer.num_errors == 1, producer.pe, NULL, NULL, NULL);
	assert_int_equal(producer.status, DOCA_ERROR_NOT_FOUND);
	end_pair();
}

static void expired_consumer_fails_the_task_and_returns_under_its_id(void **state)
{
	(void)state;
	start_pair(4, MEMORY);
	data_post(&consumer, 0, 64);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 1 && producer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	(void)doca_ctx_stop(consumer.ctx);
	SIDE_WAIT(side_state(consumer.ctx) == DOCA_CTX_STATE_IDLE && client.num_expired_consumers == 1, server.pe, client.pe,
		  consumer.pe, NULL);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(producer.num_errors == 1, producer.pe, NULL, NULL, NULL);
	assert_int_equal(producer.status, DOCA_ERROR_NOT_FOUND);
	data_start(&consumer, server.pe, client.pe);
	data_post(&consumer, 0, 64);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 2, consumer.pe, producer.pe, NULL, NULL);
	end_pair();
}

static void send_into_a_consumer_that_just_stopped(void **state)
{
	(void)state;
	start_pair(4, MEMORY);
	data_post(&consumer, 0, 64);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 1 && producer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	(void)doca_ctx_stop(consumer.ctx); /* the control side does not know it yet */
	SIDE_WAIT(side_state(consumer.ctx) == DOCA_CTX_STATE_IDLE, consumer.pe, producer.pe, NULL, NULL);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(producer.num_errors == 1, producer.pe, NULL, NULL, NULL);
	assert_int_not_equal(producer.status, DOCA_SUCCESS);
	end_pair();
}

static void chained_buffers_are_gathered_and_scattered(void **state)
{
	struct doca_comch_consumer_task_post_recv *recv;
	struct doca_comch_producer_task_send *send;
	struct doca_buf *to, *from;
	size_t len;

	(void)state;
	start_pair(4, MEMORY);
	to = data_buf_empty(&consumer.memory, 0, 10);
	assert_int_equal(doca_buf_chain_list(to, data_buf_empty(&consumer.memory, 1000, 20)), DOCA_SUCCESS);
	from = data_buf_full(&producer.memory, 0, 5);
	assert_int_equal(doca_buf_chain_list(from, data_buf_full(&producer.memory, 100, 6)), DOCA_SUCCESS);
	assert_int_equal(doca_buf_chain_list(from, data_buf_full(&producer.memory, 200, 7)), DOCA_SUCCESS);
	assert_int_equal(doca_comch_consumer_task_post_recv_alloc_init(consumer.consumer, to, &recv), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(recv)), DOCA_SUCCESS);
	assert_int_equal(doca_comch_producer_task_send_alloc_init(producer.producer, from, NULL, 0, consumer.id, &send),
			 DOCA_SUCCESS);
	consumer.keep = true;
	SIDE_WAIT(doca_task_submit(doca_comch_producer_task_send_as_task(send)) == DOCA_SUCCESS, producer.pe, NULL, NULL, NULL);
	SIDE_WAIT(consumer.num_done == 1 && producer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	assert_int_equal(consumer.data_len, 10);
	assert_memory_equal(consumer.memory.bytes, producer.memory.bytes, 5);
	assert_memory_equal(consumer.memory.bytes + 5, producer.memory.bytes + 100, 5);
	assert_memory_equal(consumer.memory.bytes + 1000, producer.memory.bytes + 105, 1);
	assert_memory_equal(consumer.memory.bytes + 1001, producer.memory.bytes + 200, 7);
	assert_int_equal(doca_buf_get_next_in_list(to, &to), DOCA_SUCCESS);
	assert_int_equal(doca_buf_get_data_len(to, &len), DOCA_SUCCESS);
	assert_int_equal(len, 8);
	assert_int_equal(doca_buf_dec_refcount(doca_comch_consumer_task_post_recv_get_buf(recv), NULL), DOCA_SUCCESS);
	doca_task_free(consumer.last_task);
	end_pair();
}

static void immediate_data_alone(void **state)
{
	struct doca_comch_producer_task_send *task;
	uint8_t imm[32];

	(void)state;
	memset(imm, 0x5a, sizeof(imm));
	start_pair(4, MEMORY);
	data_post(&consumer, 0, 64);
	assert_int_equal(doca_comch_producer_task_send_alloc_init(producer.producer, NULL, imm, sizeof(imm), consumer.id, &task),
			 DOCA_SUCCESS);
	memset(imm, 0, sizeof(imm)); /* the submit copied it */
	SIDE_WAIT(doca_task_submit(doca_comch_producer_task_send_as_task(task)) == DOCA_SUCCESS, producer.pe, NULL, NULL, NULL);
	SIDE_WAIT(consumer.num_done == 1 && producer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	assert_int_equal(consumer.data_len, 0);
	assert_int_equal(consumer.imm_len, 32);
	memset(imm, 0x5a, sizeof(imm));
	assert_memory_equal(consumer.imm, imm, 32);
	end_pair();
}

static void immediate_data_over_the_consumers_limit_fails(void **state)
{
	const uint8_t imm[8] = {0};

	(void)state;
	data_init_consumer(&consumer, &server, NULL, 4, MEMORY);
	assert_int_equal(doca_comch_consumer_set_imm_data_len(consumer.consumer, 4), DOCA_SUCCESS);
	data_init_producer(&producer, &client, NULL, 4, MEMORY);
	data_start(&consumer, server.pe, client.pe);
	data_start(&producer, NULL, NULL);
	data_post(&consumer, 0, 64);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, imm, 5, false), DOCA_SUCCESS);
	SIDE_WAIT(producer.num_errors == 1, producer.pe, NULL, NULL, NULL);
	assert_int_equal(producer.status, DOCA_ERROR_TOO_BIG);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, imm, 4, false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	end_pair();
}

static void a_post_of_a_buffer_from_another_mmap_is_rejected(void **state)
{
	struct doca_comch_consumer_task_post_recv *task;
	struct doca_buf *buf;

	(void)state;
	start_pair(4, MEMORY);
	buf = data_buf_empty(&producer.memory, 0, 64);
	assert_int_equal(doca_comch_consumer_task_post_recv_alloc_init(consumer.consumer, buf, &task), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	end_pair();
}

/* Two mmaps have the same address: what was cached for the first does not apply to the second. */
static void an_mmap_restarted_without_the_device_is_rejected(void **state)
{
	struct doca_mmap *mmap;
	struct doca_dev *other;

	(void)state;
	start_pair(4, MEMORY);
	mmap = producer.memory.mmap;
	other = test_dev_open_pci(DPU_DEV);
	data_post(&consumer, 0, 64);
	assert_int_equal(data_send(&producer, 0, 64, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(producer.num_done == 1 && consumer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_rm_dev(mmap, client.dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(mmap, other), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	assert_int_equal(data_send(&producer, 0, 64, consumer.id, NULL, 0, false), DOCA_ERROR_INVALID_VALUE);
	end_pair();
	assert_int_equal(doca_dev_close(other), DOCA_SUCCESS);
}

/* A buf outlives the stop only if its references are not counted. */
static void a_buffer_of_a_stopped_mmap_is_rejected(void **state)
{
	struct doca_comch_producer_task_send *task;
	struct doca_task *base;
	struct doca_buf *buf;
	struct doca_mmap *mmap;

	(void)state;
	start_pair(4, MEMORY);
	mmap = producer.memory.mmap;
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_enable_thread_safety(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	buf = data_buf_full(&producer.memory, 0, 64);
	assert_int_equal(doca_mmap_stop(mmap), DOCA_SUCCESS);
	assert_int_equal(doca_comch_producer_task_send_alloc_init(producer.producer, buf, NULL, 0, consumer.id, &task),
			 DOCA_SUCCESS);
	base = doca_comch_producer_task_send_as_task(task);
	assert_int_equal(doca_task_submit(base), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(base);
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	end_pair();
}

static void stop_with_receives_posted_flushes_them(void **state)
{
	(void)state;
	start_pair(8, MEMORY);
	for (size_t i = 0; i < 8; i++)
		data_post(&consumer, i * 64, 64);
	assert_int_equal(doca_ctx_stop(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(consumer.ctx) == DOCA_CTX_STATE_IDLE, consumer.pe, NULL, NULL, NULL);
	assert_int_equal(consumer.num_errors, 8);
	assert_int_equal(consumer.status, DOCA_ERROR_BAD_STATE);
	end_pair();
}

static uint32_t num_quiet;

static void quiet(struct doca_comch_consumer_task_post_recv *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task_data;
	(void)ctx_data;
	num_quiet++;
	assert_int_equal(doca_buf_dec_refcount(doca_comch_consumer_task_post_recv_get_buf(task), NULL), DOCA_SUCCESS);
}

/* As in a published program whose callbacks do not touch the tasks. */
static void receives_freed_in_flight(void **state)
{
	(void)state;
	num_quiet = 0;
	data_init_consumer(&consumer, &server, NULL, 4, MEMORY);
	assert_int_equal(doca_comch_consumer_task_post_recv_set_conf(consumer.consumer, quiet, quiet, 4), DOCA_SUCCESS);
	data_init_producer(&producer, &client, NULL, 4, MEMORY);
	data_start(&consumer, server.pe, client.pe);
	data_start(&producer, NULL, NULL);
	for (size_t i = 0; i < 4; i++)
		doca_task_free(data_post(&consumer, i * 64, 64));
	assert_int_equal(data_send(&producer, 0, 32, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(num_quiet == 1 && producer.num_done == 1, server.pe, client.pe, consumer.pe, producer.pe);
	doca_task_free(data_post(&consumer, 0, 64)); /* in the place of a finished task */
	assert_int_equal(doca_ctx_stop(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(consumer.ctx) == DOCA_CTX_STATE_IDLE, consumer.pe, NULL, NULL, NULL);
	assert_int_equal(num_quiet, 5);
	end_pair();
}

static void stop_with_sends_in_flight(void **state)
{
	(void)state;
	start_pair(8, MEMORY);
	for (size_t i = 0; i < 8; i++)
		data_post(&consumer, i * 64, 64);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(data_send(&producer, i * 64, 64, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_stop(producer.ctx), DOCA_ERROR_IN_PROGRESS);
	SIDE_WAIT(side_state(producer.ctx) == DOCA_CTX_STATE_IDLE, producer.pe, NULL, NULL, NULL);
	assert_int_equal(producer.num_done + producer.num_errors, 4);
	SIDE_WAIT(consumer.num_done == producer.num_done, consumer.pe, NULL, NULL, NULL); /* messages in flight arrive */
	end_pair();
}

static void lost_connection_ends_consumers_and_producers(void **state)
{
	(void)state;
	start_pair(4, MEMORY);
	data_post(&consumer, 0, 64);
	assert_int_equal(doca_comch_server_disconnect(server.server, server.connection), DOCA_ERROR_IN_USE);
	(void)doca_ctx_stop(client.ctx); /* while its producer exists: the wrong order, which must not hang */
	SIDE_WAIT(side_state(client.ctx) == DOCA_CTX_STATE_IDLE && server.num_disconnects == 1, server.pe, client.pe, producer.pe,
		  NULL);
	SIDE_WAIT(side_state(consumer.ctx) == DOCA_CTX_STATE_IDLE && side_state(producer.ctx) == DOCA_CTX_STATE_IDLE, server.pe,
		  client.pe, producer.pe, consumer.pe);
	assert_int_equal(consumer.num_errors, 1);
	assert_int_equal(consumer.status, DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(doca_comch_client_destroy(client.client), DOCA_ERROR_IN_USE);
	assert_int_not_equal(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	assert_int_equal(doca_ctx_start(producer.ctx), DOCA_ERROR_NOT_CONNECTED);
	end_pair();
}

static void a_consumer_on_a_dead_connection_is_rejected(void **state)
{
	struct doca_comch_connection *dead = server.connection;
	struct doca_comch_task_send *no_task;
	struct doca_comch_producer *none;

	(void)state;
	data_init_producer(&producer, &server, NULL, 1, 4096); /* keeps a reference to the connection */
	(void)doca_ctx_stop(client.ctx);
	SIDE_WAIT(server.num_disconnects == 1, server.pe, client.pe, NULL, NULL);
	assert_int_equal(doca_comch_producer_create(dead, &none), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_server_task_send_alloc_init(server.server, dead, "x", 1, &no_task), DOCA_ERROR_INVALID_VALUE);
	data_fini(&producer);
}

static void many_messages_in_order(void **state)
{
	uint32_t sent = 0;

	(void)state;
	start_pair(64, MEMORY);
	consumer.repost = true;
	for (size_t i = 0; i < 32; i++)
		data_post(&consumer, i * 64, 64);
	while (sent < 5000) {
		uint32_t *word = (uint32_t *)(void *)(producer.memory.bytes + sent % 32 * 64);

		*word = sent;
		if (data_send(&producer, sent % 32 * 64, 64, consumer.id, &sent, sizeof(sent), true) == DOCA_SUCCESS)
			sent++;
		doca_pe_progress(producer.pe);
		if (doca_pe_progress(consumer.pe)) {
			uint32_t last;

			memcpy(&last, consumer.imm, sizeof(last));
			if (consumer.num_done > 0)
				assert_int_equal(last, consumer.num_done - 1);
		}
	}
	SIDE_WAIT(consumer.num_done == 5000 && producer.num_done == 5000, consumer.pe, producer.pe, NULL, NULL);
	end_pair();
}

#define CROWD 16

static void many_consumers_and_producers_on_a_connection(void **state)
{
	static struct data_side consumers[CROWD], producers[CROWD];
	struct doca_pe *pe;

	(void)state;
	assert_int_equal(doca_pe_create(&pe), DOCA_SUCCESS);
	for (uint32_t i = 0; i < CROWD; i++) {
		data_init_consumer(&consumers[i], &client, pe, CROWD, MEMORY);
		data_start(&consumers[i], server.pe, client.pe);
		data_init_producer(&producers[i], &server, pe, CROWD, MEMORY);
		data_start(&producers[i], NULL, NULL);
		for (uint32_t j = 0; j < CROWD; j++)
			data_post(&consumers[i], j * 64, 64);
	}
	assert_int_equal(server.num_new_consumers, CROWD);
	for (uint32_t i = 0; i < CROWD; i++) {
		for (uint32_t j = 0; j < CROWD; j++)
			assert_int_equal(data_send(&producers[i], 0, 64, consumers[j].id, NULL, 0, false), DOCA_SUCCESS);
	}
	for (uint32_t i = 0; i < CROWD; i++)
		SIDE_WAIT(consumers[i].num_done == CROWD && producers[i].num_done == CROWD, pe, NULL, NULL, NULL);
	for (uint32_t i = 0; i < CROWD; i++) {
		data_fini(&producers[i]);
		data_fini(&consumers[i]);
	}
	SIDE_WAIT(server.num_expired_consumers == CROWD, server.pe, client.pe, NULL, NULL);
	assert_int_equal(doca_pe_destroy(pe), DOCA_SUCCESS);
}

/* ---- event-driven ---- */

static bool readable(int fd, int timeout_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	return poll(&wait, 1, timeout_ms) == 1;
}

static void drain(struct doca_pe *pe)
{
	while (doca_pe_progress(pe))
		;
}

static void sleeping_consumer_is_woken(void **state)
{
	doca_notification_handle_t handle;

	(void)state;
	start_pair(4, MEMORY);
	data_post(&consumer, 0, 64);
	data_post(&consumer, 64, 64);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(consumer.num_done == 1, consumer.pe, producer.pe, NULL, NULL);
	assert_int_equal(doca_pe_get_notification_handle(consumer.pe, &handle), DOCA_SUCCESS);
	drain(consumer.pe);
	assert_int_equal(doca_pe_clear_notification(consumer.pe, 0), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(consumer.pe), DOCA_SUCCESS);
	assert_false(readable(handle, 20));
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	assert_true(readable(handle, 5000));
	assert_int_equal(doca_pe_clear_notification(consumer.pe, 0), DOCA_SUCCESS);
	drain(consumer.pe);
	assert_int_equal(consumer.num_done, 2);
	end_pair();
}

static void completion_before_arming_is_noticed(void **state)
{
	doca_notification_handle_t handle;

	(void)state;
	start_pair(4, MEMORY);
	data_post(&consumer, 0, 64);
	assert_int_equal(data_send(&producer, 0, 8, consumer.id, NULL, 0, false), DOCA_SUCCESS);
	SIDE_WAIT(producer.num_done == 1, producer.pe, NULL, NULL, NULL);
	assert_int_equal(doca_pe_get_notification_handle(consumer.pe, &handle), DOCA_SUCCESS);
	assert_int_equal(doca_pe_request_notification(consumer.pe), DOCA_SUCCESS);
	assert_true(readable(handle, 5000));
	drain(consumer.pe);
	assert_int_equal(consumer.num_done, 1);
	end_pair();
}

/* Both control engines and the consumer sleep; only wake-ups advance the start. */
static void consumer_starts_between_sleeping_engines(void **state)
{
	struct doca_pe *engines[3];
	uint64_t end = sf_now_ns() + SIDE_WAIT_S * UINT64_C(1000000000);

	(void)state;
	data_init_consumer(&consumer, &server, NULL, 4, MEMORY);
	engines[0] = server.pe;
	engines[1] = client.pe;
	engines[2] = consumer.pe;
	for (int i = 0; i < 3; i++) {
		drain(engines[i]);
		assert_int_equal(doca_pe_clear_notification(engines[i], 0), DOCA_SUCCESS);
		assert_int_equal(doca_pe_request_notification(engines[i]), DOCA_SUCCESS);
	}
	assert_int_equal(doca_ctx_start(consumer.ctx), DOCA_ERROR_IN_PROGRESS);
	while (side_state(consumer.ctx) != DOCA_CTX_STATE_RUNNING && sf_now_ns() < end) {
		for (int i = 0; i < 3; i++) {
			doca_notification_handle_t handle;

			assert_int_equal(doca_pe_get_notification_handle(engines[i], &handle), DOCA_SUCCESS);
			if (!readable(handle, 1))
				continue;
			assert_int_equal(doca_pe_clear_notification(engines[i], 0), DOCA_SUCCESS);
			drain(engines[i]);
			assert_int_equal(doca_pe_request_notification(engines[i]), DOCA_SUCCESS);
		}
	}
	assert_int_equal(side_state(consumer.ctx), DOCA_CTX_STATE_RUNNING);
	data_fini(&consumer);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, connect_both, end_both)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_consumer_starts_and_the_peer_is_notified),
		TEST(consumer_waits_for_the_peer_to_progress),
		TEST(ids_count_from_one_on_each_side),
		TEST(consumer_is_known_before_a_message_sent_after_its_start),
		TEST(message_arrives_with_its_immediate_data),
		TEST(received_data_is_appended),
		TEST(send_without_a_posted_receive_is_again_and_clears_by_itself),
		TEST(too_large_message_fails_and_the_receive_stays),
		TEST(unknown_consumer_fails_the_task),
		TEST(expired_consumer_fails_the_task_and_returns_under_its_id),
		TEST(send_into_a_consumer_that_just_stopped),
		TEST(chained_buffers_are_gathered_and_scattered),
		TEST(immediate_data_alone),
		TEST(immediate_data_over_the_consumers_limit_fails),
		TEST(a_post_of_a_buffer_from_another_mmap_is_rejected),
		TEST(an_mmap_restarted_without_the_device_is_rejected),
		TEST(a_buffer_of_a_stopped_mmap_is_rejected),
		TEST(stop_with_receives_posted_flushes_them),
		TEST(receives_freed_in_flight),
		TEST(stop_with_sends_in_flight),
		TEST(lost_connection_ends_consumers_and_producers),
		TEST(a_consumer_on_a_dead_connection_is_rejected),
		TEST(many_messages_in_order),
		TEST(many_consumers_and_producers_on_a_connection),
		TEST(sleeping_consumer_is_woken),
		TEST(completion_before_arming_is_noticed),
		TEST(consumer_starts_between_sleeping_engines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
