/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The look-up file that DOCA_UROM_SERVICE_FILE names: a line for each service,
 *
 *     <app_hostname> <service_type> <dev_hostname> <dev_pci_addr> <net,devs>
 *
 * A '#' begins a comment. dev_hostname may name a port (bf2.example:18650), else it is UROM_PORT_DEFAULT.
 */
#ifndef UROM_SERVICE_FILE_H
#define UROM_SERVICE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#define UROM_SERVICE_FILE_MAX (1 << 20) /* bytes */
#define UROM_HOST_MAX 256		/* bytes of a name, with its NUL */
#define UROM_NET_DEVICES_MAX 256

struct urom_service_entry {
	char host[UROM_HOST_MAX]; /* of the device: a name or an address */
	uint16_t port;
	char net_devices[UROM_NET_DEVICES_MAX];
};

/* The first line whose app_hostname is_here accepts, and whose PCI address is pci_addr ("0000:d8:00.0"; a line may omit
 * the domain). NOT_FOUND, not logged: no such line. Malformed lines are logged with their number and ignored. */
doca_error_t urom_service_file_find(const char *text, size_t len, const char *path, const char *pci_addr,
				    bool (*is_here)(const char *hostname), struct urom_service_entry *entry);

/* Reads the file and finds this machine's line. NOT_FOUND, logged: the variable is not set, there is no such file, or no such
 * line. */
doca_error_t urom_service_look_up(const char *pci_addr, struct urom_service_entry *entry);

#endif
