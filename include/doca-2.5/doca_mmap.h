/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_mmap.h
 * Memory maps: today's, with the headers that it included in 2.5.
 */
#ifndef DOCA_2_5_MMAP_H_
#define DOCA_2_5_MMAP_H_

#include "../doca_mmap.h"
#include <stdbool.h>
#include <doca_dev.h>

#endif /* DOCA_2_5_MMAP_H_ */
