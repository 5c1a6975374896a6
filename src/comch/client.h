/* SPDX-License-Identifier: BSD-3-Clause */
/* What the Comm Channel needs besides the public calls. */
#ifndef SF_COMCH_CLIENT_H
#define SF_COMCH_CLIENT_H

#include <doca_comch.h>

#include "base/visibility.h"

/*
 * Waits until the server's process has received a starting client's request, or is known not to exist: the next progress calls
 * report it. Does not wait for the server's program. TIME_OUT: that process does not answer; the client goes on.
 */
SF_API doca_error_t sf_comch_client_wait(struct doca_comch_client *client);

/* doca_task_submit of a server's or client's message. AGAIN if it would have to wait for a progress call, because the Comm
 * Channel has none. */
SF_API doca_error_t sf_comch_task_send_submit_now(struct doca_comch_task_send *task);

#endif
