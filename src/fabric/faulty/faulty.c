/* SPDX-License-Identifier: BSD-3-Clause */
/* Domains and regions, and the table. */
#include "fabric/faulty/faulty.h"

#include <stdlib.h>
#include <string.h>

static bool domain_fails(const struct sf_domain *domain, enum sf_fault_point point)
{
	return sf_fault(((const struct faulty_domain *)domain)->faults, point) != NULL;
}

static doca_error_t faulty_domain_open(const struct sf_fabric_ops *ops, const char *device, struct sf_domain **out)
{
	const struct sf_fabric_ops *inner = sf_fabric_find(ops->name + strlen(FAULTY_PREFIX));
	struct faulty_domain *domain;
	doca_error_t result = sf_faults_check();

	if (result != DOCA_SUCCESS)
		return result;
	domain = calloc(1, sizeof(*domain) + strlen(device) + 1);
	if (domain == NULL)
		return DOCA_ERROR_NO_MEMORY;
	domain->base.ops = ops;
	strcpy(domain->device, device);
	result = sf_domain_open(inner, device, &domain->inner);
	if (result != DOCA_SUCCESS) {
		free(domain);
		return result;
	}
	domain->faults = sf_faults_attach(SF_FAULT_DOMAIN, device, NULL);
	domain->base.reaches_others = domain->inner->reaches_others;
	*out = &domain->base;
	return DOCA_SUCCESS;
}

static void faulty_domain_close(struct sf_domain *domain)
{
	sf_domain_close(((struct faulty_domain *)domain)->inner);
	sf_faults_detach(((struct faulty_domain *)domain)->faults);
	free(domain);
}

static doca_error_t region_wrap(struct sf_domain *domain, struct sf_region *inner, struct sf_region **out)
{
	struct faulty_region *region = malloc(sizeof(*region));

	if (region == NULL) {
		sf_region_close(inner);
		return DOCA_ERROR_NO_MEMORY;
	}
	region->inner = inner;
	region->base = *inner;
	region->base.mapping = NULL; /* accesses that bypass this provider could not fail */
	region->base.ops = domain->ops;
	region->base.domain = domain;
	*out = &region->base;
	return DOCA_SUCCESS;
}

static doca_error_t faulty_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights,
					   struct sf_region **region)
{
	struct sf_region *inner;
	doca_error_t result;

	if (domain_fails(domain, SF_FAULT_REGION_MEMORY))
		return DOCA_ERROR_NO_MEMORY;
	result = sf_region_register(((struct faulty_domain *)domain)->inner, addr, len, rights, &inner);
	return result == DOCA_SUCCESS ? region_wrap(domain, inner, region) : result;
}

static doca_error_t faulty_region_request(struct sf_domain *domain, const void *descriptor, size_t len, struct sf_region **region)
{
	struct sf_region *inner;
	doca_error_t result;

	if (domain_fails(domain, SF_FAULT_REGION_MEMORY))
		return DOCA_ERROR_NO_MEMORY;
	result = sf_region_request(((struct faulty_domain *)domain)->inner, descriptor, len, &inner);
	return result == DOCA_SUCCESS ? region_wrap(domain, inner, region) : result;
}

static doca_error_t faulty_region_ready(struct sf_region *region, uint64_t limit_ns)
{
	struct sf_region *inner = ((struct faulty_region *)region)->inner;
	doca_error_t result;

	if (limit_ns == 0 && domain_fails(region->domain, SF_FAULT_IMPORT_LATE))
		return DOCA_ERROR_AGAIN;
	result = inner->ops->region_ready(inner, limit_ns);

	if (result == DOCA_SUCCESS && region->mapped == NULL)
		region->mapped = inner->mapped;
	return result;
}

static void faulty_region_close(struct sf_region *region)
{
	sf_region_close(((struct faulty_region *)region)->inner);
	free(region);
}

static doca_error_t faulty_region_export(struct sf_region *region, void *descriptor, size_t *len)
{
	struct sf_region *inner = ((struct faulty_region *)region)->inner;

	if (domain_fails(region->domain, SF_FAULT_REGION_MEMORY))
		return DOCA_ERROR_NO_MEMORY;
	inner->token = region->token;
	return sf_region_export(inner, descriptor, len);
}

static doca_error_t faulty_region_access(struct sf_region *region, struct sf_op *op)
{
	uint64_t len;
	doca_error_t result = sf_access_check(region, op, &len);

	if (result == DOCA_SUCCESS && domain_fails(region->domain, SF_FAULT_ACCESS_FAIL))
		return DOCA_ERROR_CONNECTION_ABORTED;
	return result == DOCA_SUCCESS ? sf_region_access(((struct faulty_region *)region)->inner, op) : result;
}

static doca_error_t faulty_region_arm(struct sf_region *region, struct sf_region_doorbell *doorbell)
{
	return sf_region_arm(((struct faulty_region *)region)->inner, doorbell);
}

void sf_faulty_ops(const struct sf_fabric_ops *inner, const char *name, struct sf_fabric_ops *ops)
{
	*ops = (struct sf_fabric_ops){
		.name = name,
		.caps = inner->caps,
		.iov_max = inner->iov_max,
		.recv_iov_max = inner->recv_iov_max,
		.domain_open = faulty_domain_open,
		.domain_close = faulty_domain_close,
		.region_register = faulty_region_register,
		.region_close = faulty_region_close,
		.region_export = faulty_region_export,
		.region_request = faulty_region_request,
		.region_ready = faulty_region_ready,
		.region_access = faulty_region_access,
		.region_arm = faulty_region_arm,
		.ep_open = sf_faulty_ep_open,
		.ep_close = sf_faulty_ep_close,
		.ep_poll = sf_faulty_ep_poll,
		.ep_arm = sf_faulty_ep_arm,
		.ep_post_recv = sf_faulty_ep_post_recv,
		.ep_flush_recvs = sf_faulty_ep_flush_recvs,
		.listener_open = sf_faulty_listener_open,
		.listener_close = sf_faulty_listener_close,
		.conn_connect = sf_faulty_conn_connect,
		.conn_answer = sf_faulty_conn_answer,
		.conn_disconnect = sf_faulty_conn_disconnect,
		.conn_close = sf_faulty_conn_close,
		.conn_submit = sf_faulty_conn_submit,
		.conn_ring = sf_faulty_conn_ring,
		.conn_credits = sf_faulty_conn_credits,
	};
}
