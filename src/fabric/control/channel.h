/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A control channel: a socket between two agents, and the messages that come by it. Everything here is guarded by
 * sf_control_lock.
 *
 * A socket of the runtime folder belongs to a process of our user. Anybody may connect by the network: until such a peer has sent
 * the agent's token in a HELLO, the agent looks at nothing else of it. At a TCP port that a program listens to (SF_LISTEN_AT)
 * anybody may call, as with RDMA's channel manager. A caller there can only call that listener.
 *
 * A channel is a guest until a channel or an import takes it over. A process may have few guests here, and a guest that stays
 * silent is closed. So no process uses up what others need.
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
#define SF_GUESTS_OF_PROCESS_MAX 16 /* one is its agent's; the others have asked for nothing yet, or were closed */
#define SF_GUESTS_OF_UNSEEN_MAX (SF_GUESTS_MAX / 2) /* of all processes whose number means nothing here, together */
#define SF_STRANGERS_MAX 64			    /* silent ones from the network; above that the oldest is closed, */
#define SF_STRANGER_GRACE_NS UINT64_C(100000000)    /* but not before this */
#define SF_STRANGER_GRACE_ROUNDS 3		    /* nor before so many rounds of the agent */
#define SF_FIRST_WORD_LIMIT_NS UINT64_C(3000000000) /* for a new peer's first message */

struct sf_control_listener;

enum sf_trust {
	SF_TRUST_PEER,	    /* whatever it says is heard */
	SF_TRUST_STRANGER,  /* has to bring the token */
	SF_TRUST_CALLER,    /* may call `called` */
	SF_TRUST_REQUESTER, /* may ask where a listener is */
};

/* Where a channel may yet be made to. */
struct sf_dial {
	struct sf_addresses addresses;
	uint32_t at;	/* the address that is tried */
	uint32_t scope; /* the interface by which link-local addresses are reached */
	uint64_t since_ns;
};

struct sf_channel {
	struct sf_stream stream;
	int pid; /* of a peer of the runtime folder, 0 if unknown */
	bool open;
	bool is_stream; /* TCP: no descriptors, and messages come in pieces */
	bool is_guest;
	bool is_silent;			    /* it came, and has said nothing */
	bool is_shaking;		    /* it came, and the proof of the key is not over */
	bool may_beat;			    /* it was made from here; or it came, and has asked for something */
	bool keep_fd;			    /* the descriptor is somebody else's */
	bool is_other;			    /* of two sides, one speaks TLS and the other does not: `why` is NOT_PERMITTED */
	bool reset;			    /* the other side closed with something unread */
	uint8_t trust;			    /* enum sf_trust */
	struct sf_control_listener *called; /* of a port's socket, and of those whom it took */
	struct sf_liveness speaking;	    /* of a silent one */
	uint64_t since_ns;		    /* when a stranger came */
	uint32_t since_round;		    /* in the agent's rounds */
	struct sf_dial *dial;		    /* while there is no channel yet */
	struct sf_heartbeat heartbeat;	    /* of TCP */
	doca_error_t why; /* there came none: NOT_FOUND, nobody listens there; TIME_OUT, no way there; NOT_PERMITTED, the keys
			     differ. Else SUCCESS */
	/* readable, or the two others. A whole, checked message, and its descriptors: those that the receiver keeps it replaces
	 * by -1. False: the peer breaks the rules, or does not read, and the channel ends. */
	void (*readable)(struct sf_channel *channel);
	bool (*message)(struct sf_channel *channel, const struct sf_msg *msg, int *fds);
	void (*ended)(struct sf_channel *channel); /* the other side is gone, or broke a rule; the channel is closed */
	void *owner;
	struct sf_channel *next, *previous;
	uint8_t *out; /* messages that wait to be sent, or NULL */
	size_t out_len;
	uint8_t *in; /* of a stream: the beginning of a message, or NULL */
	size_t in_len;
};

/* Takes over fd when it succeeds. NO_MEMORY; OPERATING_SYSTEM, logged. */
doca_error_t sf_channel_open(int fd, void *owner, struct sf_channel **channel);
void sf_channel_close(struct sf_channel *channel);
/* A connection or an import has it from here on. */
void sf_channel_adopt(struct sf_channel *channel);
/* The channel's stream becomes the caller's, with all that the peer has said since its last message. */
struct sf_stream sf_channel_leave(struct sf_channel *channel);
/* The beginning of a heartbeat that was read before that, for the caller to go on with: fewer bytes than a head has. */
size_t sf_channel_rest(const struct sf_channel *channel, void *bytes);
/* Closes the sockets of a listener's port, and peers that connected to them and have not called yet. */
void sf_channels_forget(const struct sf_control_listener *called);
/* It is a listening socket: whom it takes is asked for a first message. */
void sf_channel_listen(struct sf_channel *channel);

/* Sends a message with its head, whole or not at all. Without descriptors it may wait for the channel, or for a peer that is
 * behind. A peer that does not read what it is sent loses the channel: false. */
bool sf_channel_send(struct sf_channel *channel, const void *msg, const int *fds, unsigned num);
/* One that the peer can do without. */
void sf_channel_send_optional(struct sf_channel *channel, const void *msg);

/* To a process's agent, or a listener. address is where it is by the network, or empty; who has one runtime folder with us is
 * called there all the same, unless it is to be by_network. What is sent waits until there is a channel; if none comes about,
 * `ended` is called, with `why`. NOT_FOUND: nobody is there; AGAIN: there is no room in its queue. */
doca_error_t sf_channel_call(enum sf_socket_kind kind, const struct sf_key *key, const char *address, bool by_network,
			     uint32_t scope, void *owner, struct sf_channel **channel);

/* ---- between channel.c and dial.c ---- */

/* It is among the open ones. */
void sf_channel_enter(struct sf_channel *channel, void *owner);
/* For reading, and what is asked for besides. False, and errno. */
bool sf_channel_watch(struct sf_channel *channel, int how, uint32_t events);
void sf_channel_send_kept(struct sf_channel *channel);
/* Closes it and notifies its owner. */
void sf_channel_end(struct sf_channel *channel);
void sf_dial_event(struct sf_channel *channel, uint32_t events);
/* This address leads nowhere, for that errno: another, or the end. */
void sf_dial_next(struct sf_channel *channel, int error);
/* There is a channel, or there will be none. */
void sf_dial_end(struct sf_channel *channel);
/* It is a peer's, by TCP: it ends with the peer's machine. */
void sf_channel_watch_machine(struct sf_channel *channel);

/* ---- for the agent ---- */

void sf_channel_event(struct sf_channel *channel, uint32_t events);
/* The agent has seen to all that was ready. */
void sf_channels_round(void);
/* Frees what was closed, gives up what takes too long. */
enum sf_pace sf_channels_tick(uint64_t now_ns);
/* Ends all of them. */
void sf_channels_close(void);
/* Waits on the listening sockets, or does not. */
void sf_channels_listen(bool on);
void sf_channels_after_fork(void);

#endif
