/* SPDX-License-Identifier: BSD-3-Clause */
/* A service's connection to the daemon. */
#ifndef UROM_SERVICE_PEER_H
#define UROM_SERVICE_PEER_H

#include "urom/service.h"

extern const struct sf_comm_handler urom_service_handler;

/* What a start may answer when a session ends so: the other end chooses none of its own. */
doca_error_t urom_service_start_error(doca_error_t why);
void urom_service_disconnect(struct doca_urom_service *service);

#endif
