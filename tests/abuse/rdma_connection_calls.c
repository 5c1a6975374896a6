/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA's connections: by descriptors, and by address. */
#include <doca_dev.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rdma_calls.h"

#define DETAILS_MAX 256
#define DETAILS_KEPT 8
#define PORTS 3
#define PORT(i)                                                                                                                  \
	((uint16_t)(20000 + (uint32_t)getpid() % 10000 * PORTS + (i))) /* ports that no other process of this test uses          \
									*/

/* The details of the last exports, whose connections may no longer exist. */
static struct {
	uint8_t bytes[DETAILS_MAX];
	size_t len;
} exported[DETAILS_KEPT];
static uint32_t num_exported;

static void known(struct doca_rdma_connection *connection, const struct doca_rdma *rdma)
{
	struct object *object = object_find(RDMA_CONNECTION, connection), *of = object_find(RDMA, rdma);

	if (of == NULL)
		return;
	if (object == NULL && object_room(RDMA_CONNECTION)) /* otherwise its place is reused */
		object = object_add(RDMA_CONNECTION, connection);
	if (object != NULL)
		object->of = of->id;
}

struct doca_rdma_connection *connection_of(struct doca_rdma *rdma)
{
	struct object *of = rdma != NULL ? object_find(RDMA, rdma) : NULL;
	uint32_t num = of != NULL ? object_count_of(RDMA_CONNECTION, of->id) : 0, nth = num != 0 ? random_below(num) : 0;

	for (uint32_t i = 0; num != 0 && i < object_count(RDMA_CONNECTION); i++) {
		if (object_at(RDMA_CONNECTION, i)->of == of->id && nth-- == 0)
			return or_null(object_at(RDMA_CONNECTION, i)->pointer);
	}
	return or_null(NULL);
}

void rdma_ctx_changed(void *ctx)
{
	struct doca_rdma *rdma = rdma_of(ctx);

	if (rdma != NULL && ctx_is_idle(ctx))
		object_drop_of(RDMA_CONNECTION, object_find(RDMA, rdma)->id);
}

/* ---- by descriptors ---- */

static void export(void)
{
	struct doca_rdma_connection *connection;
	const void *details;
	size_t len;
	struct doca_rdma *rdma = pick(RDMA);
	const void **details_place = or_null(&details);
	size_t *len_place = or_null(&len);
	struct doca_rdma_connection **place = or_null(&connection);

	if (!object_room(RDMA_CONNECTION))
		return;
	if (CALL(doca_rdma_export, rdma, details_place, len_place, place) != DOCA_SUCCESS)
		return;
	known(connection, rdma);
	if (len > DETAILS_MAX)
		return;
	memcpy(exported[num_exported % DETAILS_KEPT].bytes, details, len);
	exported[num_exported++ % DETAILS_KEPT].len = len;
}

static void connect_to(void)
{
	struct doca_rdma *rdma = pick(RDMA);
	struct doca_rdma_connection *connection = connection_of(rdma);
	uint32_t which = random_below(DETAILS_KEPT);
	uint8_t bytes[DETAILS_MAX];
	size_t len = exported[which].len;

	memcpy(bytes, exported[which].bytes, len);
	if (len != 0 && chance(6)) {
		bytes[random_below((uint32_t)len)] ^= (uint8_t)(1 + random_below(255));
		refuse_if(true);
	} else if (chance(8)) {
		len = random_below((uint32_t)len + 1);
		refuse_if(len != exported[which].len);
	}
	const void *details = or_null(bytes);

	CALL(doca_rdma_connect, rdma, details, len, connection);
}

static void disconnect(void)
{
	struct doca_rdma_connection *connection = pick(RDMA_CONNECTION);

	CALL(doca_rdma_connection_disconnect, connection);
}

static void set_user_data(void)
{
	struct doca_rdma_connection *connection = pick(RDMA_CONNECTION);

	CALL(doca_rdma_connection_set_user_data, connection, (union doca_data){.u64 = 1});
}

static void get_user_data(void)
{
	union doca_data data;
	struct doca_rdma_connection *connection = pick(RDMA_CONNECTION);
	union doca_data *place = or_null(&data);

	CALL(doca_rdma_connection_get_user_data, connection, place);
}

static void get_id(void)
{
	uint32_t id;
	struct doca_rdma_connection *connection = pick(RDMA_CONNECTION);
	uint32_t *place = or_null(&id);

	CALL(doca_rdma_connection_get_id, connection, place);
}

/* ---- by address ---- */

/* A callback does not identify its instance, so each place in the table of objects has its own callbacks. */
static struct doca_rdma *listening[2];

