/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_comm_channel.h
 * The Comm Channel of DOCA 2.2 to 2.9: messages between a host function and its DPU. Today's programs use doca_comch.h, on whose
 * links it runs; link libdoca_comm_channel (pkg-config doca-comm-channel).
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
 * An endpoint is either a service or a client. No call waits for the peer but connect, at most 20 ms for news of a service that
 * is not there, and disconnect and destroy, which wait for messages under way, at most a second. Things move inside the calls
 * on the endpoint: a service accepts clients in recvfrom and in
 * doca_comm_channel_ep_update_service_state_info(). A service that nobody progresses keeps its clients connecting.
 *
 * Waiting. Both event channels are file descriptors for poll or epoll. When recvfrom says DOCA_ERROR_AGAIN: arm the receive
 * channel, wait for it, call recvfrom until DOCA_ERROR_AGAIN. When sendto does: arm the send channel, wait, send again. Nobody
 * tells that a full peer has taken a message, so the send channel becomes readable after a short while, not at that moment.
 *
 * Peer addresses are the endpoint's. One lives until doca_comm_channel_ep_disconnect() for it, or until the endpoint is
 * destroyed; a peer that has gone leaves its address behind.
 *
 * Threads: an endpoint may be used by several threads at a time, one sending and one receiving, say. Destroy it from one, alone.
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

/** One end of channels: a service with its clients, or a client. Opaque. */
struct doca_comm_channel_ep_t;

/** The other end of a channel. Opaque. */
struct doca_comm_channel_addr_t;

/** A descriptor to wait on. */
typedef doca_event_handle_t doca_event_channel_t;

