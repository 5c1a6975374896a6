/* SPDX-License-Identifier: BSD-3-Clause */
#include "timing.h"

#include <stdlib.h>
#include <string.h>

#include "json_writer.h"
#include "samples.h"

bool timing_open(struct timing *timing, uint64_t count, bool measures)
{
	*timing = (struct timing){.count = count};
	if (!measures)
		return true;
	timing->samples = malloc(count * sizeof(*timing->samples));
	if (timing->samples == NULL)
		return false;
	memset(timing->samples, 0, count * sizeof(*timing->samples)); /* no page faults while measuring */
	return true;
}

void timing_close(struct timing *timing, bool halves, struct timing_stats *stats)
{
	uint64_t ns = sf_now_ns() - timing->begin_ns, num = timing->count;
	double unit = (double)ns / (double)(timing_ticks() - timing->begin_ticks) / (halves ? 2 : 1);
	const uint64_t *samples = timing->samples;

	if (samples == NULL)
		return;
	stats->mean = (double)ns / (double)num / (halves ? 2 : 1);
	samples_sort(timing->samples, num);
	stats->min = unit * (double)samples[0];
	stats->p50 = unit * (double)samples_permille(samples, num, 500);
	stats->p90 = unit * (double)samples_permille(samples, num, 900);
	stats->p99 = unit * (double)samples_permille(samples, num, 990);
	stats->p999 = unit * (double)samples_permille(samples, num, 999);
	stats->max = unit * (double)samples[num - 1];
	free(timing->samples);
	timing->samples = NULL;
}

/* ---- the figures by name ---- */

const char *const timing_names[TIMING_NAMES] = {"min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns"};

double timing_figure(const struct timing_stats *stats, int name)
{
	const double figures[TIMING_NAMES] = {stats->min, stats->mean, stats->p50, stats->p90,
					      stats->p99, stats->p999, stats->max};

	return figures[name];
}

void timing_json(struct json_object *object, const struct timing_stats *stats)
{
	for (int i = 0; i < TIMING_NAMES; i++)
		json_add_real(object, timing_names[i], timing_figure(stats, i));
}