static void requested(uint32_t at, struct doca_rdma_connection *connection)
{
	known(connection, listening[at]);
	if (chance(2))
		CALL(doca_rdma_connection_accept, connection, NULL, 0);
	act();
}

static void on_request_0(struct doca_rdma_connection *connection, union doca_data data)
{
	requested(0, connection);
}

static void on_request_1(struct doca_rdma_connection *connection, union doca_data data)
{
	requested(1, connection);
}

static void on_established_0(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	known(connection, listening[0]);
	act();
}

static void on_established_1(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	known(connection, listening[1]);
	act();
}

static void on_end(struct doca_rdma_connection *connection, union doca_data data, union doca_data ctx_data)
{
	if (chance(2))
		CALL(doca_rdma_connection_disconnect, connection);
	act();
}

void rdma_callbacks_set(struct doca_rdma *rdma, uint32_t at)
{
	if (CALL(doca_rdma_set_connection_state_callbacks, rdma, at == 0 ? on_request_0 : on_request_1,
		 at == 0 ? on_established_0 : on_established_1, on_end, on_end) == DOCA_SUCCESS)
		listening[at] = rdma;
}

static void set_callbacks(void)
{
	struct doca_rdma *rdma = pick(RDMA);
	uint32_t at = listening[0] == rdma || object_find(RDMA, listening[0]) == NULL ? 0 : 1;
	doca_rdma_connection_request_cb_t on_request = chance(6) ? NULL : at == 0 ? on_request_0 : on_request_1;
	doca_rdma_connection_established_cb_t on_established = or_null(at == 0 ? on_established_0 : on_established_1);
	doca_rdma_connection_failure_cb_t on_failure = or_null(on_end);
	doca_rdma_connection_disconnection_cb_t on_disconnect = or_null(on_end);

	refuse_if(rdma != NULL && !ctx_is_idle(doca_rdma_as_ctx(rdma)));
	expect_if(true);
	if (CALL(doca_rdma_set_connection_state_callbacks, rdma, on_request, on_established, on_failure, on_disconnect) ==
	    DOCA_SUCCESS)
		listening[at] = rdma;
}

static uint16_t any_port(void)
{
	uint16_t port = chance(10) ? 0 : PORT(random_below(PORTS));

	refuse_if(port == 0);
	return port;
}

/* Writes the address of a device, which every device should have. Returns false if it has none. */
static bool gid_text(const struct doca_devinfo *info, char text[64])
{
	struct doca_rdma_gid gid;

	if (doca_rdma_cap_get_gid(info, 0, 1, &gid) != DOCA_SUCCESS)
		return false;
	for (size_t i = 0; i < 8; i++)
		snprintf(text + 5 * i, 64 - 5 * i, "%02x%02x%s", gid.raw[2 * i], gid.raw[2 * i + 1], i < 7 ? ":" : "");
	return true;
}

static void addr_create(void)
{
	static const char *const texts[] = {"127.0.0.1", "10.0.0.1", "fe80::1", "1.2.3", "", "what", "::ffff:10.0.0.1"};
	struct doca_devinfo *info = object_count(DEVINFO) != 0 ? object_any(DEVINFO)->pointer : NULL;
	struct doca_rdma_addr *addr;
	char text[64] = "";
	uint32_t type = random_below(4);

	if (!has_room(RDMA_ADDR))
		return;
	snprintf(text, sizeof(text), "%s", texts[random_below(7)]);
	if (info != NULL && !chance(4) && gid_text(info, text))
		type = DOCA_RDMA_ADDR_TYPE_GID;
	uint16_t port = any_port();
	const char *given = or_null(text);
	struct doca_rdma_addr **place = or_null(&addr);

	refuse_if(type > DOCA_RDMA_ADDR_TYPE_GID || text[0] == '\0');
	if (CALL(doca_rdma_addr_create, (enum doca_rdma_addr_type)type, given, port, place) == DOCA_SUCCESS)
		object_add(RDMA_ADDR, addr);
}

static void addr_destroy(void)
{
	struct doca_rdma_addr *addr = pick(RDMA_ADDR);

	expect_if(true);
	if (CALL(doca_rdma_addr_destroy, addr) == DOCA_SUCCESS)
		object_drop(RDMA_ADDR, addr);
}

static void addr_get(void)
{
	enum doca_rdma_addr_type type;
	const char *text;
	uint16_t port;
	struct doca_rdma_addr *addr = pick(RDMA_ADDR);
	enum doca_rdma_addr_type *type_place = or_null(&type);
	const char **text_place = or_null(&text);
	uint16_t *port_place = or_null(&port);

	expect_if(true);
	CALL(doca_rdma_addr_get_params, addr, type_place, text_place, port_place);
}

