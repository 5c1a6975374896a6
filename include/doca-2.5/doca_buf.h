/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_buf.h
 * Bufs: today's, with the headers that it included in 2.5.
 */
#ifndef DOCA_2_5_BUF_H_
#define DOCA_2_5_BUF_H_

#include "../doca_buf.h"
#include <stdbool.h>

#endif /* DOCA_2_5_BUF_H_ */
