/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric: how bytes reach another node.
 *
 *   domain      an opened device                                  lives as long as the device is open
 *   region      memory registered in a domain                     lives without a progress engine, as a mmap does
 *   endpoint    a domain's presence on one progress engine        polled by one thread
 *   listener    a name under which an endpoint can be connected to
 *   connection  two endpoints joined: ordered and reliable
 *
 * A provider (loop, shm, ...) implements struct sf_fabric_ops. It sees base/ and this header only; no library names a
 * provider. Every call below goes through the object it is made on. What a provider lacks is filled by the default
 * table (fabric.c), which answers DOCA_ERROR_NOT_SUPPORTED.
 *
 * Rules for all operations:
 *  - An endpoint, its listeners, its connections and what is posted on them belong to one thread at a time (the thread of the
 *    progress engine). Domains and regions may be used from any thread.
 *  - An operation or receive that was accepted is finished exactly once, by its done callback, always from
 *    sf_ep_poll, never inside the submitting call. A submit that fails never reports.
 *  - Nothing on the data path (post, send, write, read, atomic, poll) blocks, allocates or waits for the peer.
 *  - Every handler and done callback runs inside sf_ep_poll. It may post, send, connect and disconnect; it may not
 *    close the endpoint and may not poll. It may close the connection it is about, except from inside a done callback.
 *  - Whatever the peer wrote is untrusted: a provider checks it before use, and a peer that dies, stalls or lies costs
 *    its own connections and nothing else.
 */
#ifndef SF_FABRIC_FABRIC_H
#define SF_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <doca_error.h>

#include "base/port_range.h"
#include "base/visibility.h"
#include "fabric/key.h"

#define SF_NAME_MAX 256			    /* a listener's name, with its NUL */
#define SF_ADDRESS_MAX 200		    /* where a process is found by a network, as text with its NUL */
#define SF_PRIVATE_MAX 1024		    /* private data of a connect, accept or reject, bytes */
#define SF_HEADER_MAX 48		    /* header bytes that travel with a send or a write and arrive with the receive */
#define SF_DESCRIPTOR_MAX 1024		    /* an exported region's descriptor, bytes */
#define SF_TRANSFER_MAX (UINT32_C(1) << 31) /* bytes of one operation */
/* How long a peer's agent may be silent while a call waits for its answer. One that lives and only lacks a processor is waited
 * for longer: base/liveness.h has the rule. */
#define SF_SILENCE_LIMIT_NS UINT64_C(1000000000)

struct sf_fabric_ops;
struct sf_fabric_bridge_ops;
struct sf_control_listener;
struct sf_handshake;
struct sf_mapping;

struct sf_domain {
	const struct sf_fabric_ops *ops;
	bool reaches_others; /* of its peers some are found by an address on a network */
};

struct sf_ep {
	const struct sf_fabric_ops *ops;
	struct sf_domain *domain;
};

struct sf_listener {
	const struct sf_fabric_ops *ops;
	struct sf_ep *ep;
	void *user;
	struct sf_control_listener *control; /* how other processes find it; NULL: none do */
};

/* Rights of a region's importers. The owner itself may always do everything. */
enum sf_rights {
	SF_RIGHT_READ = 1 << 0,
	SF_RIGHT_WRITE = 1 << 1,
	SF_RIGHT_ATOMIC = 1 << 2,
};

struct sf_region {
	const struct sf_fabric_ops *ops;
	struct sf_domain *domain;
	uint64_t addr; /* the owner's virtual address, also in an importer: remote addresses are the owner's */
	uint64_t len;
	uint32_t rights;
	/* Of an own region: what its descriptor carries and importers present. Random; the library may put another here before
	 * the first export. */
	struct sf_key token;
	bool imported;
	void *mapped; /* addr in this process, of an import once it is ready; NULL: see sf_region_map */
	/* Of an import that is ready: the bytes that one may reach without the provider; or NULL. */
	const struct sf_mapping *mapping;
};

enum sf_conn_state {
	SF_CONN_CONNECTING, /* sends are refused with AGAIN until the peer's answer is there */
	SF_CONN_READY,
	SF_CONN_CLOSED, /* disconnected by either side, refused, or the peer is gone: sends are refused with NOT_CONNECTED */
};

