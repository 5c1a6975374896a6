/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <doca_version.h>
#include <softfield/version.h>

#include "json_writer.h"
#include "perf/perf.h"
#include "table.h"
#include "tool.h"

/* ---- the table ---- */

static void print_latency(const struct perf_report *report)
{
	struct table *table = table_create((const char *[]){"part", "what", ">bytes", ">rounds", ">50 % us", ">90 %", ">99 %",
							    ">99.9 %", ">max", ">mean us", NULL});

	for (uint32_t i = 0; i < report->num; i++) {
		const struct perf_result *r = &report->results[i];

		table_format(table, "%s\t%s\t%u\t%llu\t%.3f\t%.3f\t%.3f\t%.3f\t%.1f\t%.3f", r->part, r->what, r->size,
			     (unsigned long long)r->rounds, r->latency.p50 / 1e3, r->latency.p90 / 1e3, r->latency.p99 / 1e3,
			     r->latency.p999 / 1e3, r->latency.max / 1e3, r->latency.mean / 1e3);
	}
	table_print(table, "latency");
}

static void print_rates(const struct perf_report *report)
{
	struct table *table = table_create((const char *[]){"part", "what", ">bytes", ">operations", ">k/s", ">GB/s", NULL});

	for (uint32_t i = 0; i < report->num; i++) {
		const struct perf_result *r = &report->results[i];

		table_format(table, "%s\t%s\t%u\t%llu\t%.1f\t%.3f", r->part, r->what, r->size, (unsigned long long)r->operations,
			     r->ops_per_s / 1e3, r->bytes_per_s / 1e9);
	}
	table_print(table, "bandwidth");
}

/* Returns a result of RDMA, or NULL. */
static const struct perf_result *result_of_rdma(const struct perf_report *report)
{
	for (uint32_t i = 0; i < report->num; i++) {
		if (strcmp(report->results[i].part, perf_rdma.name) == 0)
			return &report->results[i];
	}
	return NULL;
}

static void print_costs(const struct bench_plan *plan, const struct perf_costs *costs)
{
	printf("\nrdma: %u connection%s and %u idle, lists of %u, %s; a connection takes %.1f KiB on both sides together, an "
	       "idle\n"
	       "progress call %.1f ns\n",
	       plan->connections, plan->connections == 1 ? "" : "s", plan->idle, plan->list, plan->events ? "events" : "polling",
	       costs->connection_bytes / 1024, costs->idle_progress_ns);
}

void perf_print_table(const struct perf_report *report)
{
	const struct perf_result *rdma = result_of_rdma(report);

	if (report->plan->rdma.tests & BENCH_LATENCY)
		print_latency(report);
	if (report->plan->rdma.tests == (BENCH_LATENCY | BENCH_BANDWIDTH))
		printf("\n");
	if (report->plan->rdma.tests & BENCH_BANDWIDTH)
		print_rates(report);
	if (rdma != NULL)
		print_costs(&report->plan->rdma, &rdma->costs);
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

static void json_add_result(struct json_object *results, const struct perf_result *r)
{
	struct json_object *object = json_add_object(results);

	json_add_text(object, "part", r->part);
	json_add_text(object, "what", r->what);
	json_add_number(object, "size", r->size);
	if (r->tests & BENCH_LATENCY) {
		json_add_number(object, "rounds", r->rounds);
		timing_json(object, &r->latency);
	}
	if (r->tests & BENCH_BANDWIDTH) {
		json_add_number(object, "operations", r->operations);
		json_add_real(object, "ops_per_s", r->ops_per_s);
		json_add_real(object, "bytes_per_s", r->bytes_per_s);
	}
}

static void json_add_rdma(struct json_object *root, const struct bench_plan *plan, const struct perf_costs *costs)
{
	json_add_text(root, "op", bench_op_names[plan->op]);
	json_add_number(root, "receives", plan->receives);
	json_add_number(root, "list", plan->list);
	json_add_number(root, "connections", plan->connections);
	json_add_number(root, "idle", plan->idle);
	json_add_text(root, "mode", plan->events ? "events" : "polling");
	json_add_real(root, "connection_bytes", costs->connection_bytes);
	json_add_real(root, "idle_progress_ns", costs->idle_progress_ns);
}

int perf_write_json(const struct perf_report *report, const char *path)
{
	const struct perf_result *rdma = result_of_rdma(report);
	struct json_object *root, *results;
	FILE *file = file_open(path);

	if (file == NULL)
		return cannot_write(path);
	root = json_object_new_object();
	results = json_object_new_array();
	json_add_text(root, "version", SOFTFIELD_VERSION);
	json_add_text(root, "api", doca_version_runtime());
	json_add_real(root, "seconds", (double)report->plan->duration_ns / 1e9);
	json_add_number(root, "depth", report->plan->rdma.depth);
	if (rdma != NULL)
		json_add_rdma(root, &report->plan->rdma, &rdma->costs);
	json_object_object_add(root, "results", results);
	for (uint32_t i = 0; i < report->num; i++)
		json_add_result(results, &report->results[i]);
	json_print(root, true, file);
	return file_close(file, path);
}

int perf_write_csv(const struct perf_report *report, const char *path)
{
	FILE *file = file_open(path);

	if (file == NULL)
		return cannot_write(path);
	fprintf(file, "part,what,size,rounds");
	for (int i = 0; i < TIMING_NAMES; i++)
		fprintf(file, ",%s", timing_names[i]);
	fprintf(file, ",operations,ops_per_s,bytes_per_s\n");
	for (uint32_t i = 0; i < report->num; i++) {
		const struct perf_result *r = &report->results[i];

		fprintf(file, "%s,\"%s\",%u,%llu", r->part, r->what, r->size, (unsigned long long)r->rounds);
		for (int k = 0; k < TIMING_NAMES; k++)
			fprintf(file, ",%.1f", timing_figure(&r->latency, k));
		fprintf(file, ",%llu,%.0f,%.0f\n", (unsigned long long)r->operations, r->ops_per_s, r->bytes_per_s);
	}
	return file_close(file, path);
}
