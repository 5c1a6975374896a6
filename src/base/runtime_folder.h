/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder where processes of one user find each other: the first of
 *
 *	$SOFTFIELD_RUNTIME
 *	$XDG_RUNTIME_DIR/softfield
 *	/run/user/UID/softfield		if /run/user/UID is the user's
 *	/tmp/softfield-UID		unless that is somebody else's
 *	HOME/.softfield-BOOT		HOME is the user's in the list of users, BOOT the number of the machine's last boot
 */
#ifndef SF_BASE_RUNTIME_FOLDER_H
#define SF_BASE_RUNTIME_FOLDER_H

#include <limits.h>

#include <doca_error.h>

#include "base/visibility.h"

SF_API void sf_runtime_folder_path(char path[PATH_MAX]);

/* Where processes of the user go that have neither variable. */
SF_API void sf_runtime_folder_default(char path[PATH_MAX]);

/* Opens the folder, made if need be, and makes sure that it is ours and nobody else can put anything there (0700). FULL, logged:
 * its file system, or our table of open files, is. NOT_PERMITTED, logged, else. */
SF_API doca_error_t sf_runtime_folder_open(int *fd);

/* What to do about an error in the folder, for a log line. */
SF_API const char *sf_runtime_folder_advice(int error);

#endif
