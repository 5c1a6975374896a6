/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch's capabilities, tried: on a server if the device is a DPU's port, otherwise on a client; producers and consumers on a
 * connection of both. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_comch.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "caps_attempts.h"

#define PROGRESS_MAX 10000000
#define NAME_MAX_TRIED 4096

static uint8_t memory[4096];
static struct doca_comch_connection *server_connection;

static void connected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *peer, uint8_t good)
{
	server_connection = peer;
}

static void disconnected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *peer,
			 uint8_t good)
{
}

static void received(struct doca_comch_event_msg_recv *event, uint8_t *msg, uint32_t len, struct doca_comch_connection *peer) {}
static void sent(struct doca_comch_task_send *task, union doca_data data, union doca_data ctx_data) {}

/* A name that no other run of this test uses. */
static const char *server_name(void)
{
	static char name[32];

	snprintf(name, sizeof(name), "caps-%d", (int)getpid());
	return name;
}

/* ---- a side, or its substitute on a device that supports none ---- */

struct side {
	struct doca_comch_server *server;
	struct doca_comch_client *client;
	struct doca_dev_rep *rep;
	struct doca_ctx *ctx;
	struct doca_pe *pe;
};

static doca_error_t configure(struct side *s)
{
	doca_error_t result;

	s->ctx = s->server != NULL ? doca_comch_server_as_ctx(s->server) : doca_comch_client_as_ctx(s->client);
	assert_int_equal(doca_pe_create(&s->pe), DOCA_SUCCESS);
	assert_int_equal(doca_pe_connect_ctx(s->pe, s->ctx), DOCA_SUCCESS);
	if (s->server == NULL) {
		result = doca_comch_client_event_msg_recv_register(s->client, received);
		return result != DOCA_SUCCESS ? result : doca_comch_client_task_send_set_conf(s->client, sent, sent, 1);
	}
	result = doca_comch_server_event_connection_status_changed_register(s->server, connected, disconnected);
	if (result == DOCA_SUCCESS)
		result = doca_comch_server_event_msg_recv_register(s->server, received);
	return result != DOCA_SUCCESS ? result : doca_comch_server_task_send_set_conf(s->server, sent, sent, 1);
}

static doca_error_t create_server(struct side *s, struct doca_dev *dev, struct doca_dev *function, const char *name)
{
	*s = (struct side){.rep = caps_rep(dev, doca_dev_as_devinfo(function))};
	if (s->rep == NULL)
		return DOCA_ERROR_NOT_FOUND;
	doca_error_t result = doca_comch_server_create(dev, s->rep, name, &s->server);

	return result == DOCA_SUCCESS ? configure(s) : result;
}

static doca_error_t create_client(struct side *s, struct doca_dev *dev, const char *name)
{
	*s = (struct side){0};
	doca_error_t result = doca_comch_client_create(dev, name, &s->client);

	return result == DOCA_SUCCESS ? configure(s) : result;
}

static bool is_idle(const struct side *s)
{
	enum doca_ctx_states state;

	assert_int_equal(doca_ctx_get_state(s->ctx, &state), DOCA_SUCCESS);
	return state == DOCA_CTX_STATE_IDLE;
}

static void end(struct side *s, struct side *peer)
{
	if (s->ctx != NULL) {
		(void)doca_ctx_stop(s->ctx);
		for (uint32_t i = 0; !is_idle(s); i++) {
			assert_true(i < PROGRESS_MAX);
			doca_pe_progress(s->pe);
			if (peer != NULL && peer->pe != NULL)
				doca_pe_progress(peer->pe);
		}
	}
	if (s->server != NULL)
		assert_int_equal(doca_comch_server_destroy(s->server), DOCA_SUCCESS);
	if (s->client != NULL)
		assert_int_equal(doca_comch_client_destroy(s->client), DOCA_SUCCESS);
	if (s->pe != NULL)
		assert_int_equal(doca_pe_destroy(s->pe), DOCA_SUCCESS);
	if (s->rep != NULL)
		assert_int_equal(doca_dev_rep_close(s->rep), DOCA_SUCCESS);
	*s = (struct side){0};
}

/* Creates the side that this device supports, without starting it. */
static void create_own_side(const struct attempt *a, struct side *s)
{
	*s = (struct side){0};
	if (doca_comch_cap_server_is_supported(a->info) == DOCA_SUCCESS && a->partner != NULL)
		assert_int_equal(create_server(s, a->dev, a->partner, server_name()), DOCA_SUCCESS);
	else if (doca_comch_cap_client_is_supported(a->info) == DOCA_SUCCESS)
		assert_int_equal(create_client(s, a->dev, server_name()), DOCA_SUCCESS);
}

/* ---- servers and clients ---- */

