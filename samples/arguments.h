/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of samples that take no options. */
#ifndef SAMPLES_ARGUMENTS_H
#define SAMPLES_ARGUMENTS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program with its usage if there are more than num_max arguments, or an option. names: the arguments in the usage. */
static inline void sample_arguments(int argc, char **argv, int num_max, const char *names)
{
	int is_help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0), is_wrong = argc > num_max + 1;

	for (int i = 1; i < argc; i++)
		is_wrong |= argv[i][0] == '-';
	if (!is_help && !is_wrong)
		return;
	fprintf(is_help ? stdout : stderr, "Usage: %s%s%s\n", argv[0], names[0] != '\0' ? " " : "", names);
	exit(is_help ? EXIT_SUCCESS : EXIT_FAILURE);
}

#endif
