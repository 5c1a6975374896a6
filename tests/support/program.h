/* SPDX-License-Identifier: BSD-3-Clause */
/* Another program as a child, and its output (standard output and error together). No call waits longer than a deadline. */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#define PROGRAM_OUTPUT_MAX 16384
#define PROGRAM_DEADLINE_MS 60000 /* only a hang takes longer, even on a busy machine */

struct program {
	pid_t pid;
	int output_fd;
	char output[PROGRAM_OUTPUT_MAX]; /* so far, with a terminating zero */
	size_t output_len;
};

/* Starts argv[0]; the list ends with NULL. */
bool program_start(struct program *program, const char *const *argv);

/* Reads until the output contains the text. False: the program ended, or the deadline passed, without it. */
bool program_await(struct program *program, const char *text);

/* Reads to the end and returns the exit status, 128 + the signal, or -1 at the deadline, when it kills the program. */
int program_wait(struct program *program);

/* Whether the process has not ended. A zombie counts as ended. */
bool process_is_there(pid_t pid);

#endif