static void listen_to(void)
{
	struct doca_rdma *rdma = pick(RDMA);
	uint16_t port = any_port();

	CALL(doca_rdma_start_listen_to_port, rdma, port);
}

static void stop_listen(void)
{
	struct doca_rdma *rdma = pick(RDMA);
	uint16_t port = any_port();

	CALL(doca_rdma_stop_listen_to_port, rdma, port);
}

static void call(void)
{
	struct doca_rdma *rdma = pick(RDMA);
	struct doca_rdma_addr *addr = pick(RDMA_ADDR);

	CALL(doca_rdma_connect_to_addr, rdma, addr, (union doca_data){.u64 = 2});
}

static void accept_caller(void)
{
	struct doca_rdma_connection *connection = pick(RDMA_CONNECTION);
	uint8_t len = chance(3) ? (uint8_t)random_below(256) : 0;

	CALL(doca_rdma_connection_accept, connection, memory, len);
}

static void reject(void)
{
	struct doca_rdma_connection *connection = pick(RDMA_CONNECTION);

	CALL(doca_rdma_connection_reject, connection);
}

static void get_addr(void)
{
	struct doca_rdma_addr *addr;
	struct doca_rdma_connection *connection = pick(RDMA_CONNECTION);
	struct doca_rdma_addr **place = or_null(&addr);

	CALL(doca_rdma_connection_get_addr, connection, place);
}

/* The first instance listens and the second one connects to it; progress does the rest, if it is called. */
static void prepare_call(void)
{
	struct doca_rdma *listener = object_at(RDMA, 0)->pointer, *caller = object_at(RDMA, 1)->pointer;
	struct doca_rdma_addr *addr;
	char text[64];

	if (!has_room(RDMA_ADDR) || object_count(DEV) == 0 || !gid_text(doca_dev_as_devinfo(object_at(DEV, 0)->pointer), text) ||
	    CALL(doca_rdma_addr_create, DOCA_RDMA_ADDR_TYPE_GID, text, PORT(0), &addr) != DOCA_SUCCESS)
		return;
	object_add(RDMA_ADDR, addr);
	CALL(doca_rdma_start_listen_to_port, listener, PORT(0));
	CALL(doca_rdma_connect_to_addr, caller, addr, (union doca_data){.u64 = 2});
}

/* Both instances, connected in both directions. */
static void prepare(void)
{
	struct doca_rdma_connection *connections[2];
	const void *details[2];
	size_t lens[2];

	if (object_count(RDMA) < 2 || !object_room(RDMA_CONNECTION))
		return;
	if (chance(2))
		prepare_call();
	for (uint32_t i = 0; i < 2; i++) {
		struct doca_rdma *rdma = object_at(RDMA, i)->pointer;

		if (CALL(doca_rdma_export, rdma, &details[i], &lens[i], &connections[i]) != DOCA_SUCCESS)
			return;
		known(connections[i], rdma);
		memcpy(exported[num_exported % DETAILS_KEPT].bytes, details[i], lens[i]);
		exported[num_exported++ % DETAILS_KEPT].len = lens[i];
	}
	for (uint32_t i = 0; i < 2; i++)
		CALL(doca_rdma_connect, object_at(RDMA, i)->pointer, details[1 - i], lens[1 - i], connections[i]);
}

static const struct call calls[] = {
	{"doca_rdma_export", export, 4},
	{"doca_rdma_connect", connect_to, 4},
	{"doca_rdma_connection_disconnect", disconnect},
	{"doca_rdma_connection_set_user_data", set_user_data},
	{"doca_rdma_connection_get_user_data", get_user_data},
	{"doca_rdma_connection_get_id", get_id},
	{"doca_rdma_set_connection_state_callbacks", set_callbacks, 2},
	{"doca_rdma_addr_create", addr_create, 2},
	{"doca_rdma_addr_destroy", addr_destroy, 1, true},
	{"doca_rdma_addr_get_params", addr_get},
	{"doca_rdma_start_listen_to_port", listen_to, 3},
	{"doca_rdma_stop_listen_to_port", stop_listen},
	{"doca_rdma_connect_to_addr", call, 6},
	{"doca_rdma_connection_accept", accept_caller},
	{"doca_rdma_connection_reject", reject},
	{"doca_rdma_connection_get_addr", get_addr},
};
const struct group rdma_connection_group = GROUP(calls, prepare);