struct sf_conn {
	const struct sf_fabric_ops *ops;
	struct sf_ep *ep;
	void *user;			/* the library's */
	enum sf_conn_state state;	/* as last reported by a handler */
	struct sf_handshake *handshake; /* with the peer's agent; NULL: it has none */
};

/* Wakes a thread that sleeps until a region's bytes change (sf_region_arm). */
struct sf_region_doorbell {
	/* Called by the provider with its lock held: it never blocks and calls nothing of the fabric. */
	void (*ring)(struct sf_region_doorbell *doorbell);
};

/* A piece of local memory. Any memory of the process may be a source; see sf_recv for destinations of receives. */
struct sf_iov {
	void *addr;
	size_t len;
};

enum sf_op_kind {
	SF_OP_SEND,  /* into the receive that the peer endpoint posted first */
	SF_OP_WRITE, /* to remote memory; with header_len > 0 it also takes a receive, which gets the header and no bytes */
	/* 8 bytes in one piece, and 8-aligned, are written and read whole where the memory is mapped. More than 8 bytes read may
	 * be what a WRITE behind it wrote. */
	SF_OP_READ,
	SF_OP_CAS, /* 8 bytes, 8-aligned: if equal to compare store value; the old value goes to iov[0] */
	SF_OP_FAA, /* 8 bytes, 8-aligned: add value; the old value goes to iov[0] */
};

/* "send", "write", ...: of any of them. */
SF_API const char *sf_op_name(enum sf_op_kind kind);

/* One operation on a connection. The caller owns it and what it points to; both must stay as they are until done runs. */
struct sf_op {
	struct sf_op *next; /* the provider's while submitted */
	void (*done)(struct sf_op *op);
	struct sf_conn *conn; /* set by the submitting call */
	doca_error_t status;  /* result, valid in done; an operation that failed at once may have it after the submit */
	enum sf_op_kind kind;
	uint32_t iov_num;	  /* up to sf_fabric_ops.iov_max; 0 for an empty message */
	const struct sf_iov *iov; /* CAS, FAA: one piece of 8 bytes */
	uint32_t header_len;	  /* up to SF_HEADER_MAX; SEND and WRITE */
	const void *header;
	struct sf_region *region; /* one-sided: an imported region (or one of the own domain, with loop) */
	uint64_t remote_addr;	  /* one-sided: the owner's virtual address inside region */
	uint64_t compare, value;  /* CAS, FAA */
};

/* One posted receive: shared by all connections of the endpoint, taken in the order of posting. */
struct sf_recv {
	struct sf_recv *next; /* the provider's while posted */
	void (*done)(struct sf_recv *recv);
	struct sf_region *region; /* registered in the endpoint's domain and holding every piece of iov; NULL when iov_num is 0 */
	uint32_t iov_num;	  /* up to sf_fabric_ops.recv_iov_max */
	const struct sf_iov *iov;
	uint64_t cookie; /* the provider's, as is: */
	uint32_t place;
	bool kept; /* no peer may be given this memory to write to: what arrives is copied there by this process */
	/* results, valid in done */
	doca_error_t status;  /* SUCCESS; NOT_CONNECTED class when flushed (CONNECTION_ABORTED) */
	struct sf_conn *conn; /* from whom; NULL when flushed */
	enum sf_op_kind kind; /* SF_OP_SEND or SF_OP_WRITE */
	uint32_t len;	      /* bytes received */
	uint32_t header_len;
	uint8_t header[SF_HEADER_MAX];
};

/* A peer that asks to connect, valid until accepted or rejected. */
struct sf_request;

/* What happens on an endpoint besides completions. Every callback runs in sf_ep_poll. Any may be NULL. */
struct sf_ep_handler {
	/* A peer wants to connect to a listener without SF_LISTEN_AUTO. Answer with sf_conn_accept or sf_conn_reject, now or
	 * later. If the peer goes away first, accept fails with NOT_CONNECTED and the request is gone; or, while the news is
	 * still on its way, accept succeeds and closed follows. */
	void (*request)(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len);
	/* A listener with SF_LISTEN_AUTO accepted a peer. Set conn->user here. Runs before the connection's first receive. */
	void (*accepted)(struct sf_listener *listener, struct sf_conn *conn, const void *data, size_t len);
	/* sf_conn_connect ended: SUCCESS (connection READY; data is the accepter's private data), or an error and the connection
	 * is CLOSED: NOT_FOUND no such listener, NOT_PERMITTED other user, CONNECTION_ABORTED rejected (data is the reason),
	 * TIME_OUT. */
	void (*connected)(struct sf_conn *conn, doca_error_t status, const void *data, size_t len);
	/* A READY connection ended: the peer disconnected (CONNECTION_RESET: all it sent was received first) or died
	 * (CONNECTION_ABORTED). Operations in flight finish with that status before this runs. Within a second of the
	 * peer's death, whether or not the peer could say goodbye. */
	void (*closed)(struct sf_conn *conn, doca_error_t reason);
};

