/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection: one reliable queue pair, and the channel to the peer's agent that reports its end. */
#ifndef SF_FABRIC_VERBS_CONN_H
#define SF_FABRIC_VERBS_CONN_H

#include "fabric/control/handshake.h"
#include "fabric/control/listener.h"
#include "fabric/verbs/import.h"
#include "fabric/verbs/ep.h"

#define VB_CONN_OPS 64	  /* operations of a connection at a time */
#define VB_CONN_SENDS 128 /* work requests of a connection at a time, */
#define VB_CONN_SPARE 32  /* of which so many are for views and for fetching long messages */
#define VB_BOUNCE_SIZE 64 /* bytes that are read through the connection's own block, as results of atomics */

enum vb_conn_life {
	VB_CONN_ASKING,	 /* the peer has not answered */
	VB_CONN_JOINING, /* accepted; the peer's queue pair is not ready yet */
	VB_CONN_UP,
	VB_CONN_OVER, /* nothing can be posted any more */
};

struct vb_op {
	struct sf_op *op;
	struct vb_import *import;
	struct vb_mr *mrs[VB_PIECES_MAX];
	const struct sf_iov *iov; /* the operation's own, or stage */
	uint32_t iov_num;
	struct sf_iov stage;  /* our copy in one piece, if there are too many pieces, or the peer must fetch it */
	uint64_t len, at;     /* bytes; posted so far */
	uint32_t piece;	      /* index in iov of the current piece */
	uint64_t piece_at;    /* offset in it */
	uint32_t out;	      /* work requests of it that are not done */
	uint32_t pull_number; /* of a long message: from 1 on, in order */
	doca_error_t status;
	bool posted;  /* all of it */
	bool bounced; /* the bytes that were read are in the block */
	bool pull;
	bool writes; /* counted among the import's writers */
};

enum vb_send_kind { VB_SEND_OP, VB_SEND_VIEW, VB_SEND_FLUSH_VIEW, VB_SEND_PULL };

struct vb_send {
	uint8_t kind;	/* enum vb_send_kind */
	uint32_t index; /* of the operation, or the slot */
};

/* Memory of a connection that the device reads and writes. */
struct vb_block {
	struct vb_view view;	      /* the peer's receives; written by the peer */
	struct vb_view sent_views[8]; /* our receives, as sent; used if the device accepts too little inline */
	struct vb_record records[VB_CONN_OPS];
	uint8_t bounces[VB_CONN_OPS][VB_BOUNCE_SIZE];
};

struct vb_conn {
	struct sf_conn base;
	LIST_ENTRY(vb_conn) entry; /* of the endpoint */
	LIST_ENTRY(vb_conn) hash;
	LIST_ENTRY(vb_conn) all; /* guarded by sf_control_lock, as handshake */
	struct sf_handshake handshake;

	enum vb_conn_life life;
	struct ibv_qp *qp;
	uint32_t psn, inline_max;
	struct vb_msg_end peer;
	struct vb_block *block;
	struct vb_mr *block_mr;
	struct vb_view view; /* the peer's receives, as last read */
	uint32_t view_number, view_slot;
	uint8_t view_owed; /* a view must be written when there is room; 2: a flush waits for it */
	bool in_todo;
	struct vb_conn *todo_next;

	struct vb_op ops[VB_CONN_OPS];
	uint32_t ops_head, ops_tail, ops_posted; /* counting up */
	struct vb_send sends[VB_CONN_SENDS];
	uint32_t sends_head, sends_tail;
	uint32_t sent;						     /* messages */
	uint32_t heard;						     /* messages of the peer */
	uint32_t pulls_sent, pulls_done, pulls_made, pulls_reported; /* long messages: sent, fetched by the peer; fetched by us */
	uint64_t moved_at;					     /* ns; when an operation last ended, once leaving */

	bool failed;  /* to connect */
	bool leaving; /* by us */
	bool said_bye;
	bool broken;	    /* the queue pair has failed */
	doca_error_t gone;  /* by the peer: RESET or ABORTED; or SUCCESS */
	uint32_t gone_sent; /* with RESET: messages that the peer had sent */
	uint64_t gone_at;
	bool suspect; /* gone because an operation failed. If the peer's own reason arrives soon, it is more precise */
	struct sf_ep_event opened, closed;
};

static inline struct vb_conn *vb_conn(struct sf_conn *conn)
{
	return (struct vb_conn *)conn;
}
static inline struct vb_ep *vb_conn_ep(struct vb_conn *conn)
{
	return vb_ep(conn->base.ep);
}

/* Call with the endpoint's lock, except new and free. */

/* Creates a connection with a queue pair in INIT, not in the endpoint yet. NULL, logged. */
struct vb_conn *sf_verbs_conn_new(struct vb_ep *ep, void *user);
/* Call when nothing refers to it any more. */
void sf_verbs_conn_free(struct vb_conn *conn);
void sf_verbs_conn_enter(struct vb_conn *conn);
struct vb_conn *sf_verbs_conn_find(struct vb_ep *ep, uint32_t qpn);
/* The queue pair is unusable; posted work is flushed. */
void sf_verbs_conn_break(struct vb_conn *conn);
/* Returns true if there is room for one more work request. spare: it may use the room for views. */
bool sf_verbs_conn_has_room(const struct vb_conn *conn, bool spare);
bool sf_verbs_conn_post(struct vb_conn *conn, struct ibv_send_wr *wr, enum vb_send_kind kind, uint32_t index);
/* Makes the endpoint step it when it settles. */
void sf_verbs_conn_touch(struct vb_conn *conn);
/* Removes it from that list before it is destroyed. */
void sf_verbs_conn_untouch(struct vb_conn *conn);
/* The peer is gone for that reason. ABORTED without a report of the peer is only a suspicion. */
void sf_verbs_conn_lose(struct vb_conn *conn, doca_error_t why, uint32_t messages);
void sf_verbs_conn_suspect(struct vb_conn *conn);
bool sf_verbs_conn_is_suspect(const struct vb_conn *conn, uint64_t now_ns);
/* Describes our side of a connection for the peer; sets the peer's side, with the endpoint's lock: from here on the connection
 * accepts what the peer sends. */
void sf_verbs_conn_side(const struct vb_conn *conn, struct sf_msg_side *side);
doca_error_t sf_verbs_conn_set_peer(struct vb_conn *conn, const struct sf_msg_side *side);
/* Copies the data into the event. Returns false without memory. */
bool sf_verbs_event_set_data(struct sf_ep_event *event, const void *data, size_t len);

#endif
