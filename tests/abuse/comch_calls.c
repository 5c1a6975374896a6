/* SPDX-License-Identifier: BSD-3-Clause */
/* Comch: servers, clients, their connections and messages. */
#include <doca_comch.h>
#include <doca_dev.h>
#include <doca_mmap.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "comch_calls.h"

#define ENDPOINTS_MAX 2 /* of each kind */
#define PROGRESS_MAX 200

static uint32_t last_consumer_id;

/* Names that no other process uses; or one that must be rejected. */
static char *any_name(void)
{
	static char name[64], too_long[4096];

	if (chance(12)) {
		memset(too_long, 'n', sizeof(too_long) - 1);
		refuse_if(true);
		return too_long;
	}
	snprintf(name, sizeof(name), "abuse-%d-%d", (int)getpid(), chance(6));
	return name;
}

/* ---- connections ---- */

static void connections_gone(uint64_t of)
{
	struct object *connection;

	while ((connection = object_of(CONNECTION, of)) != NULL) {
		if (connection->users > 0) {
			connection->flag = true;
			connection->of = 0;
		} else {
			object_drop(CONNECTION, connection->pointer);
		}
	}
}

static void connection_gone(struct doca_comch_connection *pointer)
{
	struct object *connection = object_find(CONNECTION, pointer);

	if (connection == NULL)
		return;
	if (connection->users == 0) {
		object_drop(CONNECTION, pointer);
		return;
	}
	connection->flag = true;
	connection->of = 0;
}

void connection_used(const struct doca_comch_connection *connection)
{
	object_find(CONNECTION, connection)->users++;
}

void connection_unused(uint64_t id)
{
	struct object *connection = object_by_id(CONNECTION, id);

	if (--connection->users == 0 && connection->flag)
		object_drop(CONNECTION, connection->pointer);
}

static struct object *endpoint_of(const struct doca_ctx *ctx)
{
	for (enum kind kind = SERVER; kind <= CLIENT; kind++) {
		for (uint32_t i = 0; i < object_count(kind); i++) {
			struct object *object = object_at(kind, i);
			struct doca_ctx *own = kind == SERVER ? doca_comch_server_as_ctx(object->pointer)
							      : doca_comch_client_as_ctx(object->pointer);

			if (own == ctx)
				return object;
		}
	}
	return NULL;
}

/* A client has its connection until it is idle; a server has its connections as long as it runs. */
void comch_ctx_changed(void *ctx)
{
	struct object *endpoint = endpoint_of(ctx);
	enum doca_ctx_states state = ctx_state(ctx);
	struct doca_comch_connection *connection;

	if (endpoint == NULL)
		return;
	if (object_find(SERVER, endpoint->pointer) == NULL) {
		if (state == DOCA_CTX_STATE_IDLE)
			connections_gone(endpoint->id);
		else if (state == DOCA_CTX_STATE_RUNNING && object_room(CONNECTION) &&
			 doca_comch_client_get_connection(endpoint->pointer, &connection) == DOCA_SUCCESS)
			object_add(CONNECTION, connection)->of = endpoint->id;
	} else if (state != DOCA_CTX_STATE_RUNNING) {
		connections_gone(endpoint->id);
	}
}

static void connected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
		      uint8_t good)
{
	struct object *server = object_find(SERVER, doca_comch_server_get_server_ctx(connection));

	if (good && server != NULL && object_room(CONNECTION))
		object_add(CONNECTION, connection)->of = server->id;
	act();
}

static void disconnected(struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *connection,
			 uint8_t good)
{
	act();
	connection_gone(connection);
	act(); /* the connection has ended, and the library has not closed it yet */
}

static void received(struct doca_comch_event_msg_recv *event, uint8_t *message, uint32_t len,
		     struct doca_comch_connection *connection)
{
	act();
}

static void consumer_changed(struct doca_comch_event_consumer *event, struct doca_comch_connection *connection, uint32_t id)
{
	last_consumer_id = id;
	act();
}

uint32_t any_consumer_id(void)
{
	return chance(4) ? random_below(4) : last_consumer_id;
}

