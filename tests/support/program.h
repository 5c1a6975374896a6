/* SPDX-License-Identifier: BSD-3-Clause */
/* Another program as a child, with what it prints (standard output and error together). Nothing waits longer than a deadline. */
#ifndef TEST_PROGRAM_H
#define TEST_PROGRAM_H

#include <stdbool.h>
#include <sys/types.h>

#define PROGRAM_OUTPUT_MAX 16384
#define PROGRAM_DEADLINE_MS 60000 /* only a hang takes longer, on however busy a machine */

struct program {
	pid_t pid;
	int output_fd;
	char output[PROGRAM_OUTPUT_MAX]; /* so far, with a zero at the end */
	size_t output_len;
};

/* Starts argv[0]; the list ends with NULL. */
bool program_start(struct program *program, const char *const *argv);

/* Reads until the output holds the text. False: the program ended, or the deadline came, without it. */
bool program_await(struct program *program, const char *text);

/* Reads to the end and returns the exit status, 128 + the signal, or -1 when the deadline came (it is killed then). */
int program_wait(struct program *program);

/* Whether the process has not ended. One that has, and that its parent has not waited for, is not there. */
bool process_is_there(pid_t pid);

#endif
