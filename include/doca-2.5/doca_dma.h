/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_dma.h
 * DMA: today's, with the headers that it included in 2.5.
 */
#ifndef DOCA_2_5_DMA_H_
#define DOCA_2_5_DMA_H_

#include "../doca_dma.h"
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_pe.h>

#endif /* DOCA_2_5_DMA_H_ */