static void set_user_data(void)
{
	struct doca_comch_connection *connection = pick(CONNECTION);

	expect_if(true);
	CALL(doca_comch_connection_set_user_data, connection, (union doca_data){.u64 = 1});
}

static void get_user_data(void)
{
	(void)CALL_VALUE(doca_comch_connection_get_user_data, (struct doca_comch_connection *)pick(CONNECTION));
}

static void get_server(void)
{
	(void)CALL_VALUE(doca_comch_server_get_server_ctx, (struct doca_comch_connection *)pick(CONNECTION));
}

static void get_client(void)
{
	(void)CALL_VALUE(doca_comch_client_get_client_ctx, (struct doca_comch_connection *)pick(CONNECTION));
}

static void update_info(void)
{
	struct doca_comch_connection *connection = pick(CONNECTION);

	CALL(doca_comch_connection_update_info, connection);
}

static void get_counter(void)
{
	uint64_t value;
	struct doca_comch_connection *connection = pick(CONNECTION);
	uint32_t counter = random_below(6);
	uint64_t *place = or_null(&value);

	refuse_if(counter < DOCA_COMCH_COUNTER_SENT_MESSAGES || counter > DOCA_COMCH_COUNTER_RECV_BYTES);
	CALL(doca_comch_connection_get_counter, connection, (enum doca_comch_counter)counter, place);
}

static void disconnect(void)
{
	struct doca_comch_server *server = pick(SERVER);
	struct doca_comch_connection *connection = pick(CONNECTION);

	refuse_if(server != NULL && connection != NULL &&
		  (object_find(CONNECTION, connection)->of != object_find(SERVER, server)->id ||
		   object_find(CONNECTION, connection)->users > 0));
	if (CALL(doca_comch_server_disconnect, server, connection) == DOCA_SUCCESS)
		connection_gone(connection);
}

static void client_get_connection(void)
{
	struct doca_comch_connection *connection;
	struct doca_comch_client *client = pick(CLIENT);
	struct doca_comch_connection **place = or_null(&connection);

	refuse_if(client != NULL && ctx_state(doca_comch_client_as_ctx(client)) != DOCA_CTX_STATE_RUNNING);
	expect_if(true);
	CALL(doca_comch_client_get_connection, client, place);
}

/* ---- shared by servers and clients ---- */

#define GETTER(name, function, kind, object_type, type) CALL_GETTER(name, function, kind, object_type, type, true)
GETTER(max_name, doca_comch_cap_get_max_name_len, DEVINFO, struct doca_devinfo, uint32_t)
GETTER(max_msg, doca_comch_cap_get_max_msg_size, DEVINFO, struct doca_devinfo, uint32_t)
GETTER(max_queue, doca_comch_cap_get_max_recv_queue_size, DEVINFO, struct doca_devinfo, uint32_t)
GETTER(max_clients, doca_comch_cap_get_max_clients, DEVINFO, struct doca_devinfo, uint32_t)
GETTER(max_tasks, doca_comch_cap_get_max_send_tasks, DEVINFO, struct doca_devinfo, uint32_t)
GETTER(server_get_rep, doca_comch_server_get_device_rep, SERVER, struct doca_comch_server, struct doca_dev_rep *)

static void sent(struct doca_comch_task_send *task, union doca_data task_data, union doca_data ctx_data)
{
	task_ended(doca_comch_task_send_as_task(task));
}

static void as_task(void)
{
	(void)CALL_VALUE(doca_comch_task_send_as_task, (struct doca_comch_task_send *)pick(SEND_TASK));
}

static void endpoint_made(enum kind kind, void *endpoint, struct doca_ctx *ctx)
{
	object_add(kind, endpoint);
	ctx_add(ctx);
}

static void server_create(void)
{
	struct doca_comch_server *server;

	if (object_count(SERVER) >= ENDPOINTS_MAX || !has_room(CTX) || is_ending())
		return;
	struct doca_dev *dev = pick(DEV);
	struct doca_dev_rep *rep = pick(REP);
	char *name = or_null(any_name());
	struct doca_comch_server **place = or_null(&server);

	if (CALL(doca_comch_server_create, dev, rep, name, place) == DOCA_SUCCESS)
		endpoint_made(SERVER, server, doca_comch_server_as_ctx(server));
}

