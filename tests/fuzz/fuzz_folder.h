/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtime folder of a fuzz target, and other files of it. */
#ifndef FUZZ_FOLDER_H
#define FUZZ_FOLDER_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "support/check.h"

static struct {
	char path[sizeof("/tmp/softfield-fuzz-XXXXXX")];
	pid_t owner;
} fuzz_folder = {.path = "/tmp/softfield-fuzz-XXXXXX"};

static void fuzz_folder_remove(void)
{
	char command[64];

	if (getpid() != fuzz_folder.owner) /* a child that exits */
		return;
	snprintf(command, sizeof(command), "rm -rf '%s'", fuzz_folder.path);
	(void)!system(command);
}

/* Makes it, until the target exits, and names it in the environment. Returns its path. */
static inline const char *fuzz_folder_make(void)
{
	CHECK(mkdtemp(fuzz_folder.path) != NULL);
	fuzz_folder.owner = getpid();
	CHECK(setenv("SOFTFIELD_RUNTIME", fuzz_folder.path, 1) == 0 && atexit(fuzz_folder_remove) == 0);
	return fuzz_folder.path;
}

#endif
