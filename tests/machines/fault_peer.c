/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Usage: fault_peer host|dpu BYTES, the length of a transfer. It obeys lines on standard input:
 *
 *   meet        opens all flows; the DPU's side first, which prints "listening". Prints "met FLOW" for each, and "met" for all
 *   rounds N    prints "rounds N" once each flow that has not ended has completed N more rounds
 *   pause, go   no round begins; prints "paused" when none is in flight
 *   part        closes everything, then prints "parted"
 *
 * Without a command it prints "failed FLOW OPERATION STATUS", and "over FLOW" once a connection has ended and no operation of it
 * is left.
 */
#include <poll.h>
#include <string.h>

#include <doca_dev.h>
#include <doca_log.h>

#include "base/clock.h"

#include "fault_flow.h"

#define BEAT_NS UINT64_C(10000000) /* interval at which each flow begins a round */
#define LIFE_S 1200		   /* seconds after which a forgotten program exits */
#define NUM_FLOWS 4

bool fault_is_dpu;
size_t fault_len;

static struct flow *const flows[NUM_FLOWS] = {&fault_comch, &fault_data, &fault_rdma, &fault_dma};
static bool is_open, is_paused, pause_reported, met_reported;
static uint32_t begun; /* flows whose round of this interval has begun, as bits */
static uint64_t wanted;

uint32_t fault_device(void)
{
	struct doca_devinfo **list;
	uint32_t num, at = 0;
	uint8_t is_it = 0;

	CHECK(doca_devinfo_create_list(&list, &num) == DOCA_SUCCESS);
	for (; at < num; at++) {
		CHECK(doca_devinfo_is_equal_pci_addr(list[at], fault_is_dpu ? "03:00.0" : "d8:00.0", &is_it) == DOCA_SUCCESS);
		if (is_it != 0)
			break;
	}
	doca_devinfo_destroy_list(list);
	return at;
}

bool fault_may_begin(const struct flow *flow)
{
	for (uint32_t i = 0; i < NUM_FLOWS; i++) {
		if (flows[i] != flow || is_paused || (begun & 1U << i) != 0)
			continue;
		begun |= 1U << i;
		return true;
	}
	return false;
}

void fault_failed(const struct flow *flow, const char *what, doca_error_t status)
{
	printf("failed %s %s %s\n", flow->name, what, doca_error_get_name(status));
}

static void print_once(bool is_so, bool *printed, const char *what, const char *name)
{
	if (!is_so || *printed)
		return;
	*printed = true;
	printf("%s %s\n", what, name);
}

static void flows_report(void)
{
	bool all_met = true, all_gone = true, all_rest = true;

	for (uint32_t i = 0; i < NUM_FLOWS; i++) {
		struct flow *flow = flows[i];

		print_once(flow->is_met, &flow->met_reported, "met", flow->name);
		print_once(flow->is_ended && flow->under_way == 0, &flow->end_reported, "over", flow->name);
		all_met = all_met && flow->is_met;
		all_rest = all_rest && flow->under_way == 0;
		all_gone = all_gone && (flow->is_ended || flow->rounds >= flow->wanted);
	}
	if (is_open && all_met && !met_reported)
		puts("met");
	met_reported = met_reported || all_met;
	if (wanted != 0 && all_gone) {
		printf("rounds %llu\n", (unsigned long long)wanted);
		wanted = 0;
	}
	if (is_paused && !pause_reported && all_rest) {
		puts("paused");
		pause_reported = true;
	}
	fflush(stdout);
}

/* ---- commands ---- */

static void meet(void)
{
	for (uint32_t i = 0; i < NUM_FLOWS; i++) {
		flows[i]->is_met = flows[i]->is_ended = flows[i]->met_reported = flows[i]->end_reported = false;
		flows[i]->under_way = 0;
		flows[i]->rounds = flows[i]->wanted = 0;
	}
	/* Memory exists before it is announced. */
	for (uint32_t i = NUM_FLOWS; i-- != 0;)
		flows[i]->open(flows[i]);
	is_open = true;
	is_paused = met_reported = false;
	wanted = 0;
	if (fault_is_dpu)
		puts("listening");
}

