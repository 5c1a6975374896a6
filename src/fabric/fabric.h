/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The fabric: moves bytes between nodes.
 *
 *   domain      an opened device                                  lives as long as the device is open
 *   region      memory registered in a domain                     lives without a progress engine, as a mmap does
 *   endpoint    a domain's presence on one progress engine        polled by one thread
 *   listener    a name under which an endpoint can be connected to
 *   connection  two connected endpoints: ordered and reliable
 *
 * A provider (loop, shm, ...) implements struct sf_fabric_ops. It sees base/ and this header only; no library names a
 * provider. Every call below goes through its object's operations. The default table (fabric.c) fills in missing operations,
 * which return DOCA_ERROR_NOT_SUPPORTED.
 *
 * Rules for all operations:
 *  - An endpoint, its listeners, its connections and posted receives belong to one thread at a time (the thread of the
 *    progress engine). Domains and regions may be used from any thread.
 *  - An accepted operation or receive completes exactly once, by its done callback, always from sf_ep_poll, never inside the
 * submitting call. A submit that fails never calls done.
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
#define SF_ADDRESS_MAX 200		    /* network address of a process, as text with its NUL */
#define SF_PRIVATE_MAX 1024		    /* private data of a connect, accept or reject, bytes */
#define SF_HEADER_MAX 48		    /* header bytes sent with a send or a write, and delivered with the receive */
#define SF_DESCRIPTOR_MAX 1024		    /* an exported region's descriptor, bytes */
#define SF_TRANSFER_MAX (UINT32_C(1) << 31) /* bytes of one operation */
#define SF_SMALL_MAX 4096		    /* bytes of a send that may be required not to wait */
/* How long a peer's agent may be silent while a call waits for its answer. A live agent that only waits for a processor
 * gets longer: see base/liveness.h. */
#define SF_SILENCE_LIMIT_NS UINT64_C(1000000000)

struct sf_fabric_ops;
struct sf_fabric_bridge_ops;
struct sf_control_listener;
struct sf_handshake;
struct sf_mapping;

struct sf_domain {
	const struct sf_fabric_ops *ops;
	bool reaches_others; /* some of its peers have network addresses */
};

struct sf_ep {
	const struct sf_fabric_ops *ops;
	struct sf_domain *domain;
};

struct sf_listener {
	const struct sf_fabric_ops *ops;
	struct sf_ep *ep;
	void *user;
	struct sf_control_listener *control; /* for connects of other processes; NULL: none can connect */
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
	uint64_t addr; /* the owner's virtual address, in an importer too: remote addresses are the owner's */
	uint64_t len;
	uint32_t rights;
	/* Of an own region: its descriptor carries the token and importers present it. Random; the library may replace
	 * it before the first export. */
	struct sf_key token;
	bool imported;
	void *mapped; /* addr in this process, for a ready import; NULL: see sf_region_map */
	/* Of a ready import: the bytes that are accessible without the provider; or NULL. */
	const struct sf_mapping *mapping;
};

enum sf_conn_state {
	SF_CONN_CONNECTING, /* submits return AGAIN until the peer's answer arrives */
	SF_CONN_READY,
	SF_CONN_CLOSED, /* disconnected by either side, rejected, or the peer is gone: submits return NOT_CONNECTED */
};

struct sf_conn {
	const struct sf_fabric_ops *ops;
	struct sf_ep *ep;
	void *user;		  /* for the library */
	enum sf_conn_state state; /* as last reported by a handler */
	bool is_stale; /* set by the library: another connection has used receives of the peer that this one counts on */
	struct sf_handshake *handshake; /* with the peer's agent; NULL: none */
};

/* Wakes a thread that sleeps until a region's bytes change (sf_region_arm). */
struct sf_region_doorbell {
	/* Called by the provider with its lock held: must not block or call the fabric. */
	void (*ring)(struct sf_region_doorbell *doorbell);
};

/* A piece of local memory. Any memory of the process may be a source; see sf_recv for destinations of receives. */
struct sf_iov {
	void *addr;
	size_t len;
};

enum sf_op_kind {
	SF_OP_SEND,  /* into the first posted receive of the peer's endpoint */
	SF_OP_WRITE, /* to remote memory; with header_len > 0 it also consumes a receive, which gets the header only */
	/* An aligned piece of 8 bytes is read and written atomically if the memory is mapped. A READ of more than 8
	 * bytes may see data of a later WRITE. */
	SF_OP_READ,
	SF_OP_CAS, /* 8 bytes, 8-aligned: if equal to compare store value; the old value goes to iov[0] */
	SF_OP_FAA, /* 8 bytes, 8-aligned: add value; the old value goes to iov[0] */
};

