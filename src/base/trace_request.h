/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `softfield trace PID` requests a timeline from a process by a file trace-request.NAME in the runtime folder. NAME follows
 * `status.` in the name of the process's status page. The requester keeps the file locked (fcntl) while it needs the timeline.
 * The status thread checks for it at each tick, and writes trace.NAME there meanwhile.
 */
#ifndef SF_BASE_TRACE_REQUEST_H
#define SF_BASE_TRACE_REQUEST_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"

#define SF_TRACE_FILE_PREFIX "trace."
#define SF_TRACE_REQUEST_PREFIX "trace-request."

/* Builds the path of the file with that prefix in the runtime folder, for the process of a status page. False if page_name is
 * invalid. */
SF_API bool sf_trace_path(char path[PATH_MAX], const char *prefix, const char *page_name);

/* Returns a unique number of the request for the process of this page, or 0 without a request. */
uint64_t sf_trace_request_find(const char *page_name);

#endif
