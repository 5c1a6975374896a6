/* SPDX-License-Identifier: BSD-3-Clause */
/* The Comm Channel with both ends in this process. */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fixture.h"

#include <doca_comm_channel.h>

#include "support/recheck.h"

struct pair {
	struct doca_dev *host, *dpu;
	struct doca_dev_rep *rep;
	struct doca_comm_channel_ep_t *service, *client;
	struct doca_comm_channel_addr_t *to_service, *to_client;
};

static struct doca_dev_rep *open_representor(struct doca_dev *dpu, const char *pci_addr)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t num;
	uint8_t equal;

	assert_ok(doca_devinfo_rep_list_create(dpu, DOCA_DEV_REP_FILTER_NET, &list, &num));
	for (uint32_t i = 0; i < num && rep == NULL; i++) {
		assert_ok(doca_devinfo_rep_get_is_pci_addr_equal(list[i], pci_addr, &equal));
		if (equal)
			assert_ok(doca_dev_rep_open(list[i], &rep));
	}
	assert_ok(doca_devinfo_rep_list_destroy(list));
	assert_non_null(rep);
	return rep;
}

static void devices_open(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	p->host = open_device("d8:00.0");
	p->dpu = open_device("03:00.0");
	p->rep = open_representor(p->dpu, "d8:00.0");
}

static void devices_close(struct pair *p)
{
	assert_ok(doca_dev_rep_close(p->rep));
	assert_ok(doca_dev_close(p->dpu));
	assert_ok(doca_dev_close(p->host));
}

/* A name that is unique to this process: the same tests may run with another provider or release at the same time. */
static const char *service_name(const char *name)
{
	static char own[64];

	snprintf(own, sizeof(own), "%s of %d", name, (int)getpid());
	return own;
}

static void listen_as(struct pair *p, const char *name, uint16_t size, uint16_t queue)
{
	assert_ok(doca_comm_channel_ep_create(&p->service));
	assert_ok(doca_comm_channel_ep_set_device(p->service, p->dpu));
	assert_ok(doca_comm_channel_ep_set_device_rep(p->service, p->rep));
	assert_ok(doca_comm_channel_ep_set_max_msg_size(p->service, size));
	assert_ok(doca_comm_channel_ep_set_send_queue_size(p->service, queue));
	assert_ok(doca_comm_channel_ep_set_recv_queue_size(p->service, queue));
	assert_ok(doca_comm_channel_ep_listen(p->service, service_name(name)));
}

static struct doca_comm_channel_ep_t *client_make(struct pair *p, uint16_t size, uint16_t queue)
{
	struct doca_comm_channel_ep_t *ep;

	assert_ok(doca_comm_channel_ep_create(&ep));
	assert_ok(doca_comm_channel_ep_set_device(ep, p->host));
	assert_ok(doca_comm_channel_ep_set_max_msg_size(ep, size));
	assert_ok(doca_comm_channel_ep_set_send_queue_size(ep, queue));
	assert_ok(doca_comm_channel_ep_set_recv_queue_size(ep, queue));
	return ep;
}

/* Connects; meanwhile the service progresses through its own calls. */
static struct doca_comm_channel_addr_t *connect_to(struct pair *p, struct doca_comm_channel_ep_t *client, const char *name)
{
	struct doca_comm_channel_addr_t *peer;
	double end = sf_now_s() + 10;
	doca_error_t result;

	assert_ok(doca_comm_channel_ep_connect(client, service_name(name), &peer));
	do {
		assert_ok(doca_comm_channel_ep_update_service_state_info(p->service));
		result = doca_comm_channel_peer_addr_update_info(peer);
	} while (result == DOCA_ERROR_CONNECTION_INPROGRESS && sf_now_s() < end);
	assert_ok(result);
	return peer;
}

static doca_error_t send_to(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer, const char *text)
{
	return doca_comm_channel_ep_sendto(ep, text, strlen(text) + 1, DOCA_CC_MSG_FLAG_NONE, peer);
}

/* The next message within ten seconds. */
static doca_error_t receive(struct doca_comm_channel_ep_t *ep, char *text, size_t room, struct doca_comm_channel_addr_t **peer)
{
	double end = sf_now_s() + 10;
	doca_error_t result;
	size_t len;

	do {
		len = room;
		result = doca_comm_channel_ep_recvfrom(ep, text, &len, DOCA_CC_MSG_FLAG_NONE, peer);
	} while (result == DOCA_ERROR_AGAIN && sf_now_s() < end);
	return result;
}

