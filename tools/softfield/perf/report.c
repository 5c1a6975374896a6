/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include <doca_version.h>
#include <softfield/version.h>

#include "perf/perf.h"
#include "tool.h"

static const char *const latency_names[] = {"min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p99_9_ns", "max_ns"};
#define LATENCIES (sizeof(latency_names) / sizeof(latency_names[0]))

static double latency_of(const struct perf_result *result, size_t i)
{
	const struct timing_stats *l = &result->latency;
	const double values[LATENCIES] = {l->min, l->mean, l->p50, l->p90, l->p99, l->p999, l->max};

	return values[i];
}

/* ---- the table ---- */

static void print_latency(const struct perf_report *report)
{
	printf("latency\n%-11s %-26s %9s %9s %9s %9s %9s %9s %9s %11s\n", "part", "what", "bytes", "rounds", "50 % us", "90 %",
	       "99 %", "99.9 %", "max", "mean us");
	for (uint32_t i = 0; i < report->num; i++) {
		const struct perf_result *r = &report->results[i];

		printf("%-11s %-26s %9u %9llu %9.3f %9.3f %9.3f %9.3f %9.1f %11.3f\n", r->part, r->what, r->size,
		       (unsigned long long)r->rounds, r->latency.p50 / 1e3, r->latency.p90 / 1e3, r->latency.p99 / 1e3,
		       r->latency.p999 / 1e3, r->latency.max / 1e3, r->latency.mean / 1e3);
	}
}

static void print_rates(const struct perf_report *report)
{
	printf("bandwidth\n%-11s %-26s %9s %11s %12s %12s\n", "part", "what", "bytes", "operations", "k/s", "GB/s");
	for (uint32_t i = 0; i < report->num; i++) {
		const struct perf_result *r = &report->results[i];

		printf("%-11s %-26s %9u %11llu %12.1f %12.3f\n", r->part, r->what, r->size, (unsigned long long)r->operations,
		       r->ops_per_s / 1e3, r->bytes_per_s / 1e9);
	}
}

void perf_print_table(const struct perf_report *report)
{
	if (report->plan->rdma.tests & BENCH_LATENCY)
		print_latency(report);
	if (report->plan->rdma.tests == (BENCH_LATENCY | BENCH_BANDWIDTH))
		printf("\n");
	if (report->plan->rdma.tests & BENCH_BANDWIDTH)
		print_rates(report);
}

/* ---- files ---- */

static int cannot_write(const char *path)
{
	return tool_fail("perf: cannot write %s: %s", path, strerror(errno));
}

static FILE *file_open(const char *path)
{
	return strcmp(path, "-") == 0 ? stdout : fopen(path, "we");
}

static int file_close(FILE *file, const char *path)
{
	bool good = fflush(file) == 0 && !ferror(file);

	if (file != stdout && fclose(file) != 0)
		good = false;
	return good ? TOOL_OK : cannot_write(path);
}

static struct json_object *result_object(const struct perf_result *r)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "part", json_object_new_string(r->part));
	json_object_object_add(object, "what", json_object_new_string(r->what));
	json_object_object_add(object, "size", json_object_new_int64(r->size));
	if (r->tests & BENCH_LATENCY) {
		json_object_object_add(object, "rounds", json_object_new_int64((int64_t)r->rounds));
		for (size_t i = 0; i < LATENCIES; i++)
			json_object_object_add(object, latency_names[i], json_object_new_double(latency_of(r, i)));
	}
	if (r->tests & BENCH_BANDWIDTH) {
		json_object_object_add(object, "operations", json_object_new_int64((int64_t)r->operations));
		json_object_object_add(object, "ops_per_s", json_object_new_double(r->ops_per_s));
		json_object_object_add(object, "bytes_per_s", json_object_new_double(r->bytes_per_s));
	}
	return object;
}

int perf_write_json(const struct perf_report *report, const char *path)
{
	struct json_object *root = json_object_new_object(), *results = json_object_new_array();
	FILE *file = file_open(path);
	int code;

	if (file != NULL) {
		json_object_object_add(root, "version", json_object_new_string(SOFTFIELD_VERSION));
		json_object_object_add(root, "api", json_object_new_string(doca_version_runtime()));
		json_object_object_add(root, "seconds", json_object_new_double((double)report->plan->duration_ns / 1e9));
		json_object_object_add(root, "depth", json_object_new_int64(report->plan->rdma.depth));
		for (uint32_t i = 0; i < report->num; i++)
			json_object_array_add(results, result_object(&report->results[i]));
		json_object_object_add(root, "results", results);
		fprintf(file, "%s\n", json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED));
		code = file_close(file, path);
	} else {
		code = cannot_write(path);
		json_object_put(results);
	}
	json_object_put(root);
	return code;
}

int perf_write_csv(const struct perf_report *report, const char *path)
{
	FILE *file = file_open(path);

	if (file == NULL)
		return cannot_write(path);
	fprintf(file, "part,what,size,rounds");
	for (size_t i = 0; i < LATENCIES; i++)
		fprintf(file, ",%s", latency_names[i]);
	fprintf(file, ",operations,ops_per_s,bytes_per_s\n");
	for (uint32_t i = 0; i < report->num; i++) {
		const struct perf_result *r = &report->results[i];

		fprintf(file, "%s,\"%s\",%u,%llu", r->part, r->what, r->size, (unsigned long long)r->rounds);
		for (size_t k = 0; k < LATENCIES; k++)
			fprintf(file, ",%.1f", latency_of(r, k));
		fprintf(file, ",%llu,%.0f,%.0f\n", (unsigned long long)r->operations, r->ops_per_s, r->bytes_per_s);
	}
	return file_close(file, path);
}
