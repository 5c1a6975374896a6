/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucx_side.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ucx_watch.h"

#define ADDRESS_PAD 1024 /* bytes with all bits set, which end the lists of devices and transports */
#define FLUSH_TURNS_IDLE 64
#define FLUSH_REST_NS 200000
#define KEY_PAD (64 * 256 + 64) /* a key has at most 64 parts, each preceded by one byte with its size */

doca_error_t ucx_side_error(ucs_status_t status)
{
	switch (status) {
	case UCS_OK:
		return DOCA_SUCCESS;
	case UCS_ERR_NO_MEMORY:
		return DOCA_ERROR_NO_MEMORY;
	case UCS_ERR_MESSAGE_TRUNCATED:
		return DOCA_ERROR_TOO_BIG;
	case UCS_ERR_INVALID_PARAM:
	case UCS_ERR_INVALID_ADDR:
		return DOCA_ERROR_INVALID_VALUE;
	case UCS_ERR_UNSUPPORTED:
		return DOCA_ERROR_NOT_SUPPORTED;
	case UCS_ERR_CANCELED:
	case UCS_ERR_UNREACHABLE:
	case UCS_ERR_CONNECTION_RESET:
	case UCS_ERR_ENDPOINT_TIMEOUT:
	case UCS_ERR_NOT_CONNECTED:
		return DOCA_ERROR_CONNECTION_ABORTED;
	default:
		return DOCA_ERROR_IO_FAILED;
	}
}

/* ---- open and close ---- */

/* From UCX 1.17 on the settings of a transport begin with its name. */
static const char *name_here(const char *name)
{
	unsigned major, minor, release;

	ucp_get_version(&major, &minor, &release);
	bool bare = (major == 1 && minor < 17) && strncmp(name, "TCP_", 4) == 0;
	return bare ? name + 4 : name;
}

static void set_unless_given(ucp_config_t *config, const struct ucx_side_setting *setting)
{
	char variable[64];

	snprintf(variable, sizeof(variable), "UCX_%s", setting->name);
	if (getenv(variable) == NULL)
		(void)ucp_config_modify(config, name_here(setting->name), setting->value);
}

static ucs_status_t open_context(struct ucx_side *side, uint64_t features, const struct ucx_side_setting *settings, uint32_t num)
{
	const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES, .features = features};
	ucp_config_t *config;
	ucs_status_t status = ucp_config_read(NULL, NULL, &config);

	if (status != UCS_OK)
		return status;
	/* If a connection is reset during a zero-copy send, UCX 1.13 completes the send twice and aborts the process. */
	set_unless_given(config, &(struct ucx_side_setting){"ZCOPY_THRESH", "inf"});
	/* Without it UCX 1.13 does not use shared memory with error handling, which is needed here. */
	set_unless_given(config, &(struct ucx_side_setting){"MM_ERROR_HANDLING", "y"});
	set_unless_given(config, &(struct ucx_side_setting){"KEEPALIVE_INTERVAL", "200ms"}); /* between checks of the peer */
	for (uint32_t i = 0; i < num; i++)
		set_unless_given(config, &settings[i]);
	status = ucp_init(&params, config, &side->context);
	ucp_config_release(config);
	return status;
}

doca_error_t ucx_side_open(struct ucx_side *side, uint64_t features)
{
	return ucx_side_open_with(side, features, NULL, 0);
}

doca_error_t ucx_side_open_with(struct ucx_side *side, uint64_t features, const struct ucx_side_setting *settings, uint32_t num)
{
	const ucp_worker_params_t params = {.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE,
					    .thread_mode = UCS_THREAD_MODE_SINGLE};

	memset(side, 0, sizeof(*side));
	ucs_status_t status = open_context(side, features, settings, num);
	if (status != UCS_OK)
		return ucx_side_error(status);
	status = ucp_worker_create(side->context, &params, &side->worker);
	if (status != UCS_OK)
		goto no_worker;
	status = ucp_worker_get_address(side->worker, &side->address, &side->address_len);
	if (status == UCS_OK)
		return DOCA_SUCCESS;
	ucp_worker_destroy(side->worker);
no_worker:
	ucp_cleanup(side->context);
	return ucx_side_error(status);
}

