/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_ctx.h
 * Contexts: today's, with the headers that it included in 2.5.
 */
#ifndef DOCA_2_5_CTX_H_
#define DOCA_2_5_CTX_H_

#include "../doca_ctx.h"
#include <doca_dev.h>

#endif /* DOCA_2_5_CTX_H_ */