/* The name of an operation: "send", "write", ... */
SF_API const char *sf_op_name(enum sf_op_kind kind);

/* One operation on a connection. The caller owns it and what it points to; both must stay unchanged until done runs. */
struct sf_op {
	struct sf_op *next; /* the provider's while submitted */
	void (*done)(struct sf_op *op);
	struct sf_conn *conn; /* set by the submitting call */
	doca_error_t status;  /* result, valid in done; an operation that failed inside the submit may have it earlier */
	enum sf_op_kind kind;
	uint32_t iov_num;	  /* up to sf_fabric_ops.iov_max; 0 for an empty message */
	const struct sf_iov *iov; /* CAS, FAA: one piece of 8 bytes */
	uint32_t header_len;	  /* up to SF_HEADER_MAX; SEND and WRITE */
	bool must_not_wait;	  /* SEND of at most SF_SMALL_MAX bytes: it needs no later poll of ours; AGAIN instead */
	const void *header;
	struct sf_region *region; /* one-sided: an imported region (or one of the own domain, with loop) */
	uint64_t remote_addr;	  /* one-sided: the owner's virtual address inside region */
	uint64_t compare, value;  /* CAS, FAA */
};

/* Returns whether the operation consumes a receive of the peer. */
static inline bool sf_op_takes_receive(const struct sf_op *op)
{
	return op->kind == SF_OP_SEND || (op->kind == SF_OP_WRITE && op->header_len != 0);
}

/* One posted receive: shared by all connections of the endpoint, consumed in the order of posting. */
struct sf_recv {
	struct sf_recv *next; /* the provider's while posted */
	void (*done)(struct sf_recv *recv);
	struct sf_region *region; /* registered in the endpoint's domain, contains every piece of iov; NULL if iov_num is 0 */
	uint32_t iov_num;	  /* up to sf_fabric_ops.recv_iov_max */
	const struct sf_iov *iov;
	uint64_t cookie; /* for the provider: */
	uint32_t place;
	bool kept; /* never lent to a peer: this process copies the message */
	/* results, valid in done */
	doca_error_t status;  /* SUCCESS; CONNECTION_ABORTED when flushed */
	struct sf_conn *conn; /* the sender's connection; NULL when flushed */
	enum sf_op_kind kind; /* SF_OP_SEND or SF_OP_WRITE */
	uint32_t len;	      /* bytes received */
	uint32_t header_len;
	uint8_t header[SF_HEADER_MAX];
};

/* A peer that asks to connect, valid until accepted or rejected. */
struct sf_request;

/* Events of an endpoint besides completions. Every callback runs in sf_ep_poll. Any may be NULL. */
struct sf_ep_handler {
	/* A peer wants to connect to a listener without SF_LISTEN_AUTO. Answer with sf_conn_accept or sf_conn_reject, now or
	 * later. If the peer goes away first, accept fails with NOT_CONNECTED and the request is gone; or, before that is
	 * detected, accept succeeds and closed follows. */
	void (*request)(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len);
	/* A listener with SF_LISTEN_AUTO accepted a peer. Set conn->user here. Runs before the connection's first receive. */
	void (*accepted)(struct sf_listener *listener, struct sf_conn *conn, const void *data, size_t len);
	/* sf_conn_connect ended: SUCCESS (connection READY; data is the accepter's private data), or an error and the connection
	 * is CLOSED: NOT_FOUND no such listener, NOT_PERMITTED other user, CONNECTION_ABORTED rejected (data is the reason),
	 * TIME_OUT. */
	void (*connected)(struct sf_conn *conn, doca_error_t status, const void *data, size_t len);
	/* A READY connection ended: the peer disconnected (CONNECTION_RESET: all it sent was received first) or died
	 * (CONNECTION_ABORTED). Operations in flight finish with that status before this runs. Runs within a second of the peer's
	 * death, even if the peer could not disconnect. */
	void (*closed)(struct sf_conn *conn, doca_error_t reason);
};

enum sf_listen_flags {
	SF_LISTEN_AUTO = 1 << 0, /* accepted without the endpoint's thread: the peer's sf_conn_connect completes even if this side
				    does not poll */
};