enum sf_listen_flags {
	SF_LISTEN_AUTO =
		1 << 0, /* accepted without the endpoint's thread: the peer's sf_conn_connect completes though we do not poll */
};

/* At that port of the device's network addresses: see sf_listener_open. */
#define SF_LISTEN_AT(port) ((uint32_t)(port) << 16)

/* What a provider implements. The inline functions below are how everybody calls it; each one's comment is its contract.
 * Libraries see a copy in which what a provider left NULL is filled; that copy is what domain_open is given, and what the
 * provider writes into the domain and into every object it makes there. */
struct sf_fabric_ops {
	const char *name;
	uint32_t caps;				   /* SF_CAP_* */
	uint32_t iov_max;			   /* pieces of one operation */
	uint32_t recv_iov_max;			   /* pieces of one receive */
	const struct sf_fabric_bridge_ops *bridge; /* to rdma-core (fabric/bridge.h), or NULL */

	doca_error_t (*domain_open)(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain);
	void (*domain_close)(struct sf_domain *domain);

	doca_error_t (*region_register)(struct sf_domain *domain, void *addr, size_t len, uint32_t rights,
					struct sf_region **region);
	void (*region_close)(struct sf_region *region);
	doca_error_t (*region_export)(struct sf_region *region, void *descriptor, size_t *len);
	doca_error_t (*region_request)(struct sf_domain *domain, const void *descriptor, size_t len, struct sf_region **region);
	doca_error_t (*region_ready)(struct sf_region *region, uint64_t limit_ns);
	doca_error_t (*region_access)(struct sf_region *region, struct sf_op *op);
	doca_error_t (*region_arm)(struct sf_region *region, struct sf_region_doorbell *doorbell);

	doca_error_t (*ep_open)(struct sf_domain *domain, const struct sf_ep_handler *handler, uint32_t recv_max, int event_fd,
				struct sf_ep **ep);
	void (*ep_close)(struct sf_ep *ep);
	uint32_t (*ep_poll)(struct sf_ep *ep, uint32_t budget);
	bool (*ep_arm)(struct sf_ep *ep);
	void (*ep_push)(struct sf_ep *ep);
	doca_error_t (*ep_post_recv)(struct sf_ep *ep, struct sf_recv *recv);
	void (*ep_flush_recvs)(struct sf_ep *ep);

	doca_error_t (*listener_open)(struct sf_ep *ep, const char *name, uint32_t flags, void *user,
				      struct sf_listener **listener);
	void (*listener_close)(struct sf_listener *listener);

	doca_error_t (*conn_connect)(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
				     void *user, struct sf_conn **conn);
	doca_error_t (*conn_accept)(struct sf_request *request, const void *data, size_t len, void *user, struct sf_conn **conn);
	void (*conn_reject)(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len);
	void (*conn_disconnect)(struct sf_conn *conn);
	void (*conn_close)(struct sf_conn *conn);
	doca_error_t (*conn_submit)(struct sf_conn *conn, struct sf_op *op);
	void (*conn_ring)(struct sf_conn *conn);
	uint32_t (*conn_credits)(struct sf_conn *conn, uint32_t *len);
};

enum sf_caps {
	SF_CAP_OTHER_PROCESS = 1 << 0, /* reaches other processes of this machine */
	SF_CAP_OTHER_MACHINE = 1 << 1,
	SF_CAP_ONE_SIDED = 1 << 2, /* write and read */
	SF_CAP_ATOMIC = 1 << 3,
	SF_CAP_MAP = 1 << 4,	    /* sf_region_map of an imported region can succeed */
	SF_CAP_UNATTENDED = 1 << 6, /* a stopped process's receives are filled, and its memory is reached, without it */
	SF_CAP_ATOMIC_CPU = 1 << 5, /* atomics are atomic against the processor's own too, not only against each other */
};

