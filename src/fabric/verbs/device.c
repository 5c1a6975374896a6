/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/verbs/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/thread_safety.h"
#include "fabric/control/agent.h"
#include "fabric/control/net.h"

#define GID_TYPE_SIZE 32
#define ACK_TIMEOUT 14 /* 67 ms for an acknowledgement, */
#define ACK_RETRIES 7  /* so many times */
#define RNR_TIMER 1    /* 10 us until a sender that found no receive tries again */
#define HOP_LIMIT 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vb_device devices[VB_DEVICES_MAX] GUARDED_BY(lock); /* never removed */
static uint32_t devices_num GUARDED_BY(lock);
SF_FORK_LOCK(SF_FORK_PROVIDER, &lock, NULL);

/* ---- devices ---- */

static REQUIRES(lock) struct vb_device *device_known(const char *name)
{
	for (uint32_t i = 0; i < devices_num; i++) {
		if (strcmp(devices[i].name, name) == 0)
			return &devices[i];
	}
	return NULL;
}

static REQUIRES(lock) struct vb_device *device_add(struct ibv_device *found, const char *name)
{
	struct vb_device *device = &devices[devices_num];
	struct ibv_context *context;

	if (devices_num == VB_DEVICES_MAX)
		return NULL;
	context = sf_verbs_lib.open_device(found);
	if (context == NULL) {
		SF_LOG_ERR("RDMA device %s cannot be opened: %s; may this user open /dev/infiniband/uverbs*?", name,
			   strerror(errno));
		return NULL;
	}
	(void)snprintf(device->name, sizeof(device->name), "%s", name);
	(void)snprintf(device->key, sizeof(device->key), SF_KEY_IBDEV "%s", name);
	device->context = context;
	devices_num++;
	return device;
}

/* The device of that name, or the first one if name is NULL. */
static REQUIRES(lock) struct vb_device *device_find(const char *name)
{
	struct vb_device *device = name != NULL ? device_known(name) : NULL;
	int num = 0;
	struct ibv_device **list = device == NULL ? sf_verbs_lib.get_device_list(&num) : NULL;

	for (int i = 0; i < num && device == NULL; i++) {
		const char *candidate = sf_verbs_lib.get_device_name(list[i]);

		if (name != NULL && strcmp(name, candidate) != 0)
			continue;
		device = device_known(candidate);
		if (device == NULL)
			device = device_add(list[i], candidate);
		if (name != NULL)
			break;
	}
	if (list != NULL)
		sf_verbs_lib.free_device_list(list);
	return device;
}

/* A key that the topology gave a real device names it. For any other key SOFTFIELD_VERBS_DEVICE names the device, or the first
 * one is used. */
static REQUIRES(lock) struct vb_device *find_by_key(const char *key)
{
	const char *forced = secure_getenv("SOFTFIELD_VERBS_DEVICE");
	const char *name = strstr(key, SF_KEY_IBDEV);

	if (name != NULL)
		name += strlen(SF_KEY_IBDEV);
	else if (forced != NULL && forced[0] != '\0')
		name = forced;

	struct vb_device *device = device_find(name);

	if (device == NULL)
		SF_LOG_ERR("no RDMA device %s for %s: is it there (ibv_devices), and its port up?",
			   name != NULL ? name : "at all", key);
	return device;
}

/* ---- its address ---- */

static void gid_type(const struct vb_domain *domain, int index, char type[GID_TYPE_SIZE])
{
	char path[160];
	FILE *file;

	(void)snprintf(path, sizeof(path), "/sys/class/infiniband/%.63s/ports/%d/gid_attrs/types/%d", domain->device->name,
		       VB_PORT, index);
	file = fopen(path, "re");
	type[0] = '\0';
	if (file == NULL)
		return;
	if (fgets(type, GID_TYPE_SIZE, file) == NULL)
		type[0] = '\0';
	fclose(file);
}