/* At that port of the device's network addresses: see sf_listener_open. */
#define SF_LISTEN_AT(port) ((uint32_t)(port) << 16)

/* A provider's operations. Call them by the inline functions below, whose comments are the contract. Libraries see a
 * copy in which missing operations are filled in; domain_open receives that copy, and the provider stores it in the
 * domain and in every object created from it. */
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
	doca_error_t (*ep_post_recv)(struct sf_ep *ep, struct sf_recv *recv);
	void (*ep_flush_recvs)(struct sf_ep *ep);

	doca_error_t (*listener_open)(struct sf_ep *ep, const char *name, uint32_t flags, void *user,
				      struct sf_listener **listener);
	void (*listener_close)(struct sf_listener *listener);

	doca_error_t (*conn_connect)(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
				     void *user, struct sf_conn **conn);
	/* Accepts a request; rejects it if conn is NULL. */
	doca_error_t (*conn_answer)(struct sf_request *request, const void *data, size_t len, void *user, struct sf_conn **conn);
	void (*conn_disconnect)(struct sf_conn *conn);
	void (*conn_close)(struct sf_conn *conn);
	doca_error_t (*conn_submit)(struct sf_conn *conn, struct sf_op *op);
	void (*conn_ring)(struct sf_conn *conn);
	uint32_t (*conn_credits)(struct sf_conn *conn, uint32_t *len);
};

#define SF_FABRIC_OPS_MAX 24

_Static_assert((sizeof(struct sf_fabric_ops) - offsetof(struct sf_fabric_ops, domain_open)) / sizeof(void (*)(void)) <=
		       SF_FABRIC_OPS_MAX,
	       "the interface stays small: a new operation replaces one, or is data");

enum sf_caps {
	SF_CAP_OTHER_PROCESS = 1 << 0, /* connects to other processes of this machine */
	SF_CAP_OTHER_MACHINE = 1 << 1,
	SF_CAP_ONE_SIDED = 1 << 2, /* write and read */
	SF_CAP_ATOMIC = 1 << 3,
	SF_CAP_MAP = 1 << 4,	    /* sf_region_map of an imported region can succeed */
	SF_CAP_UNATTENDED = 1 << 6, /* receives of a stopped process are filled, and its memory is accessible, without it */
	SF_CAP_ATOMIC_CPU = 1 << 5, /* atomic with respect to the processor's own atomics too, not only to each other */
	SF_CAP_PIGGYBACK = 1 << 7,  /* acknowledgements travel with messages of the other direction of their connection */
};

#define SF_PROVIDER_NAME_MAX 32 /* a provider's name, with its NUL */

/* The prefix of the key of a real RDMA device of this machine; a name follows. */
#define SF_KEY_IBDEV "ibdev:"

/* The provider of that name ("shm", "loop", "faulty:shm", ...), or NULL. The name NULL gives the default between processes:
 * SOFTFIELD_FABRIC, else shm. */
SF_API const struct sf_fabric_ops *sf_fabric_find(const char *name);

/* The provider of a device by its key: SOFTFIELD_FABRIC, else verbs for a real RDMA device, else shm. */
SF_API const struct sf_fabric_ops *sf_fabric_of(const char *key);

/* A node on another machine. */
struct sf_fabric_node {
	const char *name;
	const char *address;	    /* a host name, or an IP address */
	uint16_t port;		    /* of `softfield node` */
	struct sf_port_range ports; /* of its programs */
};

/* The key that both ends of a connection between nodes must have. */
struct sf_fabric_key {
	const char *path; /* of its file */
	bool is_bare;	  /* on a trusted network: proved when a connection begins, without encryption of later data */
};

/* Sets the node of this process, which has an address: from here on domains of software devices also connect to
 * processes of the other nodes. Call once; may block for name look-ups. NOT_FOUND: its own name; those of others are
 * resolved again later. BAD_CONFIG. Logged. */
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

/* Registers memory. Cheap: pages are moved or pinned only by an export or a posted receive. Several regions may
 * overlap. */
static inline doca_error_t sf_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights,
					      struct sf_region **region)
{
	return domain->ops->region_register(domain, addr, len, rights, region);
}

/* Closes a region. On the owner: the memory is private again, importers' later operations complete with CONNECTION_ABORTED, and
 * mappings in other processes no longer refer to it (pages that an overlapping region also exports stay accessible until that one
 * is closed too). On an importer: unmaps it. May block briefly. */