#define SF_PROVIDER_NAME_MAX 32 /* a provider's name, with its NUL */

/* A device's key that holds this, followed by a name, is a real RDMA device of this machine. */
#define SF_KEY_IBDEV "ibdev:"

/* The provider of that name ("shm", "loop", "faulty:shm", ...), or NULL. The name NULL gives the default between processes:
 * SOFTFIELD_FABRIC, else shm. */
SF_API const struct sf_fabric_ops *sf_fabric_find(const char *name);

/* The provider of a device by its key: SOFTFIELD_FABRIC, else verbs for a real RDMA device, else shm. */
SF_API const struct sf_fabric_ops *sf_fabric_of(const char *key);

/* A node that is a machine of its own. */
struct sf_fabric_node {
	const char *name;
	const char *address;	    /* a host name, or an IP address */
	uint16_t port;		    /* where `softfield node` answers */
	struct sf_port_range ports; /* where its programs listen */
};

/* What both ends of a connection between nodes must have. */
struct sf_fabric_key {
	const char *path; /* of a file */
	bool is_bare; /* on a network that is trusted: it is proved when a connection begins, and what follows is not encrypted */
};

/* This process is of a node with an address: from here on domains of software devices reach processes of the other nodes too.
 * Once; may block, to look up names. NOT_FOUND: its own; those of others are looked up again later. BAD_CONFIG. Logged. */
SF_API doca_error_t sf_fabric_join(const struct sf_fabric_node *self, const struct sf_fabric_node *others, uint32_t num,
				   const struct sf_fabric_key *key);

/* Opens the device (a key such as "host0/0000:d8:00.0") in a provider. May block briefly. */
static inline doca_error_t sf_domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain)
{
	return ops->domain_open(ops, device, domain);
}

/* Closes a domain that has no endpoints and no regions. */
static inline void sf_domain_close(struct sf_domain *domain)
{
	domain->ops->domain_close(domain);
}

/* Registers memory. Cheap: nothing is moved or pinned until it is exported or named in a receive. Several regions may overlap. */
static inline doca_error_t sf_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights,
					      struct sf_region **region)
{
	return domain->ops->region_register(domain, addr, len, rights, region);
}

/* Ends a region. On the owner: the memory is the process's own again, importers' later operations are done with
 * CONNECTION_ABORTED, and mappings in other processes no longer reach it (pages that an overlapping region also exports
 * stay reachable until that one is closed too). On an importer: the mapping goes. May block briefly. */
static inline void sf_region_close(struct sf_region *region)
{
	region->ops->region_close(region);
}

/* Writes the descriptor (at most SF_DESCRIPTOR_MAX bytes; *len is room in, size out) by which another domain imports the
 * region. Opaque, versioned, checksummed; carries the region's token. Starts whatever serves importers. May block. */
static inline doca_error_t sf_region_export(struct sf_region *region, void *descriptor, size_t *len)
{
	return region->ops->region_export(region, descriptor, len);
}

/* Imports a descriptor: a request, and a wait for the owner's answer, as long as SF_SILENCE_LIMIT_NS allows. INVALID_VALUE:
 * truncated or altered; UNSUPPORTED_VERSION; NOT_PERMITTED: wrong token or user; NOT_FOUND: the owner or its region is gone, or
 * the owner is silent (is it stopped?). */
SF_API doca_error_t sf_region_import(struct sf_domain *domain, const void *descriptor, size_t len, struct sf_region **region);

/* The same without waiting for the owner: an error that is known immediately is returned here, and the region may be used when
 * sf_region_ready returns SUCCESS. */
static inline doca_error_t sf_region_request(struct sf_domain *domain, const void *descriptor, size_t len,
					     struct sf_region **region)
{
	return domain->ops->region_request(domain, descriptor, len, region);
}

/* AGAIN while the owner's answer to the request is on its way, for ever if the owner is stopped. Other errors are those of
 * sf_region_import, and the region is good for closing only. Does not block.
 * The provider's operation with a limit_ns other than 0 waits for the answer, and logs and returns AGAIN when the owner was
 * silent for so long. */
