/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology under construction: parse.c fills it from JSON, uplink.c joins functions and ports, names.c adds what the file left
 * out and finds duplicates.
 */
#ifndef SF_TOPOLOGY_PARSE_H
#define SF_TOPOLOGY_PARSE_H

#include "topology/json.h"
#include "topology/topology.h"

/* What the file said about a device, beside the device. */
struct sf_device_source {
	char path[SF_JSON_PATH_MAX];
	const char *uplink;  /* as text, "dpu0/03:00.0", or NULL; the JSON tree's */
	uint32_t ibdev_next; /* one more than the number in a made-up ibdev name; 0 when the file gave the name */
	bool has_mac, has_ipv6;
};

struct sf_parse {
	struct sf_json json;
	struct sf_topology *topology;
	struct sf_device_source *sources; /* one a device */
};

/* Finds the port behind each uplink that the file gives, and passes it on to VFs and SFs. */
bool sf_parse_uplinks(struct sf_parse *parse);

/* Gives every device its key, VUID, MAC, names and the rest that the file may leave out. Uplinks are resolved already. */
bool sf_parse_names(struct sf_parse *parse);

/* No two devices or GPUs may be mistaken for each other. */
bool sf_parse_check_unique(struct sf_parse *parse);

#endif
