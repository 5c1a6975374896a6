/* SPDX-License-Identifier: BSD-3-Clause */
/* Where tasks write, as the API of DOCA 1.5 has it beyond doca_dma.h. */
#ifndef DMA_OVERWRITE_H
#define DMA_OVERWRITE_H

#include <doca_dma.h>

#include "base/visibility.h"

/* Tasks write from where the data of their destination begin, over what is there, instead of behind it. Before start. */
SF_API void sf_dma_overwrite(struct doca_dma *dma);

#endif
