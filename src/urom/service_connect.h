/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of a service: its connection. */
#ifndef UROM_SERVICE_CONNECT_H
#define UROM_SERVICE_CONNECT_H

#include <doca_urom.h>

/* Tries the addresses of the host one after the other. Logged, with the result of each. */
doca_error_t urom_service_connect(struct doca_urom_service *service);

#endif
