/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session: operations of one process on the endpoint and the memory of another, over one stream. Both sides have the same
 * state: requests to the peer, and requests of the peer.
 *
 * The thread that holds the lock of its owner (an endpoint, an import) drives it. It never blocks. A request stays in the list
 * until the peer has acknowledged it, so a message that finds no receive can be sent again. Only answers are kept for the peer,
 * at most TCP_OPS_MAX: a peer that does not read harms itself only.
 */
#ifndef SF_FABRIC_TCP_SESSION_H
#define SF_FABRIC_TCP_SESSION_H

#include <sys/epoll.h>
#include <sys/uio.h>

#include "fabric/control/address.h"
#include "fabric/control/heartbeat.h"
#include "fabric/control/stream.h"
#include "fabric/tcp/wire.h"

#define TCP_OPS_MAX 256	  /* requests of a side that were sent and are not acknowledged; further ones wait */
#define TCP_IN_SIZE 8192  /* read at a time, unless data is received in place */
#define TCP_OUT_SIZE 8192 /* written at a time, */
#define TCP_SMALL 2048	  /* of requests and answers that are no longer than this */
#define TCP_CHANGED_MAX 8 /* regions whose sleepers are to be woken */
#define TCP_IOV_MAX 64

struct tcp_session;

struct tcp_session_ops {
	/* A message has arrived, and needs a receive with room for that many bytes. AGAIN: there is none; TOO_BIG: the
	 * first is too short. NULL: this side has no endpoint. */
	doca_error_t (*claim_recv)(struct tcp_session *session, uint64_t len, struct sf_recv **recv);
	void (*filled)(struct tcp_session *session, struct sf_recv *recv);
	/* There is no receive. Returns true if the message must wait for one, with all later data, until the owner
	 * calls sf_tcp_session_receive or sf_tcp_session_wait_end; else it is rejected. */
	bool (*wait)(struct tcp_session *session);
	/* Called when the session ends before the receive is filled. */
	void (*give_back)(struct tcp_session *session, struct sf_recv *recv);
	/* Lists the first receives that a message of this session could use. */
	void (*receives)(struct tcp_session *session, struct tcp_receives *receives);
	/* Called when an operation is finished; its status is set. */
	void (*done)(struct tcp_session *session, struct sf_op *op);
	void (*rung)(struct tcp_session *session);
	/* By the agent, for a heartbeat: sf_tcp_session_probe with the owner's lock, if that is free. */
	bool (*probe)(struct tcp_session *session);
	/* Reads arrived data if no other thread does, in the same way; or NULL. */
	void (*drain)(struct tcp_session *session);
};

/* Answers that are owed to the peer. */
struct tcp_answer {
	uint32_t seq;
	uint8_t kind;	 /* TCP_DATA or TCP_FAIL */
	bool is_word;	 /* the data, 8 bytes at most, is `word` */
	uint64_t region; /* otherwise it is read there when there is room to send it */
	uint64_t addr, left;
	uint64_t word;
};

/* Bytes that are sent from their place, after those of `out`. */
struct tcp_bulk {
	struct sf_op *op; /* from its pieces, or */
	bool is_answer;	  /* from the first answer's region */
	uint64_t at, left;
};

enum tcp_place {
	TCP_PLACE_NOWHERE,
	TCP_PLACE_RECEIVE,
	TCP_PLACE_REGION,
	TCP_PLACE_OP, /* the first operation's pieces */
};

/* The frame that is being read. */
struct tcp_reading {
	bool has_head, has_fixed, has_begun, is_refused, is_failed;
	struct tcp_head head;
	alignas(8) uint8_t fixed[TCP_FIXED_MAX];
	enum tcp_place place;
	struct sf_recv *recv;
	uint64_t at, left; /* of its bytes */
};

struct tcp_session {
	const struct tcp_session_ops *ops;
	struct sf_stream stream; /* its fd is -1: the session has ended */
	bool is_lent;		 /* the descriptor is the owner's to close */
	doca_error_t ended; /* the reason: CONNECTION_RESET, the peer has sent BYE; CONNECTION_ABORTED. SUCCESS while it lasts */
	bool leaving;	    /* BYE once all requests are acknowledged */
	bool said_bye;
	bool is_behind;	    /* there was no room to send */
	bool is_cut;	    /* nothing can be sent any more; receiving reports the peer's end */
	bool is_unread;	    /* there is more to receive that the socket may not report */
	bool is_waiting;    /* the message that is being read waits for a receive, so nothing is read */
	bool is_broken;	    /* the peer violated the protocol */
	bool has_heard;	    /* data of the peer was lost */
	bool was_reset;	    /* seen once: earlier data is read first */
	int cut_error;	    /* errno of the send that failed */
	uint64_t num_moved; /* calls that sent or received something */
	bool ring_due, probe_due;
	/* Requests to the peer. */
	struct sf_op *first, **end, *unsent;
	uint32_t first_seq, unsent_seq, next_seq;
	uint32_t messages, first_message, unsent_message; /* the numbers of the next, and of the first one from those on */
	uint64_t read_at;				  /* bytes of the first operation's data that were sent */
	struct tcp_receives room;
	uint32_t asked; /* ASKs */
	bool ask_due;
	bool refused; /* the operation numbered unsent_seq found no receive: send RESUME when there is one */
	bool rewind;
	uint32_t rewind_seq;
	/* What it asks. */
	uint32_t executed, acked;
	uint32_t heard;			       /* messages */
	uint32_t credited_until, credited_num; /* of receives */
	bool credits_due;
	uint32_t asks; /* ASKs */
	bool discards, refusal_due;
	uint32_t answer_first, answer_num;
	uint32_t changed_num;
	uint64_t changed[TCP_CHANGED_MAX];
	struct tcp_reading reading;
	struct tcp_bulk bulk;
	uint32_t in_at, in_len, out_at, out_len;
	struct tcp_answer answers[TCP_OPS_MAX];
	uint8_t in[TCP_IN_SIZE], out[TCP_OUT_SIZE];
	struct sf_heartbeat heartbeat;
	struct sf_address peer;	      /* for the log */
	uint64_t flows_out, flows_in; /* numbers the messages on the timeline, together with the addresses of both sides */
};

