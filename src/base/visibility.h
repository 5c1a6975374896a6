/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries are built with hidden visibility. The public API exports itself (doca_compat.h). SF_API exports an internal function
 * that another of our libraries calls; it is not part of the API for programs.
 */
#ifndef SF_BASE_VISIBILITY_H
#define SF_BASE_VISIBILITY_H

#define SF_API __attribute__((visibility("default")))

#endif
