/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom_fake_ucx.h"

#include <stdlib.h>
#include <string.h>

#include "../../plugins/common/ucx_side.h"

#define REQUESTS_MAX 4096

struct fake_input *fake_ucx_input;

struct request {
	bool is_receive;
	ucp_request_param_t param;
	const void *source; /* read when it completes, because it must stay valid until then */
	void *target;
	size_t len;
};

static struct request *waiting[REQUESTS_MAX];
static uint32_t num_waiting, num_requests, num_keys, num_endpoints;
static ucp_am_handler_param_t am_handler;
static volatile uint8_t sink;

/* ---- the target's side ---- */

static void read_all(const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		sink ^= ((const uint8_t *)data)[i];
}

static void write_some(void *data, size_t len)
{
	memset(data, fake_byte(fake_ucx_input), len);
}

static void end_one(uint32_t at, ucs_status_t status)
{
	struct request *request = waiting[at];
	size_t len = request->len != 0 ? fake_byte(fake_ucx_input) % (request->len + 1) : 0;
	ucp_tag_recv_info_t info = {.sender_tag = 5, .length = len};

	waiting[at] = waiting[--num_waiting];
	read_all(request->source, request->source != NULL ? request->len : 0);
	if (request->target != NULL && status == UCS_OK)
		write_some(request->target, request->is_receive ? len : request->len);
	if (request->is_receive)
		request->param.cb.recv(request, status, &info, request->param.user_data);
	else
		request->param.cb.send(request, status, request->param.user_data);
}

bool fake_ucx_progress(void)
{
	if (num_waiting == 0)
		return false;
	uint8_t what = fake_byte(fake_ucx_input);
	end_one(what % num_waiting, what >= 224 ? UCS_ERR_CONNECTION_RESET : UCS_OK);
	return true;
}

void fake_ucx_am(const void *head, size_t head_len, const void *data, size_t len)
{
	const ucp_am_recv_param_t param = {.recv_attr = UCP_AM_RECV_ATTR_FIELD_REPLY_EP, .reply_ep = (ucp_ep_h)(uintptr_t)16};

	if (am_handler.cb == NULL)
		return;
	void *own = malloc(len != 0 ? len : 1);
	if (own == NULL)
		abort();
	if (len != 0)
		memcpy(own, data, len);
	(void)am_handler.cb(am_handler.arg, head, head_len, own, len, &param);
	free(own);
}

bool fake_ucx_is_empty(void)
{
	return num_waiting == 0 && num_requests == 0 && num_keys == 0 && num_endpoints == 0;
}

/* ---- operations ---- */

static ucs_status_ptr_t begin(const ucp_request_param_t *param, const void *source, void *target, size_t len, bool is_receive)
{
	uint8_t what = fake_byte(fake_ucx_input);

	if (what < 64 && !is_receive) {
		read_all(source, source != NULL ? len : 0);
		if (target != NULL)
			write_some(target, len);
		return NULL;
	}
	if (what >= 240 || num_waiting == REQUESTS_MAX)
		return (ucs_status_ptr_t)(intptr_t)UCS_ERR_UNREACHABLE;
	struct request *request = (struct request *)calloc(1, sizeof(*request));
	if (request == NULL)
		abort();
	*request = (struct request){is_receive, *param, source, target, len};
	waiting[num_waiting++] = request;
	num_requests++;
	return request;
}

ucs_status_ptr_t ucp_tag_send_nbx(ucp_ep_h ep, const void *buffer, size_t count, ucp_tag_t tag, const ucp_request_param_t *param)
{
	return begin(param, buffer, NULL, count, false);
}

ucs_status_ptr_t ucp_tag_recv_nbx(ucp_worker_h worker, void *buffer, size_t count, ucp_tag_t tag, ucp_tag_t mask,
				  const ucp_request_param_t *param)
{
	return begin(param, NULL, buffer, count, true);
}

ucp_tag_message_h ucp_tag_probe_nb(ucp_worker_h worker, ucp_tag_t tag, ucp_tag_t mask, int remove, ucp_tag_recv_info_t *info)
{
	return NULL;
}

ucs_status_ptr_t ucp_am_send_nbx(ucp_ep_h ep, unsigned id, const void *header, size_t header_len, const void *buffer,
				 size_t count, const ucp_request_param_t *param)
{
	return begin(param, header, NULL, header_len, false);
}

ucs_status_ptr_t ucp_put_nbx(ucp_ep_h ep, const void *buffer, size_t count, uint64_t address, ucp_rkey_h rkey,
			     const ucp_request_param_t *param)
{
	read_all((const void *)rkey, 1);
	return begin(param, buffer, NULL, count, false);
}

ucs_status_ptr_t ucp_atomic_op_nbx(ucp_ep_h ep, ucp_atomic_op_t opcode, const void *buffer, size_t count, uint64_t address,
				   ucp_rkey_h rkey, const ucp_request_param_t *param)
{
	read_all((const void *)rkey, 1);
	return begin(param, buffer, param->reply_buffer, sizeof(uint64_t), false);
}

