/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "argp/parser.h"
#include "argp/usage.h"

/* First column of descriptions. Longer flags move it right, up to COLUMN_LAST; still longer ones exceed it. */
#define COLUMN_FIRST 40
#define COLUMN_LAST 56
#define INDENT 2
#define GAP 2

static void line_print(FILE *stream, int width, int column, const char *description)
{
	int pad = width + GAP < column ? column - width : GAP;

	fprintf(stream, "%*s%s\n", pad, "", description);
}

static void param_print(FILE *stream, const struct doca_argp_param *param, int column)
{
	char label[SF_ARGP_LABEL_SIZE];
	int width = fprintf(stream, "%*s%s", INDENT, "", sf_argp_param_label(param, label, sizeof(label)));

	if (param->arguments != NULL)
		width += fprintf(stream, " %s", param->arguments);
	line_print(stream, width, column, param->description);
}

static int column_of(const struct doca_argp_cmd *cmd)
{
	char label[SF_ARGP_LABEL_SIZE];
	int column = COLUMN_FIRST;

	for (; cmd != NULL; cmd = cmd->parent) {
		for (const struct doca_argp_param *param = cmd->params; param != NULL; param = param->next) {
			size_t width = INDENT + strlen(sf_argp_param_label(param, label, sizeof(label))) + GAP;

			if (param->arguments != NULL)
				width += 1 + strlen(param->arguments);
			if (!param->hidden && width > (size_t)column && width <= COLUMN_LAST)
				column = (int)width;
		}
	}
	return column;
}

/* Prints the command's visible flags (or the DOCA flags, if doca is set), and inherited ones of the commands above. */
static bool params_print(FILE *stream, const char *heading, const struct doca_argp_cmd *cmd, bool doca)
{
	bool any = false;

	for (const struct doca_argp_cmd *level = cmd; level != NULL; level = level->parent) {
		for (const struct doca_argp_param *param = level->params; param != NULL; param = param->next) {
			if (param->hidden || param->general != doca || (level != cmd && !param->inherited))
				continue;
			if (!any)
				fprintf(stream, "\n%s:\n", heading);
			any = true;
			param_print(stream, param, column_of(cmd));
		}
	}
	return any;
}

static bool cmds_visible(const struct doca_argp_cmd *cmd)
{
	for (cmd = cmd->cmds; cmd != NULL; cmd = cmd->next) {
		if (!cmd->hidden)
			return true;
	}
	return false;
}

static void cmds_print(FILE *stream, const char *heading, const struct doca_argp_cmd *cmd)
{
	if (!cmds_visible(cmd))
		return;
	fprintf(stream, "\n%s:\n", heading);
	for (cmd = cmd->cmds; cmd != NULL; cmd = cmd->next) {
		if (!cmd->hidden)
			line_print(stream, fprintf(stream, "%*s%s", INDENT, "", cmd->name), COLUMN_FIRST, cmd->description);
	}
}

static void path_print(FILE *stream, const struct doca_argp_cmd *cmd)
{
	if (cmd->parent == NULL)
		return;
	path_print(stream, cmd->parent);
	fprintf(stream, " %s", cmd->name);
}

void sf_argp_usage_print(FILE *stream, const struct doca_argp_cmd *cmd)
{
	bool root = cmd->parent == NULL;

	fprintf(stream, "Usage: %s", sf_argp_program_name());
	if (sf_argp_has_dpdk())
		fputs(" [DPDK Flags] --", stream);
	path_print(stream, cmd);
	fputs(root ? " [DOCA Flags] [Program Flags]" : " [DOCA Flags] [Command Flags]", stream);
	fputs(cmds_visible(cmd) ? " [Command]\n" : "\n", stream);
	params_print(stream, "DOCA Flags", cmd, true);
	params_print(stream, root ? "Program Flags" : "Command Flags", cmd, false);
	cmds_print(stream, "Commands", cmd);
	fputc('\n', stream);
	fflush(stream);
}
