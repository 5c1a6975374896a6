/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that hold a secret: regular ones of our own, or of root's, that nobody else may read or write. */
#ifndef SF_BASE_SECRET_FILE_H
#define SF_BASE_SECRET_FILE_H

#include <stddef.h>

#include <doca_error.h>

#include "base/visibility.h"

/* Reads the file of that name in a folder, or AT_FDCWD; a newline at its end does not count. path is what log lines call it.
 * NOT_FOUND, not logged: there is none. TOO_BIG, not logged: it fills all the room. NOT_PERMITTED, INVALID_VALUE; logged. */
SF_API doca_error_t sf_secret_file_read(int folder, const char *name, const char *path, void *bytes, size_t room, size_t *len);

#endif
