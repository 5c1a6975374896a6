/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_comm_channel.h
 * The Comm Channel of DOCA 2.2 to 2.9: messages between a host function and its DPU. New programs use doca_comch.h, on whose
 * connections it runs. Link libdoca_comm_channel (pkg-config doca-comm-channel).
 *
 *     doca_comm_channel_ep_create(&ep);
 *     doca_comm_channel_ep_set_device(ep, dev);
 *     doca_comm_channel_ep_set_device_rep(ep, rep);                // the service, on the DPU, only
 *     doca_comm_channel_ep_set_max_msg_size(ep, 1024);
 *     doca_comm_channel_ep_set_send_queue_size(ep, 16);
 *     doca_comm_channel_ep_set_recv_queue_size(ep, 16);
 *     doca_comm_channel_ep_listen(ep, "name");                     // the service; a client:
 *     doca_comm_channel_ep_connect(ep, "name", &peer);
 *     while ((result = doca_comm_channel_peer_addr_update_info(peer)) == DOCA_ERROR_CONNECTION_INPROGRESS)
 *             ;
 *     doca_comm_channel_ep_sendto(ep, "hello", 5, DOCA_CC_MSG_FLAG_NONE, peer);
 *     doca_comm_channel_ep_recvfrom(ep, buffer, &len, DOCA_CC_MSG_FLAG_NONE, &peer);
 *
 * An endpoint is either a service or a client. Connect blocks for at most 20 ms, disconnect and destroy for at most a second,
 * until messages in flight are sent. No other call blocks. Progress is made in the calls on the endpoint: a service accepts
 * clients in recvfrom and in doca_comm_channel_ep_update_service_state_info().
 *
 * Both event channels are file descriptors for poll or epoll. If recvfrom returns DOCA_ERROR_AGAIN: arm the receive channel,
 * wait for it, and call recvfrom until DOCA_ERROR_AGAIN. If sendto does: arm the send channel, wait, and send again. It becomes
 * readable after a short while, not at the moment when the peer has room.
 *
 * The endpoint owns peer addresses, until doca_comm_channel_ep_disconnect() or its destruction; also those of peers that are
 * gone. Several threads may use an endpoint at a time. One thread alone destroys it. (Comm Channel guide)
 *
 * @retval DOCA_ERROR_BAD_STATE doca_comm_channel_ep_set_*: the endpoint listens or connects
 * @retval DOCA_ERROR_INVALID_VALUE *_size: the number is out of range, or NULL
 * @retval DOCA_ERROR_INVALID_VALUE *_get_device, *_get_device_rep: none was set
 * @retval DOCA_ERROR_NOT_SUPPORTED *_service_event_channel, *_state_info, *_addr_list, *_pending_connections: not a service
 */
#ifndef DOCA_COMM_CHANNEL_H_
#define DOCA_COMM_CHANNEL_H_

#include <stddef.h>
#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;

/** Flags of sendto and recvfrom. */
enum doca_comm_channel_msg_flags {
	DOCA_CC_MSG_FLAG_NONE = 0, /**< none; there is no other */
};

/** One end of channels: a service with its clients, or a client. */
struct doca_comm_channel_ep_t;

/** The other end of a channel. */
struct doca_comm_channel_addr_t;

/** A descriptor to wait on. */
typedef doca_event_handle_t doca_event_channel_t;

/**
 * @name Capabilities
 * Queue sizes are in messages. The name's length includes the NUL.
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_message_size(struct doca_devinfo *devinfo, uint32_t *max_message_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_send_queue_size(struct doca_devinfo *devinfo, uint32_t *max_send_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_recv_queue_size(struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size);

/** @retval DOCA_ERROR_NOT_SUPPORTED the device is a host's */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo, uint32_t *max_num_connections);

/** @} */

/**
 * @name Endpoints
 * Queue sizes are rounded up to a power of two, 16 by default. The longest message is the capability by default. The device and
 * the representor cannot be closed before the endpoint is destroyed. A client has a host's device; a service a DPU's, and the
 * representor of the host function that it serves.
 * @{
 */

/** @retval DOCA_ERROR_NO_MEMORY out of memory */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep, struct doca_dev **device);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep **device_rep);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t *max_msg_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *send_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *recv_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep, struct doca_dev *device);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep *device_rep);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t max_msg_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t send_queue_size);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t recv_queue_size);

/** @} */

