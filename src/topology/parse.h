/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology under construction: parse.c fills it from JSON, uplink.c connects functions with ports, names.c adds what the file
 * leaves out and finds duplicates.
 */
#ifndef SF_TOPOLOGY_PARSE_H
#define SF_TOPOLOGY_PARSE_H

#include "base/json.h"
#include "topology/topology.h"

/* Data of the file about a device that the device itself does not keep. */
struct sf_device_source {
	char path[SF_JSON_PATH_MAX];
	const char *uplink;  /* as text, "dpu0/03:00.0", or NULL; owned by the JSON tree */
	uint32_t ibdev_next; /* one more than the number in a generated ibdev name; 0 for a name of the file */
	bool has_mac, has_ipv6;
};

struct sf_parse {
	struct sf_json json;
	struct sf_topology *topology;
	struct sf_device_source *sources; /* one per device */
};

/* Finds the port of each uplink in the file, and sets it in the VFs and SFs, too. */
bool sf_parse_uplinks(struct sf_parse *parse);

/* Sets each device's key, VUID, MAC, names and everything else that the file may leave out. Call after sf_parse_uplinks. */
bool sf_parse_names(struct sf_parse *parse);

/* Checks that no two devices or GPUs share a name or address. */
bool sf_parse_check_unique(struct sf_parse *parse);

#endif