/* Uses the device's representor of the partner; if the device has none, the partner's representor of the device. */
static void try_server(const struct attempt *a)
{
	struct side s = {0};

	if (a->partner == NULL)
		return; /* no representor exists */
	doca_error_t result = create_server(&s, a->dev, a->partner, server_name());

	if (result == DOCA_SUCCESS) {
		result = doca_ctx_start(s.ctx);
	} else if (s.rep == NULL) {
		s.rep = caps_rep(a->partner, a->info);
		result = doca_comch_server_create(a->dev, s.rep, server_name(), &s.server);
	}
	expect_agreed(a, result);
	end(&s, NULL);
}

static void try_client(const struct attempt *a)
{
	struct side s;
	doca_error_t result = create_client(&s, a->dev, server_name());

	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(s.ctx);
	expect_agreed(a, result);
	end(&s, NULL);
}

/* The longest name, with its NUL, and one more. */
static void try_name(const struct attempt *a)
{
	char name[NAME_MAX_TRIED];
	struct side s;

	assert_true(a->value > 1 && a->value < NAME_MAX_TRIED);
	if (doca_comch_cap_client_is_supported(a->info) != DOCA_SUCCESS)
		return; /* a server's name is checked by the same code */
	memset(name, 'n', sizeof(name));
	name[a->value - 1] = '\0';
	assert_int_equal(create_client(&s, a->dev, name), DOCA_SUCCESS);
	end(&s, NULL);
	name[a->value - 1] = 'n';
	name[a->value] = '\0';
	assert_int_equal(create_client(&s, a->dev, name), DOCA_ERROR_INVALID_VALUE);
	end(&s, NULL);
}

/* Tries a limit, and one more, by the setter of the side that exists. */
#define TRY_SETTER(name, server_set, client_set, ...)                                                                            \
	static void name(const struct attempt *a)                                                                                \
	{                                                                                                                        \
		struct side s;                                                                                                   \
		create_own_side(a, &s);                                                                                          \
		for (uint32_t more = 0; more < 2 && s.ctx != NULL; more++) {                                                     \
			uint32_t number = (uint32_t)a->value + more;                                                             \
			doca_error_t result =                                                                                    \
				s.server != NULL ? server_set(s.server, __VA_ARGS__) : client_set(s.client, __VA_ARGS__);        \
			assert_int_equal(result, more ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS);                                \
		}                                                                                                                \
		end(&s, NULL);                                                                                                   \
	}
TRY_SETTER(try_msg_size, doca_comch_server_set_max_msg_size, doca_comch_client_set_max_msg_size, number)
TRY_SETTER(try_queue_size, doca_comch_server_set_recv_queue_size, doca_comch_client_set_recv_queue_size, number)
TRY_SETTER(try_send_tasks, doca_comch_server_task_send_set_conf, doca_comch_client_task_send_set_conf, sent, sent, number)

/* ---- producers and consumers ---- */

struct pair {
	struct side server, client;
	struct doca_comch_connection *own; /* the connection on the side of the device under test */
	struct doca_mmap *mmap;
};

/* Returns false if the device has no peer to connect to. */
static bool pair_begin(const struct attempt *a, struct pair *p)
{
	bool is_port = doca_comch_cap_server_is_supported(a->info) == DOCA_SUCCESS;
	struct doca_dev *port = is_port ? a->dev : a->partner, *function = is_port ? a->partner : a->dev;
	enum doca_ctx_states state = DOCA_CTX_STATE_STARTING;

	*p = (struct pair){.own = NULL};
	if (a->partner == NULL || doca_comch_cap_client_is_supported(doca_dev_as_devinfo(function)) != DOCA_SUCCESS)
		return false;
	assert_int_equal(create_server(&p->server, port, function, server_name()), DOCA_SUCCESS);
	assert_int_equal(create_client(&p->client, function, server_name()), DOCA_SUCCESS);
	server_connection = NULL;
	assert_int_equal(doca_ctx_start(p->server.ctx), DOCA_SUCCESS);
	assert_int_equal(doca_ctx_start(p->client.ctx), DOCA_ERROR_IN_PROGRESS);
	for (uint32_t i = 0; state != DOCA_CTX_STATE_RUNNING || server_connection == NULL; i++) {
		assert_true(i < PROGRESS_MAX);
		doca_pe_progress(p->server.pe);
		doca_pe_progress(p->client.pe);
		assert_int_equal(doca_ctx_get_state(p->client.ctx, &state), DOCA_SUCCESS);
	}
	p->own = server_connection;
	if (!is_port)
		assert_int_equal(doca_comch_client_get_connection(p->client.client, &p->own), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_create(&p->mmap), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_add_dev(p->mmap, a->dev), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_memrange(p->mmap, memory, sizeof(memory)), DOCA_SUCCESS);
	assert_int_equal(doca_mmap_set_permissions(p->mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_LOCAL_READ_WRITE),
			 DOCA_SUCCESS);
	assert_int_equal(doca_mmap_start(p->mmap), DOCA_SUCCESS);
	return true;
}

static void pair_end(struct pair *p)
{
	assert_int_equal(doca_mmap_destroy(p->mmap), DOCA_SUCCESS);
	end(&p->client, &p->server);
	end(&p->server, NULL);
}

