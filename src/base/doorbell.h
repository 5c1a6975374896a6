/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eventfds shared with other processes: peers write to a progress engine's eventfd to wake it.
 *
 * O_NONBLOCK is a flag of the open file description, so all holders share it. If a peer clears it and fills or drains the
 * counter, a plain write or read blocks for ever. So neither is used: each call here returns, whatever the peer does.
 */
#ifndef SF_BASE_DOORBELL_H
#define SF_BASE_DOORBELL_H

#include <stdbool.h>

#include "base/visibility.h"

/* Makes the eventfd readable. Any thread; never blocks. */
SF_API void sf_doorbell_ring(int fd);

/*
 * Sets the counter to zero. *rang, which may be NULL, says whether it was not zero. Returns false with errno set if it cannot be
 * read. Never blocks.
 */
SF_API bool sf_doorbell_clear(int fd, bool *rang);

#endif
