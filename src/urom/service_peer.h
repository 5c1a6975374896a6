/* SPDX-License-Identifier: BSD-3-Clause */
/* A service's connection to the daemon. */
#ifndef UROM_SERVICE_PEER_H
#define UROM_SERVICE_PEER_H

#include "urom/service.h"

extern const struct sf_comm_handler urom_service_handler;

/* The result of a start whose session ends with this code: the peer cannot choose other codes. */
doca_error_t urom_service_start_error(doca_error_t why);
void urom_service_disconnect(struct doca_urom_service *service);

#endif
