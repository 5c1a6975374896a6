/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eventfds that other processes hold too: a progress engine's, which peers write to wake it.
 *
 * O_NONBLOCK is a flag of the open file, which all its holders share. A peer that clears it and fills or empties the counter
 * would block a plain write or read for ever, so neither is used: every call here returns, whatever the peer does.
 */
#ifndef SF_BASE_DOORBELL_H
#define SF_BASE_DOORBELL_H

#include <stdbool.h>

#include "base/visibility.h"

/* Makes the eventfd readable. Any thread; never blocks. */
SF_API void sf_doorbell_ring(int fd);

/* Sets the counter to zero; *rang says whether it was not, and may be NULL. False, with errno: it cannot be
 * read. Never blocks. */
SF_API bool sf_doorbell_clear(int fd, bool *rang);

#endif
