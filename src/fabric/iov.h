/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SF_FABRIC_IOV_H
#define SF_FABRIC_IOV_H

#include <stddef.h>
#include <stdint.h>

#include "fabric/fabric.h"

/* Copies between a list of local pieces, from byte at on, and a buffer. */
void sf_iov_gather(void *to, const struct sf_iov *iov, uint32_t num, uint64_t at, size_t len);
void sf_iov_scatter(const struct sf_iov *iov, uint32_t num, uint64_t at, const void *from, size_t len);

#endif
