/* SPDX-License-Identifier: BSD-3-Clause */
/* The Comm Channel. An address's `of` is its endpoint. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <doca_comm_channel.h>
#include <doca_dev.h>

#include "core.h"

#define EPS_MAX 4

/* Names that no other process uses. */
static char *service_name(bool other)
{
	static char names[2][64];

	snprintf(names[other], sizeof(names[other]), "abuse-%d-%d", (int)getpid(), other);
	return names[other];
}

/* Or one that the next call must reject. */
static char *any_name(void)
{
	static char too_long[4096];

	if (!chance(12))
		return service_name(chance(4));
	memset(too_long, 'n', sizeof(too_long) - 1);
	refuse_if(true);
	return too_long;
}

static void add_addr(const void *ep, struct doca_comm_channel_addr_t *addr)
{
	if (object_find(CC_ADDR, addr) == NULL && object_room(CC_ADDR))
		object_add(CC_ADDR, addr)->of = object_find(CC_EP, ep)->id;
}

/* ---- life cycle ---- */

static void create(void)
{
	struct doca_comm_channel_ep_t *ep;

	if (object_count(CC_EP) >= EPS_MAX || is_ending())
		return;
	struct doca_comm_channel_ep_t **place = or_null(&ep);

	expect_if(true);
	if (CALL(doca_comm_channel_ep_create, place) == DOCA_SUCCESS)
		object_add(CC_EP, ep);
}

static void destroy(void)
{
	struct doca_comm_channel_ep_t *ep = pick_or_none(CC_EP);

	refuse_if(ep == NULL);
	expect_if(true);
	if (CALL(doca_comm_channel_ep_destroy, ep) != DOCA_SUCCESS)
		return;
	object_drop_of(CC_ADDR, object_find(CC_EP, ep)->id);
	object_drop(CC_EP, ep);
}

static void set_device(void)
{
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);
	struct doca_dev *dev = pick(DEV);

	CALL(doca_comm_channel_ep_set_device, ep, dev);
}

static void set_device_rep(void)
{
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);
	struct doca_dev_rep *rep = pick(REP);

	CALL(doca_comm_channel_ep_set_device_rep, ep, rep);
}

#define SETTER(name, function)                                                                                                   \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		struct doca_comm_channel_ep_t *ep = pick(CC_EP);                                                                 \
		uint16_t value = chance(6) ? 0 : (uint16_t)(1 + random_below(64));                                               \
		refuse_if(value == 0);                                                                                           \
		CALL(function, ep, value);                                                                                       \
	}
SETTER(set_msg_size, doca_comm_channel_ep_set_max_msg_size)
SETTER(set_send_queue, doca_comm_channel_ep_set_send_queue_size)
SETTER(set_recv_queue, doca_comm_channel_ep_set_recv_queue_size)

CALL_GETTER(get_device, doca_comm_channel_ep_get_device, CC_EP, struct doca_comm_channel_ep_t, struct doca_dev *, false)
CALL_GETTER(get_device_rep, doca_comm_channel_ep_get_device_rep, CC_EP, struct doca_comm_channel_ep_t, struct doca_dev_rep *,
	    false)
CALL_GETTER(get_msg_size, doca_comm_channel_ep_get_max_msg_size, CC_EP, struct doca_comm_channel_ep_t, uint16_t, true)
CALL_GETTER(get_send_queue, doca_comm_channel_ep_get_send_queue_size, CC_EP, struct doca_comm_channel_ep_t, uint16_t, true)
CALL_GETTER(get_recv_queue, doca_comm_channel_ep_get_recv_queue_size, CC_EP, struct doca_comm_channel_ep_t, uint16_t, true)
CALL_GETTER(max_msg_size, doca_comm_channel_get_max_message_size, DEVINFO, struct doca_devinfo, uint32_t, true)
CALL_GETTER(max_send_queue, doca_comm_channel_get_max_send_queue_size, DEVINFO, struct doca_devinfo, uint32_t, true)
CALL_GETTER(max_recv_queue, doca_comm_channel_get_max_recv_queue_size, DEVINFO, struct doca_devinfo, uint32_t, true)
CALL_GETTER(max_connections, doca_comm_channel_get_service_max_num_connections, DEVINFO, struct doca_devinfo, uint32_t, false)
CALL_GETTER(get_pending, doca_comm_channel_ep_get_pending_connections, CC_EP, struct doca_comm_channel_ep_t, uint32_t, false)
CALL_GETTER(service_channel, doca_comm_channel_ep_get_service_event_channel, CC_EP, struct doca_comm_channel_ep_t,
	    doca_event_channel_t, false)
