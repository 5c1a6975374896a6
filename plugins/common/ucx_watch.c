/* SPDX-License-Identifier: BSD-3-Clause */
#include "ucx_watch.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* UCX (1.13) tells the roles of an endpoint's transports only in its text: "keepalive" is one that it checks itself. */
static bool is_checked_by_ucx(ucp_ep_h ep)
{
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	if (stream == NULL)
		return true;
	ucp_ep_print_info(ep, stream);
	(void)fclose(stream);
	bool is_checked = text == NULL || strstr(text, "keepalive") != NULL;
	free(text);
	return is_checked;
}

ucs_status_t ucx_watch_open(ucp_worker_h worker, ucp_ep_h ep, const ucp_address_t *address, ucp_err_handler_cb_t on_death,
			    void *arg, ucp_ep_h *watch)
{
	const ucp_ep_params_t params = {
		.field_mask =
			UCP_EP_PARAM_FIELD_REMOTE_ADDRESS | UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER,
		.address = address,
		.err_mode = UCP_ERR_HANDLING_MODE_PEER,
		.err_handler = {on_death, arg},
	};

	*watch = NULL;
	return is_checked_by_ucx(ep) ? ucp_ep_create(worker, &params, watch) : UCS_OK;
}

void ucx_endpoint_close_now(ucp_worker_h worker, ucp_ep_h ep)
{
	const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS, .flags = UCP_EP_CLOSE_FLAG_FORCE};

	if (ep == NULL)
		return;
	ucs_status_ptr_t closing = ucp_ep_close_nbx(ep, &param);
	while (UCS_PTR_IS_PTR(closing) && ucp_request_check_status(closing) == UCS_INPROGRESS) /* it does not wait for the peer */
		(void)ucp_worker_progress(worker);
	if (UCS_PTR_IS_PTR(closing))
		ucp_request_free(closing);
}