static bool gid_is_set(const union ibv_gid *gid)
{
	return gid->global.interface_id != 0;
}

static bool gid_is_ipv4(const union ibv_gid *gid)
{
	static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	return memcmp(gid->raw, mapped, sizeof(mapped)) == 0;
}

/* Prefers RoCE version 2 over IPv4, then version 2 over IPv6, then the first entry. */
static void choose_gid(struct vb_domain *domain, int num)
{
	int best = -1;

	for (int i = 0; i < num; i++) {
		char type[GID_TYPE_SIZE];
		union ibv_gid gid;

		if (sf_verbs_lib.query_gid(domain->context, VB_PORT, i, &gid) != 0 || !gid_is_set(&gid))
			continue;
		gid_type(domain, i, type);

		int worth = strstr(type, "v2") == NULL ? 0 : gid_is_ipv4(&gid) ? 2 : 1;

		if (worth <= best)
			continue;
		best = worth;
		domain->gid = gid;
		domain->gid_index = i;
	}
}

static doca_error_t look_up(struct vb_domain *domain)
{
	struct ibv_device_attr device;
	struct ibv_port_attr port;

	memset(&port, 0, sizeof(port));
	if (sf_verbs_lib.query_device(domain->context, &device) != 0 ||
	    sf_verbs_lib.query_port(domain->context, VB_PORT, &port) != 0) {
		SF_LOG_ERR("RDMA device %s does not report its attributes: %s", domain->device->name, strerror(errno));
		return DOCA_ERROR_DRIVER;
	}
	if (port.state != IBV_PORT_ACTIVE) {
		SF_LOG_ERR("port %d of RDMA device %s is not active: bring its network up", VB_PORT, domain->device->name);
		return DOCA_ERROR_DRIVER;
	}
	if (device.max_sge < VB_SGE_MAX || device.max_srq == 0 || device.max_srq_sge < VB_RECV_IOV_MAX + 1) {
		SF_LOG_ERR("RDMA device %s supports %d pieces and %d in shared receives: %d and %d are needed",
			   domain->device->name, device.max_sge, device.max_srq_sge, VB_SGE_MAX, VB_RECV_IOV_MAX + 1);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	domain->lid = port.lid;
	domain->mtu = (uint8_t)port.active_mtu;
	domain->msg_max = port.max_msg_sz;
	domain->split = port.max_msg_sz < VB_SPLIT_MAX ? port.max_msg_sz : VB_SPLIT_MAX;
	domain->reads = (uint32_t)(device.max_qp_rd_atom < 16 ? device.max_qp_rd_atom : 16);
	domain->srq_max = (uint32_t)device.max_srq_wr;
	domain->cq_max = (uint32_t)device.max_cqe;
	choose_gid(domain, port.gid_tbl_len);
	domain->scope = sf_verbs_device_scope(domain->device->name, domain->gid_index);
	return DOCA_SUCCESS;
}

/* ---- domains ---- */

static doca_error_t open_pd(struct vb_domain *domain)
{
	struct ibv_pd *given = domain->device->given;

	domain->context = given != NULL ? given->context : domain->device->context;
	domain->pd = given != NULL ? given : sf_verbs_lib.alloc_pd(domain->context);
	domain->pd_is_ours = given == NULL;
	if (domain->pd != NULL)
		domain->idle_cq = sf_verbs_lib.create_cq(domain->context, 1, NULL, NULL, 0);
	if (domain->idle_cq != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("cannot allocate a protection domain of RDMA device %s: %s", domain->device->name, strerror(errno));
	return DOCA_ERROR_DRIVER;
}

static void domain_free(struct vb_domain *domain)
{
	if (domain->idle_cq != NULL)
		sf_verbs_lib.destroy_cq(domain->idle_cq);
	if (domain->pd != NULL && domain->pd_is_ours && sf_verbs_lib.dealloc_pd(domain->pd) != 0)
		SF_LOG_WARN("the protection domain of RDMA device %s is still in use by the program", domain->device->name);
	pthread_mutex_destroy(&domain->lock);
	free(domain);
}

doca_error_t sf_verbs_domain_open(const struct sf_fabric_ops *ops, const char *key, struct sf_domain **out)
{
	struct vb_domain *domain;
	doca_error_t error;

	if (!sf_verbs_lib_load()) {
		SF_LOG_ERR("libibverbs cannot be loaded, so %s cannot be used: install rdma-core", key);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	domain = calloc(1, sizeof(*domain));
	if (domain == NULL)
		return DOCA_ERROR_NO_MEMORY;
	domain->base.ops = ops;
	domain->base.reaches_others = true;
	pthread_mutex_init(&domain->lock, NULL);
	LIST_INIT(&domain->regions);
	pthread_mutex_lock(&lock);
	domain->device = find_by_key(key);
	error = domain->device != NULL ? open_pd(domain) : DOCA_ERROR_NOT_FOUND;
	pthread_mutex_unlock(&lock);
	if (error == DOCA_SUCCESS)
		error = look_up(domain);
	if (error == DOCA_SUCCESS)
		error = sf_key_random(&domain->id);
	if (error == DOCA_SUCCESS)
		error = sf_net_check();
	if (error == DOCA_SUCCESS)
		error = sf_control_hold(&domain->generation);
	if (error != DOCA_SUCCESS) {
		domain_free(domain);
		return error;
	}
	*out = &domain->base;
	return DOCA_SUCCESS;
}

void sf_verbs_domain_close(struct sf_domain *base)
{
	struct vb_domain *domain = vb_domain(base);

	if (domain->generation != sf_control_generation())
		return; /* the parent's */
	sf_control_release(domain->generation);
	domain_free(domain);
}

doca_error_t sf_verbs_domain_pd(struct sf_domain *domain, struct ibv_pd **pd)
{
	*pd = vb_domain(domain)->pd;
	return DOCA_SUCCESS;
}

/* Without a device there is no protection domain, whatever the pointer is. */
static bool any_device(void)
{
	int num = 0;
	struct ibv_device **list = sf_verbs_lib_load() ? sf_verbs_lib.get_device_list(&num) : NULL;

	if (list != NULL)
		sf_verbs_lib.free_device_list(list);
	return num > 0;
}

doca_error_t sf_verbs_pd_device(struct ibv_pd *pd, const char **key)
{
	struct vb_device *device = NULL;

	if (!any_device())
		return DOCA_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&lock);
	device = device_find(sf_verbs_lib.get_device_name(pd->context->device));
	if (device != NULL) {
		device->given = pd;
		*key = device->key;
	}
	pthread_mutex_unlock(&lock);
	if (device != NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("the protection domain's device is not among the RDMA devices of this machine");
	return DOCA_ERROR_NOT_FOUND;
}

void sf_verbs_domain_end(const struct vb_domain *domain, const struct ibv_qp *qp, uint32_t psn, struct vb_msg_end *end)
{
	memset(end, 0, sizeof(*end));
	end->domain = domain->id;
	memcpy(end->gid, domain->gid.raw, sizeof(end->gid));
	end->qpn = qp->qp_num;
	end->psn = psn;
	end->lid = domain->lid;
	end->mtu = domain->mtu;
	end->reads = domain->reads;
}

/* ---- queue pairs ---- */

uint32_t sf_verbs_qp_random_psn(void)
{
	uint32_t psn = 0;

	if (getrandom(&psn, sizeof(psn), 0) != sizeof(psn))
		psn = (uint32_t)sf_now_ns();
	return psn & 0xffffff;
}

static doca_error_t call_failed(const char *what)
{
	SF_LOG_ERR("%s: %s", what, strerror(errno));
	return errno == ENOMEM ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_DRIVER;
}

static int to_init(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = VB_PORT, .qp_access_flags = VB_ACCESS};

	return sf_verbs_lib.modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

doca_error_t sf_verbs_qp_create(struct vb_domain *domain, struct ibv_cq *cq, struct ibv_srq *srq, uint32_t depth,
				struct ibv_qp **qp, uint32_t *inline_max)
{
	static const uint32_t inlines[] = {256, 128, 64, 0};

	*qp = NULL;
	for (size_t i = 0; i < sizeof(inlines) / sizeof(inlines[0]) && *qp == NULL; i++) {
		struct ibv_qp_init_attr attr = {.send_cq = cq, .recv_cq = cq, .srq = srq, .qp_type = IBV_QPT_RC};

		attr.cap.max_send_wr = depth;
		attr.cap.max_recv_wr = srq == NULL;
		attr.cap.max_send_sge = VB_SGE_MAX;
		attr.cap.max_recv_sge = srq == NULL;
		attr.cap.max_inline_data = inlines[i];
		*qp = sf_verbs_lib.create_qp(domain->pd, &attr);
		*inline_max = inlines[i];
	}
	if (*qp == NULL)
		return call_failed("cannot create a queue pair");
	if (to_init(*qp) == 0)
		return DOCA_SUCCESS;
	sf_verbs_lib.destroy_qp(*qp);
	return call_failed("cannot set up a queue pair");
}

static int to_receive(struct vb_domain *domain, struct ibv_qp *qp, const struct vb_msg_end *peer)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR};

	attr.path_mtu = (enum ibv_mtu)(peer->mtu < domain->mtu ? peer->mtu : domain->mtu);
	attr.dest_qp_num = peer->qpn;
	attr.rq_psn = peer->psn;
	attr.max_dest_rd_atomic = (uint8_t)domain->reads;
	attr.min_rnr_timer = RNR_TIMER;
	attr.ah_attr.dlid = peer->lid;
	attr.ah_attr.port_num = VB_PORT;
	memcpy(attr.ah_attr.grh.dgid.raw, peer->gid, sizeof(peer->gid));
	attr.ah_attr.is_global = gid_is_set(&attr.ah_attr.grh.dgid);
	attr.ah_attr.grh.sgid_index = (uint8_t)domain->gid_index;
	attr.ah_attr.grh.hop_limit = HOP_LIMIT;
	return sf_verbs_lib.modify_qp(qp, &attr,
				      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					      IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int to_send(struct vb_domain *domain, struct ibv_qp *qp, uint32_t psn, const struct vb_msg_end *peer, uint8_t rnr_retry)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTS, .timeout = ACK_TIMEOUT, .retry_cnt = ACK_RETRIES};

	attr.rnr_retry = rnr_retry;
	attr.sq_psn = psn;
	attr.max_rd_atomic = (uint8_t)(peer->reads < domain->reads ? peer->reads : domain->reads);
	return sf_verbs_lib.modify_qp(qp, &attr,
				      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
					      IBV_QP_MAX_QP_RD_ATOMIC);
}

doca_error_t sf_verbs_qp_join(struct vb_domain *domain, struct ibv_qp *qp, uint32_t psn, const struct vb_msg_end *peer,
			      uint8_t rnr_retry)
{
	if (to_receive(domain, qp, peer) != 0 || to_send(domain, qp, psn, peer, rnr_retry) != 0)
		return call_failed("cannot connect a queue pair to the peer's (no route to its address?)");
	return DOCA_SUCCESS;
}

void sf_verbs_qp_fail(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

	(void)sf_verbs_lib.modify_qp(qp, &attr, IBV_QP_STATE);
}

doca_error_t sf_verbs_qp_restart(struct ibv_qp *qp)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

	if (sf_verbs_lib.modify_qp(qp, &attr, IBV_QP_STATE) == 0 && to_init(qp) == 0)
		return DOCA_SUCCESS;
	return call_failed("cannot restart a queue pair");
}
