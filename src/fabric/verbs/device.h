/* SPDX-License-Identifier: BSD-3-Clause */
/* RDMA devices, and domains on them. */
#ifndef SF_FABRIC_VERBS_DEVICE_H
#define SF_FABRIC_VERBS_DEVICE_H

#include <pthread.h>
#include <sys/queue.h>

#include "fabric/fabric.h"
#include "fabric/control/agent.h"
#include "fabric/control/net.h"
#include "fabric/verbs/lib.h"
#include "fabric/verbs/wire.h"

#define VB_DEVICES_MAX 64
#define VB_PORT 1	 /* the port of the device that is used */
#define VB_SGE_MAX 17	 /* pieces of one work request: the record and the operation's pieces */
#define VB_PIECES_MAX 16 /* pieces of an operation; data with more pieces is copied */
#define VB_IOV_MAX 64
#define VB_RECV_IOV_MAX 6		 /* pieces of a receive */
#define VB_SPLIT_MAX (UINT32_C(1) << 30) /* bytes of one work request, even if the device accepts more */

/* Opened once per process and kept, because contexts are scarce. */
struct vb_device {
	char name[64];
	char key[96]; /* its name in the topology */
	struct ibv_context *context;
	struct ibv_pd *given; /* the program's protection domain, for domains opened from now on; or NULL */
};

struct vb_mr;

struct vb_domain {
	struct sf_domain base;
	struct vb_device *device;
	struct ibv_context *context; /* the device's, or that of the program's protection domain */
	struct ibv_pd *pd;
	bool pd_is_ours;
	struct ibv_cq *idle_cq; /* of queue pairs that only answer: nothing arrives there */
	struct sf_key id;
	uint32_t generation;
	union ibv_gid gid;
	int gid_index;
	uint32_t scope; /* the interface of that GID, for link-local addresses; or 0 */
	uint16_t lid;
	uint8_t mtu;
	uint32_t msg_max; /* bytes of one message on the wire */
	uint32_t split;	  /* bytes of one work request of a one-sided operation */
	uint32_t reads;	  /* reads and atomics at a time */
	uint32_t srq_max, cq_max;
	pthread_mutex_t lock;
	LIST_HEAD(, vb_region) regions; /* our own, not imports. Guarded by lock */
};

static inline struct vb_domain *vb_domain(struct sf_domain *domain)
{
	return (struct vb_domain *)domain;
}

doca_error_t sf_verbs_domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain);
void sf_verbs_domain_close(struct sf_domain *domain);
doca_error_t sf_verbs_domain_pd(struct sf_domain *domain, struct ibv_pd **pd);
doca_error_t sf_verbs_pd_device(struct ibv_pd *pd, const char **device);

/* Describes a queue pair for the peer, without the view. */
void sf_verbs_domain_end(const struct vb_domain *domain, const struct ibv_qp *qp, uint32_t psn, struct vb_msg_end *end);

/* ---- queue pairs ---- */

#define VB_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC)
#define VB_RNR_FOR_EVER 7

/* Creates a queue pair in INIT. depth: maximum of work requests in flight. srq: NULL for a queue pair that receives nothing.
 * *inline_max: as the device grants it. */
doca_error_t sf_verbs_qp_create(struct vb_domain *domain, struct ibv_cq *cq, struct ibv_srq *srq, uint32_t depth,
				struct ibv_qp **qp, uint32_t *inline_max);
/* Moves it from INIT to RTS, connected to the peer's. */
doca_error_t sf_verbs_qp_join(struct vb_domain *domain, struct ibv_qp *qp, uint32_t psn, const struct vb_msg_end *peer,
			      uint8_t rnr_retry);
/* Flushes its posted work. */
void sf_verbs_qp_fail(struct ibv_qp *qp);
/* Back to INIT. */
doca_error_t sf_verbs_qp_restart(struct ibv_qp *qp);

uint32_t sf_verbs_qp_random_psn(void);

/* ---- interfaces.c ---- */

/* The addresses by which peers find a device, IPv4 first. */
void sf_verbs_device_addresses(const char *device, struct sf_addresses *addresses);
/* The interface of a device's link-local addresses, or 0. */
uint32_t sf_verbs_device_scope(const char *device, int gid_index);
/* The domain's device, as the network knows it. */
static inline struct sf_net_device vb_net_device(const struct vb_domain *domain)
{
	return (struct sf_net_device){
		.name = domain->device->name, .scope = domain->scope, .addresses = sf_verbs_device_addresses};
}

#endif
