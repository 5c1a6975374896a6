/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A control channel: a socket between two agents, and its messages. sf_control_lock guards everything here.
 *
 * A socket of the runtime folder belongs to a process of our user. Anybody may connect by the network: until such a peer has sent
 * the agent's token in a HANDSHAKE, the agent processes nothing else from it. At a TCP port that a program listens to
 * (SF_LISTEN_AT) anybody may connect, as with RDMA's connection manager. A caller there can only connect to that listener.
 *
 * A channel is a guest until a connection or an import takes it over. A process may have few guests, and a silent guest is
 * closed, so no process exhausts the limit for others.
 */
#ifndef SF_FABRIC_CONTROL_CHANNEL_H
#define SF_FABRIC_CONTROL_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/liveness.h"
#include "fabric/control/address.h"
#include "fabric/control/heartbeat.h"
#include "fabric/control/message.h"
#include "fabric/control/pace.h"
#include "fabric/control/runtime.h"
#include "fabric/control/stream.h"

#define SF_GUESTS_MAX 8192
#define SF_GUESTS_OF_PROCESS_MAX 16		    /* one belongs to its agent; the others are idle so far, or closed */
#define SF_GUESTS_OF_UNSEEN_MAX (SF_GUESTS_MAX / 2) /* of all processes with an unknown process id together */
#define SF_STRANGERS_MAX 64			    /* silent channels from the network; above that the oldest is closed, */
#define SF_STRANGER_GRACE_NS UINT64_C(100000000)    /* but not within this time */
#define SF_STRANGER_GRACE_ROUNDS 3		    /* nor within so many rounds of the agent */
#define SF_FIRST_WORD_LIMIT_NS UINT64_C(3000000000) /* for a new peer's first message */

struct sf_control_listener;

enum sf_trust {
	SF_TRUST_PEER,	    /* all its messages are processed */
	SF_TRUST_STRANGER,  /* must present the token */
	SF_TRUST_CALLER,    /* may connect to `called` */
	SF_TRUST_REQUESTER, /* may look up a listener's address */
};

/* An outgoing channel that is still connecting. */
struct sf_dial {
	struct sf_addresses addresses;
	uint32_t at;	/* index of the address being tried */
	uint32_t scope; /* interface for link-local addresses */
	uint64_t since_ns;
};

struct sf_channel {
	struct sf_stream stream;
	int pid; /* of a peer in the runtime folder, 0 if unknown */
	bool open;
	bool is_stream; /* TCP: no descriptors, messages may arrive in pieces */
	bool is_guest;
	bool is_silent;			    /* incoming, and nothing was received yet */
	bool is_shaking;		    /* incoming, and the handshake is not over */
	bool may_beat;			    /* may send heartbeats: outgoing, or incoming after its first request */
	bool keep_fd;			    /* another owner closes the descriptor */
	bool is_other;			    /* only one of the two sides uses TLS: `why` is NOT_PERMITTED */
	bool reset;			    /* the other side closed with unread data */
	bool is_unsent;			    /* a message could not be sent, and the log says why */
	bool is_slow;			    /* outgoing: a machine answered, and its process did not prove the key in time */
	uint8_t trust;			    /* enum sf_trust */
	struct sf_control_listener *called; /* of a port's socket, and of the channels it accepted */
	struct sf_liveness speaking;	    /* of a silent channel */
	uint64_t since_ns;		    /* when a stranger connected */
	uint32_t since_round;		    /* the same in rounds of the agent */
	struct sf_dial *dial;		    /* while connecting */
	struct sf_heartbeat heartbeat;	    /* of TCP */
	doca_error_t why; /* why it failed: NOT_FOUND, nobody listens there; TIME_OUT, no route; NOT_PERMITTED, the keys differ.
			     Else SUCCESS */
	/* readable, or the two others. A complete, checked message, and its descriptors: the receiver replaces those
	 * that it keeps by -1. Returns false if the peer violates the protocol or does not read; the channel then ends. */
	void (*readable)(struct sf_channel *channel);
	bool (*message)(struct sf_channel *channel, const struct sf_msg *msg, int *fds);
	void (*ended)(struct sf_channel *channel); /* the peer is gone or violated the protocol; the channel is closed */
	void *owner;
	struct sf_channel *next, *previous;
	uint8_t *out; /* messages waiting to be sent, or NULL */
	size_t out_len;
	uint8_t *in; /* of a stream: the beginning of a message, or NULL */
	size_t in_len;
};

