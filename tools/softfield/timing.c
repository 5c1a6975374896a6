/* SPDX-License-Identifier: BSD-3-Clause */
#include "timing.h"

#include <stdlib.h>
#include <string.h>

bool timing_open(struct timing *timing, uint64_t count, bool measures)
{
	*timing = (struct timing){.count = count};
	if (!measures)
		return true;
	timing->samples = malloc(count * sizeof(*timing->samples));
	if (timing->samples == NULL)
		return false;
	memset(timing->samples, 0, count * sizeof(*timing->samples)); /* no page is touched first while it measures */
	return true;
}

static int by_value(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

void timing_close(struct timing *timing, bool halves, struct timing_stats *stats)
{
	uint64_t ns = sf_now_ns() - timing->begin_ns, num = timing->count;
	double unit = (double)ns / (double)(timing_ticks() - timing->begin_ticks) / (halves ? 2 : 1);
	const uint64_t *samples = timing->samples;

	if (samples == NULL)
		return;
	stats->mean = (double)ns / (double)num / (halves ? 2 : 1);
	qsort(timing->samples, num, sizeof(*samples), by_value);
	stats->min = unit * (double)samples[0];
	stats->p50 = unit * (double)samples[num / 2];
	stats->p90 = unit * (double)samples[num * 90 / 100];
	stats->p99 = unit * (double)samples[num * 99 / 100];
	stats->p999 = unit * (double)samples[num * 999 / 1000];
	stats->max = unit * (double)samples[num - 1];
	free(timing->samples);
	timing->samples = NULL;
}
