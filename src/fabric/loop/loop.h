/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The reference provider: both ends in one process. One lock guards everything, so that endpoints may belong to different
 * threads. The submitting call does all the work; poll only reports it.
 */
#ifndef SF_FABRIC_LOOP_LOOP_H
#define SF_FABRIC_LOOP_LOOP_H

#include <pthread.h>
#include <sys/queue.h>

#include "base/thread_safety.h"
#include "fabric/ep_queue.h"

#define LOOP_IOV_MAX 64

extern pthread_mutex_t loop_lock; /* guards all fields below that are shared between endpoints or threads */

struct loop_region {
	struct sf_region base;
	struct loop_region *owner GUARDED_BY(loop_lock); /* of an import; NULL once the owner closed its region */
	LIST_HEAD(, loop_region) imports;
	LIST_ENTRY(loop_region) entry; /* an owner: among all regions; an import: among its owner's */
	uint64_t id;
};

struct loop_ep {
	struct sf_ep base;
	struct sf_ep_handler handler;
	uint32_t recv_max;
	struct sf_ep_queue queue; /* guarded by loop_lock, as what follows */
	uint32_t posted_num GUARDED_BY(loop_lock), num_messages GUARDED_BY(loop_lock);
	struct sf_recv *posted GUARDED_BY(loop_lock),
		**posted_end GUARDED_BY(loop_lock); /* a receive's cookie is its capacity in bytes */
};

struct loop_listener {
	struct sf_listener base;
	char name[SF_NAME_MAX];
	uint32_t flags;
	LIST_ENTRY(loop_listener) entry;
	LIST_HEAD(, loop_conn) requests; /* the accepting sides of unanswered requests */
};

/* One side. The accepting side is created by the other's connect, and is the request until it is answered. */
struct loop_conn {
	struct sf_conn base;
	struct loop_conn *peer GUARDED_BY(loop_lock); /* NULL once it went away */
	bool waits GUARDED_BY(loop_lock);	      /* both sides: the request is unanswered */
	LIST_ENTRY(loop_conn) entry;
	struct sf_ep_event_with_data opened, closed;
};

/* region.c */
doca_error_t sf_loop_domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain);
void sf_loop_domain_close(struct sf_domain *domain);
doca_error_t sf_loop_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights,
				     struct sf_region **region);
void sf_loop_region_close(struct sf_region *region);
doca_error_t sf_loop_region_export(struct sf_region *region, void *descriptor, size_t *len);
doca_error_t sf_loop_region_request(struct sf_domain *domain, const void *descriptor, size_t len, struct sf_region **region);

/* ep.c */
doca_error_t sf_loop_ep_open(struct sf_domain *domain, const struct sf_ep_handler *handler, uint32_t recv_max, int event_fd,
			     struct sf_ep **ep);
void sf_loop_ep_close(struct sf_ep *ep);
uint32_t sf_loop_ep_poll(struct sf_ep *ep, uint32_t budget);
bool sf_loop_ep_arm(struct sf_ep *ep);
doca_error_t sf_loop_ep_post_recv(struct sf_ep *ep, struct sf_recv *recv);
void sf_loop_ep_flush_recvs(struct sf_ep *ep);
void sf_loop_ep_recv_due(struct loop_ep *ep) REQUIRES(loop_lock); /* the first posted one */

/* connect.c */
doca_error_t sf_loop_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user, struct sf_listener **listener);
void sf_loop_listener_close(struct sf_listener *listener);
doca_error_t sf_loop_conn_connect(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
				  void *user, struct sf_conn **conn);
doca_error_t sf_loop_conn_answer(struct sf_request *request, const void *data, size_t len, void *user, struct sf_conn **conn);
void sf_loop_conn_disconnect(struct sf_conn *conn);
void sf_loop_conn_close(struct sf_conn *conn);
void sf_loop_conn_ring(struct sf_conn *conn);

/* submit.c */
doca_error_t sf_loop_conn_submit(struct sf_conn *conn, struct sf_op *op);
doca_error_t sf_loop_region_access(struct sf_region *region, struct sf_op *op);

#endif