CALL_GETTER(addr_user_data, doca_comm_channel_peer_addr_get_user_data, CC_ADDR, struct doca_comm_channel_addr_t, uint64_t, true)
CALL_GETTER(send_messages, doca_comm_channel_peer_addr_get_send_messages, CC_ADDR, struct doca_comm_channel_addr_t, uint64_t,
	    true)
CALL_GETTER(send_bytes, doca_comm_channel_peer_addr_get_send_bytes, CC_ADDR, struct doca_comm_channel_addr_t, uint64_t, true)
CALL_GETTER(recv_messages, doca_comm_channel_peer_addr_get_recv_messages, CC_ADDR, struct doca_comm_channel_addr_t, uint64_t,
	    true)
CALL_GETTER(recv_bytes, doca_comm_channel_peer_addr_get_recv_bytes, CC_ADDR, struct doca_comm_channel_addr_t, uint64_t, true)
CALL_GETTER(in_flight, doca_comm_channel_peer_addr_get_send_in_flight_messages, CC_ADDR, struct doca_comm_channel_addr_t,
	    uint64_t, true)

static void max_name(void)
{
	uint32_t len;
	uint32_t *place = or_null(&len);

	expect_if(true);
	CALL(doca_comm_channel_get_max_service_name_len, place);
}

static void addr_set_user_data(void)
{
	struct doca_comm_channel_addr_t *addr = pick(CC_ADDR);

	expect_if(true);
	CALL(doca_comm_channel_peer_addr_set_user_data, addr, 17);
}

static void update_info(void)
{
	struct doca_comm_channel_addr_t *addr = pick(CC_ADDR);

	CALL(doca_comm_channel_peer_addr_update_info, addr);
}

/* ---- connections ---- */

static void listen_on(void)
{
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);
	char *name = or_null(any_name());

	CALL(doca_comm_channel_ep_listen, ep, name);
}

static void connect_to(void)
{
	struct doca_comm_channel_addr_t *addr;
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);
	char *name = or_null(any_name());
	struct doca_comm_channel_addr_t **place = or_null(&addr);

	if (CALL(doca_comm_channel_ep_connect, ep, name, place) == DOCA_SUCCESS)
		add_addr(ep, addr);
}

/* An address of another endpoint is invalid. */
static bool is_of(const struct doca_comm_channel_addr_t *addr, const struct doca_comm_channel_ep_t *ep)
{
	return addr != NULL && ep != NULL && object_find(CC_ADDR, addr)->of == object_find(CC_EP, ep)->id;
}

static void disconnect(void)
{
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);
	struct doca_comm_channel_addr_t *addr = pick_or_none(CC_ADDR);

	refuse_if(!is_of(addr, ep));
	if (CALL(doca_comm_channel_ep_disconnect, ep, addr) == DOCA_SUCCESS)
		object_drop(CC_ADDR, addr);
}

static void send_to(void)
{
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);
	struct doca_comm_channel_addr_t *addr = pick_or_none(CC_ADDR);
	void *message = addr != NULL ? or_null(memory) : memory;
	int flags = chance(12);
	size_t len = chance(12) ? 0 : chance(12) ? MEMORY_SIZE : 1 + random_below(32);

	refuse_if(flags != 0 || len == 0 || len == MEMORY_SIZE || !is_of(addr, ep));
	CALL(doca_comm_channel_ep_sendto, ep, message, len, flags, addr);
}

