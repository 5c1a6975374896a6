/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOL_EXPLAIN_CODES_H
#define TOOL_EXPLAIN_CODES_H

#include <stdbool.h>

#include <doca_error.h>

struct explained_code {
	const char *causes, *fix;
};

/* NULL: no such code. */
const struct explained_code *explain_code(doca_error_t code);

/* Finds the code for a number or a name, with or without DOCA_ERROR_. */
bool explain_find_code(const char *text, doca_error_t *code);

/* The known name that was probably meant, or NULL. */
const char *explain_nearest_code(const char *text);

/* Finds the code whose name or description is in the line. */
bool explain_find_code_in(const char *line, doca_error_t *code);

#endif