static void client_create(void)
{
	struct doca_comch_client *client;

	if (object_count(CLIENT) >= ENDPOINTS_MAX || !has_room(CTX) || is_ending())
		return;
	struct doca_dev *dev = pick(DEV);
	char *name = or_null(any_name());
	struct doca_comch_client **place = or_null(&client);

	if (CALL(doca_comch_client_create, dev, name, place) == DOCA_SUCCESS)
		endpoint_made(CLIENT, client, doca_comch_client_as_ctx(client));
}

#define ENDPOINT(side, kind)                                                                                                     \
	static void side##_destroy(void)                                                                                         \
	{                                                                                                                        \
		struct doca_comch_##side *side = pick(kind);                                                                     \
		struct doca_ctx *ctx = doca_comch_##side##_as_ctx(side);                                                         \
		refuse_if(side != NULL && !ctx_is_idle(ctx));                                                                    \
		if (CALL(doca_comch_##side##_destroy, side) != DOCA_SUCCESS)                                                     \
			return;                                                                                                  \
		object_drop(CTX, ctx);                                                                                           \
		object_drop(kind, side);                                                                                         \
	}                                                                                                                        \
	static void side##_as_ctx(void)                                                                                          \
	{                                                                                                                        \
		(void)CALL_VALUE(doca_comch_##side##_as_ctx, (struct doca_comch_##side *)pick(kind));                            \
	}                                                                                                                        \
	static void side##_supported(void)                                                                                       \
	{                                                                                                                        \
		struct doca_devinfo *info = pick(DEVINFO);                                                                       \
		CALL(doca_comch_cap_##side##_is_supported, info);                                                                \
	}                                                                                                                        \
	/* Settable while idle. */                                                                                               \
	static struct doca_comch_##side *side##_to_set(void)                                                                     \
	{                                                                                                                        \
		struct doca_comch_##side *side = pick(kind);                                                                     \
		refuse_if(side != NULL && !ctx_is_idle(doca_comch_##side##_as_ctx(side)));                                       \
		expect_if(true);                                                                                                 \
		return side;                                                                                                     \
	}                                                                                                                        \
	static void side##_set_msg_size(void)                                                                                    \
	{                                                                                                                        \
		struct doca_comch_##side *side = side##_to_set();                                                                \
		uint32_t size = chance(6) ? 0 : chance(6) ? UINT32_MAX : 1 + random_below(64);                                   \
		refuse_if(size == 0 || size == UINT32_MAX);                                                                      \
		CALL(doca_comch_##side##_set_max_msg_size, side, size);                                                          \
	}                                                                                                                        \
	static void side##_set_queue(void)                                                                                       \
	{                                                                                                                        \
		struct doca_comch_##side *side = side##_to_set();                                                                \
		uint32_t size = chance(6) ? 0 : chance(6) ? UINT32_MAX : 1 + random_below(4);                                    \
		refuse_if(size == 0 || size == UINT32_MAX);                                                                      \
		CALL(doca_comch_##side##_set_recv_queue_size, side, size);                                                       \
	}                                                                                                                        \
	GETTER(side##_get_msg_size, doca_comch_##side##_get_max_msg_size, kind, struct doca_comch_##side, uint32_t)              \
	GETTER(side##_get_queue, doca_comch_##side##_get_recv_queue_size, kind, struct doca_comch_##side, uint32_t)              \
	GETTER(side##_get_device, doca_comch_##side##_get_device, kind, struct doca_comch_##side, struct doca_dev *)             \
	static void side##_send_conf(void)                                                                                       \
	{                                                                                                                        \
		struct doca_comch_##side *side = side##_to_set();                                                                \
		doca_comch_task_send_completion_cb_t good = or_null(sent), bad = or_null(sent);                                  \
		uint32_t num = chance(6) ? 0 : chance(6) ? UINT32_MAX : 1 + random_below(4);                                     \
		refuse_if(num == 0 || num == UINT32_MAX);                                                                        \
		CALL(doca_comch_##side##_task_send_set_conf, side, good, bad, num);                                              \
	}                                                                                                                        \
	static void side##_send_alloc(void)                                                                                      \
	{                                                                                                                        \
		struct doca_comch_task_send *task;                                                                               \
		if (!has_room(TASK))                                                                                             \
			return;                                                                                                  \
		struct doca_comch_##side *side = pick(kind);                                                                     \
		struct doca_comch_connection *peer = pick(CONNECTION);                                                           \
		uint32_t len = chance(12) ? UINT32_MAX : random_below(70);                                                       \
		void *message = len > 0 ? or_null(memory) : NULL;                                                                \
		struct doca_comch_task_send **place = or_null(&task);                                                            \
		refuse_if(len == UINT32_MAX ||                                                                                   \
			  (side != NULL && ctx_state(doca_comch_##side##_as_ctx(side)) != DOCA_CTX_STATE_RUNNING) ||             \
			  (side != NULL && peer != NULL && object_find(CONNECTION, peer)->of != object_find(kind, side)->id));   \
		if (CALL(doca_comch_##side##_task_send_alloc_init, side, peer, message, len, place) == DOCA_SUCCESS)             \
			task_add(doca_comch_task_send_as_task(task), SEND_TASK, task);                                           \
	}                                                                                                                        \
	static void side##_on_message(void)                                                                                      \
	{                                                                                                                        \
		struct doca_comch_##side *side = side##_to_set();                                                                \
		doca_comch_event_msg_recv_cb_t callback = or_null(received);                                                     \
		CALL(doca_comch_##side##_event_msg_recv_register, side, callback);                                               \
	}                                                                                                                        \
	static void side##_on_consumer(void)                                                                                     \
	{                                                                                                                        \
		struct doca_comch_##side *side = side##_to_set();                                                                \
		doca_comch_event_consumer_cb_t began = or_null(consumer_changed), ended = or_null(consumer_changed);             \
		CALL(doca_comch_##side##_event_consumer_register, side, began, ended);                                           \
	}
ENDPOINT(server, SERVER)
ENDPOINT(client, CLIENT)

static void on_connection(void)
{
	struct doca_comch_server *server = server_to_set();
	doca_comch_event_connection_status_changed_cb_t began = or_null(connected), ended = or_null(disconnected);

	if (chance(2))
		CALL(doca_comch_server_event_connection_register, server, began, ended);
	else
		CALL(doca_comch_server_event_connection_status_changed_register, server, began, ended);
}

/* ---- a connection to begin with ---- */

void comch_progress(void)
{
	for (uint32_t i = 0; i < object_count(PE); i++)
		(void)CALL_VALUE(doca_pe_progress, object_at(PE, i)->pointer);
}

static void prepare_memory(struct doca_dev *dpu, struct doca_dev *host)
{
	struct doca_mmap *mmap;

	if (CALL(doca_mmap_create, &mmap) != DOCA_SUCCESS)
		return;
	object_add(MMAP, mmap);
	CALL(doca_mmap_add_dev, mmap, dpu);
	CALL(doca_mmap_add_dev, mmap, host);
	CALL(doca_mmap_set_memrange, mmap, memory, MEMORY_SIZE);
	CALL(doca_mmap_set_permissions, mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
	CALL(doca_mmap_start, mmap);
}

static void prepare_server(struct doca_dev *dpu, const char *name)
{
	struct doca_devinfo_rep **reps;
	struct doca_comch_server *server;
	struct doca_dev_rep *rep;
	uint32_t num;

	if (doca_devinfo_rep_create_list(dpu, DOCA_DEVINFO_REP_FILTER_NET, &reps, &num) != DOCA_SUCCESS)
		return;
	bool has_rep = doca_dev_rep_open(reps[0], &rep) == DOCA_SUCCESS;

	CALL(doca_devinfo_rep_destroy_list, reps);
	if (!has_rep)
		return;
	object_add(REP, rep);
	if (CALL(doca_comch_server_create, dpu, rep, name, &server) != DOCA_SUCCESS)
		return;
	endpoint_made(SERVER, server, doca_comch_server_as_ctx(server));
	CALL(doca_comch_server_event_connection_status_changed_register, server, connected, disconnected);
	CALL(doca_comch_server_event_msg_recv_register, server, received);
	CALL(doca_comch_server_event_consumer_register, server, consumer_changed, consumer_changed);
	CALL(doca_comch_server_task_send_set_conf, server, sent, sent, 4);
	ctx_run(doca_comch_server_as_ctx(server));
}

static void prepare(void)
{
	struct doca_dev *dpu = dev_add("03:00.0"), *host = dev_add("d8:00.0");
	struct doca_comch_client *client;
	char name[64];

	if (dpu == NULL || host == NULL)
		return;
	prepare_memory(dpu, host);
	snprintf(name, sizeof(name), "abuse-%d-0", (int)getpid());
	prepare_server(dpu, name);
	if (CALL(doca_comch_client_create, host, name, &client) != DOCA_SUCCESS)
		return;
	endpoint_made(CLIENT, client, doca_comch_client_as_ctx(client));
	CALL(doca_comch_client_event_msg_recv_register, client, received);
	CALL(doca_comch_client_event_consumer_register, client, consumer_changed, consumer_changed);
	CALL(doca_comch_client_task_send_set_conf, client, sent, sent, 4);
	ctx_run(doca_comch_client_as_ctx(client));
	for (int i = 0; i < PROGRESS_MAX && object_count(CONNECTION) < 2; i++)
		comch_progress();
}

#define CALLS_OF(side)                                                                                                           \
	{"doca_comch_" #side "_create", side##_create, 2}, {"doca_comch_" #side "_destroy", side##_destroy, 1, true},            \
		{"doca_comch_" #side "_as_ctx", side##_as_ctx}, {"doca_comch_cap_" #side "_is_supported", side##_supported},     \
		{"doca_comch_" #side "_set_max_msg_size", side##_set_msg_size},                                                  \
		{"doca_comch_" #side "_set_recv_queue_size", side##_set_queue},                                                  \
		{"doca_comch_" #side "_get_max_msg_size", side##_get_msg_size},                                                  \
		{"doca_comch_" #side "_get_recv_queue_size", side##_get_queue},                                                  \
		{"doca_comch_" #side "_get_device", side##_get_device},                                                          \
		{"doca_comch_" #side "_task_send_set_conf", side##_send_conf, 2},                                                \
		{"doca_comch_" #side "_task_send_alloc_init", side##_send_alloc, 8},                                             \
		{"doca_comch_" #side "_event_msg_recv_register", side##_on_message},                                             \
	{                                                                                                                        \
		"doca_comch_" #side "_event_consumer_register", side##_on_consumer                                               \
	}

static const struct call calls[] = {
	CALLS_OF(server),
	CALLS_OF(client),
	{"doca_comch_server_event_connection_status_changed_register", on_connection},
	{"doca_comch_server_get_device_rep", server_get_rep},
	{"doca_comch_server_disconnect", disconnect},
	{"doca_comch_client_get_connection", client_get_connection},
	{"doca_comch_connection_set_user_data", set_user_data},
	{"doca_comch_connection_get_user_data", get_user_data},
	{"doca_comch_server_get_server_ctx", get_server},
	{"doca_comch_client_get_client_ctx", get_client},
	{"doca_comch_connection_update_info", update_info},
	{"doca_comch_connection_get_counter", get_counter},
	{"doca_comch_cap_get_max_name_len", max_name},
	{"doca_comch_cap_get_max_msg_size", max_msg},
	{"doca_comch_cap_get_max_recv_queue_size", max_queue},
	{"doca_comch_cap_get_max_clients", max_clients},
	{"doca_comch_cap_get_max_send_tasks", max_tasks},
	{"doca_comch_task_send_as_task", as_task},
};
const struct group comch_group = GROUP(calls, prepare);
