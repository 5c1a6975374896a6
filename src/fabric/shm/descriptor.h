/* SPDX-License-Identifier: BSD-3-Clause */
/* The form of this provider's descriptors. */
#ifndef SF_FABRIC_SHM_DESCRIPTOR_H
#define SF_FABRIC_SHM_DESCRIPTOR_H

#include "fabric/descriptor.h"

#define SHM_DESCRIPTOR_SIZE SF_DESCRIPTOR_SIZE(0)

static const struct sf_descriptor_form sf_shm_descriptor = {.magic = "SFSM", .version = 1, .what = "this machine"};

#endif
