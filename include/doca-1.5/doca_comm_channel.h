/* SPDX-License-Identifier: BSD-3-Clause */
/** @file doca_comm_channel.h
 * The same in DOCA 1.5 as in 2.2. */
#include "../doca-2.2/doca_comm_channel.h"
