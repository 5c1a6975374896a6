/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libibverbs, loaded when the first domain is opened, so that the core libraries do not depend on it. What rdma-core implements
 * as inline functions (post, poll, notify) needs no symbol and is called as usual.
 */
#ifndef SF_FABRIC_VERBS_LIB_H
#define SF_FABRIC_VERBS_LIB_H

#include <infiniband/verbs.h>

struct vb_lib {
	struct ibv_device **(*get_device_list)(int *num);
	void (*free_device_list)(struct ibv_device **list);
	const char *(*get_device_name)(struct ibv_device *device);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*close_device)(struct ibv_context *context);
	int (*query_device)(struct ibv_context *context, struct ibv_device_attr *attr);
	int (*query_port)(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr);
	int (*query_gid)(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	int (*dealloc_pd)(struct ibv_pd *pd);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *addr, size_t len, int access);
	int (*dereg_mr)(struct ibv_mr *mr);
	struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *context);
	int (*destroy_comp_channel)(struct ibv_comp_channel *channel);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int num, void *user, struct ibv_comp_channel *channel,
				    int vector);
	int (*destroy_cq)(struct ibv_cq *cq);
	int (*get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **user);
	void (*ack_cq_events)(struct ibv_cq *cq, unsigned int num);
	struct ibv_srq *(*create_srq)(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
	int (*destroy_srq)(struct ibv_srq *srq);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*destroy_qp)(struct ibv_qp *qp);
	const char *(*wc_status_str)(enum ibv_wc_status status);
};

/* Valid after sf_verbs_lib_load succeeded. */
extern struct vb_lib sf_verbs_lib;

/* Returns false, logged once, if the library is not installed. Any thread. */
_Bool sf_verbs_lib_load(void);

#endif
