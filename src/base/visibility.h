/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Libraries are built with hidden visibility. The public API opens itself (doca_compat.h); a function of ours
 * that another of our libraries calls is opened with SF_API. It is not part of the contract with programs.
 */
#ifndef SF_BASE_VISIBILITY_H
#define SF_BASE_VISIBILITY_H

#define SF_API __attribute__((visibility("default")))

#endif
