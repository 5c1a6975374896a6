/* SPDX-License-Identifier: BSD-3-Clause */
/* Two charts side by side in one SVG, both axes logarithmic: latency and bandwidth by size, a line for each part. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "perf/perf.h"
#include "tool.h"

#define WIDTH 520 /* of one chart */
#define HEIGHT 400
#define MARGIN 60
#define INNER_X (WIDTH - 2 * MARGIN)
#define INNER_Y (HEIGHT - 2 * MARGIN)

static const char *const colours[PERF_PARTS] = {"#1b7837", "#d95f02", "#2166ac", "#984ea3", "#b2182b"};

struct axis {
	double low, high; /* exponents: of 2 for sizes, of 10 for values */
};

struct chart {
	FILE *file;
	const struct perf_report *report;
	const char *title, *unit;
	double left;
	struct axis sizes, values;
	double (*value)(const struct perf_result *result, bool tail);
	bool has_tail; /* a second, dashed line: the 99th percentile */
};

static double latency_us(const struct perf_result *result, bool tail)
{
	return (tail ? result->latency.p99 : result->latency.p50) / 1e3;
}

static double rate_gb_s(const struct perf_result *result, bool tail)
{
	(void)tail;
	return result->bytes_per_s / 1e9;
}

static double x_of(const struct chart *chart, double exponent)
{
	double span = chart->sizes.high - chart->sizes.low;

	return chart->left + MARGIN + INNER_X * (span > 0 ? (exponent - chart->sizes.low) / span : 0.5);
}

static double y_of(const struct chart *chart, double exponent)
{
	return MARGIN + INNER_Y * (1 - (exponent - chart->values.low) / (chart->values.high - chart->values.low));
}

static void range_include(struct axis *axis, double exponent)
{
	axis->low = exponent < axis->low ? exponent : axis->low;
	axis->high = exponent > axis->high ? exponent : axis->high;
}

static void find_axes(struct chart *chart)
{
	chart->sizes = chart->values = (struct axis){.low = INFINITY, .high = -INFINITY};
	for (uint32_t i = 0; i < chart->report->num; i++) {
		const struct perf_result *r = &chart->report->results[i];

		for (int tail = 0; tail <= chart->has_tail; tail++) {
			if (chart->value(r, tail) <= 0)
				continue;
			range_include(&chart->sizes, log2(r->size));
			range_include(&chart->values, log10(chart->value(r, tail)));
		}
	}
	if (chart->values.low > chart->values.high)
		chart->sizes = chart->values = (struct axis){0};
	chart->values.low = floor(chart->values.low);
	chart->values.high = fmax(ceil(chart->values.high), chart->values.low + 1);
}

static void size_text(char text[16], uint32_t size)
{
	static const char units[] = " KMG";
	int unit = 0;

	for (; size >= 1024 && size % 1024 == 0; unit++)
		size /= 1024;
	snprintf(text, 16, "%u%.*s", size, unit != 0, &units[unit]);
}

static void draw_axes(const struct chart *chart)
{
	double right = chart->left + WIDTH - MARGIN;
	char text[16];

	fprintf(chart->file, "<text x=\"%g\" y=\"30\" font-size=\"15\">%s</text>\n", chart->left + MARGIN, chart->title);
	for (double exponent = chart->values.low; exponent <= chart->values.high; exponent++) {
		double y = y_of(chart, exponent);

		fprintf(chart->file, "<path d=\"M%g %gH%g\" stroke=\"#ccc\"/>", chart->left + MARGIN, y, right);
		fprintf(chart->file, "<text x=\"%g\" y=\"%g\" text-anchor=\"end\">%g</text>\n", chart->left + MARGIN - 6, y + 4,
			pow(10, exponent));
	}
	for (uint32_t i = 0; i < chart->report->plan->rdma.num_sizes; i++) {
		uint32_t size = chart->report->plan->rdma.sizes[i];
		double x = x_of(chart, log2(size));

		if (log2(size) < chart->sizes.low || log2(size) > chart->sizes.high)
			continue;
		size_text(text, size);
		fprintf(chart->file, "<path d=\"M%g %dv%d\" stroke=\"#eee\"/>", x, MARGIN, INNER_Y);
		fprintf(chart->file, "<text x=\"%g\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x, HEIGHT - MARGIN + 18, text);
	}
	fprintf(chart->file, "<text x=\"%g\" y=\"%d\" text-anchor=\"end\">bytes</text>\n", right, HEIGHT - MARGIN + 36);
	fprintf(chart->file, "<text x=\"%g\" y=\"%d\">%s</text>\n", chart->left + 8, MARGIN - 12, chart->unit);
}

static void draw_line(const struct chart *chart, uint32_t part, bool tail)
{
	char command = 'M';

	fprintf(chart->file, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s d=\"", colours[part],
		tail ? " stroke-dasharray=\"4 3\"" : "");
	for (uint32_t i = 0; i < chart->report->num; i++) {
		const struct perf_result *r = &chart->report->results[i];
		double value = chart->value(r, tail);

		if (strcmp(r->part, perf_parts[part]->name) != 0 || value <= 0)
			continue;
		fprintf(chart->file, "%c%.1f %.1f", command, x_of(chart, log2(r->size)), y_of(chart, log10(value)));
		command = 'L';
	}
	fprintf(chart->file, "%s\"/>\n", command == 'M' ? "M0 0" : "");
	for (uint32_t i = 0; i < chart->report->num && !tail; i++) {
		const struct perf_result *r = &chart->report->results[i];

		if (strcmp(r->part, perf_parts[part]->name) == 0 && chart->value(r, tail) > 0)
			fprintf(chart->file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n",
				x_of(chart, log2(r->size)), y_of(chart, log10(chart->value(r, tail))), colours[part]);
	}
}

static void draw_chart(struct chart *chart)
{
	find_axes(chart);
	draw_axes(chart);
	for (uint32_t part = 0; part < PERF_PARTS; part++) {
		if (!(chart->report->plan->parts & 1u << part))
			continue;
		draw_line(chart, part, false);
		if (chart->has_tail)
			draw_line(chart, part, true);
	}
}

static void draw_legend(FILE *file, const struct perf_plan *plan)
{
	int x = MARGIN;

	for (uint32_t part = 0; part < PERF_PARTS; part++) {
		if (!(plan->parts & 1u << part))
			continue;
		fprintf(file, "<path d=\"M%d %dh24\" stroke=\"%s\" stroke-width=\"2\"/><text x=\"%d\" y=\"%d\">%s</text>\n", x,
			HEIGHT + 12, colours[part], x + 30, HEIGHT + 16, perf_parts[part]->name);
		x += 130;
	}
}

int perf_write_plot(const struct perf_report *report, const char *path)
{
	FILE *file = fopen(path, "we");
	bool good;

	if (file == NULL)
		return tool_fail("perf: cannot write %s: %s", path, strerror(errno));
	fprintf(file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		2 * WIDTH, HEIGHT + 32);
	draw_chart(&(struct chart){.file = file,
				   .report = report,
				   .title = "latency: median, and the 99th percentile dashed",
				   .unit = "us",
				   .value = latency_us,
				   .has_tail = true});
	draw_chart(&(struct chart){
		.file = file, .report = report, .title = "bandwidth", .unit = "GB/s", .left = WIDTH, .value = rate_gb_s});
	draw_legend(file, report->plan);
	fprintf(file, "</svg>\n");
	good = fflush(file) == 0 && !ferror(file);
	if (fclose(file) != 0 || !good)
		return tool_fail("perf: cannot write %s: %s", path, strerror(errno));
	return TOOL_OK;
}