/* Waits until the peer has received everything: the whole send queue is free. */
static void settle(struct doca_comm_channel_addr_t *peer)
{
	double end = sf_now_s() + 10;
	uint64_t in_flight;

	do {
		assert_ok(doca_comm_channel_peer_addr_update_info(peer));
		assert_ok(doca_comm_channel_peer_addr_get_send_in_flight_messages(peer, &in_flight));
	} while (in_flight > 0 && sf_now_s() < end);
	assert_int_equal(in_flight, 0);
}

static void pair_open(struct pair *p, const char *name, uint16_t size, uint16_t queue)
{
	char text[16];

	devices_open(p);
	listen_as(p, name, size, queue);
	p->client = client_make(p, size, queue);
	p->to_service = connect_to(p, p->client, name);
	assert_ok(send_to(p->client, p->to_service, "hello"));
	assert_ok(receive(p->service, text, sizeof(text), &p->to_client));
	assert_string_equal(text, "hello");
	settle(p->to_service);
}

static void pair_close(struct pair *p)
{
	assert_ok(doca_comm_channel_ep_destroy(p->client));
	assert_ok(doca_comm_channel_ep_destroy(p->service));
	devices_close(p);
}

/* ---- endpoints ---- */

static void properties_are_kept(void **state)
{
	struct doca_comm_channel_ep_t *ep;
	struct doca_dev *dev;
	struct doca_dev_rep *rep;
	struct pair p;
	uint16_t size;

	devices_open(&p);
	assert_int_equal(doca_comm_channel_ep_create(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comm_channel_ep_create(&ep));
	assert_int_equal(doca_comm_channel_ep_get_device(ep, &dev), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_get_device_rep(ep, &rep), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comm_channel_ep_set_device(ep, p.dpu));
	assert_ok(doca_comm_channel_ep_set_device_rep(ep, p.rep));
	assert_ok(doca_comm_channel_ep_get_device(ep, &dev));
	assert_ptr_equal(dev, p.dpu);
	assert_ok(doca_comm_channel_ep_get_device_rep(ep, &rep));
	assert_ptr_equal(rep, p.rep);
	assert_int_equal(doca_comm_channel_ep_set_device(ep, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_set_device(NULL, p.dpu), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_set_max_msg_size(ep, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_set_max_msg_size(ep, 65535), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_set_max_msg_size(NULL, 5), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comm_channel_ep_set_max_msg_size(ep, 100));
	assert_ok(doca_comm_channel_ep_get_max_msg_size(ep, &size));
	assert_int_equal(size, 100);
	assert_int_equal(doca_comm_channel_ep_set_send_queue_size(ep, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_set_recv_queue_size(ep, 60000), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comm_channel_ep_set_send_queue_size(ep, 9));
	assert_ok(doca_comm_channel_ep_get_send_queue_size(ep, &size));
	assert_int_equal(size, 16); /* rounded up */
	assert_ok(doca_comm_channel_ep_set_recv_queue_size(ep, 1));
	assert_ok(doca_comm_channel_ep_get_recv_queue_size(ep, &size));
	assert_int_equal(size, 1);
	assert_ok(doca_comm_channel_ep_destroy(ep));
	assert_int_equal(doca_comm_channel_ep_destroy(NULL), DOCA_ERROR_NOT_CONNECTED);
	devices_close(&p);
	(void)state;
}

static void capabilities_are_reported(void **state)
{
	struct pair p;
	uint32_t value;

	devices_open(&p);
	assert_ok(doca_comm_channel_get_max_service_name_len(&value));
	assert_true(value > 32);
	assert_int_equal(doca_comm_channel_get_max_service_name_len(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comm_channel_get_max_message_size(doca_dev_as_devinfo(p.host), &value));
	assert_int_equal(value, 4080);
	assert_ok(doca_comm_channel_get_max_send_queue_size(doca_dev_as_devinfo(p.host), &value));
	assert_ok(doca_comm_channel_get_max_recv_queue_size(doca_dev_as_devinfo(p.host), &value));
	assert_true(value >= 1024);
	assert_int_equal(doca_comm_channel_get_max_message_size(NULL, &value), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comm_channel_get_service_max_num_connections(doca_dev_as_devinfo(p.dpu), &value));
	assert_true(value > 1);
	assert_int_equal(doca_comm_channel_get_service_max_num_connections(doca_dev_as_devinfo(p.host), &value),
			 DOCA_ERROR_NOT_SUPPORTED);
	devices_close(&p);
	(void)state;
}

static void calls_have_an_order_per_role(void **state)
{
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer, **list;
	doca_event_channel_t send, receive_channel;
	struct pair p;
	char text[8], long_name[200];
	size_t len = sizeof(text);
	uint32_t num;

	devices_open(&p);
	memset(long_name, 'n', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	assert_ok(doca_comm_channel_ep_create(&ep));
	assert_int_equal(doca_comm_channel_ep_listen(ep, service_name("roles")), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comm_channel_ep_connect(ep, service_name("roles"), &peer), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comm_channel_ep_recvfrom(ep, text, &len, 0, &peer), DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(doca_comm_channel_ep_sendto(ep, text, 1, 0, NULL), DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(doca_comm_channel_ep_get_event_channel(ep, &send, &receive_channel), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comm_channel_ep_get_service_event_channel(ep, &send), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comm_channel_ep_event_handle_arm_recv(ep), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_event_handle_arm_send(ep), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_disconnect(ep, NULL), DOCA_ERROR_NOT_CONNECTED);
	assert_int_equal(doca_comm_channel_ep_update_service_state_info(ep), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_comm_channel_ep_set_device(ep, p.dpu));
	assert_int_equal(doca_comm_channel_ep_listen(ep, service_name("roles")), DOCA_ERROR_BAD_STATE); /* no representor */
	assert_int_equal(doca_comm_channel_ep_connect(ep, service_name("roles"), &peer),
			 DOCA_ERROR_NOT_SUPPORTED); /* a DPU's device */
	assert_ok(doca_comm_channel_ep_set_device_rep(ep, p.rep));
	assert_int_equal(doca_comm_channel_ep_listen(ep, long_name), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_listen(ep, ""), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_listen(ep, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comm_channel_ep_listen(ep, service_name("roles")));
	assert_int_equal(doca_comm_channel_ep_listen(ep, service_name("roles")), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_comm_channel_ep_connect(ep, service_name("roles"), &peer), DOCA_ERROR_NOT_PERMITTED);
	assert_int_equal(doca_comm_channel_ep_set_max_msg_size(ep, 10), DOCA_ERROR_BAD_STATE);
	assert_int_equal(doca_comm_channel_ep_set_device(ep, p.dpu), DOCA_ERROR_BAD_STATE);
	len = sizeof(text);
	assert_int_equal(doca_comm_channel_ep_recvfrom(ep, text, &len, 0, &peer), DOCA_ERROR_AGAIN);
	assert_int_equal(doca_comm_channel_ep_recvfrom(ep, text, &len, 1, &peer), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_recvfrom(ep, NULL, &len, 0, &peer), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comm_channel_ep_update_service_state_info(ep));
	assert_ok(doca_comm_channel_ep_get_peer_addr_list(ep, &list, &num));
	assert_int_equal(num, 0);
	struct doca_comm_channel_ep_t *second;

	assert_ok(doca_comm_channel_ep_create(&second));
	assert_ok(doca_comm_channel_ep_set_device(second, p.dpu));
	assert_ok(doca_comm_channel_ep_set_device_rep(second, p.rep));
	assert_int_equal(doca_comm_channel_ep_listen(second, service_name("roles")),
			 DOCA_ERROR_CONNECTION_ABORTED); /* the name is in use */
	assert_ok(doca_comm_channel_ep_listen(second, "roles 2"));
	assert_ok(doca_comm_channel_ep_destroy(second));
	assert_ok(doca_comm_channel_ep_destroy(ep));
	devices_close(&p);
	(void)state;
}

static void without_a_service_connecting_fails(void **state)
{
	struct doca_comm_channel_addr_t *peer;
	struct pair p;

	devices_open(&p);
	p.client = client_make(&p, 100, 4);
	assert_int_equal(doca_comm_channel_ep_connect(p.client, service_name("nobody"), &peer), DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(doca_comm_channel_ep_connect(p.client, service_name("nobody"), NULL), DOCA_ERROR_INVALID_VALUE);
	listen_as(&p, "nobody", 100, 4); /* the endpoint may try again */
	p.to_service = connect_to(&p, p.client, "nobody");
	pair_close(&p);
	(void)state;
}

/* ---- messages ---- */

static void messages_go_both_ways_in_order(void **state)
{
	struct doca_comm_channel_addr_t *from;
	struct pair p;
	char text[100], expected[100];
	uint64_t number;

	pair_open(&p, "both ways", 100, 16);
	assert_ok(doca_comm_channel_peer_addr_get_user_data(p.to_client, &number));
	assert_int_equal(number, 0);
	assert_ok(doca_comm_channel_peer_addr_set_user_data(p.to_client, 31));
	for (int i = 0; i < 2000; i++) {
		snprintf(expected, sizeof(expected), "message %d", i);
		assert_ok(send_to(i % 2 ? p.client : p.service, i % 2 ? p.to_service : p.to_client, expected));
		assert_ok(receive(i % 2 ? p.service : p.client, text, sizeof(text), &from));
		assert_string_equal(text, expected);
		assert_ptr_equal(from, i % 2 ? p.to_client : p.to_service);
	}
	assert_ok(doca_comm_channel_peer_addr_get_user_data(p.to_client, &number));
	assert_int_equal(number, 31);
	assert_ok(doca_comm_channel_peer_addr_update_info(p.to_client));
	assert_ok(doca_comm_channel_peer_addr_get_send_messages(p.to_client, &number));
	assert_int_equal(number, 1000);
	assert_ok(doca_comm_channel_peer_addr_get_recv_messages(p.to_client, &number));
	assert_int_equal(number, 1001);
	assert_ok(doca_comm_channel_peer_addr_get_send_bytes(p.to_client, &number));
	assert_true(number > 9000);
	assert_ok(doca_comm_channel_peer_addr_get_recv_bytes(p.to_client, &number));
	assert_true(number > 9000);
	assert_ok(doca_comm_channel_peer_addr_get_send_in_flight_messages(p.to_client, &number));
	assert_int_equal(number, 0);
	assert_int_equal(doca_comm_channel_peer_addr_get_send_messages(p.to_client, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_peer_addr_update_info(NULL), DOCA_ERROR_INVALID_VALUE);
	pair_close(&p);
	(void)state;
}

static void sizes_are_kept(void **state)
{
	struct doca_comm_channel_addr_t *from;
	struct pair p;
	char text[200];
	size_t len;

	pair_open(&p, "sizes", 100, 4);
	memset(text, 's', sizeof(text));
	assert_int_equal(doca_comm_channel_ep_sendto(p.client, text, 101, 0, p.to_service), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_sendto(p.client, text, 0, 0, p.to_service), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_sendto(p.client, text, 1, 1, p.to_service), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_sendto(p.client, NULL, 1, 0, p.to_service), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_comm_channel_ep_sendto(p.client, text, 1, 0, p.to_client), DOCA_ERROR_NOT_CONNECTED);
	assert_ok(doca_comm_channel_ep_sendto(p.client, text, 100, 0, p.to_service));
	double end = sf_now_s() + 10;
	doca_error_t result;

	do {
		len = 50;
		result = doca_comm_channel_ep_recvfrom(p.service, text, &len, 0, &from);
	} while (result == DOCA_ERROR_AGAIN && sf_now_s() < end);
	assert_int_equal(result, DOCA_ERROR_INVALID_VALUE); /* too large for the buffer, so it stays in the queue */
	assert_int_equal(len, 100);
	assert_ok(doca_comm_channel_ep_recvfrom(p.service, text, &len, 0, &from));
	assert_int_equal(len, 100);
	pair_close(&p);
	(void)state;
}

/* A peer that does not receive makes sends return AGAIN, and loses no message. */
/* Sends until AGAIN. Each accepted message arrives, though the sender calls nothing more. */
static void fill_and_drain(uint16_t len, uint16_t queue_size)
{
	struct doca_comm_channel_addr_t *from;
	struct pair p;
	uint32_t sent = 0, got = 0;
	char text[4080] = {0};
	doca_error_t result = DOCA_SUCCESS;

	pair_open(&p, "full", len, queue_size);
	while (result == DOCA_SUCCESS) {
		memcpy(text, &sent, sizeof(sent));
		result = doca_comm_channel_ep_sendto(p.client, text, len, 0, p.to_service);
		sent += result == DOCA_SUCCESS;
	}
	assert_int_equal(result, DOCA_ERROR_AGAIN);
	assert_true(sent >= 1 && sent < 1000);
	assert_true(sent >= 8 || len > 64);
	for (uint32_t i = 0; i < sent; i++) {
		assert_ok(receive(p.service, text, sizeof(text), &from));
		memcpy(&got, text, sizeof(got));
		assert_int_equal(got, i);
	}
	double end = sf_now_s() + 10;

	do {
		result = send_to(p.client, p.to_service, "more");
	} while (result == DOCA_ERROR_AGAIN && sf_now_s() < end);
	assert_ok(result);
	assert_ok(receive(p.service, text, sizeof(text), &from));
	assert_string_equal(text, "more");
	pair_close(&p);
}

/* How many are accepted depends on when the peer's acknowledgements arrive. */
static void a_full_peer_returns_again(void **state)
{
	(void)state;
	for (int i = 0; i < 30; i++)
		fill_and_drain(64, 8);
	for (int i = 0; i < 3; i++)
		fill_and_drain(4080, 64);
}

/* ---- clients come and go ---- */

static void a_service_knows_its_clients(void **state)
{
	struct doca_comm_channel_addr_t **list, *peers[3];
	struct doca_comm_channel_ep_t *clients[3];
	struct pair p;
	uint32_t num, pending;
	double end;

	devices_open(&p);
	listen_as(&p, "clients", 100, 4);
	for (int i = 0; i < 3; i++) {
		clients[i] = client_make(&p, 100, 4);
		peers[i] = connect_to(&p, clients[i], "clients");
	}
	assert_ok(doca_comm_channel_ep_update_service_state_info(p.service));
	assert_ok(doca_comm_channel_ep_get_peer_addr_list(p.service, &list, &num));
	assert_int_equal(num, 3);
	assert_ok(doca_comm_channel_ep_get_pending_connections(p.service, &pending));
	assert_int_equal(pending, 0);
	assert_int_equal(doca_comm_channel_ep_get_peer_addr_list(clients[0], &list, &num), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_comm_channel_ep_get_pending_connections(clients[0], &pending), DOCA_ERROR_NOT_SUPPORTED);
	assert_int_equal(doca_comm_channel_ep_get_peer_addr_list(p.service, NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_ok(doca_comm_channel_ep_disconnect(clients[0], peers[0]));
	assert_ok(doca_comm_channel_ep_destroy(clients[1]));
	end = sf_now_s() + 10;
	do {
		assert_ok(doca_comm_channel_ep_update_service_state_info(p.service));
		assert_ok(doca_comm_channel_ep_get_peer_addr_list(p.service, &list, &num));
	} while (num != 1 && sf_now_s() < end);
	assert_int_equal(num, 1);
	peers[0] = connect_to(&p, clients[0], "clients"); /* connects again */
	assert_ok(doca_comm_channel_ep_destroy(clients[0]));
	assert_ok(doca_comm_channel_ep_destroy(clients[2]));
	assert_ok(doca_comm_channel_ep_destroy(p.service));
	devices_close(&p);
	(void)state;
}

static void a_client_that_left_is_reported(void **state)
{
	struct pair p;
	double end;
	doca_error_t result;

	pair_open(&p, "leaving", 100, 4);
	assert_ok(doca_comm_channel_ep_disconnect(p.client, p.to_service));
	end = sf_now_s() + 10;
	do {
		assert_ok(doca_comm_channel_ep_update_service_state_info(p.service));
		result = doca_comm_channel_ep_sendto(p.service, "x", 1, 0, p.to_client);
	} while ((result == DOCA_SUCCESS || result == DOCA_ERROR_AGAIN) && sf_now_s() < end);
	assert_int_equal(result, DOCA_ERROR_CONNECTION_RESET);
	assert_int_equal(doca_comm_channel_peer_addr_update_info(p.to_client), DOCA_ERROR_CONNECTION_ABORTED);
	assert_ok(doca_comm_channel_ep_disconnect(p.service, p.to_client)); /* frees the address */
	assert_int_equal(doca_comm_channel_ep_disconnect(p.service, p.to_client), DOCA_ERROR_NOT_CONNECTED);
	pair_close(&p);
	(void)state;
}

static void a_service_that_ended_is_reported(void **state)
{
	struct doca_comm_channel_addr_t *from;
	struct pair p;
	char text[16];

	pair_open(&p, "ending", 100, 4);
	assert_ok(send_to(p.service, p.to_client, "last words"));
	assert_ok(doca_comm_channel_ep_destroy(p.service));
	assert_ok(receive(p.client, text, sizeof(text), &from)); /* what was sent before still arrives */
	assert_string_equal(text, "last words");
	assert_int_equal(receive(p.client, text, sizeof(text), &from), DOCA_ERROR_CONNECTION_RESET);
	assert_int_equal(send_to(p.client, p.to_service, "hello?"), DOCA_ERROR_CONNECTION_RESET);
	assert_int_equal(doca_comm_channel_peer_addr_update_info(p.to_service), DOCA_ERROR_CONNECTION_ABORTED);
	assert_ok(doca_comm_channel_ep_destroy(p.client));
	devices_close(&p);
	(void)state;
}

static void a_service_may_disconnect_a_client(void **state)
{
	struct doca_comm_channel_addr_t *from;
	struct pair p;
	char text[16];

	pair_open(&p, "away", 100, 4);
	assert_ok(send_to(p.client, p.to_service, "unread"));
	assert_ok(doca_comm_channel_ep_disconnect(p.service, p.to_client));
	assert_int_equal(doca_comm_channel_ep_recvfrom(p.service, text, &(size_t){16}, 0, &from), DOCA_ERROR_AGAIN);
	assert_int_equal(receive(p.client, text, sizeof(text), &from), DOCA_ERROR_CONNECTION_RESET);
	pair_close(&p);
	(void)state;
}

/* ---- event channels ---- */

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};

	return poll(&wait, 1, timeout_ms) == 1;
}

static void a_message_wakes_an_armed_channel(void **state)
{
	struct doca_comm_channel_addr_t *from;
	doca_event_channel_t channel;
	struct pair p;
	char text[16];
	size_t len;

	pair_open(&p, "waking", 100, 8);
	assert_ok(doca_comm_channel_ep_get_event_channel(p.service, NULL, &channel));
	assert_int_equal(doca_comm_channel_ep_get_event_channel(p.service, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
	for (int i = 0; i < 300; i++) {
		doca_error_t result;

		do { /* receive until nothing is left, then wait */
			len = sizeof(text);
			result = doca_comm_channel_ep_recvfrom(p.service, text, &len, 0, &from);
		} while (result == DOCA_SUCCESS);
		assert_int_equal(result, DOCA_ERROR_AGAIN);
		assert_ok(doca_comm_channel_ep_event_handle_arm_recv(p.service));
		assert_ok(send_to(p.client, p.to_service, "wake"));
		do {
			assert_true(is_readable(channel, 5000));
			len = sizeof(text);
			result = doca_comm_channel_ep_recvfrom(p.service, text, &len, 0, &from);
			if (result == DOCA_ERROR_AGAIN)
				assert_ok(doca_comm_channel_ep_event_handle_arm_recv(p.service));
		} while (result == DOCA_ERROR_AGAIN);
		assert_ok(result);
		assert_string_equal(text, "wake");
	}
	pair_close(&p);
	(void)state;
}

/* Arm, receive once more and find nothing, wait: programs do this because a message may arrive between the two. */
static void recheck(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_ep_t *peer,
		    struct doca_comm_channel_addr_t *to_ep, uint32_t rounds)
{
	struct doca_comm_channel_addr_t *from;
	doca_event_channel_t channel;
	char text[16];
	size_t len;

	assert_ok(doca_comm_channel_ep_get_event_channel(ep, NULL, &channel));
	for (uint32_t round = 0; round < rounds; round++) {
		doca_error_t result;

		assert_ok(doca_comm_channel_ep_event_handle_arm_recv(ep));
		for (uint32_t i = 0; i <= round % 3; i++) {
			len = sizeof(text);
			assert_int_equal(doca_comm_channel_ep_recvfrom(ep, text, &len, 0, &from), DOCA_ERROR_AGAIN);
		}
		assert_ok(send_to(peer, to_ep, "wake"));
		do {
			recheck_wait(channel, round);
			len = sizeof(text);
			result = doca_comm_channel_ep_recvfrom(ep, text, &len, 0, &from);
			if (result == DOCA_ERROR_AGAIN)
				assert_ok(doca_comm_channel_ep_event_handle_arm_recv(ep));
		} while (result == DOCA_ERROR_AGAIN);
		assert_ok(result);
	}
}

static void a_receive_that_finds_nothing_leaves_the_channel_armed(void **state)
{
	const char *provider = getenv("SOFTFIELD_FABRIC");
	uint32_t rounds = provider != NULL && strcmp(provider, "shm") == 0 ? RECHECK_ROUNDS : RECHECK_ROUNDS / 10;
	struct pair p;

	pair_open(&p, "recheck", 100, 8);
	recheck(p.client, p.service, p.to_client, rounds);
	recheck(p.service, p.client, p.to_service, RECHECK_ROUNDS / 10);
	pair_close(&p);
	(void)state;
}

/* That receive finds a message: the channel is readable all the same, until a receive finds nothing. */
static void a_receive_that_finds_a_message_wakes(void **state)
{
	struct doca_comm_channel_addr_t *from;
	doca_event_channel_t channel;
	struct pair p;
	char text[16];
	size_t len = sizeof(text);

	pair_open(&p, "found", 100, 8);
	assert_ok(doca_comm_channel_ep_get_event_channel(p.service, NULL, &channel));
	assert_ok(doca_comm_channel_ep_event_handle_arm_recv(p.service));
	assert_ok(send_to(p.client, p.to_service, "found"));
	assert_ok(receive(p.service, text, sizeof(text), &from));
	assert_true(is_readable(channel, 5000));
	assert_int_equal(doca_comm_channel_ep_recvfrom(p.service, text, &len, 0, &from), DOCA_ERROR_AGAIN);
	assert_false(is_readable(channel, 0));
	assert_ok(doca_comm_channel_ep_event_handle_arm_recv(p.service));
	assert_false(is_readable(channel, 0));
	pair_close(&p);
	(void)state;
}

/* Sends until the peer's queue is full: if a send fails with nothing in flight, the cause is not the own queue. */
static void fill(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer)
{
	double end = sf_now_s() + 10;
	uint64_t in_flight;
	doca_error_t result;

	do {
		assert_ok(doca_comm_channel_peer_addr_update_info(peer));
		assert_ok(doca_comm_channel_peer_addr_get_send_in_flight_messages(peer, &in_flight));
		result = send_to(ep, peer, "fill");
	} while ((result == DOCA_SUCCESS || in_flight > 0) && sf_now_s() < end);
	assert_int_equal(result, DOCA_ERROR_AGAIN);
}

static void a_failed_send_leaves_the_channel_armed(void **state)
{
	doca_event_channel_t channel;
	struct pair p;

	pair_open(&p, "refused", 100, 4);
	assert_ok(doca_comm_channel_ep_get_event_channel(p.client, &channel, NULL));
	fill(p.client, p.to_service);
	for (int i = 0; i < 100; i++) {
		assert_ok(doca_comm_channel_ep_event_handle_arm_send(p.client));
		if (i % 2 != 0)
			assert_true(is_readable(channel, 5000));
		assert_int_equal(send_to(p.client, p.to_service, "more"), DOCA_ERROR_AGAIN);
		assert_true(is_readable(channel, 5000));
	}
	pair_close(&p);
	(void)state;
}

static void the_send_channel_is_readable_when_a_send_may_succeed(void **state)
{
	struct doca_comm_channel_addr_t *from;
	doca_event_channel_t channel;
	struct pair p;
	char text[16];

	pair_open(&p, "room", 100, 4);
	assert_ok(doca_comm_channel_ep_get_event_channel(p.client, &channel, NULL));
	assert_false(is_readable(channel, 0));
	assert_ok(doca_comm_channel_ep_event_handle_arm_send(p.client));
	assert_true(is_readable(channel, 5000)); /* there is room */
	fill(p.client, p.to_service);
	assert_false(is_readable(channel, 0));
	for (int i = 0; i < 4; i++)
		assert_ok(receive(p.service, text, sizeof(text), &from));
	doca_error_t result;

	do {
		assert_ok(doca_comm_channel_ep_event_handle_arm_send(p.client));
		assert_true(is_readable(channel, 5000));
		result = send_to(p.client, p.to_service, "more");
	} while (result == DOCA_ERROR_AGAIN);
	assert_ok(result);
	pair_close(&p);
	(void)state;
}

static void the_service_channel_reports_clients(void **state)
{
	doca_event_channel_t channel;
	struct pair p;

	devices_open(&p);
	listen_as(&p, "news", 100, 4);
	assert_ok(doca_comm_channel_ep_get_service_event_channel(p.service, &channel));
	assert_false(is_readable(channel, 0));
	p.client = client_make(&p, 100, 4);
	assert_ok(doca_comm_channel_ep_connect(p.client, service_name("news"), &p.to_service));
	assert_true(is_readable(channel, 5000));
	double end = sf_now_s() + 10;

	while (doca_comm_channel_peer_addr_update_info(p.to_service) == DOCA_ERROR_CONNECTION_INPROGRESS && sf_now_s() < end)
		assert_ok(doca_comm_channel_ep_update_service_state_info(p.service));
	assert_ok(doca_comm_channel_ep_update_service_state_info(p.service));
	assert_int_equal(doca_comm_channel_ep_get_service_event_channel(p.client, &channel), DOCA_ERROR_NOT_SUPPORTED);
	assert_ok(doca_comm_channel_ep_get_service_event_channel(p.service, &channel));
	assert_ok(doca_comm_channel_ep_destroy(p.client));
	assert_true(is_readable(channel, 5000));
	assert_ok(doca_comm_channel_ep_destroy(p.service));
	devices_close(&p);
	(void)state;
}

/* ---- threads ---- */

#define THREAD_MESSAGES 20000

struct sender {
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *peer;
	doca_error_t result;
};

static void *send_many(void *arg)
{
	struct sender *sender = arg;
	double end = sf_now_s() + 60;

	for (uint32_t i = 0; i < THREAD_MESSAGES && sender->result == DOCA_SUCCESS; i++) {
		do {
			sender->result = doca_comm_channel_ep_sendto(sender->ep, &i, sizeof(i), 0, sender->peer);
		} while (sender->result == DOCA_ERROR_AGAIN && sched_yield() == 0 && sf_now_s() < end);
	}
	return NULL;
}

static void receive_many(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *from;
	double end = sf_now_s() + 60;

	for (uint32_t i = 0; i < THREAD_MESSAGES;) {
		uint32_t got;
		size_t len = sizeof(got);
		doca_error_t result = doca_comm_channel_ep_recvfrom(ep, &got, &len, 0, &from);

		if (result == DOCA_ERROR_AGAIN && sf_now_s() < end) {
			sched_yield(); /* let the sender run, where cores are few */
			continue;
		}
		assert_ok(result);
		assert_int_equal(got, i);
		i++;
	}
}

static void *receive_many_too(void *arg)
{
	receive_many(arg);
	return NULL;
}

/* One thread sends and another receives, on both endpoints. */
static void an_endpoint_serves_two_threads(void **state)
{
	pthread_t up, down, other;
	struct pair p;

	pair_open(&p, "threads", 100, 16);
	struct sender to_service = {p.client, p.to_service, DOCA_SUCCESS}, to_client = {p.service, p.to_client, DOCA_SUCCESS};

	assert_int_equal(pthread_create(&up, NULL, send_many, &to_service), 0);
	assert_int_equal(pthread_create(&down, NULL, send_many, &to_client), 0);
	assert_int_equal(pthread_create(&other, NULL, receive_many_too, p.client), 0);
	receive_many(p.service);
	pthread_join(up, NULL);
	pthread_join(down, NULL);
	pthread_join(other, NULL);
	assert_ok(to_service.result);
	assert_ok(to_client.result);
	pair_close(&p);
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(properties_are_kept),
		cmocka_unit_test(capabilities_are_reported),
		cmocka_unit_test(calls_have_an_order_per_role),
		cmocka_unit_test(without_a_service_connecting_fails),
		cmocka_unit_test(messages_go_both_ways_in_order),
		cmocka_unit_test(sizes_are_kept),
		cmocka_unit_test(a_full_peer_returns_again),
		cmocka_unit_test(a_service_knows_its_clients),
		cmocka_unit_test(a_client_that_left_is_reported),
		cmocka_unit_test(a_service_that_ended_is_reported),
		cmocka_unit_test(a_service_may_disconnect_a_client),
		cmocka_unit_test(a_message_wakes_an_armed_channel),
		cmocka_unit_test(a_receive_that_finds_nothing_leaves_the_channel_armed),
		cmocka_unit_test(a_receive_that_finds_a_message_wakes),
		cmocka_unit_test(a_failed_send_leaves_the_channel_armed),
		cmocka_unit_test(the_send_channel_is_readable_when_a_send_may_succeed),
		cmocka_unit_test(the_service_channel_reports_clients),
		cmocka_unit_test(an_endpoint_serves_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
