/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets rdma_read_requester read a text in its memory. It has no tasks and only waits. */
#include <stdio.h>

#include "rdma_side.h"

static doca_error_t export_text(struct side *side, struct bytes *descriptor)
{
	snprintf(side->memory, TEXT_MAX, "%s", side->options.string);
	return side_export_memory(side, descriptor);
}

static doca_error_t work(struct side *side)
{
	return side_wait_for_peer(side, "the requester has read");
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_read_responder",
		.peer = "rdma_read_requester",
		.listens = true,
		.options = OPTION_RESOURCE | OPTION_READ_STRING,
		.permissions = DOCA_ACCESS_FLAG_RDMA_READ,
		.export = export_text,
		.work = work,
	};

	return side_main(argc, argv, &sample);
}