static inline doca_error_t sf_region_ready(struct sf_region *region)
{
	return region->ops->region_ready(region, 0);
}

/* Where a region's bytes can be loaded and stored directly in this process: *addr stands for region->addr.
 * NOT_SUPPORTED when not every byte can (an edge, another machine). Valid until the region is closed. */
static inline doca_error_t sf_region_map(const struct sf_region *region, void **addr)
{
	if (region->mapped == NULL)
		return DOCA_ERROR_NOT_SUPPORTED;
	*addr = region->mapped;
	return DOCA_SUCCESS;
}

/* Carries out a WRITE, READ, CAS or FAA on an imported region, or on one's own, before it returns: no connection, no endpoint, no
 * done callback (op's next, done, connection, region and status are not looked at), and any number of threads at a time. The
 * owner's program takes no part. Atomics are atomic against each other, and with SF_CAP_ATOMIC_CPU against the processor's own in
 * every process that reaches the word. INVALID_VALUE       a SEND, a header, outside the region, or more than SF_TRANSFER_MAX or
 * iov_max NOT_PERMITTED       the region's rights do not allow it CONNECTION_ABORTED  the owner died (noticed within a second),
 * is not reached, or closed the region; part of it may have been done. If the network was cut and is not any more, the next call
 * reaches the owner again TIME_OUT            only the owner's agent reaches these bytes, and did nothing for a second (is the
 * owner stopped?); what it was asked may be done yet. The one case that blocks NOT_SUPPORTED       the provider reaches the
 * region by connections only */
static inline doca_error_t sf_region_access(struct sf_region *region, struct sf_op *op)
{
	return region->ops->region_access(region, op);
}

/* Asks for doorbell to be rung once somebody may have to look at the region's bytes and is not told otherwise.
 *   an exported region    An importer changed them through a device, where it cannot see who sleeps here. Or an importer's
 *                         process ended: it may have died between its change and the wake-up that was to follow.
 *   an imported region    The owner's process ended.
 * An importer that maps the bytes (sf_region_map) wakes sleepers itself; its stores ring nothing. The doorbell may ring more
 * often than armed. What was changed before this returned may ring nothing: look at the bytes after it. Another doorbell replaces
 * the first; it stays where it is until the region is closed, and does not ring after that. Does not wait for a peer.
 *   SUCCESS  armed, until it rings
 *   AGAIN    armed, and an importer has submitted a change that it has not seen the end of. If it stops polling, or is stopped,
 *            nobody will tell of that end: poll the bytes as well */
static inline doca_error_t sf_region_arm(struct sf_region *region, struct sf_region_doorbell *doorbell)
{
	return region->ops->region_arm(region, doorbell);
}

/* Opens an endpoint. At most recv_max receives are posted at a time. event_fd is an eventfd of the caller's, which outlives the
 * endpoint: it is written when something becomes due on an armed endpoint, by the provider or by a peer; not for what a call of
 * the endpoint's own thread leaves due (an operation that is done in its submit). */
static inline doca_error_t sf_ep_open(struct sf_domain *domain, const struct sf_ep_handler *handler, uint32_t recv_max,
				      int event_fd, struct sf_ep **ep)
{
	return domain->ops->ep_open(domain, handler, recv_max, event_fd, ep);
}

/* Closes an endpoint with no connections, listeners or posted receives left. */
static inline void sf_ep_close(struct sf_ep *ep)
{
	ep->ops->ep_close(ep);
}

/* Runs up to budget callbacks that are due, and returns how many ran. Never blocks. Costs a few loads when nothing is due. */
static inline uint32_t sf_ep_poll(struct sf_ep *ep, uint32_t budget)
{
	return ep->ops->ep_poll(ep, budget);
}

/* Asks for event_fd to be written once something becomes due. Returns true when something is due already: then event_fd may be
 * written or not. Else the endpoint stays armed until event_fd was written: polling does not disarm, whether it finds something
 * or not. Arming again is allowed and may bring another write. No wake-up is lost between the arm and the peer's publication. */
static inline bool sf_ep_arm(struct sf_ep *ep)
{
	return ep->ops->ep_arm(ep);
}

