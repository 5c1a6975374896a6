/* SPDX-License-Identifier: BSD-3-Clause */
/* What the Comm Channel needs of a client besides the public calls. */
#ifndef SF_COMCH_CLIENT_H
#define SF_COMCH_CLIENT_H

#include <doca_comch.h>

#include "base/visibility.h"

/* Waits until the server's process has the request of a client that starts, or it is known that there is none: the next progress
 * calls tell. The server's program is not waited for. TIME_OUT: that process is silent; the client goes on. */
SF_API doca_error_t sf_comch_client_wait(struct doca_comch_client *client);

#endif