ucs_status_ptr_t ucp_ep_flush_nbx(ucp_ep_h ep, const ucp_request_param_t *param)
{
	return begin(param, NULL, NULL, 0, false);
}

void ucp_request_cancel(ucp_worker_h worker, void *request)
{
	for (uint32_t i = 0; i < num_waiting; i++) {
		if (waiting[i] != request)
			continue;
		if (waiting[i]->is_receive)
			end_one(i, UCS_ERR_CANCELED);
		return;
	}
	abort(); /* it is not an operation in flight */
}

void ucp_request_free(void *request)
{
	num_requests--;
	free(request);
}

unsigned ucp_worker_progress(ucp_worker_h worker)
{
	return 0;
}

ucs_status_t ucp_worker_set_am_recv_handler(ucp_worker_h worker, const ucp_am_handler_param_t *param)
{
	am_handler = *param;
	return UCS_OK;
}

ucs_status_t ucp_ep_rkey_unpack(ucp_ep_h ep, const void *packed, ucp_rkey_h *rkey)
{
	if (((const uint8_t *)packed)[0] == 255)
		return UCS_ERR_INVALID_PARAM;
	*rkey = (ucp_rkey_h)malloc(1);
	memset((void *)*rkey, 0, 1);
	num_keys++;
	return UCS_OK;
}

void ucp_rkey_destroy(ucp_rkey_h rkey)
{
	num_keys--;
	free((void *)rkey);
}

/* ---- a side ---- */

doca_error_t ucx_side_open(struct ucx_side *side, uint64_t features)
{
	LIST_INIT(&side->endpoints);
	side->address_len = 20;
	side->address = (ucp_address_t *)calloc(1, side->address_len);
	return side->address != NULL ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

doca_error_t ucx_side_open_with(struct ucx_side *side, uint64_t features, const struct ucx_side_setting *settings, uint32_t num)
{
	return ucx_side_open(side, features);
}

unsigned ucx_side_progress(struct ucx_side *side)
{
	return ucp_worker_progress(side->worker);
}

static void close_endpoint(struct ucx_side *side, struct ucx_endpoint *endpoint)
{
	LIST_REMOVE(endpoint, next);
	side->num_endpoints--;
	num_endpoints--;
	free(endpoint);
}

void ucx_side_close_endpoints(struct ucx_side *side)
{
	for (uint32_t i = num_waiting; i-- > 0;) {
		if (i < num_waiting && !waiting[i]->is_receive)
			end_one(i, UCS_ERR_CANCELED);
	}
	while (!LIST_EMPTY(&side->endpoints))
		close_endpoint(side, LIST_FIRST(&side->endpoints));
}

void ucx_side_close(struct ucx_side *side)
{
	ucx_side_close_endpoints(side);
	free(side->address);
	side->address = NULL;
}

doca_error_t ucx_side_copy_address(const struct ucx_side *side, void *address, size_t *len)
{
	if (*len < side->address_len)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(address, side->address, side->address_len);
	*len = side->address_len;
	return DOCA_SUCCESS;
}

/* The first byte of an address is its worker's id. */
doca_error_t ucx_side_endpoint_get(struct ucx_side *side, const void *address, struct ucx_endpoint **endpoint)
{
	uint64_t peer = ((const uint8_t *)address)[0] % 4;
	struct ucx_endpoint *found;

	LIST_FOREACH (found, &side->endpoints, next) {
		if (found->peer == peer)
			break;
	}
	if (found == NULL) {
		found = (struct ucx_endpoint *)calloc(1, sizeof(*found));
		if (found == NULL)
			return DOCA_ERROR_NO_MEMORY;
		found->side = side;
		found->peer = peer;
		found->ep = (ucp_ep_h)(uintptr_t)16;
		LIST_INSERT_HEAD(&side->endpoints, found, next);
		side->num_endpoints++;
		num_endpoints++;
	}
	*endpoint = found;
	return DOCA_SUCCESS;
}

doca_error_t ucx_side_endpoint_get_untrusted(struct ucx_side *side, const void *address, size_t len,
					     struct ucx_endpoint **endpoint)
{
	return ucx_side_endpoint_get(side, address, endpoint);
}

doca_error_t ucx_side_unpack_said(const struct ucx_endpoint *endpoint, const void *packed, size_t len, ucp_rkey_h *rkey)
{
	return ucp_ep_rkey_unpack(endpoint->ep, packed, rkey) == UCS_OK ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

void ucx_side_hold(struct ucx_endpoint *endpoint)
{
	endpoint->holders++;
}
void ucx_side_release(struct ucx_side *side, struct ucx_endpoint *endpoint)
{
	endpoint->holders--;
}

void ucx_side_drop(struct ucx_side *side, struct ucx_endpoint *endpoint)
{
	if (--endpoint->holders == 0)
		close_endpoint(side, endpoint);
}

doca_error_t ucx_side_error(ucs_status_t status)
{
	return status == UCS_OK ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_ABORTED;
}