/* Goes on with operations that were accepted and that a peer has not taken whole, as far as it takes them now. Runs no callback,
 * so that handlers and done callbacks may call it: polls do the same. For a caller that waits for a peer and does not poll. */
static inline void sf_ep_push(struct sf_ep *ep)
{
	ep->ops->ep_push(ep);
}

/* Posts a receive. FULL: recv_max are posted. INVALID_VALUE: a piece outside its region. */
static inline doca_error_t sf_ep_post_recv(struct sf_ep *ep, struct sf_recv *recv)
{
	return ep->ops->ep_post_recv(ep, recv);
}

/* Takes back every posted receive that no sender holds: each is done from the next poll with CONNECTION_ABORTED. One that a
 * sender is just filling ends with its message, or with CONNECTION_ABORTED if that sender does not finish within a second. */
static inline void sf_ep_flush_recvs(struct sf_ep *ep)
{
	ep->ops->ep_flush_recvs(ep);
}

/* Listens on a name, in the runtime folder; or with SF_LISTEN_AT and SF_CAP_OTHER_MACHINE at a TCP port of the device's own
 * addresses, where anybody may call it by that name at HOST:PORT, from this machine or another. ALREADY_EXIST: a live process (or
 * this one) listens there. A name left by a dead process is taken over. NOT_PERMITTED: the runtime folder is not ours.
 * NOT_SUPPORTED: SF_LISTEN_AT on a provider that reaches no other machine. May block briefly. */
static inline doca_error_t sf_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user,
					    struct sf_listener **listener)
{
	return ep->ops->listener_open(ep, name, flags, user, listener);
}

/* Where processes find the listener that do not share this one's runtime folder. Empty where none can, as with a provider without
 * SF_CAP_OTHER_MACHINE. From here on it listens there; who comes has to bring what the address holds.
 * May block briefly. BAD_CONFIG: it cannot listen where the user wants it to. */
SF_API doca_error_t sf_listener_address(struct sf_listener *listener, char address[SF_ADDRESS_MAX]);

/* Stops listening. Pending requests are refused; connections stay. */
static inline void sf_listener_close(struct sf_listener *listener)
{
	listener->ops->listener_close(listener);
}

/* Starts to connect to a listener: in the runtime folder, where address is NULL or empty; else what sf_listener_address said, or
 * HOST:PORT, where an IPv6 address is in brackets. handler.connected reports the end, exactly once, unless the connection is
 * closed first. Progresses without the peer's endpoint being polled only when the listener is SF_LISTEN_AUTO. Does not block. */
static inline doca_error_t sf_conn_connect(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
					   void *user, struct sf_conn **conn)
{
	return ep->ops->conn_connect(ep, name, address, data, len, user, conn);
}

/* Waits until the peer's agent has answered a connect: from here on a connection to an SF_LISTEN_AUTO listener takes operations,
 * and they reach the peer without its agent, too. How the connect ends is reported as ever. TIME_OUT: the agent was silent for
 * SF_SILENCE_LIMIT_NS (is the peer stopped?); the connect goes on. Its program, when a listener without SF_LISTEN_AUTO asks it,
 * is not waited for. */
SF_API doca_error_t sf_conn_wait(struct sf_conn *conn);

/* The peer's process, as seen from here; 0: not known yet, or in another container, or on another machine. Any thread. */
SF_API int sf_conn_peer_pid(struct sf_conn *conn);

/* Accepts a request on its listener's endpoint; the connection is READY at once. NOT_CONNECTED: the peer is gone. */
static inline doca_error_t sf_conn_accept(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len,
					  void *user, struct sf_conn **conn)
{
	return listener->ops->conn_accept(request, data, len, user, conn);
}

/* Refuses a request, with a reason for the peer's connected callback. */
static inline void sf_conn_reject(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len)
{
	listener->ops->conn_reject(listener, request, data, len);
}

/* Begins the end, from any state; may be repeated. Operations in flight finish from poll (with their result if they took
 * effect, else CONNECTION_ABORTED). What was sent before reaches the peer, then its closed callback runs. Our own closed
 * callback does not run. A connection still connecting is reported by connected, with CONNECTION_ABORTED. What
 * the peer sent before it learns of it may still be reported until the connection is closed. */
static inline void sf_conn_disconnect(struct sf_conn *conn)
{
	conn->ops->conn_disconnect(conn);
}