/* Closes what UCX has open; the endpoint itself remains. */
static void close_connections(struct ucx_side *side, struct ucx_endpoint *endpoint)
{
	const ucp_ep_h watch = endpoint->watch, ep = endpoint->ep;

	if (endpoint->dead)
		LIST_REMOVE(endpoint, in_dead);
	endpoint->dead = false;
	endpoint->watch = endpoint->ep = NULL;
	ucx_endpoint_close_now(side->worker, watch);
	ucx_endpoint_close_now(side->worker, ep);
}

static void close_endpoint(struct ucx_side *side, struct ucx_endpoint *endpoint)
{
	if (!endpoint->replaced)
		LIST_REMOVE(endpoint, next);
	assert(side->num_endpoints > 0);
	side->num_endpoints--;
	close_connections(side, endpoint);
	free(endpoint);
}

unsigned ucx_side_progress(struct ucx_side *side)
{
	unsigned moved = ucp_worker_progress(side->worker);

	if (moved != 0) /* first what the peer sent before it died: a closed endpoint drops the rest of a long message */
		return moved;
	for (; !LIST_EMPTY(&side->dead); moved++)
		close_connections(side, LIST_FIRST(&side->dead));
	return moved;
}

/* Rests between turns in which nothing moved: the peer that must act may need this CPU. */
static void request_wait(struct ucx_side *side, ucs_status_ptr_t request, uint64_t until_ms)
{
	const struct timespec rest = {.tv_nsec = FLUSH_REST_NS};
	uint32_t num_idle = 0;

	if (!UCS_PTR_IS_PTR(request))
		return;
	while (ucp_request_check_status(request) == UCS_INPROGRESS && sf_now_ms() < until_ms) {
		num_idle = ucp_worker_progress(side->worker) != 0 ? 0 : num_idle + 1;
		if (num_idle > FLUSH_TURNS_IDLE)
			nanosleep(&rest, NULL);
	}
	ucp_request_free(request);
}

/* Flushes for a limited time. The worker's flush covers UCX's internal messages to connecting peers. Only an endpoint's flush
 * waits for sends without room in a peer's shared memory (UCX 1.13). */
static void endpoints_flush(struct ucx_side *side)
{
	const ucp_request_param_t param = {.op_attr_mask = 0};
	uint64_t until = sf_now_ms() + UCX_SIDE_FLUSH_MS;
	const struct ucx_endpoint *endpoint;

	LIST_FOREACH (endpoint, &side->endpoints, next) {
		if (!endpoint->failed)
			request_wait(side, ucp_ep_flush_nbx(endpoint->ep, &param), until);
	}
	request_wait(side, ucp_worker_flush_nbx(side->worker, &param), until);
}

void ucx_side_close_endpoints(struct ucx_side *side)
{
	endpoints_flush(side);
	while (!LIST_EMPTY(&side->endpoints))
		close_endpoint(side, LIST_FIRST(&side->endpoints));
}

void ucx_side_close(struct ucx_side *side)
{
	ucx_side_close_endpoints(side);
	ucp_worker_release_address(side->worker, side->address);
	ucp_worker_destroy(side->worker);
	ucp_cleanup(side->context);
}

/* ---- addresses and endpoints ---- */

