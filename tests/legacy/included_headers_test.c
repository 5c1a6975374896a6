/* SPDX-License-Identifier: BSD-3-Clause */
/* What programs of 2.2 get from doca_buf_inventory.h and doca_comm_channel.h, although other headers declare it. */
#ifdef WANTS_MMAP
#include <doca_buf_inventory.h>

doca_error_t inventory_and_mmap(struct doca_mmap **mmap);
doca_error_t inventory_and_mmap(struct doca_mmap **mmap)
{
	return doca_mmap_create(NULL, mmap);
}
#else
#include <doca_comm_channel.h>

doca_error_t channel_and_device(struct doca_dev *dev);
doca_error_t channel_and_device(struct doca_dev *dev)
{
	return doca_dev_close(dev);
}
#endif
