/* SPDX-License-Identifier: BSD-3-Clause */
/* The plugins in UROM_PLUGIN_PATH. */
#ifndef UROM_DAEMON_PLUGINS_H
#define UROM_DAEMON_PLUGINS_H

#include <stdint.h>

#include "bounds.h"
#include "urom/proto.h"

struct daemon_plugin {
	struct urom_plugin info;
	char path[DAEMON_PATH_MAX];
};

struct daemon;

void plugins_discover(struct daemon *daemon);
const struct daemon_plugin *plugins_find(const struct daemon *daemon, uint64_t id);

#endif
