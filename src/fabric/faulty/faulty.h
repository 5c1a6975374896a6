/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider that wraps another and injects failures that the fabric's contracts allow, according to SOFTFIELD_FAULTS
 * (base/faults.h, docs/faults.md): its rules conn., op., peer., poll., region. and import. A device uses it if there is such a
 * rule, or if SOFTFIELD_FABRIC names it.
 *
 * Unlike real providers this one allocates on the data path.
 */
#ifndef SF_FABRIC_FAULTY_FAULTY_H
#define SF_FABRIC_FAULTY_FAULTY_H

#include <sys/queue.h>

#include "base/faults.h"
#include "fabric/fabric.h"

#define FAULTY_PREFIX "faulty:"
#define FAULTY_PAUSE_MAX 16

/* Fills the table of "faulty:INNER" under that name; the caller keeps the string. */
void sf_faulty_ops(const struct sf_fabric_ops *inner, const char *name, struct sf_fabric_ops *ops);

struct faulty_domain {
	struct sf_domain base;
	struct sf_domain *inner;
	struct sf_faults *faults;
	char device[]; /* its key */
};

struct faulty_region {
	struct sf_region base;
	struct sf_region *inner;
};

struct faulty_listener {
	struct sf_listener base;
	struct sf_listener *inner;
	LIST_HEAD(, faulty_request) requests;
};

struct faulty_request {
	LIST_ENTRY(faulty_request) entry;
	struct faulty_listener *listener;
	struct sf_request *inner;
};

struct faulty_conn {
	struct sf_conn base;
	struct sf_conn *inner; /* NULL for a connect rejected by a fault */
	uint32_t in_flight;
	struct sf_faults *faults;
	uint64_t stopped_until; /* the peer receives nothing before */
	bool ending;		/* among its endpoint's endings */
	bool broken;		/* ended by a fault, in any state */
	doca_error_t reason;	/* why it ends */
	TAILQ_ENTRY(faulty_conn) ending_entry;
};

struct faulty_ep {
	struct sf_ep base;
	struct sf_ep *inner;
	struct sf_ep_handler handler;
	int event_fd;
	bool armed;
	struct sf_faults *faults;
	uint32_t pause;			    /* polls to skip */
	uint64_t late_until;		    /* nothing is reported before */
	struct sf_op *failed, **failed_end; /* completed without the inner provider */
	TAILQ_HEAD(, faulty_conn) endings;  /* connections ended by this provider: rejected connects, closes */
};

/* An inner operation or receive, and the original. */
struct faulty_op {
	struct sf_op inner;
	struct sf_op *op;
};

struct faulty_recv {
	struct sf_recv inner;
	struct sf_recv *recv;
};

/* endpoint.c */
doca_error_t sf_faulty_ep_open(struct sf_domain *domain, const struct sf_ep_handler *handler, uint32_t recv_max, int event_fd,
			       struct sf_ep **ep);
void sf_faulty_ep_close(struct sf_ep *ep);
uint32_t sf_faulty_ep_poll(struct sf_ep *ep, uint32_t budget);
bool sf_faulty_ep_arm(struct sf_ep *ep);
doca_error_t sf_faulty_ep_post_recv(struct sf_ep *ep, struct sf_recv *recv);
void sf_faulty_ep_flush_recvs(struct sf_ep *ep);
void sf_faulty_ep_ring(struct faulty_ep *ep); /* work of this provider is pending */

/* conn.c */
extern const struct sf_ep_handler faulty_handler;
doca_error_t sf_faulty_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user,
				     struct sf_listener **listener);
void sf_faulty_listener_close(struct sf_listener *listener);
doca_error_t sf_faulty_conn_connect(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
				    void *user, struct sf_conn **conn);
doca_error_t sf_faulty_conn_answer(struct sf_request *request, const void *data, size_t len, void *user, struct sf_conn **conn);
void sf_faulty_conn_disconnect(struct sf_conn *conn);
void sf_faulty_conn_close(struct sf_conn *conn);
doca_error_t sf_faulty_conn_submit(struct sf_conn *conn, struct sf_op *op);
void sf_faulty_conn_ring(struct sf_conn *conn);
uint32_t sf_faulty_conn_credits(struct sf_conn *conn, uint32_t *len);

#endif
