/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/sized.h"

#include "comch/endpoint.h"

/* Registered in place of today's callback, so that checks for a callback find one. */
static void deliver_sized(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer, uint32_t msg_len,
			  struct doca_comch_connection *connection)
{
	event->endpoint->msg_recv_sized(event, recv_buffer, msg_len, connection);
}

static doca_error_t sized_register(struct comch_endpoint *endpoint, sf_comch_recv_cb callback, const char *function)
{
	doca_error_t result = comch_endpoint_set_msg_recv(endpoint, callback != NULL ? deliver_sized : NULL, function);

	if (result == DOCA_SUCCESS)
		endpoint->msg_recv_sized = callback;
	return result;
}

doca_error_t sf_comch_server_recv_register(struct doca_comch_server *server, sf_comch_recv_cb callback)
{
	return sized_register((struct comch_endpoint *)server, callback, "doca_cc_server_event_msg_recv_register");
}

doca_error_t sf_comch_client_recv_register(struct doca_comch_client *client, sf_comch_recv_cb callback)
{
	return sized_register((struct comch_endpoint *)client, callback, "doca_cc_client_event_msg_recv_register");
}
