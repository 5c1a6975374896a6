/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties that can be set before start, and read at any time. */
#ifndef RDMA_PROPERTIES_H
#define RDMA_PROPERTIES_H

#include <stdint.h>

/* For logs; accepts any number. */
const char *rdma_transport_name(uint32_t transport);

#endif
