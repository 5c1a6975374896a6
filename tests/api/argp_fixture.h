/* SPDX-License-Identifier: BSD-3-Clause */
/* A parser with a few flags, callbacks that record what they get, and helpers that parse a line or a file. */
#ifndef ARGP_FIXTURE_H
#define ARGP_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <doca_argp.h>
#include <doca_dev.h>

/* What the callbacks got, in order: "name=value;". */
struct seen {
	char text[1024];
	doca_error_t answer;   /* result that the callbacks return */
	doca_error_t validity; /* result that the validation returns */
	struct doca_dev *devs[8];
	uint32_t num_devs;
	bool keeps; /* the callback leaves devices open */
};

extern struct seen seen;
extern char message[1024]; /* the last message for the user */

enum flag_option {
	MANDATORY = 1,
	MULTIPLE = 2,
	SINGULAR = 4,
	INHERITED = 8,
	HIDDEN = 16,
	CLI_ONLY = 32,
};

/*
 * The program of most tests: -t/--text, -num/--number (repeats), -y/--yes, --object, -o (text), -c/--cli (number, command line
 * only), the logger callback and the validation callback.
 */
int setup(void **state);
int teardown(void **state);

struct doca_argp_param *flag_make(const char *short_name, const char *long_name, enum doca_argp_type type, unsigned int options);
void flag_add(const char *short_name, const char *long_name, enum doca_argp_type type, unsigned int options);
struct doca_argp_cmd *cmd_make(const char *name);

/* Splits a line at spaces and parses it. */
doca_error_t parse(const char *line);

/* Parses a parameter file with this text, passed with -j before further words. */
doca_error_t parse_file(const char *text, const char *more);

/* Runs the line in a child, which ends with exit; returns its status (98: start succeeded, 99: failed) and what it printed. */
int parse_in_child(const char *line, char *output, size_t output_size);

doca_error_t on_number(void *value, void *config);
doca_error_t on_validation(void *config);
doca_error_t on_message(enum doca_log_level level, const char *format, va_list args);
doca_error_t on_dpdk(int argc, char **argv);

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