/** Bytes of a service's name, with its NUL. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_service_name_len(uint32_t *max_service_name_len);

/** Bytes that a message may have. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_message_size(struct doca_devinfo *devinfo, uint32_t *max_message_size);

/** Messages that may be under way from an endpoint. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_send_queue_size(struct doca_devinfo *devinfo, uint32_t *max_send_queue_size);

/** Messages that may wait in an endpoint. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_max_recv_queue_size(struct doca_devinfo *devinfo, uint32_t *max_recv_queue_size);

/** Clients that a service may have. DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NOT_SUPPORTED: the device is a host's. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_get_service_max_num_connections(struct doca_devinfo *devinfo, uint32_t *max_num_connections);

/** Makes an endpoint. DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NO_MEMORY. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_create(struct doca_comm_channel_ep_t **ep);

/** The device it was given. DOCA_ERROR_INVALID_VALUE: NULL, or none was given. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device(struct doca_comm_channel_ep_t *ep, struct doca_dev **device);

/** The representor it was given. DOCA_ERROR_INVALID_VALUE: NULL, or none was given. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep **device_rep);

/** Bytes of its longest message; the maximum, unless set. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t *max_msg_size);

/** Size of its send queue, 16 unless set. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *send_queue_size);

/** Size of its receive queue, 16 unless set. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t *recv_queue_size);

/**
 * Gives it its device: a service the DPU's, a client the host's. It cannot be closed before the endpoint is destroyed.
 * DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_BAD_STATE: in use.
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device(struct doca_comm_channel_ep_t *ep, struct doca_dev *device);

/** Gives a service the representor of the host function it serves. All as above. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_device_rep(struct doca_comm_channel_ep_t *ep, struct doca_dev_rep *device_rep);

/** Sets the bytes of its longest message. DOCA_ERROR_INVALID_VALUE: NULL, 0 or too many; DOCA_ERROR_BAD_STATE: in use. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_max_msg_size(struct doca_comm_channel_ep_t *ep, uint16_t max_msg_size);

/** Sets the size of its send queue; rounded up to a power of two. Errors as above. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_send_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t send_queue_size);

/** Sets the size of its receive queue; rounded up to a power of two. Errors as above. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_set_recv_queue_size(struct doca_comm_channel_ep_t *ep, uint16_t recv_queue_size);

/**
 * The descriptors to wait on, the endpoint's own. Do not read or close them.
 * @param local_ep an endpoint that listens or connects
 * @param send_event_channel where the one for sending goes, or NULL
 * @param recv_event_channel where the one for receiving goes, or NULL, but not both
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_BAD_STATE: it neither listens nor connects
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_event_channel(struct doca_comm_channel_ep_t *local_ep,
						    doca_event_channel_t *send_event_channel,
						    doca_event_channel_t *recv_event_channel);

/**
 * The descriptor that tells a service of clients that come and go. It is armed by this call, and again by each
 * doca_comm_channel_ep_update_service_state_info(); it may become readable for a message too.
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_BAD_STATE: it does not listen; DOCA_ERROR_NOT_SUPPORTED: a
 *         client
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_service_event_channel(struct doca_comm_channel_ep_t *local_ep,
							    doca_event_channel_t *service_event_channel);

/**
 * Lets the send channel become readable when sending is worth a try. A send that is refused with DOCA_ERROR_AGAIN leaves it armed.
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or not in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_send(struct doca_comm_channel_ep_t *local_ep);

/**
 * Lets the receive channel become readable when recvfrom has something to do. A recvfrom that finds nothing leaves it armed. The
 * channel stays readable until a recvfrom finds nothing, or it is armed again.
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or not in use
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_event_handle_arm_recv(struct doca_comm_channel_ep_t *local_ep);

/**
 * Makes the endpoint a service.
 * @param local_ep an endpoint with a device and a representor
 * @param name of the service; unique for the host function
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, a name too long, or a representor of another device;
 *         DOCA_ERROR_NOT_SUPPORTED: a host's device; DOCA_ERROR_BAD_STATE: no device or no representor set;
 *         DOCA_ERROR_NOT_PERMITTED: it listens or connects already; DOCA_ERROR_NO_MEMORY; DOCA_ERROR_INITIALIZATION;
 *         DOCA_ERROR_CONNECTION_ABORTED: the name is taken
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_listen(struct doca_comm_channel_ep_t *local_ep, const char *name);

/**
 * Begins to connect to a service, which must listen already.
 * @param local_ep an endpoint with a device
 * @param name of the service
 * @param peer_addr where the service's address goes. Until it has accepted, sendto to it says DOCA_ERROR_AGAIN
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, or a name too long; DOCA_ERROR_NOT_SUPPORTED: a DPU's device;
 *         DOCA_ERROR_BAD_STATE: no device set; DOCA_ERROR_NOT_PERMITTED: it listens or connects already;
 *         DOCA_ERROR_NO_MEMORY; DOCA_ERROR_INITIALIZATION; DOCA_ERROR_CONNECTION_ABORTED: there is no such service
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_connect(struct doca_comm_channel_ep_t *local_ep, const char *name,
					  struct doca_comm_channel_addr_t **peer_addr);

/**
 * Sends a message. It is copied.
 * @param local_ep the endpoint
 * @param msg the message
 * @param len its bytes, at least 1
 * @param flags DOCA_CC_MSG_FLAG_NONE
 * @param peer_addr to whom
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, a flag, 0 bytes, or more than both sides' longest message;
 *         DOCA_ERROR_NOT_CONNECTED: no peer_addr, not one of this endpoint, or the connection is not there;
 *         DOCA_ERROR_AGAIN: a queue is full here or there, or still connecting; DOCA_ERROR_CONNECTION_RESET: the peer has gone
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_sendto(struct doca_comm_channel_ep_t *local_ep, const void *msg, size_t len, int flags,
					 struct doca_comm_channel_addr_t *peer_addr);

/**
 * Takes the next message, from whomever.
 * @param local_ep the endpoint
 * @param msg where it goes
 * @param len in: bytes there; out: bytes of the message
 * @param flags DOCA_CC_MSG_FLAG_NONE
 * @param peer_addr where the sender's address goes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL, a flag, or a message that does not fit: it stays, and len says how long
 *         it is; DOCA_ERROR_NOT_CONNECTED: it neither listens nor connects, or connecting failed; DOCA_ERROR_AGAIN: none;
 *         DOCA_ERROR_CONNECTION_RESET: a client's service has gone and all it sent was taken
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_recvfrom(struct doca_comm_channel_ep_t *local_ep, void *msg, size_t *len, int flags,
					   struct doca_comm_channel_addr_t **peer_addr);

/**
 * Ends a connection and its address. What was sent still arrives; what was received and not taken is lost. A client may connect
 * again.
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: no endpoint; DOCA_ERROR_NOT_CONNECTED: not an address of it
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_disconnect(struct doca_comm_channel_ep_t *local_ep, struct doca_comm_channel_addr_t *peer_addr);

/** Ends an endpoint, its connections and its channels. DOCA_ERROR_NOT_CONNECTED: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_destroy(struct doca_comm_channel_ep_t *local_ep);

/** The program's number with an address, 0 at first. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_user_data(struct doca_comm_channel_addr_t *peer_addr, uint64_t *user_data);

/** Keeps a number of the program's with an address. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_set_user_data(struct doca_comm_channel_addr_t *peer_addr, uint64_t user_context);

/**
 * Takes the counters of a connection, for the calls below, and tells how it stands.
 * @return DOCA_SUCCESS: connected; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_CONNECTION_INPROGRESS: not yet;
 *         DOCA_ERROR_CONNECTION_ABORTED: it failed, or has ended
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_update_info(struct doca_comm_channel_addr_t *peer_addr);

/** Messages sent, at the last update. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_messages(const struct doca_comm_channel_addr_t *peer_addr,
							   uint64_t *send_messages);

/** Bytes sent, at the last update. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_bytes(const struct doca_comm_channel_addr_t *peer_addr, uint64_t *send_bytes);

/** Messages received, at the last update. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_recv_messages(const struct doca_comm_channel_addr_t *peer_addr,
							   uint64_t *recv_messages);

/** Bytes received, at the last update. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_recv_bytes(const struct doca_comm_channel_addr_t *peer_addr, uint64_t *recv_bytes);

/** Messages on their way, at the last update: 0 says that all have arrived. DOCA_ERROR_INVALID_VALUE: NULL. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_peer_addr_get_send_in_flight_messages(const struct doca_comm_channel_addr_t *peer_addr,
								     uint64_t *send_in_flight_messages);

/**
 * Takes a picture of a service's clients, for the two calls below, after accepting those who wait.
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NOT_SUPPORTED: not a service
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_update_service_state_info(struct doca_comm_channel_ep_t *local_ep);

/**
 * The clients in the last picture.
 * @param local_ep the service
 * @param peer_addr_array where an array goes; the endpoint's, until the next picture
 * @param peer_addr_array_len where its length goes
 * @return DOCA_SUCCESS; DOCA_ERROR_INVALID_VALUE: NULL; DOCA_ERROR_NOT_SUPPORTED: not a service
 */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_peer_addr_list(const struct doca_comm_channel_ep_t *local_ep,
						     struct doca_comm_channel_addr_t ***peer_addr_array,
						     uint32_t *peer_addr_array_len);

/** Clients that wait to be accepted: none after a picture. DOCA_ERROR_INVALID_VALUE: NULL;
 * DOCA_ERROR_NOT_SUPPORTED: not a service. */
DOCA_EXPERIMENTAL
doca_error_t doca_comm_channel_ep_get_pending_connections(const struct doca_comm_channel_ep_t *local_ep,
							  uint32_t *pending_connections);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMM_CHANNEL_H_ */
