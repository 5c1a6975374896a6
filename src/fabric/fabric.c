/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of providers, their default operations, and their shared checks. */
#include "fabric/fabric.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/faults.h"
#include "base/log.h"

extern const struct sf_fabric_ops sf_loop_ops;
extern const struct sf_fabric_ops sf_shm_ops;
extern const struct sf_fabric_ops sf_tcp_ops;
#ifndef SF_NO_IBVERBS
extern const struct sf_fabric_ops sf_verbs_ops;
#endif
void sf_faulty_ops(const struct sf_fabric_ops *inner, const char *name, struct sf_fabric_ops *ops);

/* The default table: a missing operation is not supported; a missing operation that only ends something has no effect. */

static doca_error_t no_domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **domain)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static void no_domain_close(struct sf_domain *domain) {}

static doca_error_t no_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights,
				       struct sf_region **region)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static void no_region_close(struct sf_region *region) {}

static doca_error_t no_region_export(struct sf_region *region, void *descriptor, size_t *len)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t no_region_request(struct sf_domain *domain, const void *descriptor, size_t len, struct sf_region **region)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* The request did everything. */
static doca_error_t plain_region_ready(struct sf_region *region, uint64_t limit_ns)
{
	return DOCA_SUCCESS;
}

static doca_error_t no_region_access(struct sf_region *region, struct sf_op *op)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

/* Owner and importers are one process: it wakes its own waiters, and no part of it dies alone. */
static doca_error_t plain_region_arm(struct sf_region *region, struct sf_region_doorbell *doorbell)
{
	return DOCA_SUCCESS;
}

static doca_error_t no_ep_open(struct sf_domain *domain, const struct sf_ep_handler *handler, uint32_t recv_max, int event_fd,
			       struct sf_ep **ep)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static void no_ep_close(struct sf_ep *ep) {}

static uint32_t no_ep_poll(struct sf_ep *ep, uint32_t budget)
{
	return 0;
}

static bool no_ep_arm(struct sf_ep *ep)
{
	return false;
}

static doca_error_t no_ep_post_recv(struct sf_ep *ep, struct sf_recv *recv)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static void no_ep_flush_recvs(struct sf_ep *ep) {}

static doca_error_t no_listener_open(struct sf_ep *ep, const char *name, uint32_t flags, void *user,
				     struct sf_listener **listener)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static void no_listener_close(struct sf_listener *listener) {}

static doca_error_t no_conn_connect(struct sf_ep *ep, const char *name, const char *address, const void *data, size_t len,
				    void *user, struct sf_conn **conn)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static doca_error_t no_conn_answer(struct sf_request *request, const void *data, size_t len, void *user, struct sf_conn **conn)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static void no_conn_end(struct sf_conn *conn) {}

static doca_error_t no_conn_submit(struct sf_conn *conn, struct sf_op *op)
{
	return DOCA_ERROR_NOT_SUPPORTED;
}

static uint32_t no_conn_credits(struct sf_conn *conn, uint32_t *len)
{
	*len = 0;
	return 0;
}

static void ops_fill(struct sf_fabric_ops *ops, const struct sf_fabric_ops *provider)
{
	*ops = *provider;
#define FILL(operation, missing) ops->operation = ops->operation != NULL ? ops->operation : (missing)
	FILL(domain_open, no_domain_open);
	FILL(domain_close, no_domain_close);
	FILL(region_register, no_region_register);
	FILL(region_close, no_region_close);
	FILL(region_export, no_region_export);
	FILL(region_request, no_region_request);
	FILL(region_ready, plain_region_ready);
	FILL(region_access, no_region_access);
	FILL(region_arm, plain_region_arm);
	FILL(ep_open, no_ep_open);
	FILL(ep_close, no_ep_close);
	FILL(ep_poll, no_ep_poll);
	FILL(ep_arm, no_ep_arm);
	FILL(ep_post_recv, no_ep_post_recv);
	FILL(ep_flush_recvs, no_ep_flush_recvs);
	FILL(listener_open, no_listener_open);
	FILL(listener_close, no_listener_close);
	FILL(conn_connect, no_conn_connect);
	FILL(conn_answer, no_conn_answer);
	FILL(conn_disconnect, no_conn_end);
	FILL(conn_close, no_conn_end);
	FILL(conn_submit, no_conn_submit);
	FILL(conn_ring, no_conn_end);
	FILL(conn_credits, no_conn_credits);
#undef FILL
}

/* The registry. Filled once, then only read. */
#define PROVIDERS_MAX 8

