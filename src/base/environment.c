/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A mistyped variable would silently do nothing. So when the library is loaded, it logs each SOFTFIELD_ variable that no part of
 * Softfield reads.
 */
#include "base/environment.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/log.h"
#include "base/nearest_word.h"

#define PREFIX "SOFTFIELD_"
#define NAME_MAX_LEN 64
#define WARNINGS_MAX 8

/* All variables of docs/environment.md. The test environment-doc compares the two. */
static const char *const known[] = {
	"SOFTFIELD_DMA_MAX_BUF_SIZE",
	"SOFTFIELD_FABRIC",
	"SOFTFIELD_FAULTS",
	"SOFTFIELD_GPU",
	"SOFTFIELD_GPU_FAULT",
	"SOFTFIELD_GPU_SPIN",
	"SOFTFIELD_LISTEN",
	"SOFTFIELD_LOG",
	"SOFTFIELD_NODE",
	"SOFTFIELD_PEER_TIMEOUT",
	"SOFTFIELD_PROFILE",
	"SOFTFIELD_RUNTIME",
	"SOFTFIELD_STALL_MS",
	"SOFTFIELD_TCP_KEY",
	"SOFTFIELD_TOPOLOGY",
	"SOFTFIELD_TRACE",
	"SOFTFIELD_UROM_SERVICE",
	"SOFTFIELD_USER",
	"SOFTFIELD_VALIDATE",
	"SOFTFIELD_VERBS_DEVICE",
	NULL,
};

bool sf_environment_is_known(const char *name)
{
	if (strncmp(name, PREFIX "TEST_", strlen(PREFIX "TEST_")) == 0)
		return true;
	for (size_t i = 0; known[i] != NULL; i++) {
		if (strcmp(name, known[i]) == 0)
			return true;
	}
	return false;
}

const char *sf_environment_nearest(const char *name)
{
	return sf_nearest_word(name, known, strlen(PREFIX));
}

/*
 * SOFTFIELD_LOG decides whether warnings are shown. If it is not set, the line goes to standard error: it may be the mistyped
 * one.
 */
static void variable_warn(const char *name)
{
	const char *nearest = sf_environment_nearest(name), *question = nearest != NULL ? "did you mean " : "";
	const char *list = nearest != NULL ? "?" : "docs/environment.md lists those that exist";

	nearest = nearest != NULL ? nearest : "";
	if (__atomic_load_n(&sf_log_limit, __ATOMIC_RELAXED) != 0)
		SF_LOG_WARN("no variable is named %s: %s%s%s", name, question, nearest, list);
	else if (fcntl(STDERR_FILENO, F_GETFD) >= 0)
		dprintf(STDERR_FILENO, "softfield: no variable is named %s: %s%s%s\n", name, question, nearest, list);
}

void sf_environment_check(void)
{
	char name[NAME_MAX_LEN];
	int warnings = 0;

	if (getauxval(AT_SECURE) != 0)
		return;
	for (char **at = environ; at != NULL && *at != NULL && warnings < WARNINGS_MAX; at++) {
		const char *value = strchr(*at, '=');

		if (value == NULL || value[1] == '\0' || strncmp(*at, PREFIX, strlen(PREFIX)) != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(value - *at), *at);
		if (sf_environment_is_known(name))
			continue;
		variable_warn(name);
		warnings++;
	}
}
