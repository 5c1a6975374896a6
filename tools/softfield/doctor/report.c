/* SPDX-License-Identifier: BSD-3-Clause */
#include "doctor/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_writer.h"
#include "printable.h"

struct line {
	enum doctor_state state;
	const char *subject;
	char *text;
};

struct doctor_report {
	struct line *lines;
	size_t num;
};

static const char *const state_names[] = {[DOCTOR_OK] = "ok", [DOCTOR_WARNING] = "warning", [DOCTOR_ERROR] = "error"};

/* Ends the tool if it is out of memory. */
static void *memory_check(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

struct doctor_report *doctor_report_create(void)
{
	return memory_check(calloc(1, sizeof(struct doctor_report)));
}

void doctor_say(struct doctor_report *report, enum doctor_state state, const char *subject, const char *format, ...)
{
	struct line line = {.state = state, .subject = subject};
	va_list args;

	va_start(args, format);
	if (vasprintf(&line.text, format, args) < 0)
		abort();
	va_end(args);
	make_printable(line.text);
	report->lines = memory_check(realloc(report->lines, (report->num + 1) * sizeof(*report->lines)));
	report->lines[report->num++] = line;
}

static bool is_well(const struct doctor_report *report)
{
	for (size_t i = 0; i < report->num; i++) {
		if (report->lines[i].state == DOCTOR_ERROR)
			return false;
	}
	return true;
}

static void print_json(const struct doctor_report *report)
{
	struct json_object *root = json_object_new_object(), *checks = json_object_new_array();

	json_add_bool(root, "ok", is_well(report));
	json_object_object_add(root, "checks", checks);
	for (size_t i = 0; i < report->num; i++) {
		struct json_object *check = json_add_object(checks);

		json_add_text(check, "subject", report->lines[i].subject);
		json_add_text(check, "state", state_names[report->lines[i].state]);
		json_add_text(check, "text", report->lines[i].text);
	}
	json_print(root, true, stdout);
}

bool doctor_report_print(const struct doctor_report *report, bool json)
{
	if (json) {
		print_json(report);
	} else {
		for (size_t i = 0; i < report->num; i++)
			printf("%-8s %-15s %s\n", state_names[report->lines[i].state], report->lines[i].subject,
			       report->lines[i].text);
	}
	return is_well(report);
}

void doctor_report_destroy(struct doctor_report *report)
{
	for (size_t i = 0; i < report->num; i++)
		free(report->lines[i].text);
	free(report->lines);
	free(report);
}
