/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between two processes besides those of control/message.h and of the RDMA device:
 *
 *   to a listener        CONNECT ->   ...  <- ACCEPT   READY ->   then either way: BYE, RING, PULLED
 *   to an owner's agent  ATTACH ->    <- ATTACHED  <- ARM     RING ->    <- GONE               GONE_SEEN ->
 *
 * The end of the first kind of channel without a BYE is the death of the connection's peer, of the second kind that of the owner.
 * Also here: the record that begins every message on the wire, the view of its receives that an endpoint writes to its senders,
 * and the descriptor of an exported region.
 */
#ifndef SF_FABRIC_VERBS_WIRE_H
#define SF_FABRIC_VERBS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/control/channel.h"
#include "fabric/descriptor.h"
#include "fabric/fabric.h"

enum vb_msg_kind {
	VB_MSG_READY = SF_MSG_OF_VERBS,
	VB_MSG_BYE,    /* value: messages sent */
	VB_MSG_RING,   /* value, of an importer: changes in flight */
	VB_MSG_PULLED, /* value: long messages fetched so far */
	VB_MSG_ATTACH,
	VB_MSG_ATTACHED, /* value: a status */
	VB_MSG_GONE,
	VB_MSG_GONE_SEEN,
	VB_MSG_ARM,
};

/* One side of a connection: its queue pair, and the block where the other side writes its view. */
struct vb_msg_end {
	struct sf_key domain; /* random: identifies the domain whose keys the queue pair accepts */
	uint8_t gid[16];
	uint64_t view_addr;
	uint32_t view_rkey;
	uint32_t qpn;
	uint32_t psn;
	uint16_t lid;
	uint8_t mtu; /* enum ibv_mtu */
	uint8_t unused;
	uint32_t reads; /* parallel reads and atomics that it supports */
	uint32_t unused2;
};

_Static_assert(sizeof(struct vb_msg_end) <= SF_SIDE_SIZE, "a side fits");

struct vb_msg_attach {
	struct sf_msg head;
	struct vb_msg_end end;
	struct sf_key token;
	uint64_t region;
};

struct vb_msg_attached {
	struct sf_msg head;
	struct vb_msg_end end;
	uint64_t addr, len;
	uint32_t rights;
	uint32_t rkey;
};

/* Returns true for one whole message of a kind of this provider, with every count and length in bounds. */
bool sf_verbs_msg_check(const struct sf_msg *msg, size_t len, unsigned fds);
bool sf_verbs_end_check(const void *end);

/* Sets the head, and sends the message. */
static inline bool vb_msg_send(struct sf_channel *channel, enum vb_msg_kind kind, void *msg, size_t size, uint32_t value)
{
	struct sf_msg *head = (struct sf_msg *)msg;

	*head = sf_msg_head(kind, size, value);
	return sf_channel_send(channel, msg, NULL, 0);
}

/* ---- through the device ---- */

enum vb_record_kind {
	VB_RECORD_SEND = 1,
	VB_RECORD_WRITE, /* the data was written before; the receive gets the header only */
	VB_RECORD_PULL,	 /* longer than the device's messages: the receiver fetches it */
};

/* Begins every message; the bytes follow it. */
struct vb_record {
	uint8_t kind;
	uint8_t header_len;
	uint16_t unused;
	uint32_t len;
	uint64_t pull_addr;
	uint32_t pull_rkey;
	uint32_t unused2;
	uint8_t header[SF_HEADER_MAX];
};

/* Returns true if a record with so many bytes of message behind it is possible. */
bool sf_verbs_record_check(const struct vb_record *record, uint64_t bytes);

#define VB_RUNS_MAX 14

/* An endpoint's receives as shown to one sender: posted and not used yet, first to last, and how many messages of that sender
 * were counted off. Written whole by the endpoint, read with vb_view_read. */
struct vb_view {
	uint32_t begin; /* equals end in a view that is whole */
	uint32_t heard;
	uint32_t runs_num;
	struct {
		uint32_t num; /* so many receives */
		uint32_t len; /* of so many bytes */
	} runs[VB_RUNS_MAX];
	uint32_t end;
};

_Static_assert(sizeof(struct vb_view) == 128, "a view is two cache lines");

/* Returns how many receives of one length, *len, there are for a sender's message number sent and the following ones; or 0. */
uint32_t sf_verbs_view_credits(const struct vb_view *view, uint32_t sent, uint32_t *len);

/* The length of the receive for a sender's message number sent, in bytes. -1: there is none. */
int64_t sf_verbs_view_room(const struct vb_view *view, uint32_t sent);

/* Copies a view that the device may be writing. Returns false if it is inconsistent now; *to is then unchanged. */
bool sf_verbs_view_read(const struct vb_view *from, struct vb_view *to);

/* ---- descriptors ---- */

struct vb_descriptor {
	struct sf_descriptor base;
	char address[SF_ADDRESS_MAX]; /* the network address of the owner's agent (control/address.h), or empty */
};

#define VB_DESCRIPTOR_SIZE SF_DESCRIPTOR_SIZE(SF_ADDRESS_MAX)

void sf_verbs_descriptor_pack(const struct vb_descriptor *descriptor, uint8_t bytes[VB_DESCRIPTOR_SIZE]);
/* INVALID_VALUE: not a descriptor of this provider, truncated or altered; UNSUPPORTED_VERSION. */
doca_error_t sf_verbs_descriptor_unpack(const void *bytes, size_t len, struct vb_descriptor *descriptor);

#endif
