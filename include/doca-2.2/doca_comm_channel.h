/* SPDX-License-Identifier: BSD-3-Clause */
/** @file doca_comm_channel.h
 * The same in DOCA 2.2 as in the releases up to 2.9, with doca_dev.h. */
#include "../doca_comm_channel.h"
#include <doca_dev.h>