static void receive(void)
{
	struct doca_comm_channel_addr_t *addr;
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);
	uint8_t bytes[4096];
	size_t len = chance(6) ? 1 : sizeof(bytes);
	uint8_t *message = or_null(bytes);
	size_t *len_place = or_null(&len);
	struct doca_comm_channel_addr_t **place = or_null(&addr);
	int flags = chance(12);

	refuse_if(flags != 0);
	if (CALL(doca_comm_channel_ep_recvfrom, ep, message, len_place, flags, place) == DOCA_SUCCESS)
		add_addr(ep, addr);
}

static void event_channels(void)
{
	doca_event_channel_t channels[2];
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);
	doca_event_channel_t *sending = chance(4) ? NULL : &channels[0];
	doca_event_channel_t *receiving = chance(4) ? NULL : &channels[1];

	refuse_if(sending == NULL && receiving == NULL);
	CALL(doca_comm_channel_ep_get_event_channel, ep, sending, receiving);
}

static void arm_send(void)
{
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);

	CALL(doca_comm_channel_ep_event_handle_arm_send, ep);
}

static void arm_recv(void)
{
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);

	CALL(doca_comm_channel_ep_event_handle_arm_recv, ep);
}

static void update_service(void)
{
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);

	CALL(doca_comm_channel_ep_update_service_state_info, ep);
}

static void addr_list(void)
{
	struct doca_comm_channel_addr_t **list;
	uint32_t num;
	struct doca_comm_channel_ep_t *ep = pick(CC_EP);
	struct doca_comm_channel_addr_t ***place = or_null(&list);
	uint32_t *count = or_null(&num);

	if (CALL(doca_comm_channel_ep_get_peer_addr_list, ep, place, count) != DOCA_SUCCESS)
		return;
	/* The list may be older than the end of one of its addresses, so only the addresses of a fresh list are used. */
	if (doca_comm_channel_ep_update_service_state_info(ep) != DOCA_SUCCESS ||
	    doca_comm_channel_ep_get_peer_addr_list(ep, &list, &num) != DOCA_SUCCESS)
		return;
	for (uint32_t i = 0; i < num; i++)
		add_addr(ep, list[i]);
}

#define TRIES 50

/* Repeats until the client is connected and has sent something: the service accepts only in its own calls. */
static void talk(struct doca_comm_channel_ep_t *service, struct doca_comm_channel_ep_t *client,
		 struct doca_comm_channel_addr_t *addr)
{
	for (int i = 0; i < TRIES; i++) {
		CALL(doca_comm_channel_ep_update_service_state_info, service);
		if (CALL(doca_comm_channel_peer_addr_update_info, addr) == DOCA_SUCCESS &&
		    CALL(doca_comm_channel_ep_sendto, client, memory, 8, 0, addr) == DOCA_SUCCESS)
			return;
	}
}

/* Opens a client of the service. Devices are tried in turn, because only a host's device behind the service's port can
 * connect. */
static void prepare_client(struct doca_comm_channel_ep_t *service)
{
	struct doca_comm_channel_ep_t *client;
	struct doca_comm_channel_addr_t *addr;

	if (CALL(doca_comm_channel_ep_create, &client) != DOCA_SUCCESS)
		return;
	object_add(CC_EP, client);
	for (int i = 0; i < 4; i++) {
		CALL(doca_comm_channel_ep_set_device, client, object_any(DEV)->pointer);
		if (CALL(doca_comm_channel_ep_connect, client, service_name(false), &addr) == DOCA_SUCCESS) {
			add_addr(client, addr);
			talk(service, client, addr);
			return;
		}
	}
}

