/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CC, the Comch of DOCA 2.5, between two processes. The server is this program again: it answers each message, sends one buffer
 * to a consumer of the client, and stops when its client has disconnected. It checks what it saw, and reports by its exit status.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <doca_buf_inventory.h>
#include <doca_cc.h>
#include <doca_cc_consumer.h>
#include <doca_cc_producer.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "support/check.h"
#include "support/test_dev.h"

#define INVALID(call) CHECK((call) == DOCA_ERROR_INVALID_VALUE)

#define WAIT_S 30
#define MSG_SIZE 2000
#define LOG_TASKS 3
#define BULK 8192

struct end {
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct doca_pe *pe;
	struct doca_cc_server *server; /* one of the two */
	struct doca_cc_client *client;
	struct doca_ctx *ctx;
	struct doca_cc_connection *connection;
	uint32_t num_sent, num_failed, num_messages, num_connects, num_disconnects, num_consumers, consumer_id;
	size_t len; /* of the last message */
	char message[MSG_SIZE];
	/* bulk data */
	uint8_t *memory;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	uint32_t num_moved; /* completed by the producer or the consumer */
};

static struct end *the_end; /* events carry no user data */

#define WAIT(condition)                                                                                                          \
	do {                                                                                                                     \
		time_t begin_ = time(NULL);                                                                                      \
                                                                                                                                 \
		while (!(condition)) {                                                                                           \
			(void)doca_pe_progress(the_end->pe);                                                                     \
			CHECK(time(NULL) - begin_ < WAIT_S);                                                                     \
		}                                                                                                                \
	} while (0)

static struct doca_dev_rep *open_representor(struct doca_dev *dev, const char *pci_addr)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t num;
	uint8_t equal;

	CHECK_OK(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &num));
	for (uint32_t i = 0; i < num && rep == NULL; i++) {
		CHECK_OK(doca_devinfo_rep_is_equal_pci_addr(list[i], pci_addr, &equal));
		if (equal)
			CHECK_OK(doca_dev_rep_open(list[i], &rep));
	}
	CHECK_OK(doca_devinfo_rep_destroy_list(list));
	CHECK(rep != NULL);
	return rep;
}

/* ---- callbacks ---- */

static void sent(struct doca_cc_send_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	CHECK(ctx_user_data.ptr == the_end);
	the_end->num_sent++;
	doca_task_free(doca_cc_send_task_as_task(task));
}

static void not_sent(struct doca_cc_send_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	the_end->num_failed++;
	doca_task_free(doca_cc_send_task_as_task(task));
}

static void received(struct doca_cc_event_msg_recv *event, uint8_t *recv_buffer, size_t msg_len,
		     struct doca_cc_connection *cc_connection)
{
	CHECK(event != NULL && cc_connection == the_end->connection);
	CHECK(msg_len <= sizeof(the_end->message));
	the_end->len = msg_len;
	memcpy(the_end->message, recv_buffer, msg_len);
	the_end->num_messages++;
}

static void connected(struct doca_cc_event_connection_status_changed *event, struct doca_cc_connection *cc_connection,
		      bool change_successful)
{
	CHECK(event != NULL && change_successful);
	CHECK(doca_cc_server_get_server_ctx(cc_connection) == the_end->server);
	CHECK(doca_cc_client_get_client_ctx(cc_connection) == NULL);
	the_end->connection = cc_connection;
	the_end->num_connects++;
}

static void disconnected(struct doca_cc_event_connection_status_changed *event, struct doca_cc_connection *cc_connection,
			 bool change_successful)
{
	CHECK(event != NULL && cc_connection == the_end->connection && change_successful);
	the_end->num_disconnects++;
}

static void new_consumer(struct doca_cc_event_consumer *event, struct doca_cc_connection *cc_connection, uint32_t id)
{
	CHECK(event != NULL && cc_connection != NULL);
	the_end->consumer_id = id;
	the_end->num_consumers++;
}

static void expired_consumer(struct doca_cc_event_consumer *event, struct doca_cc_connection *cc_connection, uint32_t id)
{
	(void)event;
	(void)cc_connection;
	CHECK(id == the_end->consumer_id);
}

