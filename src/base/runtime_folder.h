/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The folder where processes of one user find each other is the first of
 *
 *	$SOFTFIELD_RUNTIME
 *	$XDG_RUNTIME_DIR/softfield
 *	/run/user/UID/softfield		if /run/user/UID is the user's
 *	/tmp/softfield-UID		unless another user owns it
 *	HOME/.softfield-BOOT		HOME is the user's in the list of users, BOOT the number of the machine's last boot
 */
#ifndef SF_BASE_RUNTIME_FOLDER_H
#define SF_BASE_RUNTIME_FOLDER_H

#include <limits.h>

#include <doca_error.h>

#include "base/visibility.h"

SF_API void sf_runtime_folder_path(char path[PATH_MAX]);

/* The folder of processes that have neither variable set. */
SF_API void sf_runtime_folder_default(char path[PATH_MAX]);

/*
 * Opens the folder, and creates it if needed. Checks that this user owns it and that its mode is 0700. FULL, logged: the file
 * system or the table of open files is full. NOT_PERMITTED, logged: any other error.
 */
SF_API doca_error_t sf_runtime_folder_open(int *fd);

/* Advice for a log line about an errno value in the folder. */
SF_API const char *sf_runtime_folder_advice(int error);

#endif
