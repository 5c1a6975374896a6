/* SPDX-License-Identifier: BSD-3-Clause */
/* SOFTFIELD_LOG: the libraries' log lines on standard error, without a call of the program. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_backend.h"

static uint32_t level_from_text(const char *text)
{
	static const struct {
		const char *text;
		uint32_t level;
	} levels[] = {
		{"error", DOCA_LOG_LEVEL_ERROR},
		{"warning", DOCA_LOG_LEVEL_WARNING},
		{"info", DOCA_LOG_LEVEL_INFO},
		{"debug", DOCA_LOG_LEVEL_DEBUG},
	};

	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (strcmp(text, levels[i].text) == 0)
			return levels[i].level;
	}
	return DOCA_LOG_LEVEL_DISABLE;
}

/* Runs when the library is loaded, so that the first line of any library is not lost. */
__attribute__((constructor)) static void log_environment_read(void)
{
	const char *text = secure_getenv("SOFTFIELD_LOG");

	/* A process started without standard error uses its descriptor for something else. */
	if (!text || text[0] == '\0' || fcntl(STDERR_FILENO, F_GETFD) < 0)
		return;

	uint32_t level = level_from_text(text);

	if (level == DOCA_LOG_LEVEL_DISABLE) {
		sf_log_backend_add_stderr(DOCA_LOG_LEVEL_ERROR);
		SF_LOG_ERR("SOFTFIELD_LOG is \"%.32s\": set it to error, warning, info or debug; errors are shown", text);
		return;
	}
	sf_log_backend_add_stderr(level);
}