static void part(void)
{
	is_open = false;
	for (uint32_t i = NUM_FLOWS; i-- != 0;) /* producers and memory before the connection that announced them */
		if (flows[i] != &fault_comch && flows[i] != &fault_data)
			flows[i]->close(flows[i]);
	fault_data.close(&fault_data);
	fault_comch.close(&fault_comch);
	puts("parted");
}

static void want(uint64_t rounds)
{
	wanted = rounds;
	for (uint32_t i = 0; i < NUM_FLOWS; i++)
		flows[i]->wanted = flows[i]->rounds + rounds;
}

static void obey(char *line)
{
	if (strcmp(line, "meet") == 0)
		meet();
	else if (strcmp(line, "part") == 0)
		part();
	else if (strncmp(line, "rounds ", 7) == 0)
		want(strtoull(line + 7, NULL, 10));
	else if (strcmp(line, "pause") == 0)
		is_paused = true, pause_reported = false;
	else if (strcmp(line, "go") == 0)
		is_paused = false;
	else
		CHECK(!"a command");
}

/* Obeys the commands that have arrived. Returns false at the end of the input. */
static bool hear(void)
{
	static char text[256];
	static size_t len;
	ssize_t got = read(STDIN_FILENO, text + len, sizeof(text) - 1 - len);
	char *end;

	if (got <= 0)
		return false;
	len += (size_t)got;
	text[len] = '\0';
	while ((end = strchr(text, '\n')) != NULL) {
		*end = '\0';
		obey(text);
		len -= (size_t)(end + 1 - text);
		memmove(text, end + 1, len + 1);
	}
	return true;
}

/* ---- the loop ---- */

/* Progresses all engines and the flows. Returns whether anything happened. */
static bool progress(void)
{
	bool moved = false;

	for (uint32_t i = 0; i < NUM_FLOWS && is_open; i++) {
		if (flows[i]->pe != NULL && doca_pe_progress(flows[i]->pe) != 0)
			moved = true;
		flows[i]->turn(flows[i]);
	}
	return moved;
}

/* Sleeps until an engine has an event, a command arrives, or the next interval begins. */
static bool sleep_until(uint64_t beat_ns)
{
	struct pollfd fds[1 + NUM_FLOWS] = {{.fd = STDIN_FILENO, .events = POLLIN}};
	const uint64_t now = sf_now_ns();
	doca_notification_handle_t handle;
	nfds_t num = 1;

	for (uint32_t i = 0; i < NUM_FLOWS && is_open; i++) {
		if (flows[i]->pe == NULL)
			continue;
		CHECK(doca_pe_get_notification_handle(flows[i]->pe, &handle) == DOCA_SUCCESS);
		CHECK(doca_pe_request_notification(flows[i]->pe) == DOCA_SUCCESS);
		fds[num++] = (struct pollfd){.fd = (int)handle, .events = POLLIN};
	}
	(void)poll(fds, num, !is_open ? -1 : beat_ns > now ? (int)((beat_ns - now) / 1000000) + 1 : 0);
	for (uint32_t i = 0; i < NUM_FLOWS && is_open; i++) {
		if (flows[i]->pe != NULL)
			CHECK(doca_pe_clear_notification(flows[i]->pe, 0) == DOCA_SUCCESS);
	}
	return (fds[0].revents & (POLLIN | POLLHUP)) == 0 || hear();
}

int main(int argc, char **argv)
{
	struct doca_log_backend *backend;
	uint64_t beat_ns = 0;

	CHECK(argc == 3);
	fault_is_dpu = strcmp(argv[1], "dpu") == 0;
	fault_len = strtoul(argv[2], NULL, 10);
	alarm(LIFE_S);
	CHECK(doca_log_backend_create_with_file_sdk(stderr, &backend) == DOCA_SUCCESS);
	puts("ready");
	fflush(stdout);
	do {
		while (progress())
			;
		if (sf_now_ns() >= beat_ns) {
			begun = 0;
			beat_ns = sf_now_ns() + BEAT_NS;
			(void)progress();
		}
		flows_report();
	} while (sleep_until(beat_ns));
	if (is_open)
		part();
	return 0;
}