/* Takes ownership of fd on success. NO_MEMORY; OPERATING_SYSTEM, logged. */
doca_error_t sf_channel_open(int fd, void *owner, struct sf_channel **channel);
void sf_channel_close(struct sf_channel *channel);
/* A connection or an import owns it from here on. */
void sf_channel_adopt(struct sf_channel *channel);
/* Transfers the channel's stream to the caller, with all bytes after the last message. */
struct sf_stream sf_channel_leave(struct sf_channel *channel);
/* The beginning of a heartbeat that was already read, fewer bytes than a head has, for the caller to continue with. */
size_t sf_channel_rest(const struct sf_channel *channel, void *bytes);
/* Closes the sockets of a listener's port, and peers that connected to them but sent no CONNECT yet. */
void sf_channels_forget(const struct sf_control_listener *called);
/* Marks a listening socket: its new channels must send a first message. */
void sf_channel_listen(struct sf_channel *channel);

/* Sends a message with its head, completely or not at all. A message without descriptors may be buffered while the
 * channel connects or the peer is slow. Returns false if the peer does not read; the channel then ends. */
bool sf_channel_send(struct sf_channel *channel, const void *msg, const int *fds, unsigned num);
/* Sends a message that may be dropped. */
void sf_channel_send_optional(struct sf_channel *channel, const void *msg);

/* Connects to a process's agent or to a listener. address is its network address, or empty. A peer with the same
 * runtime folder is called there, unless by_network. Messages wait until the channel is connected; if that fails,
 * `ended` is called, with `why`. NOT_FOUND: nobody is there; AGAIN: its queue is full. */
doca_error_t sf_channel_call(enum sf_socket_kind kind, const struct sf_key *key, const char *address, bool by_network,
			     uint32_t scope, void *owner, struct sf_channel **channel);

/* ---- between channel.c, its parts and dial.c ---- */

/* Adds it to the open channels. */
void sf_channel_enter(struct sf_channel *channel, void *owner);
/* Polls for reading, and for the given events. Returns false with errno. */
bool sf_channel_watch(struct sf_channel *channel, int how, uint32_t events);
void sf_channel_send_kept(struct sf_channel *channel);
/* Handles what has come, until there is no more, or it ends. */
void sf_channel_read(struct sf_channel *channel);
/* Continues the handshake of a peer that connected. */
void sf_channel_shake(struct sf_channel *channel);
/* It has sent something, or is closed. */
void sf_channel_end_silence(struct sf_channel *channel);
/* Logs that a peer on the network was rejected, since it `what`. */
void sf_stranger_log_rejected(const char *what);
/* Closes it and notifies its owner. */
void sf_channel_end(struct sf_channel *channel);
void sf_dial_event(struct sf_channel *channel, uint32_t events);
/* The address failed with that errno: tries the next, or ends. */
void sf_dial_next(struct sf_channel *channel, int error);
/* Connecting is over, with or without success. */
void sf_dial_end(struct sf_channel *channel);
/* Watches the peer's machine: the TCP channel ends with it. */
void sf_channel_watch_machine(struct sf_channel *channel);

/* ---- for the agent ---- */

void sf_channel_event(struct sf_channel *channel, uint32_t events);
/* The agent has handled all ready sockets. */
void sf_channels_round(void);
/* Frees closed channels, enforces time limits. */
enum sf_pace sf_channels_tick(uint64_t now_ns);
/* Closes all channels. */
void sf_channels_close(void);
/* Polls the listening sockets, or stops polling them. */
void sf_channels_listen(bool on);
void sf_channels_after_fork(void);

#endif
