/* SPDX-License-Identifier: BSD-3-Clause */
/* Lets rdma_write_requester write into its memory. It has no tasks, so the peer must report when the write is done. */
#include "rdma_side.h"

static doca_error_t work(struct side *side)
{
	doca_error_t status = side_wait_for_peer(side, "the requester has written");

	if (status == DOCA_SUCCESS)
		side_print("the requester has written", side->memory, TEXT_MAX);
	return status;
}

int main(int argc, char **argv)
{
	static const struct sample sample = {
		.name = "rdma_write_responder",
		.peer = "rdma_write_requester",
		.listens = true,
		.options = OPTION_RESOURCE,
		.permissions = DOCA_ACCESS_FLAG_RDMA_WRITE,
		.export = side_export_memory,
		.work = work,
	};

	return side_main(argc, argv, &sample);
}
