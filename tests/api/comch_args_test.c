/* SPDX-License-Identifier: BSD-3-Clause */
/* Arguments, states and capabilities of the Comch calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "support/comch_side.h"

static struct comch_side server, client;

static int make_both(void **state)
{
	(void)state;
	side_init_server(&server, "args");
	side_init_client(&client, "args");
	return 0;
}

static int connect_both(void **state)
{
	make_both(state);
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

static void create_rejects_invalid_names_and_devices(void **state)
{
	struct doca_comch_server *no_server = NULL;
	struct doca_comch_client *no_client = NULL;
	char name[512];
	uint32_t max;

	(void)state;
	assert_int_equal(doca_comch_cap_get_max_name_len(doca_dev_as_devinfo(client.dev), &max), DOCA_SUCCESS);
	memset(name, 'n', sizeof(name));
	name[max] = '\0'; /* one too long: the maximum includes the terminating zero */
	assert_int_equal(doca_comch_client_create(client.dev, name, &no_client), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_create(server.dev, server.rep, name, &no_server), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_create(client.dev, "", &no_client), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_create(client.dev, NULL, &no_client), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_create(NULL, "x", &no_client), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_create(client.dev, "x", NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_create(NULL, server.rep, "x", &no_server), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_create(server.dev, server.rep, "x", NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_create(client.dev, server.rep, "x", &no_server), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_create(server.dev, "x", &no_client), DOCA_ERROR_INVALID_VALUE);
	assert_null(no_server);
	assert_null(no_client);
	name[max - 1] = '\0';
	assert_int_equal(doca_comch_client_create(client.dev, name, &no_client), DOCA_SUCCESS);
	assert_int_equal(doca_comch_client_destroy(no_client), DOCA_SUCCESS);
}

static void sizes_are_within_the_capabilities(void **state)
{
	const struct doca_devinfo *info = doca_dev_as_devinfo(server.dev);
	uint32_t max, value;

	(void)state;
	assert_int_equal(doca_comch_cap_get_max_msg_size(info, &max), DOCA_SUCCESS);
	assert_int_equal(doca_comch_server_set_max_msg_size(server.server, max + 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_set_max_msg_size(server.server, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_set_max_msg_size(server.server, max), DOCA_SUCCESS);
	assert_int_equal(doca_comch_server_get_max_msg_size(server.server, &value), DOCA_SUCCESS);
	assert_int_equal(value, max);
	assert_int_equal(doca_comch_cap_get_max_recv_queue_size(info, &max), DOCA_SUCCESS);
	assert_int_equal(doca_comch_client_set_recv_queue_size(client.client, max + 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_set_recv_queue_size(client.client, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_set_recv_queue_size(client.client, 10), DOCA_SUCCESS);
	assert_int_equal(doca_comch_client_get_recv_queue_size(client.client, &value), DOCA_SUCCESS);
	assert_int_equal(value, 10);
	assert_int_equal(doca_comch_cap_get_max_clients(info, &value), DOCA_SUCCESS);
	assert_true(value >= 512);
}

static void no_msg(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t len,
		   struct doca_comch_connection *connection)
{
	(void)event;
	(void)buffer;
	(void)len;
	(void)connection;
}

static void no_consumer(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	(void)event;
	(void)connection;
	(void)id;
}

static void no_status(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
		      uint8_t ok)
{
	(void)event;
	(void)connection;
	(void)ok;
}

static void no_send(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
}

static void setters_reject_null(void **state)
{
	(void)state;
	assert_int_equal(doca_comch_server_event_msg_recv_register(server.server, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_event_msg_recv_register(NULL, no_msg), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_event_consumer_register(server.server, no_consumer, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_event_consumer_register(client.client, NULL, no_consumer), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_event_connection_status_changed_register(server.server, no_status, NULL),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_task_send_set_conf(server.server, NULL, no_send, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_task_send_set_conf(NULL, no_send, no_send, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_task_send_set_conf(client.client, no_send, no_send, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_get_device(server.server, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_destroy(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_disconnect(server.server, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_comch_server_get_server_ctx(NULL));
	assert_null(doca_comch_client_get_client_ctx(NULL));
}

static void setters_reject_a_started_context(void **state)
{
	(void)state;
	assert_int_equal(doca_comch_server_set_max_msg_size(server.server, 100), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_client_set_recv_queue_size(client.client, 4), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_server_event_msg_recv_register(server.server, no_msg), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_client_event_consumer_register(client.client, no_consumer, no_consumer),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_server_event_connection_status_changed_register(server.server, no_status, no_status),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_server_task_send_set_conf(server.server, no_send, no_send, 1), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_server_destroy(server.server), DOCA_ERROR_IN_USE);
	assert_int_equal(doca_comch_client_destroy(client.client), DOCA_ERROR_IN_USE);
}

static void connection_only_while_running(void **state)
{
	struct doca_comch_connection *connection = NULL;
	struct doca_comch_task_send *task;

	(void)state;
	assert_int_equal(doca_comch_client_get_connection(client.client, &connection), DOCA_ERROR_BAD_STATE);
	assert_null(connection);
	side_connect(&server, &client);
	assert_int_equal(doca_comch_client_get_connection(client.client, &connection), DOCA_SUCCESS);
	assert_int_equal(doca_comch_client_get_connection(client.client, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_server_task_send_alloc_init(server.server, connection, "x", 1, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_task_send_alloc_init(client.client, NULL, "x", 1, &task), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_client_task_send_alloc_init(client.client, connection, NULL, 1, &task),
			 DOCA_ERROR_INVALID_VALUE);
}

static void start_wants_a_progress_engine(void **state)
{
	struct doca_comch_client *lone;

	(void)state;
	assert_int_equal(doca_comch_client_create(client.dev, "x", &lone), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(doca_comch_client_as_ctx(lone)), DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(doca_comch_client_destroy(lone), DOCA_SUCCESS);
}

static void server_and_client_capabilities_follow_the_node(void **state)
{
	const struct doca_devinfo *dpu = doca_dev_as_devinfo(server.dev), *host = doca_dev_as_devinfo(client.dev);

	(void)state;
	assert_int_equal(doca_comch_cap_server_is_supported(dpu), DOCA_SUCCESS);
	assert_int_equal(doca_comch_cap_server_is_supported(host), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_comch_cap_client_is_supported(host), DOCA_SUCCESS);
	assert_int_equal(doca_comch_cap_client_is_supported(dpu), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_comch_cap_server_is_supported(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_producer_cap_is_supported(dpu), DOCA_SUCCESS);
	assert_int_equal(doca_comch_consumer_cap_is_supported(host), DOCA_SUCCESS);
}

typedef doca_error_t (*cap_fn)(const struct doca_devinfo *devinfo, uint32_t *value);

static void every_capability_reports_and_rejects_null(void **state)
{
	const cap_fn caps[] = {
		doca_comch_cap_get_max_name_len,	   doca_comch_cap_get_max_msg_size,
		doca_comch_cap_get_max_recv_queue_size,	   doca_comch_cap_get_max_clients,
		doca_comch_cap_get_max_send_tasks,	   doca_comch_producer_cap_get_max_num_tasks,
		doca_comch_producer_cap_get_max_buf_size,  doca_comch_producer_cap_get_max_buf_list_len,
		doca_comch_producer_cap_get_max_producers, doca_comch_consumer_cap_get_max_num_tasks,
		doca_comch_consumer_cap_get_max_buf_size,  doca_comch_consumer_cap_get_max_buf_list_len,
		doca_comch_consumer_cap_get_max_consumers, doca_comch_consumer_cap_get_max_imm_data_len,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(caps) / sizeof(caps[0]); i++) {
		uint32_t value = 0;

		assert_int_equal(caps[i](doca_dev_as_devinfo(client.dev), &value), DOCA_SUCCESS);
		assert_true(value > 0);
		assert_int_equal(caps[i](NULL, &value), DOCA_ERROR_INVALID_VALUE);
		assert_int_equal(caps[i](doca_dev_as_devinfo(client.dev), NULL), DOCA_ERROR_INVALID_VALUE);
	}
}

static struct doca_mmap *make_mmap(struct doca_dev *dev, uint32_t permissions, bool start, void *memory)
{
	struct doca_mmap *mmap;

	assert_int_equal(doca_mmap_create(&mmap), DOCA_SUCCESS);
	if (dev != NULL)
		assert_int_equal(doca_mmap_add_dev(mmap, dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(mmap, permissions), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(mmap, memory, 4096), DOCA_SUCCESS);
	if (start)
		assert_int_equal(doca_mmap_start(mmap), DOCA_SUCCESS);
	return mmap;
}

static void consumer_wants_a_started_writable_mmap_with_the_device(void **state)
{
	static uint8_t memory[4096] __attribute__((aligned(4096)));
	struct doca_mmap *unstarted = make_mmap(client.dev, DOCA_ACCESS_FLAG_PCI_READ_WRITE, false, memory);
	struct doca_mmap *read_only = make_mmap(client.dev, DOCA_ACCESS_FLAG_PCI_READ_ONLY, true, memory);
	struct doca_mmap *other_dev = make_mmap(server.dev, DOCA_ACCESS_FLAG_PCI_READ_WRITE, true, memory);
	struct doca_mmap *good = make_mmap(client.dev, DOCA_ACCESS_FLAG_PCI_READ_WRITE, true, memory);
	struct doca_comch_consumer *consumer = NULL;

	(void)state;
	assert_int_equal(doca_comch_consumer_create(client.connection, unstarted, &consumer), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_consumer_create(client.connection, read_only, &consumer), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_comch_consumer_create(client.connection, other_dev, &consumer), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_create(client.connection, NULL, &consumer), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_create(NULL, good, &consumer), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_create(client.connection, good, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_null(consumer);
	assert_int_equal(doca_comch_consumer_create(client.connection, good, &consumer), DOCA_SUCCESS);
	assert_int_not_equal(doca_mmap_stop(good), DOCA_SUCCESS); /* in use by the consumer */
	assert_int_equal(doca_comch_consumer_destroy(consumer), DOCA_SUCCESS);
	doca_mmap_destroy(unstarted);
	doca_mmap_destroy(read_only);
	doca_mmap_destroy(other_dev);
	assert_int_equal(doca_mmap_destroy(good), DOCA_SUCCESS);
}

static void no_produce(struct doca_comch_producer_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	(void)task;
	(void)task_data;
	(void)ctx_data;
}

static void producer_arguments_and_states(void **state)
{
	struct doca_comch_producer_task_send *task;
	struct data_side producer;
	uint8_t imm[64] = {0};
	struct doca_buf *buf;
	uint32_t id;

	(void)state;
	assert_int_equal(doca_comch_producer_create(NULL, &producer.producer), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_producer_create(client.connection, NULL), DOCA_ERROR_INVALID_VALUE);
	data_init_producer(&producer, &client, NULL, 1, 4096);
	buf = data_buf_full(&producer.memory, 0, 64);
	assert_int_equal(doca_comch_producer_get_id(producer.producer, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_producer_get_id(producer.producer, &id), DOCA_SUCCESS);
	assert_int_equal(doca_comch_producer_task_send_alloc_init(producer.producer, buf, NULL, 0, 1, &task),
			 DOCA_ERROR_BAD_STATE);
	data_start(&producer, NULL, NULL);
	assert_int_equal(doca_comch_producer_task_send_set_conf(producer.producer, no_produce, no_produce, 4),
			 DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_producer_destroy(producer.producer), DOCA_ERROR_INITIALIZATION);
	assert_int_equal(doca_comch_producer_task_send_alloc_init(producer.producer, NULL, NULL, 0, 1, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_producer_task_send_alloc_init(producer.producer, buf, NULL, 4, 1, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_producer_task_send_alloc_init(producer.producer, buf, imm, 33, 1, &task),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_producer_task_send_alloc_init(producer.producer, buf, imm, 32, 9, &task), DOCA_SUCCESS);
	assert_ptr_equal(doca_comch_producer_task_send_get_buf(task), buf);
	assert_int_equal(doca_comch_producer_task_send_get_consumer_id(task), 9);
	assert_int_equal(doca_comch_producer_task_send_get_imm_data_len(task), 32);
	assert_ptr_not_equal(doca_comch_producer_task_send_get_imm_data(task), imm);
	doca_comch_producer_task_send_set_consumer_id(task, 0);
	assert_int_equal(doca_task_try_submit(doca_comch_producer_task_send_as_task(task)), DOCA_ERROR_INVALID_VALUE);
	doca_comch_producer_task_send_set_imm_data(task, imm, 33);
	assert_int_equal(doca_task_submit(doca_comch_producer_task_send_as_task(task)), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_producer_task_send_alloc_init(producer.producer, buf, NULL, 0, 1, &task),
			 DOCA_ERROR_NO_MEMORY);
	doca_task_free(doca_comch_producer_task_send_as_task(task));
	assert_int_equal(doca_buf_dec_refcount(buf, NULL), DOCA_SUCCESS);
	data_fini(&producer);
}

static void a_list_longer_than_the_capability_is_rejected(void **state)
{
	struct doca_comch_producer_task_send *task;
	struct data_side producer;
	struct doca_buf *list;
	uint32_t max;

	(void)state;
	data_init_producer(&producer, &client, NULL, 8, 4096);
	data_start(&producer, NULL, NULL);
	assert_int_equal(doca_comch_producer_cap_get_max_buf_list_len(doca_dev_as_devinfo(client.dev), &max), DOCA_SUCCESS);
	list = data_buf_full(&producer.memory, 0, 8);
	for (uint32_t i = 0; i < max; i++)
		assert_int_equal(doca_buf_chain_list(list, data_buf_full(&producer.memory, 8, 8)), DOCA_SUCCESS);
	assert_int_equal(doca_comch_producer_task_send_alloc_init(producer.producer, list, NULL, 0, 1, &task), DOCA_SUCCESS);
	assert_int_equal(doca_task_submit(doca_comch_producer_task_send_as_task(task)), DOCA_ERROR_INVALID_VALUE);
	doca_task_free(doca_comch_producer_task_send_as_task(task));
	assert_int_equal(doca_buf_dec_refcount(list, NULL), DOCA_SUCCESS);
	data_fini(&producer);
}

static void consumer_settings(void **state)
{
	struct data_side consumer;
	uint32_t value;

	(void)state;
	data_init_consumer(&consumer, &client, NULL, 1, 4096);
	assert_int_equal(doca_comch_consumer_set_imm_data_len(consumer.consumer, 33), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_set_imm_data_len(consumer.consumer, 8), DOCA_SUCCESS);
	assert_int_equal(doca_comch_consumer_get_imm_data_len(consumer.consumer, &value), DOCA_SUCCESS);
	assert_int_equal(value, 8);
	assert_int_equal(doca_comch_consumer_set_dev_max_num_recv(consumer.consumer, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_set_dev_max_num_recv(consumer.consumer, 64), DOCA_SUCCESS);
	data_start(&consumer, server.pe, client.pe);
	assert_int_equal(doca_comch_consumer_set_imm_data_len(consumer.consumer, 4), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_consumer_set_dev_max_num_recv(consumer.consumer, 4), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_consumer_destroy(consumer.consumer), DOCA_ERROR_BAD_STATE);
	data_fini(&consumer);
}

static void completion_for_a_dpa_can_be_configured_only(void **state)
{
	struct doca_comch_consumer_completion *completion;
	doca_dpa_dev_comch_consumer_completion_t handle;
	struct data_side consumer, second;
	uint32_t value;

	(void)state;
	assert_int_equal(doca_comch_consumer_completion_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_completion_create(&completion), DOCA_SUCCESS);
	assert_int_equal(doca_comch_consumer_completion_set_max_num_recv(completion, 16), DOCA_SUCCESS);
	assert_int_equal(doca_comch_consumer_completion_get_max_num_recv(completion, &value), DOCA_SUCCESS);
	assert_int_equal(value, 16);
	assert_int_equal(doca_comch_consumer_completion_set_max_num_consumers(completion, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_completion_get_max_num_consumers(completion, &value), DOCA_SUCCESS);
	assert_int_equal(value, 1);
	assert_int_equal(doca_comch_consumer_completion_set_imm_data_len(completion, 33), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_completion_set_dpa_thread(completion, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_completion_start(completion), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_comch_consumer_completion_stop(completion), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comch_consumer_completion_get_dpa_handle(completion, &handle), DOCA_ERROR_NOT_SUPPORTED);
	data_init_consumer(&consumer, &client, NULL, 1, 4096);
	data_init_consumer(&second, &client, NULL, 1, 4096);
	assert_int_equal(doca_comch_consumer_set_completion(consumer.consumer, NULL, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_set_completion(consumer.consumer, completion, 5), DOCA_SUCCESS);
	assert_int_equal(doca_comch_consumer_set_completion(second.consumer, completion, 5), DOCA_ERROR_FULL);
	assert_int_equal(doca_comch_consumer_completion_destroy(completion), DOCA_ERROR_BAD_STATE);
	data_fini(&second);
	data_fini(&consumer);
	assert_int_equal(doca_comch_consumer_completion_destroy(completion), DOCA_SUCCESS);
}

#define IDLE(name) cmocka_unit_test_setup_teardown(name, make_both, end_both)
#define CONNECTED(name) cmocka_unit_test_setup_teardown(name, connect_both, end_both)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IDLE(create_rejects_invalid_names_and_devices),
		IDLE(sizes_are_within_the_capabilities),
		IDLE(setters_reject_null),
		CONNECTED(setters_reject_a_started_context),
		IDLE(connection_only_while_running),
		IDLE(start_wants_a_progress_engine),
		IDLE(server_and_client_capabilities_follow_the_node),
		IDLE(every_capability_reports_and_rejects_null),
		CONNECTED(consumer_wants_a_started_writable_mmap_with_the_device),
		CONNECTED(producer_arguments_and_states),
		CONNECTED(a_list_longer_than_the_capability_is_rejected),
		CONNECTED(consumer_settings),
		CONNECTED(completion_for_a_dpa_can_be_configured_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