static struct sf_fabric_ops providers[PROVIDERS_MAX];
static char faulty_names[PROVIDERS_MAX][SF_PROVIDER_NAME_MAX];
static uint32_t num_providers;
static pthread_once_t providers_once = PTHREAD_ONCE_INIT;

static void providers_fill(void)
{
	const struct sf_fabric_ops *known[] = {
		&sf_loop_ops,
		&sf_shm_ops,
		&sf_tcp_ops,
#ifndef SF_NO_IBVERBS
		&sf_verbs_ops,
#endif
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ops_fill(&providers[num_providers++], known[i]);
	assert(2 * num_providers <= PROVIDERS_MAX);
	for (uint32_t i = 0, num = num_providers; i < num; i++) {
		char *name = faulty_names[i];
		struct sf_fabric_ops faulty;

		snprintf(name, SF_PROVIDER_NAME_MAX, "faulty:%s", providers[i].name);
		sf_faulty_ops(&providers[i], name, &faulty);
		ops_fill(&providers[num_providers++], &faulty);
	}
}

const struct sf_fabric_ops *sf_fabric_find(const char *name)
{
	pthread_once(&providers_once, providers_fill);
	if (name == NULL)
		name = secure_getenv("SOFTFIELD_FABRIC");
	if (name == NULL || name[0] == '\0')
		name = "shm";
	for (uint32_t i = 0; i < num_providers; i++) {
		if (strcmp(providers[i].name, name) == 0)
			return &providers[i];
	}
	SF_LOG_ERR("unknown fabric provider %s: set SOFTFIELD_FABRIC to loop, shm, tcp, verbs, or faulty: and one of them", name);
	return NULL;
}

static bool provider_is_faulty(const char *name)
{
	return strncmp(name, "faulty:", strlen("faulty:")) == 0;
}

static const struct sf_fabric_ops *provider_find_faulty(const char *inner)
{
	char name[SF_PROVIDER_NAME_MAX];

	snprintf(name, sizeof(name), "faulty:%s", inner);
	return sf_fabric_find(name);
}

const struct sf_fabric_ops *sf_fabric_of(const char *key)
{
	const char *forced = secure_getenv("SOFTFIELD_FABRIC");

	if (forced == NULL || forced[0] == '\0')
		forced = strstr(key, SF_KEY_IBDEV) != NULL ? "verbs" : "shm";
	if (!provider_is_faulty(forced) &&
	    (sf_faults_concern(SF_FAULT_DOMAIN) || sf_faults_concern(SF_FAULT_EP) || sf_faults_concern(SF_FAULT_CONN)))
		return provider_find_faulty(forced);
	return sf_fabric_find(forced);
}

doca_error_t sf_region_import(struct sf_domain *domain, const void *descriptor, size_t len, struct sf_region **region)
{
	struct sf_region *requested;
	doca_error_t result = sf_region_request(domain, descriptor, len, &requested);

	if (result != DOCA_SUCCESS)
		return result;
	result = requested->ops->region_ready(requested, SF_SILENCE_LIMIT_NS);
	if (result == DOCA_SUCCESS) {
		*region = requested;
		return DOCA_SUCCESS;
	}
	sf_region_close(requested);
	return result == DOCA_ERROR_AGAIN ? DOCA_ERROR_NOT_FOUND : result;
}

static const char *const kind_names[] = {"send", "write", "read", "compare and swap", "fetch and add"};

const char *sf_op_name(enum sf_op_kind kind)
{
	return kind_names[kind];
}

static doca_error_t remote_check(const struct sf_region *region, const struct sf_op *op, uint64_t len, bool atomic)
{
	if (region == NULL) {
		SF_LOG_ERR("%s without a region", kind_names[op->kind]);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!sf_range_inside(op->remote_addr, len, region->addr, region->len)) {
		SF_LOG_ERR("%s of %llu bytes at 0x%llx is outside its region of %llu bytes at 0x%llx", kind_names[op->kind],
			   (unsigned long long)len, (unsigned long long)op->remote_addr, (unsigned long long)region->len,
			   (unsigned long long)region->addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (atomic && (len != sizeof(uint64_t) || op->iov_num != 1 || op->remote_addr % sizeof(uint64_t) != 0)) {
		SF_LOG_ERR("%s of %llu bytes in %u pieces at 0x%llx: it needs one piece of 8 bytes and an address that is a "
			   "multiple of 8",
			   kind_names[op->kind], (unsigned long long)len, op->iov_num, (unsigned long long)op->remote_addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}

static doca_error_t one_sided_check(const struct sf_fabric_ops *ops, const struct sf_region *region, const struct sf_op *op,
				    uint64_t len)
{
	const bool atomic = op->kind == SF_OP_CAS || op->kind == SF_OP_FAA;
	const uint32_t need = atomic ? SF_RIGHT_ATOMIC : op->kind == SF_OP_WRITE ? SF_RIGHT_WRITE : SF_RIGHT_READ;
	doca_error_t result;

	if ((ops->caps & (atomic ? SF_CAP_ATOMIC : SF_CAP_ONE_SIDED)) == 0) {
		SF_LOG_ERR("fabric provider %s has no %s", ops->name, kind_names[op->kind]);
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	result = remote_check(region, op, len, atomic);
	if (result == DOCA_SUCCESS && region->imported && (region->rights & need) == 0) {
		SF_LOG_ERR("the owner of the region does not permit a %s", kind_names[op->kind]);
		return DOCA_ERROR_NOT_PERMITTED;
	}
	return result;
}

static doca_error_t shape_check(const struct sf_fabric_ops *ops, const struct sf_op *op, uint64_t *len)
{
	if (op->kind > SF_OP_FAA || op->iov_num > ops->iov_max || op->header_len > SF_HEADER_MAX ||
	    (op->iov_num != 0 && op->iov == NULL) || (op->header_len != 0 && op->header == NULL)) {
		SF_LOG_ERR("operation of kind %d with %u pieces and %u header bytes: at most %u and %u are possible",
			   (int)op->kind, op->iov_num, op->header_len, ops->iov_max, SF_HEADER_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*len = sf_iov_len(op->iov, op->iov_num);
	if (*len != UINT64_MAX)
		return DOCA_SUCCESS;
	SF_LOG_ERR("%s of more than %u bytes", kind_names[op->kind], SF_TRANSFER_MAX);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t sf_op_check(const struct sf_conn *conn, const struct sf_op *op, uint64_t *len)
{
	doca_error_t result = shape_check(conn->ops, op, len);

	if (result != DOCA_SUCCESS || op->kind == SF_OP_SEND)
		return result;
	return one_sided_check(conn->ops, op->region, op, *len);
}

doca_error_t sf_access_check(const struct sf_region *region, const struct sf_op *op, uint64_t *len)
{
	doca_error_t result = shape_check(region->ops, op, len);

	if (result != DOCA_SUCCESS)
		return result;
	if (op->kind == SF_OP_SEND || op->header_len != 0) {
		SF_LOG_ERR("%s with %u header bytes needs a connection", kind_names[op->kind], op->header_len);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return one_sided_check(region->ops, region, op, *len);
}

doca_error_t sf_recv_check(const struct sf_ep *ep, const struct sf_recv *recv, uint64_t *len)
{
	const struct sf_region *region = recv->region;

	*len = 0;
	if (recv->iov_num == 0)
		return DOCA_SUCCESS;
	if (recv->iov_num > ep->ops->recv_iov_max || recv->iov == NULL || region == NULL) {
		SF_LOG_ERR("receive of %u pieces %s region: at most %u are possible, in a region", recv->iov_num,
			   region == NULL ? "without" : "with", ep->ops->recv_iov_max);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (region->imported || region->domain != ep->domain) {
		SF_LOG_ERR("a receive needs memory that is registered in its endpoint's domain");
		return DOCA_ERROR_INVALID_VALUE;
	}
	for (uint32_t i = 0; i < recv->iov_num; i++) {
		if (sf_range_inside((uintptr_t)recv->iov[i].addr, recv->iov[i].len, region->addr, region->len))
			continue;
		SF_LOG_ERR("receive of %zu bytes at %p is outside its region of %llu bytes at 0x%llx", recv->iov[i].len,
			   recv->iov[i].addr, (unsigned long long)region->len, (unsigned long long)region->addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	*len = sf_iov_len(recv->iov, recv->iov_num);
	if (*len != UINT64_MAX)
		return DOCA_SUCCESS;
	SF_LOG_ERR("receive of more than %u bytes", SF_TRANSFER_MAX);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t sf_name_check(const char *name, const char *address, const void *data, size_t len)
{
	if (name == NULL || name[0] == '\0' || strnlen(name, SF_NAME_MAX) == SF_NAME_MAX) {
		SF_LOG_ERR("a name must have 1 to %d bytes", SF_NAME_MAX - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (address != NULL && strnlen(address, SF_ADDRESS_MAX) == SF_ADDRESS_MAX) {
		SF_LOG_ERR("an address on a network has at most %d bytes", SF_ADDRESS_MAX - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (len > SF_PRIVATE_MAX || (len != 0 && data == NULL)) {
		SF_LOG_ERR("%zu bytes of private data: at most %d", len, SF_PRIVATE_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	return DOCA_SUCCESS;
}