static void data_sent(struct doca_comch_producer_task_send *task, union doca_data data, union doca_data ctx_data) {}
static void data_received(struct doca_comch_consumer_task_post_recv *task, union doca_data data, union doca_data ctx_data) {}

static void try_producer(const struct attempt *a)
{
	struct doca_comch_producer *producer;
	struct pair p;

	if (!pair_begin(a, &p))
		return;
	doca_error_t result = doca_comch_producer_create(p.own, &producer);

	expect_agreed(a, result);
	if (result == DOCA_SUCCESS)
		assert_int_equal(doca_comch_producer_destroy(producer), DOCA_SUCCESS);
	pair_end(&p);
}

static void try_producer_tasks(const struct attempt *a)
{
	struct doca_comch_producer *producer;
	struct pair p;

	if (!pair_begin(a, &p))
		return;
	assert_int_equal(doca_comch_producer_create(p.own, &producer), DOCA_SUCCESS);
	assert_int_equal(doca_comch_producer_task_send_set_conf(producer, data_sent, data_sent, (uint32_t)a->value),
			 DOCA_SUCCESS);
	assert_int_equal(doca_comch_producer_task_send_set_conf(producer, data_sent, data_sent, (uint32_t)a->value + 1),
			 DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_producer_destroy(producer), DOCA_SUCCESS);
	pair_end(&p);
}

static void try_consumer(const struct attempt *a)
{
	struct doca_comch_consumer *consumer;
	struct pair p;

	if (!pair_begin(a, &p))
		return;
	doca_error_t result = doca_comch_consumer_create(p.own, p.mmap, &consumer);

	expect_agreed(a, result);
	if (result == DOCA_SUCCESS)
		assert_int_equal(doca_comch_consumer_destroy(consumer), DOCA_SUCCESS);
	pair_end(&p);
}

static void try_consumer_tasks(const struct attempt *a)
{
	struct doca_comch_consumer *consumer;
	struct pair p;

	if (!pair_begin(a, &p))
		return;
	assert_int_equal(doca_comch_consumer_create(p.own, p.mmap, &consumer), DOCA_SUCCESS);
	assert_int_equal(doca_comch_consumer_task_post_recv_set_conf(consumer, data_received, data_received, (uint32_t)a->value),
			 DOCA_SUCCESS);
	assert_int_equal(
		doca_comch_consumer_task_post_recv_set_conf(consumer, data_received, data_received, (uint32_t)a->value + 1),
		DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_destroy(consumer), DOCA_SUCCESS);
	pair_end(&p);
}

static void try_imm_data(const struct attempt *a)
{
	struct doca_comch_consumer *consumer;
	struct pair p;

	if (!pair_begin(a, &p))
		return;
	assert_int_equal(doca_comch_consumer_create(p.own, p.mmap, &consumer), DOCA_SUCCESS);
	assert_int_equal(doca_comch_consumer_set_imm_data_len(consumer, (uint32_t)a->value), DOCA_SUCCESS);
	assert_int_equal(doca_comch_consumer_set_imm_data_len(consumer, (uint32_t)a->value + 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comch_consumer_destroy(consumer), DOCA_SUCCESS);
	pair_end(&p);
}

/* The Comch tests (tests/api/comch_*) try messages of these sizes, lists, and numbers of clients and contexts. */
static void try_elsewhere(const struct attempt *a)
{
	assert_true(a->value > 0);
}

const struct attempt_entry comch_attempts[] = {
	{"doca_comch_cap_server_is_supported", try_server},
	{"doca_comch_cap_client_is_supported", try_client},
	{"doca_comch_cap_get_max_name_len", try_name},
	{"doca_comch_cap_get_max_msg_size", try_msg_size},
	{"doca_comch_cap_get_max_recv_queue_size", try_queue_size},
	{"doca_comch_cap_get_max_send_tasks", try_send_tasks},
	{"doca_comch_cap_get_max_clients", try_elsewhere},
	{"doca_comch_producer_cap_is_supported", try_producer},
	{"doca_comch_producer_cap_get_max_num_tasks", try_producer_tasks},
	{"doca_comch_producer_cap_get_max_buf_size", try_elsewhere},
	{"doca_comch_producer_cap_get_max_buf_list_len", try_elsewhere},
	{"doca_comch_producer_cap_get_max_producers", try_elsewhere},
	{"doca_comch_consumer_cap_is_supported", try_consumer},
	{"doca_comch_consumer_cap_get_max_num_tasks", try_consumer_tasks},
	{"doca_comch_consumer_cap_get_max_buf_size", try_elsewhere},
	{"doca_comch_consumer_cap_get_max_buf_list_len", try_elsewhere},
	{"doca_comch_consumer_cap_get_max_consumers", try_elsewhere},
	{"doca_comch_consumer_cap_get_max_imm_data_len", try_imm_data},
};
const size_t num_comch_attempts = sizeof(comch_attempts) / sizeof(comch_attempts[0]);