/**
 * The endpoint's descriptors. Do not read or close them. One of both outputs may be NULL.
 * @retval DOCA_ERROR_BAD_STATE it neither listens nor connects
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
						    doca_event_channel_t *send_event_channel,
						    doca_event_channel_t *recv_event_channel);

/**
 * The descriptor that reports clients that come and go. This call arms it, and each
 * doca_comm_channel_ep_update_service_state_info(). It may become readable for a message too.
 * @retval DOCA_ERROR_BAD_STATE it does not listen
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_service_event_channel(struct doca_comm_channel_ep_t *local_ep,
							    doca_event_channel_t *service_event_channel);

/**
 * Makes the send channel readable once a send may succeed. A sendto that returns DOCA_ERROR_AGAIN leaves it armed.
 * @retval DOCA_ERROR_INVALID_VALUE it neither listens nor connects
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep);

/**
 * Makes the receive channel readable once recvfrom has work. It stays readable until a recvfrom finds nothing, or it is armed
 * again. A recvfrom that finds nothing leaves it armed.
 * @retval DOCA_ERROR_INVALID_VALUE it neither listens nor connects
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *local_ep);

/**
 * Makes the endpoint a service. The name is unique for the host function.
 * @retval DOCA_ERROR_INVALID_VALUE the name is too long, or the representor belongs to another device
 * @retval DOCA_ERROR_NOT_SUPPORTED the device is a host's
 * @retval DOCA_ERROR_BAD_STATE no device or no representor is set
 * @retval DOCA_ERROR_NOT_PERMITTED it listens or connects already
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_INITIALIZATION it cannot be set up
 * @retval DOCA_ERROR_CONNECTION_ABORTED the name is in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *local_ep, const char *name);

/**
 * Begins to connect to a service, which must be listening. Until it has accepted, sendto returns DOCA_ERROR_AGAIN.
 * @retval DOCA_ERROR_INVALID_VALUE the name is too long
 * @retval DOCA_ERROR_NOT_SUPPORTED the device is a DPU's
 * @retval DOCA_ERROR_BAD_STATE no device is set
 * @retval DOCA_ERROR_NOT_PERMITTED it listens or connects already
 * @retval DOCA_ERROR_NO_MEMORY out of memory
 * @retval DOCA_ERROR_INITIALIZATION it cannot be set up
 * @retval DOCA_ERROR_CONNECTION_ABORTED there is no such service
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep, const char *name,
					  struct doca_comm_channel_addr_t **peer_addr);

/**
 * Sends a copy of a message.
 * @param len at least 1
 * @retval DOCA_ERROR_INVALID_VALUE a flag, len is 0, or above the longest message of a side
 * @retval DOCA_ERROR_NOT_CONNECTED peer_addr is NULL, of another endpoint, or its connection has ended
 * @retval DOCA_ERROR_AGAIN a queue is full on one side, or the connection is not established
 * @retval DOCA_ERROR_CONNECTION_RESET the peer is gone
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg, size_t len, int flags,
					 struct doca_comm_channel_addr_t *peer_addr);

/**
 * Receives the next message of any peer.
 * @param len the room, then the message's length
 * @retval DOCA_ERROR_INVALID_VALUE a flag, or a message that does not fit: it stays, and len is set to its length
 * @retval DOCA_ERROR_NOT_CONNECTED it neither listens nor connects, or the connection failed
 * @retval DOCA_ERROR_AGAIN there is no message
 * @retval DOCA_ERROR_CONNECTION_RESET a client's service is gone, and all its messages were received
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg, size_t *len, int flags,
					   struct doca_comm_channel_addr_t **peer_addr);

/**
 * Ends a connection and its address. Sent messages still arrive; received ones that were not taken are lost. A client may
 * connect again.
 * @retval DOCA_ERROR_NOT_CONNECTED not an address of this endpoint
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *local_ep, struct doca_comm_channel_addr_t *peer_addr);

/**
 * Destroys an endpoint with its connections.
 * @retval DOCA_ERROR_NOT_CONNECTED local_ep is NULL
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *local_ep);

/**
 * @name Peers
 * Counters are as of the last doca_comm_channel_peer_addr_update_info(). All messages have arrived if none is in flight. User
 * data is 0 at first.
 * @{
 */

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_user_data(struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_data);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_set_user_data(struct doca_comm_channel_addr_t *peer_addr, uint64_t user_context);

/**
 * Takes a snapshot of the counters, and returns the connection's state.
 * @retval DOCA_ERROR_CONNECTION_INPROGRESS it is not established yet
 * @retval DOCA_ERROR_CONNECTION_ABORTED it failed, or has ended
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_update_info(struct doca_comm_channel_addr_t *peer_addr);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_messages(const struct doca_comm_channel_addr_t *peer_addr,
							   uint64_t *send_messages);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_bytes(const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_bytes);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_recv_messages(const struct doca_comm_channel_addr_t *peer_addr,
							   uint64_t *recv_messages);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_recv_bytes(const struct doca_comm_channel_addr_t *peer_addr, uint64_t *recv_bytes);

DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_in_flight_messages(const struct doca_comm_channel_addr_t *peer_addr,
								     uint64_t *send_in_flight_messages);

/** @} */

/** Accepts clients that wait, and takes a snapshot of the clients. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_update_service_state_info(struct doca_comm_channel_ep_t *local_ep);

/** The clients in the last snapshot. The array belongs to the endpoint, until the next snapshot. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_peer_addr_list(const struct doca_comm_channel_ep_t *local_ep,
						     struct doca_comm_channel_addr_t ***peer_addr_array,
						     uint32_t *peer_addr_array_len);

/** Clients that wait to be accepted: none after a snapshot. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_pending_connections(const struct doca_comm_channel_ep_t *local_ep,
							  uint32_t *pending_connections);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMM_CHANNEL_H_ */
