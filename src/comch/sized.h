/* SPDX-License-Identifier: BSD-3-Clause */
/* Servers and clients for the 2.5 API layer, whose receive callback gets a message's length as a size_t. */
#ifndef SF_COMCH_SIZED_H
#define SF_COMCH_SIZED_H

#include <doca_comch.h>

#include "base/visibility.h"

typedef void (*sf_comch_recv_cb)(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer, size_t msg_len,
				 struct doca_comch_connection *connection);

/* As doca_comch_*_event_msg_recv_register, whose callback it replaces. */
SF_API doca_error_t sf_comch_server_recv_register(struct doca_comch_server *server, sf_comch_recv_cb callback);
SF_API doca_error_t sf_comch_client_recv_register(struct doca_comch_client *client, sf_comch_recv_cb callback);

#endif
