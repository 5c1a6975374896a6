/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder where processes of one user find each other: $SOFTFIELD_RUNTIME, else $XDG_RUNTIME_DIR/softfield, else
 * /tmp/softfield-UID.
 */
#ifndef SF_BASE_RUNTIME_FOLDER_H
#define SF_BASE_RUNTIME_FOLDER_H

#include <limits.h>

#include <doca_error.h>

#include "base/visibility.h"

SF_API void sf_runtime_folder_path(char path[PATH_MAX]);

/* Opens the folder, made if need be, and makes sure that it is ours and nobody else can put anything there (0700). NOT_PERMITTED,
 * logged, else. */
SF_API doca_error_t sf_runtime_folder_open(int *fd);

#endif