static inline void sf_region_close(struct sf_region *region)
{
	region->ops->region_close(region);
}

/* Writes the descriptor (at most SF_DESCRIPTOR_MAX bytes; *len is room in, size out) by which another domain imports the
 * region. Opaque, versioned, checksummed; carries the region's token. Starts serving importers. May block. */
static inline doca_error_t sf_region_export(struct sf_region *region, void *descriptor, size_t *len)
{
	return region->ops->region_export(region, descriptor, len);
}

/* Imports a descriptor: a request, and a wait for the owner's answer, as long as SF_SILENCE_LIMIT_NS allows. INVALID_VALUE:
 * truncated or altered; UNSUPPORTED_VERSION; NOT_PERMITTED: wrong token or user; NOT_FOUND: the owner or its region is gone, or
 * the owner is silent (is it stopped?). */
SF_API doca_error_t sf_region_import(struct sf_domain *domain, const void *descriptor, size_t len, struct sf_region **region);

/* The same without waiting for the owner. Errors that are known immediately are returned here; the region is usable
 * once sf_region_ready returns SUCCESS. */
static inline doca_error_t sf_region_request(struct sf_domain *domain, const void *descriptor, size_t len,
					     struct sf_region **region)
{
	return domain->ops->region_request(domain, descriptor, len, region);
}

/* AGAIN until the owner has answered the request, for ever if the owner is stopped. Other errors are those of
 * sf_region_import; the region can then only be closed. Does not block. The provider's operation with a limit_ns other
 * than 0 waits for the answer; it logs and returns AGAIN if the owner was silent for that time. */
static inline doca_error_t sf_region_ready(struct sf_region *region)
{
	return region->ops->region_ready(region, 0);
}

/* Maps a region's bytes for direct loads and stores: *addr corresponds to region->addr. NOT_SUPPORTED if some byte
 * cannot be mapped (an edge, another machine). Valid until the region is closed. */
static inline doca_error_t sf_region_map(const struct sf_region *region, void **addr)
{
	if (region->mapped == NULL)
		return DOCA_ERROR_NOT_SUPPORTED;
	*addr = region->mapped;
	return DOCA_SUCCESS;
}

/* Executes a WRITE, READ, CAS or FAA on an imported or own region synchronously, from any thread, without connection, endpoint
 * or done callback (op's next, done, connection, region and status are ignored). The owner's program is not involved. Atomics
 * are atomic with respect to each other, and with SF_CAP_ATOMIC_CPU to the processor's own in every process.
 *   INVALID_VALUE       a SEND, a header, outside the region, or more than SF_TRANSFER_MAX or iov_max
 *   NOT_PERMITTED       the region's rights do not allow it
 *   CONNECTION_ABORTED  the owner died (detected within a second), cannot be reached, or closed the region; part of it may
 *                       have been done. After a network failure the next call tries again
 *   TIME_OUT            only the owner's agent can access these bytes, and did not answer for a second, or for five if it is
 *                       on another machine (is the owner stopped?); the operation may still be executed later. The only
 *                       case that blocks
 *   NOT_SUPPORTED       the provider accesses the region by connections only */
static inline doca_error_t sf_region_access(struct sf_region *region, struct sf_op *op)
{
	return region->ops->region_access(region, op);
}

/* Arms doorbell: it rings when the region's bytes may have changed and nothing else reports it.
 *   an exported region    An importer changed them through a device, and cannot see waiters here. Or an importer's
 *                         process ended: it may have died between its change and the wake-up.
 *   an imported region    The owner's process ended.
 * An importer that maps the bytes (sf_region_map) wakes waiters itself; its stores do not ring. The doorbell may ring more
 * often than armed. Changes made before this returns may not ring: read the bytes after it. Another doorbell replaces the
 * first; it must stay valid until the region is closed, and does not ring after that. Does not wait for a peer.
 *   SUCCESS  armed, until it rings
 *   AGAIN    armed, and an importer has a change in flight. If it stops polling, or is stopped, nothing reports the
 *            completion: poll the bytes as well */
static inline doca_error_t sf_region_arm(struct sf_region *region, struct sf_region_doorbell *doorbell)
{
	return region->ops->region_arm(region, doorbell);
}

