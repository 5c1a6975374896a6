/* SPDX-License-Identifier: BSD-3-Clause */
/* The registered sources of a program's records. */
#ifndef SF_BASE_LOG_SOURCE_H
#define SF_BASE_LOG_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#define SF_LOG_SOURCES_MAX 65536

/* Returns true if the source passes on a record of that level. An unregistered number does. Any thread, without a lock. */
bool sf_log_source_shows(int source, uint32_t level);

#endif
