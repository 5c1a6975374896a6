/* SPDX-License-Identifier: BSD-3-Clause */
/* The network devices in a line of the service file, in the form that UCX's TCP needs. */
#ifndef UROM_NET_DEVICES_H
#define UROM_NET_DEVICES_H

#include <stddef.h>

/*
 * list: names, separated by commas. An RDMA device, "mlx5_0:1" say, becomes its network interfaces, which sys ("/sys") knows; one
 * that has none here is left out. Other names stay. out: at least as long as list; "all" when nothing is left, which is logged.
 */
void urom_net_devices_for_tcp(const char *list, const char *sys, char *out, size_t room);

#endif
