/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rate limit for log lines that a peer can trigger: another process, a client, an unknown host on the network.
 *
 *	SF_LOG_WARN_LIMITED("%s sent a message of %zu bytes", peer, len);
 *
 * Each call site logs at most LOG_RATE_LINES lines in LOG_RATE_SECONDS and counts the rest. The count follows as a line of the
 * same site and level, "N more of this kind suppressed in the last S s": before the site's next line, or by sf_log_rate_report,
 * which agents and daemons call periodically. The arguments of a suppressed line are not evaluated. An error line that no backend
 * shows does not count, and still becomes the thread's last error. Lines about the program's own mistakes are not limited.
 */
#ifndef SF_LOG_RATE_H
#define SF_LOG_RATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"

#define LOG_RATE_LINES 10
#define LOG_RATE_SECONDS 10

/* How many lines were logged and suppressed recently. Safe in any thread; zero-initialized. */
struct sf_log_window {
	uint64_t began_lines; /* upper half: the second in which the window began; lower half: lines logged since */
	uint32_t suppressed;  /* lines not reported yet */
};

/* The outcome of one more line. */
struct sf_log_window_line {
	bool allowed;	     /* otherwise it is counted as suppressed */
	uint32_t suppressed; /* suppressed lines to report before it, and their period */
	uint32_t seconds;
};

static inline struct sf_log_window_line sf_log_window_line(struct sf_log_window *window, uint32_t lines_max, uint32_t now_s)
{
	uint64_t old = __atomic_load_n(&window->began_lines, __ATOMIC_RELAXED), next;
	struct sf_log_window_line line = {.allowed = true};

	do {
		line.seconds = now_s - (uint32_t)(old >> 32);
		if (line.seconds >= LOG_RATE_SECONDS) {
			next = (uint64_t)now_s << 32 | 1;
		} else if ((uint32_t)old < lines_max) {
			next = old + 1;
		} else {
			/* Ordered before the caller's check for a pending report. */
			__atomic_fetch_add(&window->suppressed, 1, __ATOMIC_SEQ_CST);
			return (struct sf_log_window_line){.allowed = false};
		}
	} while (!__atomic_compare_exchange_n(&window->began_lines, &old, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (line.seconds >= LOG_RATE_SECONDS)
		line.suppressed = __atomic_exchange_n(&window->suppressed, 0, __ATOMIC_RELAXED);
	return line;
}

/* One call site. Never freed: libraries with a site are not unloaded. */
struct sf_log_site {
	const char *file, *func;
	int line;
	uint32_t level, lines_max;
	bool program; /* it logs as doca_log does, not as sf_log */
	bool listed;
	struct sf_log_window window;
	struct sf_log_site *next;
};

/* Returns true if the site may log a line now. May log how many lines it suppressed. */
SF_API bool sf_log_site_line(struct sf_log_site *site);

/*
 * Logs and resets the counts of the sites whose LOG_RATE_SECONDS are over, or of all sites. Cheap if nothing was suppressed.
 * Returns true if more must be logged later.
 */
SF_API bool sf_log_rate_report(bool all);

#define SF_LOG_SITE(its_level, its_lines_max, is_program)                                                                        \
	static struct sf_log_site log_site = {.file = __FILE__,                                                                  \
					      .func = __func__,                                                                  \
					      .line = __LINE__,                                                                  \
					      .level = (its_level),                                                              \
					      .lines_max = (its_lines_max),                                                      \
					      .program = (is_program)}

#define SF_LOG_LIMITED(level, lines_max, ...)                                                                                    \
	do {                                                                                                                     \
		SF_LOG_SITE(level, lines_max, false);                                                                            \
		if ((level) <= __atomic_load_n(&sf_log_limit, __ATOMIC_RELAXED) ? sf_log_site_line(&log_site)                    \
										: (level) == DOCA_LOG_LEVEL_ERROR)               \
			sf_log(level, __FILE__, __LINE__, __func__, __VA_ARGS__);                                                \
	} while (0)

#define SF_LOG_ERR_LIMITED(...) SF_LOG_LIMITED(DOCA_LOG_LEVEL_ERROR, LOG_RATE_LINES, __VA_ARGS__)
#define SF_LOG_WARN_LIMITED(...) SF_LOG_LIMITED(DOCA_LOG_LEVEL_WARNING, LOG_RATE_LINES, __VA_ARGS__)
#define SF_LOG_INFO_LIMITED(...) SF_LOG_LIMITED(DOCA_LOG_LEVEL_INFO, LOG_RATE_LINES, __VA_ARGS__)
#define SF_LOG_DBG_LIMITED(...) SF_LOG_LIMITED(DOCA_LOG_LEVEL_DEBUG, LOG_RATE_LINES, __VA_ARGS__)

/* The same for our own programs, which log with DOCA_LOG. */
#define PROGRAM_LOG_LIMITED(level, lines_max, ...)                                                                               \
	do {                                                                                                                     \
		SF_LOG_SITE(level, lines_max, true);                                                                             \
		if (sf_log_site_line(&log_site))                                                                                 \
			DOCA_LOG(level, __VA_ARGS__);                                                                            \
	} while (0)

#define PROGRAM_LOG_ERR_LIMITED(...) PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_ERROR, LOG_RATE_LINES, __VA_ARGS__)
#define PROGRAM_LOG_WARN_LIMITED(...) PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_WARNING, LOG_RATE_LINES, __VA_ARGS__)
#define PROGRAM_LOG_INFO_LIMITED(...) PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_INFO, LOG_RATE_LINES, __VA_ARGS__)
#define PROGRAM_LOG_DBG_LIMITED(...) PROGRAM_LOG_LIMITED(DOCA_LOG_LEVEL_DEBUG, LOG_RATE_LINES, __VA_ARGS__)

#endif