/* Frees a connection, disconnecting first if need be. No operation of it may be in flight (disconnect, then poll). Receives that
 * its messages filled and that no poll has reported yet are done as if flushed: CONNECTION_ABORTED, connection NULL. */
static inline void sf_conn_close(struct sf_conn *conn)
{
	conn->ops->conn_close(conn);
}

/* Of an operation that was accepted, before done: a provider's own thread may be ending it. */
static inline doca_error_t sf_op_status(const struct sf_op *op)
{
	return __atomic_load_n(&op->status, __ATOMIC_RELAXED);
}

/* By that thread. */
static inline void sf_op_set_status(struct sf_op *op, doca_error_t status)
{
	__atomic_store_n(&op->status, status, __ATOMIC_RELAXED);
}

/* Submits an operation.
 *   AGAIN          the peer has no receive posted, a queue is full, or the connection is still connecting: try again later; it
 *                  clears by the peer's doing, without a poll of ours
 *                  (so a connection whose peer accepted takes operations though no poll has reported it connected yet).
 *                  op->status becomes EMPTY if it is the receive that is missing, and else stays as it was
 *   TOO_BIG        the message is larger than the peer's first receive, which stays posted
 *   NOT_CONNECTED  the connection is closed
 *   NOT_PERMITTED  the region's rights do not allow it
 *   INVALID_VALUE  outside the region, or more than SF_TRANSFER_MAX or iov_max
 * These five are decided at once. SUCCESS leaves op->status as it was, unless the operation has failed at once. The status in
 * done is SUCCESS, or CONNECTION_ABORTED when the peer died or the region ended under way. */
static inline doca_error_t sf_conn_submit(struct sf_conn *conn, struct sf_op *op)
{
	return conn->ops->conn_submit(conn, op);
}

/* Wakes the peer's armed endpoint, for a library that put a message into shared memory of its own. Any thread, once
 * the connection was reported connected or accepted. */
static inline void sf_conn_ring(struct sf_conn *conn)
{
	conn->ops->conn_ring(conn);
}

/* Returns how many of the peer's posted receives the next messages may use, as far as they have the length of the first, *len.
 * Connections of other processes may use them first: then a submit returns AGAIN. 0: none is posted, the connection is not READY,
 * or the provider knows of receives only in a submit. */
static inline uint32_t sf_conn_credits(struct sf_conn *conn, uint32_t *len)
{
	return conn->ops->conn_credits(conn, len);
}

/* For providers: the checks that are the same everywhere. */

/* Is [addr, addr + len) inside [base, base + size)? Overflows are outside. */
static inline bool sf_range_inside(uint64_t addr, uint64_t len, uint64_t base, uint64_t size)
{
	return addr >= base && len <= size && addr - base <= size - len;
}

/* Bytes in a list. UINT64_MAX when a piece or the sum is larger than SF_TRANSFER_MAX. */
static inline uint64_t sf_iov_len(const struct sf_iov *iov, uint32_t num)
{
	uint64_t len = 0;

	for (uint32_t i = 0; i < num; i++) {
		if (iov[i].len > SF_TRANSFER_MAX)
			return UINT64_MAX;
		len += iov[i].len;
	}
	return len <= SF_TRANSFER_MAX ? len : UINT64_MAX;
}

/* Decides INVALID_VALUE, NOT_SUPPORTED and NOT_PERMITTED of a submit, and logs them; *len is the bytes of iov. The state of
 * the connection and of its peer (NOT_CONNECTED, AGAIN, TOO_BIG) is the provider's to decide, after this. */
doca_error_t sf_op_check(const struct sf_conn *conn, const struct sf_op *op, uint64_t *len);

/* The same for sf_region_access. */
doca_error_t sf_access_check(const struct sf_region *region, const struct sf_op *op, uint64_t *len);

/* Decides INVALID_VALUE of a post; *len is the room in iov. */
doca_error_t sf_recv_check(const struct sf_ep *ep, const struct sf_recv *recv, uint64_t *len);

/* A name NULL or "" never; longer than SF_NAME_MAX - 1, an address longer than SF_ADDRESS_MAX - 1 or data above SF_PRIVATE_MAX
 * neither: INVALID_VALUE. */
doca_error_t sf_name_check(const char *name, const char *address, const void *data, size_t len);

#endif
