/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "remote_offload/frame.h"

#define BAR_WIDTH 40
#define GIB (1024.0 * 1024.0 * 1024.0)

static bool bar_drawn;

void report_progress(uint64_t done, uint64_t total, double elapsed_s)
{
	int filled = total > 0 ? (int)(BAR_WIDTH * (double)done / (double)total) : BAR_WIDTH;
	char bar[BAR_WIDTH + 1];

	if (!isatty(STDERR_FILENO))
		return;
	memset(bar, '.', BAR_WIDTH);
	memset(bar, '#', (size_t)filled);
	bar[BAR_WIDTH] = '\0';
	fprintf(stderr, "\r[%s] %3d %%  %" PRIu64 " of %" PRIu64 ", %.3f M/s ", bar, 100 * filled / BAR_WIDTH, done, total,
		elapsed_s > 0 ? (double)done / elapsed_s / 1e6 : 0.0);
	fflush(stderr);
	bar_drawn = true;
}

void report_progress_end(void)
{
	if (bar_drawn)
		fputs("\r\033[K", stderr);
	bar_drawn = false;
}

struct figures {
	double operations_s;
	double tx_gib_s;
	double rx_gib_s;
	double mean_us, min_us, p50_us, p90_us, p99_us, p999_us, p9999_us, max_us;
};

static struct figures figures_of(const struct report *report, const struct messages *messages)
{
	const struct latency *latency = &report->latency;
	double rate = report->run_s > 0 ? (double)report->operations / report->run_s : 0;

	/* As the guide counts: the texts, without their frames. */
	return (struct figures){
		.operations_s = rate,
		.tx_gib_s = rate * (messages->request_size - FRAME_OVERHEAD) / GIB,
		.rx_gib_s = rate * (messages->response_size - FRAME_OVERHEAD) / GIB,
		.mean_us = latency->count > 0 ? (double)latency->sum / (double)latency->count / 1e3 : 0,
		.min_us = latency->count > 0 ? (double)latency->min / 1e3 : 0,
		.p50_us = (double)latency_percentile(latency, 0.50) / 1e3,
		.p90_us = (double)latency_percentile(latency, 0.90) / 1e3,
		.p99_us = (double)latency_percentile(latency, 0.99) / 1e3,
		.p999_us = (double)latency_percentile(latency, 0.999) / 1e3,
		.p9999_us = (double)latency_percentile(latency, 0.9999) / 1e3,
		.max_us = (double)latency->max / 1e3,
	};
}

static void print_json(const struct report *report, const struct client_config *config, const struct messages *messages,
		       const struct figures *f)
{
	printf("{\"threads\": %u, \"connections\": %u, \"depth\": %u, \"message_bytes\": %u, \"response_bytes\": %u, ",
	       config->threads, config->threads * config->connections, config->depth, messages->request_size - FRAME_OVERHEAD,
	       messages->response_size - FRAME_OVERHEAD);
	printf("\"run_s\": %.6f, \"operations\": %" PRIu64 ", \"operations_s\": %.1f, \"tx_gib_s\": %.6f, \"rx_gib_s\": %.6f, ",
	       report->run_s, report->operations, f->operations_s, f->tx_gib_s, f->rx_gib_s);
	printf("\"interrupted\": %s, \"latency_us\": {\"mean\": %.3f, \"min\": %.3f, \"p50\": %.3f, \"p90\": %.3f, \"p99\": "
	       "%.3f, "
	       "\"p99.9\": %.3f, \"p99.99\": %.3f, \"max\": %.3f}}\n",
	       report->interrupted ? "true" : "false", f->mean_us, f->min_us, f->p50_us, f->p90_us, f->p99_us, f->p999_us,
	       f->p9999_us, f->max_us);
}

void report_print(const struct report *report, const struct client_config *config, const struct messages *messages)
{
	struct figures f = figures_of(report, messages);

	if (config->json_stats) {
		print_json(report, config, messages, &f);
		return;
	}
	printf("Statistics%s\n", report->interrupted ? " (interrupted)" : "");
	printf("  Run length        %.6f s\n", report->run_s);
	printf("  Operation count   %" PRIu64 "\n", report->operations);
	printf("  Tx data rate      %.3f GiB/s\n", f.tx_gib_s);
	printf("  Rx data rate      %.3f GiB/s\n", f.rx_gib_s);
	printf("  IO rate           %.6f MIOP/s\n", f.operations_s / 1e6);
	printf("  Latency           p50 %.1f us, p90 %.1f us, p99 %.1f us, p99.9 %.1f us, max %.1f us\n", f.p50_us, f.p90_us,
	       f.p99_us, f.p999_us, f.max_us);
}
