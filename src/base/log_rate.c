/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/log_rate.h"

#include <pthread.h>
#include <time.h>

static struct sf_log_site *sites; /* all sites that have logged; the list only grows */
static bool pending;		  /* a site may have a count to report */

static uint32_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint32_t)now.tv_sec;
}

static void site_list(struct sf_log_site *site)
{
	if (__atomic_load_n(&site->listed, __ATOMIC_RELAXED) || __atomic_exchange_n(&site->listed, true, __ATOMIC_RELAXED))
		return;
	site->next = __atomic_load_n(&sites, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&sites, &site->next, site, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
}

static void site_report(const struct sf_log_site *site, uint32_t suppressed, uint32_t seconds)
{
	static const char format[] = "%u more of this kind suppressed in the last %u s";

	if (site->program)
		doca_log(site->level, 0, site->file, site->line, site->func, format, suppressed, seconds);
	else
		sf_log(site->level, site->file, site->line, site->func, format, suppressed, seconds);
}

bool sf_log_site_line(struct sf_log_site *site)
{
	struct sf_log_window_line line = sf_log_window_line(&site->window, site->lines_max, now_s());

	site_list(site);
	if (!line.allowed && !__atomic_load_n(&pending, __ATOMIC_SEQ_CST))
		__atomic_store_n(&pending, true, __ATOMIC_SEQ_CST);
	if (line.suppressed != 0)
		site_report(site, line.suppressed, line.seconds);
	return line.allowed;
}

/* Returns true if the site has nothing more to report. */
static bool site_end_window(struct sf_log_site *site, bool at_once)
{
	uint32_t seconds = now_s() - (uint32_t)(__atomic_load_n(&site->window.began_lines, __ATOMIC_RELAXED) >> 32);

	if (seconds < LOG_RATE_SECONDS && !at_once)
		return __atomic_load_n(&site->window.suppressed, __ATOMIC_RELAXED) == 0;
	if (at_once)
		__atomic_store_n(&site->window.began_lines, 0, __ATOMIC_RELAXED);

	uint32_t suppressed = __atomic_exchange_n(&site->window.suppressed, 0, __ATOMIC_RELAXED);

	if (suppressed != 0)
		site_report(site, suppressed, seconds);
	return true;
}

bool sf_log_rate_report(bool all)
{
	bool any = __atomic_load_n(&pending, __ATOMIC_RELAXED) && __atomic_exchange_n(&pending, false, __ATOMIC_SEQ_CST);

	if (!any && !all)
		return false;
	any = false;
	for (struct sf_log_site *site = __atomic_load_n(&sites, __ATOMIC_ACQUIRE); site != NULL; site = site->next) {
		if (!site_end_window(site, all))
			any = true;
	}
	if (any)
		__atomic_store_n(&pending, true, __ATOMIC_RELAXED);
	return any;
}

/* The parent process reports its own counts. */
static void forget_in_child(void)
{
	for (struct sf_log_site *site = sites; site != NULL; site = site->next)
		site->window.suppressed = 0;
}

static __attribute__((constructor)) void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_in_child);
}
