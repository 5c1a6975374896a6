/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_compress.h
 * Compression: today's, with the headers that it included in 2.5.
 */
#ifndef DOCA_2_5_COMPRESS_H_
#define DOCA_2_5_COMPRESS_H_

#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include "../doca_compress.h"

#endif /* DOCA_2_5_COMPRESS_H_ */
