/* SPDX-License-Identifier: BSD-3-Clause */
/* The server's counters. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <doca_log.h>

#include "server.h"

DOCA_LOG_REGISTER(SERVER::REPORT);

static struct worker_stats stats_sum(const struct server *server)
{
	struct worker_stats total = {0};

	for (uint32_t i = 0; i < server->worker_count; i++) {
		const struct worker_stats *stats = &server->workers[i]->stats;

		total.connections += stats->connections;
		total.requests += stats->requests;
		total.answers += stats->answers;
		total.bytes_in += stats->bytes_in;
		total.bytes_out += stats->bytes_out;
		total.bad_connections += stats->bad_connections;
		total.idle_connections += stats->idle_connections;
		total.failed_requests += stats->failed_requests;
		total.dropped_answers += stats->dropped_answers;
		total.sleeps += stats->sleeps;
	}
	return total;
}

static void write_stats(FILE *file, const char *name, const struct worker_stats *stats)
{
	fprintf(file,
		"\"%s\": {\"connections\": %" PRIu64 ", \"requests\": %" PRIu64 ", \"answers\": %" PRIu64
		", \"bytes_in\": %" PRIu64 ", \"bytes_out\": %" PRIu64 ", \"bad_connections\": %" PRIu64
		", \"idle_connections\": %" PRIu64 ", \"failed_requests\": %" PRIu64 ", \"dropped_answers\": %" PRIu64
		", \"sleeps\": %" PRIu64 "}",
		name, stats->connections, stats->requests, stats->answers, stats->bytes_in, stats->bytes_out,
		stats->bad_connections, stats->idle_connections, stats->failed_requests, stats->dropped_answers, stats->sleeps);
}

static void write_file(const struct server *server, const struct worker_stats *total)
{
	const char *path = server->config->stats_file;
	FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");

	if (!file) {
		DOCA_LOG_ERR("counters not written to %s: %s", path, strerror(errno));
		return;
	}
	fprintf(file, "{\"orchestrators\": %u, ", server->orchestrators);
	write_stats(file, "total", total);
	for (uint32_t i = 0; i < server->worker_count; i++) {
		char name[32];

		snprintf(name, sizeof(name), "thread %u cpu %u", i, server->workers[i]->cpu);
		fprintf(file, ", ");
		write_stats(file, name, &server->workers[i]->stats);
	}
	fprintf(file, "}\n");
	if (file != stdout)
		fclose(file);
}

void server_report(const struct server *server)
{
	struct worker_stats total = stats_sum(server);

	DOCA_LOG_INFO("served %" PRIu64 " clients: %" PRIu64 " requests of %" PRIu64 " bytes, %" PRIu64 " answers of %" PRIu64
		      " bytes; %" PRIu64 " clients closed for errors, %" PRIu64 " requests failed, %" PRIu64
		      " answers undelivered",
		      total.connections, total.requests, total.bytes_in, total.answers, total.bytes_out, total.bad_connections,
		      total.failed_requests, total.dropped_answers);
	if (server->config->stats_file[0])
		write_file(server, &total);
}