static void prepare(void)
{
	struct doca_comm_channel_ep_t *service;
	struct doca_devinfo_rep **reps;
	struct object *dev = object_any(DEV);
	struct doca_dev_rep *rep;
	uint32_t num;

	if (dev == NULL || !chance(3) || !object_room(REP) ||
	    CALL(doca_devinfo_rep_create_list, dev->pointer, DOCA_DEVINFO_REP_FILTER_NET, &reps, &num) != DOCA_SUCCESS)
		return;
	doca_error_t result = CALL(doca_dev_rep_open, reps[0], &rep);

	CALL(doca_devinfo_rep_destroy_list, reps);
	if (result != DOCA_SUCCESS)
		return;
	object_add(REP, rep);
	if (CALL(doca_comm_channel_ep_create, &service) != DOCA_SUCCESS)
		return;
	object_add(CC_EP, service);
	CALL(doca_comm_channel_ep_set_device, service, dev->pointer);
	CALL(doca_comm_channel_ep_set_device_rep, service, rep);
	if (CALL(doca_comm_channel_ep_listen, service, service_name(false)) == DOCA_SUCCESS)
		prepare_client(service);
}

static const struct call calls[] = {
	{"doca_comm_channel_ep_create", create, 2},
	{"doca_comm_channel_ep_destroy", destroy, 1, true},
	{"doca_comm_channel_ep_set_device", set_device, 2},
	{"doca_comm_channel_ep_set_device_rep", set_device_rep, 2},
	{"doca_comm_channel_ep_set_max_msg_size", set_msg_size},
	{"doca_comm_channel_ep_set_send_queue_size", set_send_queue},
	{"doca_comm_channel_ep_set_recv_queue_size", set_recv_queue},
	{"doca_comm_channel_ep_get_device", get_device},
	{"doca_comm_channel_ep_get_device_rep", get_device_rep},
	{"doca_comm_channel_ep_get_max_msg_size", get_msg_size},
	{"doca_comm_channel_ep_get_send_queue_size", get_send_queue},
	{"doca_comm_channel_ep_get_recv_queue_size", get_recv_queue},
	{"doca_comm_channel_get_max_service_name_len", max_name},
	{"doca_comm_channel_get_max_message_size", max_msg_size},
	{"doca_comm_channel_get_max_send_queue_size", max_send_queue},
	{"doca_comm_channel_get_max_recv_queue_size", max_recv_queue},
	{"doca_comm_channel_get_service_max_num_connections", max_connections},
	{"doca_comm_channel_ep_get_pending_connections", get_pending},
	{"doca_comm_channel_ep_get_service_event_channel", service_channel},
	{"doca_comm_channel_peer_addr_get_user_data", addr_user_data},
	{"doca_comm_channel_peer_addr_set_user_data", addr_set_user_data},
	{"doca_comm_channel_peer_addr_update_info", update_info, 4},
	{"doca_comm_channel_peer_addr_get_send_messages", send_messages},
	{"doca_comm_channel_peer_addr_get_send_bytes", send_bytes},
	{"doca_comm_channel_peer_addr_get_recv_messages", recv_messages},
	{"doca_comm_channel_peer_addr_get_recv_bytes", recv_bytes},
	{"doca_comm_channel_peer_addr_get_send_in_flight_messages", in_flight},
	{"doca_comm_channel_ep_listen", listen_on, 2},
	{"doca_comm_channel_ep_connect", connect_to, 3},
	{"doca_comm_channel_ep_disconnect", disconnect},
	{"doca_comm_channel_ep_sendto", send_to, 6},
	{"doca_comm_channel_ep_recvfrom", receive, 10},
	{"doca_comm_channel_ep_get_event_channel", event_channels},
	{"doca_comm_channel_ep_event_handle_arm_send", arm_send},
	{"doca_comm_channel_ep_event_handle_arm_recv", arm_recv},
	{"doca_comm_channel_ep_update_service_state_info", update_service, 2},
	{"doca_comm_channel_ep_get_peer_addr_list", addr_list, 2},
};
const struct group comm_channel_group = GROUP(calls, prepare);
