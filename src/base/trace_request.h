/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `softfield trace PID` asks a process for its timeline by a file trace-request.NAME in the runtime folder, which it keeps locked
 * (fcntl) for as long as it wants it; NAME is what follows `status.` in the name of the process's status page. The status thread
 * looks for it at each of its ticks, and writes trace.NAME there meanwhile.
 */
#ifndef SF_BASE_TRACE_REQUEST_H
#define SF_BASE_TRACE_REQUEST_H

#include <limits.h>
#include <stdbool.h>

#include "base/visibility.h"

#define SF_TRACE_FILE_PREFIX "trace."
#define SF_TRACE_REQUEST_PREFIX "trace-request."

/* The path of a file of that prefix in the runtime folder, for the process of a status page. False: that is no page's name. */
SF_API bool sf_trace_path(char path[PATH_MAX], const char *prefix, const char *page_name);

/* Does somebody ask for the timeline of the process that has this page? */
bool sf_trace_is_requested(const char *page_name);

#endif