doca_error_t ucx_side_copy_address(const struct ucx_side *side, void *address, size_t *len)
{
	if (*len < side->address_len) {
		*len = side->address_len;
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(address, side->address, side->address_len);
	*len = side->address_len;
	return DOCA_SUCCESS;
}

static void endpoint_fail(struct ucx_endpoint *endpoint)
{
	endpoint->failed = true;
	endpoint->side->num_failures++;
}

static void endpoint_failed(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	(void)ep;
	(void)status;
	endpoint_fail((struct ucx_endpoint *)arg);
}

static void peer_died(void *arg, ucp_ep_h ep, ucs_status_t status)
{
	struct ucx_endpoint *endpoint = (struct ucx_endpoint *)arg;

	(void)ep;
	(void)status;
	if (endpoint->failed)
		return;
	endpoint->dead = true;
	LIST_INSERT_HEAD(&endpoint->side->dead, endpoint, in_dead);
	endpoint_fail(endpoint);
}

static struct ucx_endpoint *find_endpoint(struct ucx_side *side, uint64_t peer)
{
	struct ucx_endpoint *endpoint, *next;

	for (endpoint = LIST_FIRST(&side->endpoints); endpoint != NULL; endpoint = next) {
		next = LIST_NEXT(endpoint, next);
		if (endpoint->peer != peer)
			continue;
		if (!endpoint->failed)
			return endpoint;
		if (endpoint->holders == 0) {
			close_endpoint(side, endpoint);
		} else {
			LIST_REMOVE(endpoint, next);
			endpoint->replaced = true;
		}
	}
	return NULL;
}

void ucx_side_hold(struct ucx_endpoint *endpoint)
{
	endpoint->holders++;
}

void ucx_side_release(struct ucx_side *side, struct ucx_endpoint *endpoint)
{
	if (--endpoint->holders == 0 && endpoint->replaced)
		close_endpoint(side, endpoint);
}

void ucx_side_drop(struct ucx_side *side, struct ucx_endpoint *endpoint)
{
	if (--endpoint->holders == 0)
		close_endpoint(side, endpoint);
}

/* Closes failed endpoints that were not replaced. */
static void endpoints_sweep(struct ucx_side *side)
{
	struct ucx_endpoint *endpoint, *next;

	for (endpoint = LIST_FIRST(&side->endpoints); endpoint != NULL; endpoint = next) {
		next = LIST_NEXT(endpoint, next);
		if (endpoint->failed && endpoint->holders == 0)
			close_endpoint(side, endpoint);
	}
}

static doca_error_t open_endpoint(struct ucx_side *side, const void *address, uint64_t peer, struct ucx_endpoint **out)
{
	struct ucx_endpoint *endpoint = (struct ucx_endpoint *)calloc(1, sizeof(*endpoint));

	if (endpoint == NULL)
		return DOCA_ERROR_NO_MEMORY;
	const ucp_ep_params_t params = {
		.field_mask =
			UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
		.address = (const ucp_address_t *)address,
		.err_mode = UCP_ERR_HANDLING_MODE_PEER,
		.err_handler = {endpoint_failed, endpoint},
	};
	endpoint->side = side;
	ucs_status_t status = ucp_ep_create(side->worker, &params, &endpoint->ep);
	if (status != UCS_OK) {
		free(endpoint);
		return ucx_side_error(status);
	}
	status = ucx_watch_open(side->worker, endpoint->ep, params.address, peer_died, endpoint, &endpoint->watch);
	if (status != UCS_OK) {
		ucx_endpoint_close_now(side->worker, endpoint->ep);
		free(endpoint);
		return ucx_side_error(status);
	}
	endpoint->peer = peer;
	LIST_INSERT_HEAD(&side->endpoints, endpoint, next);
	side->num_endpoints++;
	*out = endpoint;
	return DOCA_SUCCESS;
}

doca_error_t ucx_side_endpoint_get(struct ucx_side *side, const void *address, struct ucx_endpoint **endpoint)
{
	ucp_worker_address_attr_t attr = {.field_mask = UCP_WORKER_ADDRESS_ATTR_FIELD_UID};
	/* The parameter of UCX is not const, but UCX only reads it. */
	ucs_status_t status = ucp_worker_address_query((ucp_address_t *)(uintptr_t)address, &attr);

	if (status != UCS_OK)
		return ucx_side_error(status);
	*endpoint = find_endpoint(side, attr.worker_uid);
	if (*endpoint != NULL)
		return DOCA_SUCCESS;
	if (side->num_endpoints == UCX_SIDE_ENDPOINTS_MAX)
		endpoints_sweep(side);
	if (side->num_endpoints == UCX_SIDE_ENDPOINTS_MAX)
		return DOCA_ERROR_FULL;
	return open_endpoint(side, address, attr.worker_uid, endpoint);
}

doca_error_t ucx_side_endpoint_get_untrusted(struct ucx_side *side, const void *address, size_t len,
					     struct ucx_endpoint **endpoint)
{
	_Alignas(16) uint8_t padded[UCX_SIDE_ADDRESS_MAX + ADDRESS_PAD];
	if (len == 0 || len > UCX_SIDE_ADDRESS_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(padded, address, len);
	memset(padded + len, 0xff, sizeof(padded) - len);
	return ucx_side_endpoint_get(side, padded, endpoint);
}

doca_error_t ucx_side_unpack_said(const struct ucx_endpoint *endpoint, const void *packed, size_t len, ucp_rkey_h *rkey)
{
	uint8_t *padded = (uint8_t *)calloc(1, len + KEY_PAD);

	if (padded == NULL)
		return DOCA_ERROR_NO_MEMORY;
	memcpy(padded, packed, len);
	ucs_status_t status = ucp_ep_rkey_unpack(endpoint->ep, padded, rkey);
	free(padded);
	return ucx_side_error(status);
}
