/* SPDX-License-Identifier: BSD-3-Clause */
/* Overwriting tasks, which DOCA 1.5 has and doca_dma.h lacks. */
#ifndef DMA_OVERWRITE_H
#define DMA_OVERWRITE_H

#include <doca_dma.h>

#include "base/visibility.h"

/* Makes tasks overwrite the data of their destination instead of appending to it. Call before start. */
SF_API void sf_dma_overwrite(struct doca_dma *dma);

#endif
