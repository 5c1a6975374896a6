/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that hold a secret: regular files of this user or root, without access for anyone else. */
#ifndef SF_BASE_SECRET_FILE_H
#define SF_BASE_SECRET_FILE_H

#include <stddef.h>

#include <doca_error.h>

#include "base/visibility.h"

/*
 * Reads the named file in a folder, or AT_FDCWD, without a trailing newline. Log lines call it path. NOT_FOUND, not logged: it
 * does not exist. TOO_BIG, not logged: it fills the whole buffer. NOT_PERMITTED, INVALID_VALUE: logged.
 */
SF_API doca_error_t sf_secret_file_read(int folder, const char *name, const char *path, void *bytes, size_t room, size_t *len);

#endif