/* Opens an endpoint. At most recv_max receives are posted at a time. event_fd is an eventfd of the caller, which outlives the
 * endpoint: the provider or a peer writes it when an armed endpoint has work; not for work that a call of the endpoint's own
 * thread creates (an operation that completes in its submit). */
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

/* Runs up to budget pending callbacks, at least 1, and returns how many ran. Never blocks. Costs a few loads when nothing is
 * pending. */
static inline uint32_t sf_ep_poll(struct sf_ep *ep, uint32_t budget)
{
	return ep->ops->ep_poll(ep, budget);
}

/* Arms the endpoint: event_fd is written once there is work. Returns true if there is work already; event_fd may then
 * be written or not. Otherwise the endpoint stays armed until event_fd is written, whether or not polls find work.
 * Arming again is allowed and may cause another write. No wake-up is lost between the arm and the peer's publication. */
static inline bool sf_ep_arm(struct sf_ep *ep)
{
	return ep->ops->ep_arm(ep);
}

/* Continues operations that a peer has not received completely, as far as possible now. Runs no callback, so handlers
 * and done callbacks may call it; polls do the same. For a caller that waits for a peer without polling. To the provider it is a
 * poll with a budget of 0. */
static inline void sf_ep_push(struct sf_ep *ep)
{
	(void)ep->ops->ep_poll(ep, 0);
}

/* Posts a receive. FULL: recv_max are posted. INVALID_VALUE: a piece outside its region. */
static inline doca_error_t sf_ep_post_recv(struct sf_ep *ep, struct sf_recv *recv)
{
	return ep->ops->ep_post_recv(ep, recv);
}

/* Cancels every posted receive that no sender holds: each completes from the next poll with CONNECTION_ABORTED. One
 * that a sender is filling ends with its message, or with CONNECTION_ABORTED if that sender does not finish within a
 * second. */
static inline void sf_ep_flush_recvs(struct sf_ep *ep)
{
	ep->ops->ep_flush_recvs(ep);
}

/* Listens on a name, in the runtime folder; or with SF_LISTEN_AT and SF_CAP_OTHER_MACHINE at a TCP port of the device's own
 * addresses, where anybody may connect to that name at HOST:PORT, from this machine or another. ALREADY_EXIST: a live process (or
 * this one) listens there. The name of a dead process is replaced. NOT_PERMITTED: the runtime folder is not ours. NOT_SUPPORTED:
 * SF_LISTEN_AT on a provider without SF_CAP_OTHER_MACHINE. May block briefly. */
static inline doca_error_t sf_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user,
					    struct sf_listener **listener)
{
	return ep->ops->listener_open(ep, name, flags, user, listener);
}

/* The listener's network address, for processes that do not share this one's runtime folder. Empty if none can connect,
 * as with a provider without SF_CAP_OTHER_MACHINE. From here on the process listens there; the address contains the
 * token that callers must present. May block briefly. BAD_CONFIG: it cannot listen at the configured address. */
SF_API doca_error_t sf_listener_address(struct sf_listener *listener, char address[SF_ADDRESS_MAX]);

/* Stops listening. Pending requests are rejected; connections stay. */
static inline void sf_listener_close(struct sf_listener *listener)
{
	listener->ops->listener_close(listener);
}

/* Starts to connect to a listener: in the runtime folder, where address is NULL or empty; else the result of sf_listener_address,
 * or HOST:PORT, with an IPv6 address in brackets. handler.connected reports the outcome exactly once, unless the connection is
 * closed first. Completes without a poll of the peer only if the listener is SF_LISTEN_AUTO. Does not block. */
static inline doca_error_t sf_conn_connect(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
					   void *user, struct sf_conn **conn)
{
	return ep->ops->conn_connect(ep, name, address, data, len, user, conn);
}

/* Waits until the peer's agent has answered a connect. From here on a connection to an SF_LISTEN_AUTO listener accepts
 * operations, which no longer need the peer's agent. The outcome of the connect is reported as usual. TIME_OUT: the
 * agent was silent for SF_SILENCE_LIMIT_NS (is the peer stopped?); the connect continues. Does not wait for the peer's
 * program if the listener is not SF_LISTEN_AUTO. */
SF_API doca_error_t sf_conn_wait(struct sf_conn *conn);

/* The peer's process id; 0: not known yet, or in another container, or on another machine. Any thread. */
SF_API int sf_conn_peer_pid(struct sf_conn *conn);

