/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOL_PS_H
#define TOOL_PS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status_page.h"

#define PS_PROCESSES_MAX 1024
#define PS_TEXT_MAX 40

struct ps_process {
	pid_t pid; /* in this pid namespace; 0: in another container */
	struct sf_status_page *page;
};

struct ps_list {
	uint64_t now_ns;
	struct ps_process *all;
	size_t num;
};

/* Returns the age in ms; 0 for a future time. */
uint64_t ps_age_ms(const struct ps_list *list, uint64_t since_ns);
/* Returns the user's name, or number. */
/* Since when the context's oldest task has been in flight, at least; 0: there is none, or it is not known yet. */
uint64_t ps_oldest_ns(const struct ps_process *process, const struct sf_status_context *it);

const char *ps_user(uint32_t user, char text[PS_TEXT_MAX]);
/* The name of a process's program, perhaps in text. NULL: pid is 0, or the process is not visible. */
const char *ps_program(const struct ps_list *list, pid_t pid, char text[SF_STATUS_TEXT_MAX]);

/* one_line: one object per line. */
void ps_print_json(const struct ps_list *list, bool one_line);

#endif
