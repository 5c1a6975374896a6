/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks variables, the topology and the key. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/environment.h"
#include "base/secret_file.h"
#include "doctor/doctor.h"
#include "fabric/fabric.h"
#include "tool.h"

#define KEY_ROOM 128
#define KEY_LEN 64

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* Lists the variables that are set, so that a user can compare two shells. */
void doctor_check_environment(struct doctor_report *report)
{
	char list[1024] = "";

	for (char **at = environ; *at; at++) {
		const char *value = strchr(*at, '=');
		size_t used = strlen(list);
		char name[64];

		if (!value || strncmp(*at, "SOFTFIELD_", 10) != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(value - *at), *at);
		if (!sf_environment_is_known(name)) {
			const char *nearest = sf_environment_nearest(name);

			doctor_say(report, DOCTOR_WARNING, "environment", "no variable is named %s: %s%s", name,
				   nearest ? "set " : "unset it, or see docs/environment.md", nearest ? nearest : "");
		}
		snprintf(list + used, sizeof(list) - used, "%s%s", *list ? ", " : "", *at);
	}
	if (is_set("SOFTFIELD_FABRIC") && !sf_fabric_find(getenv("SOFTFIELD_FABRIC")))
		doctor_say(report, DOCTOR_ERROR, "environment",
			   "SOFTFIELD_FABRIC is %s: set it to shm, loop, tcp or verbs, or unset it", getenv("SOFTFIELD_FABRIC"));
	doctor_say(report, DOCTOR_OK, "environment", "%s", *list ? list : "no variable of Softfield is set");
}

static void say_node(struct doctor_report *report, const struct sf_topology *topology, const char *origin)
{
	const char *name = getenv("SOFTFIELD_NODE");

	if (!is_set("SOFTFIELD_NODE"))
		doctor_say(report, DOCTOR_OK, "topology",
			   "%s, %u nodes, %u devices; programs see every node (SOFTFIELD_NODE is unset)", origin,
			   topology->num_nodes, topology->num_devices);
	else if (sf_topology_find_node(topology, name))
		doctor_say(report, DOCTOR_OK, "topology", "%s, %u nodes, %u devices; programs run on node %s", origin,
			   topology->num_nodes, topology->num_devices, name);
	else
		doctor_say(
			report, DOCTOR_ERROR, "topology",
			"%s has no node %s, so programs see no device: set SOFTFIELD_NODE to a node of `softfield topology show`",
			origin, name);
}

void doctor_check_topology(struct doctor_report *report)
{
	struct sf_topology *topology = NULL;
	char *text = NULL, *message;
	const char *origin;
	size_t len;

	if (sf_topology_text(&text, &len, &origin, &message) == DOCA_SUCCESS)
		message = tool_topology_parse(origin, text, len, &topology);
	if (topology)
		say_node(report, topology, origin);
	else
		doctor_say(report, DOCTOR_ERROR, "topology", "%s; correct the file, or unset SOFTFIELD_TOPOLOGY",
			   message ? message : "no memory");
	sf_topology_free(topology);
	free(message);
	free(text);
}

void doctor_check_key(struct doctor_report *report)
{
	const char *path = getenv("SOFTFIELD_TCP_KEY");
	char key[KEY_ROOM];
	size_t len = 0;

	if (!is_set("SOFTFIELD_TCP_KEY"))
		return;
	if (sf_secret_file_read(AT_FDCWD, path, path, key, sizeof(key), &len) == DOCA_SUCCESS && len == KEY_LEN &&
	    strspn(key, "0123456789abcdefABCDEF") >= KEY_LEN)
		doctor_say(report, DOCTOR_OK, "key", "%s is readable, and only by you", path);
	else
		doctor_say(report, DOCTOR_ERROR, "key",
			   "%s is not a valid key: make it with `(umask 077; openssl rand -hex 32 > FILE)`, as the user who runs "
			   "the "
			   "programs",
			   path);
	memset(key, 0, sizeof(key));
}
