/* SPDX-License-Identifier: BSD-3-Clause */
#include "side.h"

#include <string.h>

#include <doca_dev.h>
#include <doca_mmap.h>
#include <doca_rdma.h>

#include "measure.h"

bool side_relaxed;
uint32_t side_threads = 1;

struct doca_mmap *side_share(struct doca_dev *dev, void *memory)
{
	struct doca_mmap *mmap;

	OK(doca_mmap_create(&mmap));
	OK(doca_mmap_set_memrange(mmap, memory, SIDE_MEMORY));
	OK(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
						   DOCA_ACCESS_FLAG_RDMA_WRITE |
						   (side_relaxed ? DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING : 0)));
	OK(doca_mmap_add_dev(mmap, dev));
	OK(doca_mmap_start(mmap));
	return mmap;
}

/* Waits until the other side is as far. */
static void meet(struct description *mine, const struct description *theirs, uint32_t step)
{
	__atomic_store_n(&mine->ready, step, __ATOMIC_RELEASE);
	while (__atomic_load_n(&theirs->ready, __ATOMIC_ACQUIRE) < step)
		nanosleep(&(struct timespec){0, 100000}, NULL);
}

void side_connect(struct doca_rdma *rdma, struct doca_dev *dev, struct doca_mmap *mmap, struct description *mine,
		  struct description *theirs, struct doca_rdma_connection **connection, struct doca_mmap **remote)
{
	const void *details, *memory;
	size_t details_len, memory_len;

	OK(doca_rdma_export(rdma, &details, &details_len, connection));
	OK(doca_mmap_export_rdma(mmap, dev, &memory, &memory_len));
	check(details_len <= DESCRIPTION_MAX && memory_len <= DESCRIPTION_MAX ? DOCA_SUCCESS : DOCA_ERROR_TOO_BIG,
	      "a description");
	memcpy(mine->connection, details, details_len);
	memcpy(mine->memory, memory, memory_len);
	mine->connection_len = (uint32_t)details_len;
	mine->memory_len = (uint32_t)memory_len;
	meet(mine, theirs, 1);
	OK(doca_rdma_connect(rdma, theirs->connection, theirs->connection_len, *connection));
	OK(doca_mmap_create_from_export(NULL, theirs->memory, theirs->memory_len, dev, remote));
	meet(mine, theirs, 2); /* else one might be done, and gone, before the other imports its memory */
}