/* Lists the receives that the peer may use, in at most `most` runs. */
void sf_tcp_session_receives(struct tcp_session *session, struct tcp_receives *receives, uint32_t most);

/* The session takes ownership of the connection. */
void sf_tcp_session_begin(struct tcp_session *session, const struct tcp_session_ops *ops, struct sf_stream stream);

/* Ends it for that reason. The remaining operations complete with the reason, or with CONNECTION_ABORTED. */
void sf_tcp_session_end(struct tcp_session *session, doca_error_t why);

/* The same after the connection was lost, which is logged. error: an errno; 0: the peer closed it without BYE. */
void sf_tcp_session_lost(struct tcp_session *session, int error);

/* Call after sf_op_check. EMPTY or TOO_BIG according to the peer's receives; AGAIN. An accepted operation is sent now, or with
 * later ones by the next sf_tcp_session_send. */
doca_error_t sf_tcp_session_submit(struct tcp_session *session, struct sf_op *op, uint64_t len);

/* Sends pending data, as far as there is room. */
void sf_tcp_session_send(struct tcp_session *session);

/* Call when other connections have used receives of the peer, so that its reports are out of date. Until it has answered, submits
 * that need a receive return AGAIN. */
void sf_tcp_session_ask(struct tcp_session *session);

/* Sends an empty frame. Returns false if other data must be sent first. */
bool sf_tcp_session_probe(struct tcp_session *session);

/* Reads the data that has arrived and executes it. Returns whether any had arrived. */
bool sf_tcp_session_receive(struct tcp_session *session);

/* The peer has violated the protocol: the session ends when its input has been read. what: for the log. */
void sf_tcp_session_break(struct tcp_session *session, const char *what);

/* The peer has changed bytes of the region, whose sleepers must be woken. */
void sf_tcp_session_changed(struct tcp_session *session, uint64_t region);

/* There is no receive for the current message: it and all later data are sent again. */
void sf_tcp_session_rejected(struct tcp_session *session);

/* Rejects a waiting message, so that later data can be read. */
void sf_tcp_session_wait_end(struct tcp_session *session);

/* Drops the current message. */
void sf_tcp_session_reject(struct tcp_session *session);

/* Returns true if another request may be sent: the peer owes fewer than TCP_OPS_MAX acknowledgements. */
static inline bool tcp_session_window(const struct tcp_session *session)
{
	return session->unsent_seq - session->first_seq < TCP_OPS_MAX;
}

static inline bool tcp_session_unsent(const struct tcp_session *session)
{
	if (session->is_cut)
		return false;
	return session->out_len != 0 || session->bulk.left != 0 || session->rewind ||
	       (session->unsent != NULL && tcp_session_window(session) &&
		(!session->refused || session->leaving || sf_tcp_receives_room(&session->room, session->unsent_message) >= 0)) ||
	       session->answer_num != 0 || session->refusal_due || session->credits_due || session->ring_due ||
	       session->ask_due || (session->leaving && !session->said_bye && session->first == NULL);
}

/* The events that the socket must be polled for. A socket with room counts as ready, even if epoll reports no data. */
static inline uint32_t tcp_session_events(const struct tcp_session *session)
{
	return EPOLLIN | (session->is_behind || session->is_unread ? EPOLLOUT : 0);
}

/* Credits reported to the peer and not used yet. Messages that it sent before it received the report may have used
 * more. */
static inline uint32_t tcp_session_credits_left(const struct tcp_session *session)
{
	const int32_t left = (int32_t)(session->credited_until - session->heard);

	return left > 0 ? (uint32_t)left : 0;
}

/* Returns true if no acknowledgement is due from the peer, whose arrival would send what is pending. */
static inline bool tcp_session_is_quiet(const struct tcp_session *session)
{
	return session->first == session->unsent;
}

/* Returns true if only this is pending: then it can wait for other data in the same direction. */
static inline bool tcp_session_owes_ack(const struct tcp_session *session)
{
	return session->executed != session->acked && !session->is_cut;
}

/* The pieces of a list from `at` on, of at most len bytes; returns how many. */
int sf_tcp_iov_slice(const struct sf_iov *iov, uint32_t num, uint64_t at, uint64_t len, struct iovec *pieces, int most);

#endif
