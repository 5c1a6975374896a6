/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf_inventory.h
 * Inventories of bufs: today's, with the headers that it included in 2.5.
 */
#ifndef DOCA_2_5_BUF_INVENTORY_H_
#define DOCA_2_5_BUF_INVENTORY_H_

#include "../doca_buf_inventory.h"
#include <doca_buf.h>
#include <doca_mmap.h>

#endif /* DOCA_2_5_BUF_INVENTORY_H_ */