static void produced(struct doca_cc_producer_send_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	the_end->num_moved++;
	doca_task_free(doca_cc_producer_send_task_as_task(task));
}

static void consumed(struct doca_cc_consumer_post_recv_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	the_end->num_moved++;
	doca_task_free(doca_cc_consumer_post_recv_task_as_task(task));
}

static void not_produced(struct doca_cc_producer_send_task *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	produced(task, task_user_data, ctx_user_data);
	CHECK(!"a producer's task failed");
}

/* For the receive that is left when the consumer stops. */
static void not_consumed(struct doca_cc_consumer_post_recv_task *task, union doca_data task_user_data,
			 union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	doca_task_free(doca_cc_consumer_post_recv_task_as_task(task));
}

/* ---- both ends ---- */

static void open_ctx(struct end *end)
{
	union doca_data data;

	data.ptr = end;
	CHECK_OK(doca_ctx_set_user_data(end->ctx, data));
	CHECK_OK(doca_pe_connect_ctx(end->pe, end->ctx));
}

static void open_memory(struct end *end)
{
	CHECK(posix_memalign((void **)&end->memory, 4096, BULK) == 0);
	memset(end->memory, 0, BULK);
	CHECK_OK(doca_mmap_create(&end->mmap));
	CHECK_OK(doca_mmap_set_memrange(end->mmap, end->memory, BULK));
	CHECK_OK(doca_mmap_set_permissions(end->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	CHECK_OK(doca_mmap_add_dev(end->mmap, end->dev));
	CHECK_OK(doca_mmap_start(end->mmap));
	CHECK_OK(doca_buf_inventory_create(4, &end->inventory));
	CHECK_OK(doca_buf_inventory_start(end->inventory));
}

static void close_memory(struct end *end)
{
	CHECK_OK(doca_buf_inventory_destroy(end->inventory));
	CHECK_OK(doca_mmap_destroy(end->mmap));
	free(end->memory);
}

static enum doca_ctx_states state_of(struct doca_ctx *ctx)
{
	enum doca_ctx_states state;

	CHECK_OK(doca_ctx_get_state(ctx, &state));
	return state;
}

static void stop(struct doca_ctx *ctx)
{
	(void)doca_ctx_stop(ctx);
	WAIT(state_of(ctx) == DOCA_CTX_STATE_IDLE);
}

/* ---- the server ---- */

static void open_server(struct end *end, const char *name)
{
	size_t size;

	the_end = end;
	end->dev = test_dev_open_pci("03:00.0");
	end->rep = open_representor(end->dev, "d8:00.0");
	CHECK_OK(doca_cc_cap_server_is_supported(doca_dev_as_devinfo(end->dev)));
	CHECK_OK(doca_pe_create(&end->pe));
	CHECK_OK(doca_cc_server_create(end->dev, end->rep, name, &end->server));
	end->ctx = doca_cc_server_as_ctx(end->server);
	open_ctx(end);
	CHECK_OK(doca_cc_server_send_task_set_conf(end->server, sent, not_sent, LOG_TASKS));
	CHECK_OK(doca_cc_server_event_msg_recv_register(end->server, received));
	CHECK_OK(doca_cc_server_event_connection_register(end->server, connected, disconnected));
	CHECK_OK(doca_cc_server_event_consumer_register(end->server, new_consumer, expired_consumer));
	CHECK_OK(doca_cc_server_set_max_msg_size(end->server, MSG_SIZE));
	CHECK_OK(doca_cc_server_set_recv_queue_size(end->server, 16));
	CHECK_OK(doca_cc_server_get_max_msg_size(end->server, &size));
	CHECK(size == MSG_SIZE);
	CHECK_OK(doca_cc_server_get_recv_queue_size(end->server, &size));
	CHECK(size == 16);
	CHECK_OK(doca_ctx_start(end->ctx));
}

static void close_server(struct end *end)
{
	stop(end->ctx);
	CHECK_OK(doca_cc_server_destroy(end->server));
	CHECK_OK(doca_pe_destroy(end->pe));
	CHECK_OK(doca_dev_rep_close(end->rep));
	CHECK_OK(doca_dev_close(end->dev));
}

static void answer(struct end *end)
{
	struct doca_cc_send_task *task;

	CHECK_OK(doca_cc_server_send_task_alloc_init(end->server, end->connection, end->message, end->len, &task));
	CHECK_OK(doca_task_submit(doca_cc_send_task_as_task(task)));
}

static void produce(struct end *end)
{
	struct doca_cc_producer *producer;
	struct doca_cc_producer_send_task *task;
	struct doca_buf *buf;
	struct doca_ctx *ctx;

	open_memory(end);
	memset(end->memory, 0x5a, BULK);
	CHECK_OK(doca_cc_cap_is_producer_supported(doca_dev_as_devinfo(end->dev)));
	CHECK_OK(doca_cc_producer_create(end->connection, &producer));
	ctx = doca_cc_producer_as_ctx(producer);
	CHECK_OK(doca_pe_connect_ctx(end->pe, ctx));
	CHECK_OK(doca_cc_producer_send_task_set_conf(producer, produced, not_produced, LOG_TASKS));
	CHECK_OK(doca_ctx_start(ctx));
	CHECK_OK(doca_buf_inventory_buf_get_by_data(end->inventory, end->mmap, end->memory, 5000, &buf));
	CHECK_OK(doca_cc_producer_send_task_alloc_init(producer, buf, (int)end->consumer_id, &task));
	CHECK(doca_cc_producer_send_task_get_buf(task) == buf);
	CHECK(doca_cc_producer_send_task_get_consumer_id(task) == (int)end->consumer_id);
	WAIT(doca_task_submit(doca_cc_producer_send_task_as_task(task)) == DOCA_SUCCESS);
	WAIT(end->num_moved == 1);
	stop(ctx);
	CHECK_OK(doca_cc_producer_destroy(producer));
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	close_memory(end);
}

static void serve(const char *name)
{
	static struct end end;
	uint32_t answered = 0;

	alarm(120);
	open_server(&end, name);
	CHECK(write(STDOUT_FILENO, "r", 1) == 1);
	while (end.num_disconnects == 0) {
		(void)doca_pe_progress(end.pe);
		for (; answered < end.num_messages; answered++)
			answer(&end);
		if (end.num_consumers == 1 && end.num_moved == 0)
			produce(&end);
	}
	CHECK(end.num_connects == 1 && end.num_failed == 0);
	close_server(&end);
	exit(0);
}

/* ---- the client, and the test ---- */

struct fixture {
	struct end client;
	pid_t server;
	int output;
};

static pid_t run_server(const char *name, int *output)
{
	int pipes[2];
	char ready;
	pid_t pid;

	CHECK(pipe(pipes) == 0);
	fflush(NULL);
	pid = fork();
	CHECK(pid >= 0);
	if (pid == 0) {
		dup2(pipes[1], STDOUT_FILENO);
		close(pipes[0]);
		execl("/proc/self/exe", "server", name, (char *)NULL);
		_exit(1);
	}
	close(pipes[1]);
	CHECK(read(pipes[0], &ready, 1) == 1);
	*output = pipes[0];
	return pid;
}

static void open_client(struct end *end, const char *name)
{
	the_end = end;
	end->dev = test_dev_open_pci("d8:00.0");
	CHECK_OK(doca_cc_cap_client_is_supported(doca_dev_as_devinfo(end->dev)));
	CHECK_OK(doca_pe_create(&end->pe));
	CHECK_OK(doca_cc_client_create(end->dev, name, &end->client));
	end->ctx = doca_cc_client_as_ctx(end->client);
	open_ctx(end);
	CHECK_OK(doca_cc_client_send_task_set_conf(end->client, sent, not_sent, LOG_TASKS));
	CHECK_OK(doca_cc_client_event_msg_recv_register(end->client, received));
	CHECK_OK(doca_cc_client_event_consumer_register(end->client, new_consumer, expired_consumer));
	CHECK_OK(doca_cc_client_set_max_msg_size(end->client, MSG_SIZE));
	CHECK_OK(doca_cc_client_set_recv_queue_size(end->client, 16));
}

static int setup(void **state)
{
	static struct fixture f;
	char name[32];

	memset(&f, 0, sizeof(f));
	snprintf(name, sizeof(name), "cc %ld", (long)getpid());
	f.server = run_server(name, &f.output);
	open_client(&f.client, name);
	CHECK(doca_ctx_start(f.client.ctx) == DOCA_ERROR_IN_PROGRESS);
	WAIT(state_of(f.client.ctx) == DOCA_CTX_STATE_RUNNING);
	CHECK_OK(doca_cc_client_get_connection(f.client.client, &f.client.connection));
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	int status;

	stop(f->client.ctx);
	CHECK_OK(doca_cc_client_destroy(f->client.client));
	CHECK_OK(doca_pe_destroy(f->client.pe));
	CHECK_OK(doca_dev_close(f->client.dev));
	CHECK(waitpid(f->server, &status, 0) == f->server);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(f->output);
	return 0;
}

static void messages_and_counters(void **state)
{
	struct end *end = &((struct fixture *)*state)->client;
	struct doca_cc_send_task *task;
	char text[MSG_SIZE];
	union doca_data data = {.u64 = 77};
	uint64_t counter;

	memset(text, 'c', sizeof(text));
	for (uint32_t i = 0; i < 20; i++) {
		size_t len = i % 2 == 0 ? MSG_SIZE : 1;

		text[0] = (char)('a' + i);
		CHECK_OK(doca_cc_client_send_task_alloc_init(end->client, end->connection, text, len, &task));
		CHECK_OK(doca_task_submit(doca_cc_send_task_as_task(task)));
		WAIT(end->num_messages == i + 1 && end->num_sent == i + 1);
		CHECK(end->len == len && memcmp(end->message, text, len) == 0);
	}
	CHECK_OK(doca_cc_connection_update_info(end->connection));
	CHECK_OK(doca_cc_connection_get_counter(end->connection, DOCA_CC_COUNTER_SENT_MESSAGES, &counter));
	CHECK(counter == 20);
	CHECK_OK(doca_cc_connection_get_counter(end->connection, DOCA_CC_COUNTER_RECV_BYTES, &counter));
	CHECK(counter == 10 * (MSG_SIZE + 1));
	CHECK_OK(doca_cc_connection_set_user_data(end->connection, data));
	CHECK(doca_cc_connection_get_user_data(end->connection).u64 == 77);
	CHECK(doca_cc_client_get_client_ctx(end->connection) == end->client);
	INVALID(doca_cc_client_send_task_alloc_init(end->client, end->connection, text, MSG_SIZE + 1, &task));
	INVALID(doca_cc_client_send_task_alloc_init(end->client, end->connection, text, (size_t)UINT32_MAX + 2, &task));
	CHECK(end->num_failed == 0);
}

static void the_configured_number_of_tasks(void **state)
{
	struct end *end = &((struct fixture *)*state)->client;
	struct doca_cc_send_task *tasks[1 << LOG_TASKS], *more;

	for (int i = 0; i < 1 << LOG_TASKS; i++)
		CHECK_OK(doca_cc_client_send_task_alloc_init(end->client, end->connection, "x", 1, &tasks[i]));
	CHECK(doca_cc_client_send_task_alloc_init(end->client, end->connection, "x", 1, &more) == DOCA_ERROR_NO_MEMORY);
	for (int i = 0; i < 1 << LOG_TASKS; i++)
		doca_task_free(doca_cc_send_task_as_task(tasks[i]));
}

static void a_buffer_to_a_consumer(void **state)
{
	struct end *end = &((struct fixture *)*state)->client;
	struct doca_cc_consumer *consumer;
	struct doca_cc_consumer_post_recv_task *task;
	struct doca_buf *buf;
	struct doca_ctx *ctx;
	uint32_t id;
	size_t len;

	open_memory(end);
	CHECK_OK(doca_cc_cap_is_consumer_supported(doca_dev_as_devinfo(end->dev)));
	CHECK_OK(doca_cc_consumer_create(end->connection, end->mmap, &consumer));
	CHECK_OK(doca_cc_consumer_get_id(consumer, &id));
	CHECK(id != 0);
	ctx = doca_cc_consumer_as_ctx(consumer);
	CHECK_OK(doca_pe_connect_ctx(end->pe, ctx));
	CHECK_OK(doca_cc_consumer_post_recv_task_set_conf(consumer, consumed, not_consumed, LOG_TASKS));
	CHECK(doca_ctx_start(ctx) == DOCA_ERROR_IN_PROGRESS);
	WAIT(state_of(ctx) == DOCA_CTX_STATE_RUNNING);
	CHECK_OK(doca_buf_inventory_buf_get_by_addr(end->inventory, end->mmap, end->memory, BULK, &buf));
	CHECK_OK(doca_cc_consumer_post_recv_task_alloc_init(consumer, buf, &task));
	CHECK(doca_cc_consumer_post_recv_task_get_buf(task) == buf);
	CHECK_OK(doca_task_submit(doca_cc_consumer_post_recv_task_as_task(task)));
	WAIT(end->num_moved == 1);
	CHECK_OK(doca_buf_get_data_len(buf, &len));
	CHECK(len == 5000 && end->memory[0] == 0x5a && end->memory[4999] == 0x5a && end->memory[5000] == 0);
	stop(ctx);
	CHECK_OK(doca_cc_consumer_destroy(consumer));
	CHECK_OK(doca_buf_dec_refcount(buf, NULL));
	close_memory(end);
}

static void sizes_and_numbers(void **state)
{
	struct end end = {.dev = test_dev_open_pci("d8:00.0")};
	const struct doca_devinfo *devinfo = doca_dev_as_devinfo(end.dev);
	struct doca_cc_client *client;
	size_t size = 0, tasks = 0;

	(void)state;
	CHECK_OK(doca_cc_cap_get_max_msg_size(devinfo, &size));
	CHECK(size >= 4080);
	CHECK_OK(doca_cc_client_create(end.dev, "sizes", &client));
	CHECK_OK(doca_cc_client_set_max_msg_size(client, size));
	INVALID(doca_cc_client_set_max_msg_size(client, size + 1));
	INVALID(doca_cc_client_set_max_msg_size(client, (size_t)UINT32_MAX + 1 + size)); /* its lower half would be valid */
	CHECK_OK(doca_cc_cap_get_max_recv_queue_size(devinfo, &size));
	CHECK_OK(doca_cc_client_set_recv_queue_size(client, size));
	INVALID(doca_cc_client_set_recv_queue_size(client, (size_t)UINT32_MAX + 2));
	INVALID(doca_cc_client_get_max_msg_size(client, NULL));
	INVALID(doca_cc_client_get_recv_queue_size(NULL, &size));
	CHECK_OK(doca_cc_cap_get_max_send_tasks(devinfo, &tasks));
	CHECK(tasks > 1);
	INVALID(doca_cc_client_send_task_set_conf(client, sent, not_sent, 32));
	INVALID(doca_cc_client_send_task_set_conf(client, NULL, not_sent, 1));
	INVALID(doca_cc_client_event_msg_recv_register(client, NULL));
	INVALID(doca_cc_client_event_msg_recv_register(NULL, received));
	CHECK_OK(doca_cc_cap_get_max_clients(devinfo, &size));
	INVALID(doca_cc_cap_get_max_clients(NULL, &size));
	INVALID(doca_cc_cap_get_max_clients(devinfo, NULL));
	CHECK_OK(doca_cc_consumer_cap_get_max_log_num_tasks(devinfo, &size));
	CHECK(size > 0 && size < 32);
	CHECK_OK(doca_cc_producer_cap_get_max_log_num_tasks(devinfo, &size));
	CHECK(size > 0 && size < 32);
	CHECK_OK(doca_cc_producer_cap_get_max_buf_size(devinfo, &size));
	CHECK(size >= BULK);
	CHECK_OK(doca_cc_client_destroy(client));
	CHECK_OK(doca_dev_close(end.dev));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages_and_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(the_configured_number_of_tasks, setup, teardown),
		cmocka_unit_test_setup_teardown(a_buffer_to_a_consumer, setup, teardown),
		cmocka_unit_test(sizes_and_numbers),
	};

	if (argc == 2)
		serve(argv[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
