/* SPDX-License-Identifier: BSD-3-Clause */
/* Versions of our plugins. */
#ifndef PLUGINS_VERSION_H
#define PLUGINS_VERSION_H

#include <stdint.h>

/* NVIDIA publishes plugins with the names of ours, counted from 1, whose messages have other forms. The upper half makes ours
 * differ, so each half rejects a counterpart of the other family by its version. */
#define PLUGIN_VERSION(number) (UINT64_C(0x5346) << 32 | (number))

#endif
