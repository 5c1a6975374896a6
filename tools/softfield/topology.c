/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield topology: checks a file, and shows the topology in use. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool.h"

char *tool_topology_parse(const char *origin, const char *text, size_t len, struct sf_topology **topology)
{
	char *message, *why;

	if (sf_topology_parse(text, len, topology, &message) == DOCA_SUCCESS)
		return NULL;
	if (asprintf(&why, "%s: %s", origin, message ? message : "no memory") < 0)
		abort();
	free(message);
	return why;
}

static bool find_self(struct sf_topology *t, const char *node)
{
	if (!node || !*node)
		return true;
	t->self = sf_topology_find_node(t, node);
	if (t->self)
		return true;
	fprintf(stderr, "softfield: no node is named %s; known nodes are", node);
	for (uint32_t i = 0; i < t->num_nodes; i++)
		fprintf(stderr, "%s %s", i ? "," : "", t->nodes[i].name);
	fputc('\n', stderr);
	return false;
}

struct sf_topology *tool_topology_load(const char *node)
{
	struct sf_topology *t = NULL;
	char *text = NULL, *message;
	const char *origin;
	size_t len;

	if (sf_topology_text(&text, &len, &origin, &message) == DOCA_SUCCESS)
		message = tool_topology_parse(origin, text, len, &t);
	free(text);
	if (!t)
		tool_fail("%s", message ? message : "no memory");
	free(message);
	if (t && !find_self(t, node)) {
		sf_topology_free(t);
		t = NULL;
	}
	return t;
}

static const char *plural_s(uint32_t count)
{
	return count == 1 ? "" : "s";
}

static void print_summary(const char *path, const struct sf_topology *t)
{
	uint32_t reps = 0;

	for (uint32_t i = 0; i < t->num_devices; i++)
		reps += t->devices[i].uplink != NULL;
	printf("%s: ok, %u node%s, %u device%s, %u representor%s, %u GPU%s\n", path, t->num_nodes, plural_s(t->num_nodes),
	       t->num_devices, plural_s(t->num_devices), reps, plural_s(reps), t->num_gpus, plural_s(t->num_gpus));
}

static int topology_check(const char *path)
{
	struct sf_topology *t = NULL;
	char *text = NULL, *message;
	size_t len;

	if (sf_topology_read(path, &text, &len, &message) == DOCA_SUCCESS)
		message = tool_topology_parse(path, text, len, &t);
	free(text);
	if (!t) {
		tool_fail("%s", message ? message : "no memory");
		free(message);
		return TOOL_FAILED;
	}
	print_summary(path, t);
	sf_topology_free(t);
	return TOOL_OK;
}

static int topology_show(void)
{
	char *text = NULL, *message;
	const char *origin;
	size_t len;

	if (sf_topology_text(&text, &len, &origin, &message) != DOCA_SUCCESS) {
		tool_fail("%s", message ? message : "no memory");
		free(message);
		return TOOL_FAILED;
	}
	fwrite(text, 1, len, stdout);
	free(text);
	return TOOL_OK;
}

static int check_run(struct cli *cli)
{
	int num;

	(void)cli_next(cli);
	return topology_check(cli_arguments(cli, 1, 1, &num)[0]);
}

static int show_run(struct cli *cli)
{
	tool_take_nothing(cli);
	return topology_show();
}

const struct cli_command tool_topology_check = {
	.name = "topology check",
	.arguments = "FILE",
	.summary = "Check a topology file, and report where an error is.",
	.run = check_run,
};

const struct cli_command tool_topology_show = {
	.name = "topology show",
	.summary = "Print the topology in use as JSON, as a template for your own file.",
	.run = show_run,
};