/* Accepts a request on its listener's endpoint; the connection is READY immediately. NOT_CONNECTED: the peer is gone. */
static inline doca_error_t sf_conn_accept(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len,
					  void *user, struct sf_conn **conn)
{
	return listener->ops->conn_answer(request, data, len, user, conn);
}

/* Rejects a request, with a reason for the peer's connected callback. */
static inline void sf_conn_reject(struct sf_listener *listener, struct sf_request *request, const void *data, size_t len)
{
	(void)listener->ops->conn_answer(request, data, len, NULL, NULL);
}

/* Begins to disconnect, from any state; may be repeated. Operations in flight complete from poll (with their result if they took
 * effect, else CONNECTION_ABORTED). The peer receives earlier messages, then its closed callback runs. The local closed callback
 * does not run. A connection still connecting is reported by connected, with CONNECTION_ABORTED. Messages that the peer has
 * already sent may still be reported until the connection is closed. */
static inline void sf_conn_disconnect(struct sf_conn *conn)
{
	conn->ops->conn_disconnect(conn);
}

/* Frees a connection, disconnecting first if need be. No operation of it may be in flight (disconnect, then poll). Receives with
 * unreported messages complete as if flushed: CONNECTION_ABORTED, connection NULL. */
static inline void sf_conn_close(struct sf_conn *conn)
{
	conn->ops->conn_close(conn);
}

/* Of an accepted operation before done: a provider's own thread may be completing it. */
static inline doca_error_t sf_op_status(const struct sf_op *op)
{
	return __atomic_load_n(&op->status, __ATOMIC_RELAXED);
}

/* Called by that thread. */
static inline void sf_op_set_status(struct sf_op *op, doca_error_t status)
{
	__atomic_store_n(&op->status, status, __ATOMIC_RELAXED);
}

/* Submits an operation.
 *   AGAIN          the peer has no receive posted, a queue is full, or the connection is still connecting: try again later;
 *                  the peer clears the condition, no local poll is needed (so a connection that the peer accepted accepts
 *                  operations before a poll reports it connected). op->status becomes EMPTY if the receive is missing, and
 *                  else is unchanged
 *   TOO_BIG        the message is larger than the peer's first receive, which stays posted
 *   NOT_CONNECTED  the connection is closed
 *   NOT_PERMITTED  the region's rights do not allow it
 *   INVALID_VALUE  outside the region, or more than SF_TRANSFER_MAX or iov_max
 * These five are decided inside the submit. SUCCESS leaves op->status unchanged, unless the operation has failed already. The
 * status in done is SUCCESS, or CONNECTION_ABORTED if the peer died or the region closed meanwhile. */
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

/* Returns the number of credits: posted receives of the peer with the length of the first, *len. Other processes' connections may
 * use them first: then a submit returns AGAIN. 0: none is posted, the connection is not READY, or the provider sees receives only
 * in a submit. */
static inline uint32_t sf_conn_credits(struct sf_conn *conn, uint32_t *len)
{
	return conn->ops->conn_credits(conn, len);
}

/* For providers: the common checks. */

/* Returns true if [addr, addr + len) is inside [base, base + size). A range that overflows is outside. */
static inline bool sf_range_inside(uint64_t addr, uint64_t len, uint64_t base, uint64_t size)
{
	return addr >= base && len <= size && addr - base <= size - len;
}

/* The sum of the list's bytes. UINT64_MAX if a piece or the sum exceeds SF_TRANSFER_MAX. */
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

/* Checks a submit for INVALID_VALUE, NOT_SUPPORTED and NOT_PERMITTED, and logs them; *len is the bytes of iov. The
 * provider then checks the state of the connection and of its peer (NOT_CONNECTED, AGAIN, TOO_BIG). */
doca_error_t sf_op_check(const struct sf_conn *conn, const struct sf_op *op, uint64_t *len);

/* The same for sf_region_access. */
doca_error_t sf_access_check(const struct sf_region *region, const struct sf_op *op, uint64_t *len);

/* Checks a post for INVALID_VALUE; *len is the capacity of iov. */
doca_error_t sf_recv_check(const struct sf_ep *ep, const struct sf_recv *recv, uint64_t *len);

/* INVALID_VALUE: name is NULL, empty or longer than SF_NAME_MAX - 1, the address is longer than SF_ADDRESS_MAX - 1, or
 * data exceeds SF_PRIVATE_MAX. */
doca_error_t sf_name_check(const char *name, const char *address, const void *data, size_t len);

#endif
