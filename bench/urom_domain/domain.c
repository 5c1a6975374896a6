/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of a domain's start for one of its processes. This process simulates all others, with entries of the given sizes;
 * the workers, their connections and their process are real. Starts its own daemon (UROM_DAEMON, UROM_PLUGIN_PATH).
 *
 *   urom_domain_bench [--processes 64] [--workers 1] [--shared] [--buffers 2] [--key 128] [--address 300] [--count 5]
 *
 * --workers: worker contexts of this process in the domain, each with its own process; --shared: all with one process.
 * Compares it to sending the directory to as many threads by plain TCP, each byte once. Prints one JSON object; times are
 * medians.
 */
#include <arpa/inet.h>
#include <getopt.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "measure.h"
#include "support/urom_players.h"
#include "support/urom_rig.h"

#define PLUGIN "worker_sandbox"
#define WORKERS_MAX 64
#define COUNT_MAX 101

static struct {
	uint32_t processes, workers, buffers, count;
	size_t key, address;
	bool shared;
} options = {.processes = 64, .workers = 1, .buffers = 2, .count = 5, .key = 128, .address = 300};

static struct urom_rig rig;
static struct doca_urom_worker *workers[WORKERS_MAX];
static uint64_t ids[WORKERS_MAX];

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s failed\n", what);
	urom_rig_close(&rig);
	exit(1);
}

/* ---- counters of the kernel ---- */

static uint64_t read_number(const char *path, const char *after)
{
	char text[4096];
	FILE *file = fopen(path, "r");
	size_t len = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[len] = '\0';
	if (file != NULL)
		fclose(file);
	const char *at = strstr(text, after);
	return at != NULL ? strtoull(at + strlen(after), NULL, 10) : 0;
}

static uint64_t loopback_bytes(void)
{
	return read_number("/sys/class/net/lo/statistics/tx_bytes", "");
}

/* Resets the peak to the current value. */
static uint64_t reset_peak_kib(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");

	if (file != NULL) {
		fputs("5", file);
		fclose(file);
	}
	return read_number("/proc/self/status", "VmRSS:");
}

/* ---- the domain ---- */

static void start_workers(void)
{
	must(urom_rig_open(&rig, NULL), "the service");
	for (uint32_t i = 0; i < options.workers; i++) {
		ids[i] = i + 1;
		workers[i] = urom_rig_worker(&rig, options.shared ? 7 : DOCA_UROM_WORKER_ID_ANY, PLUGIN);
		must(workers[i] != NULL && urom_rig_start_worker(&rig, workers[i]), "a worker");
	}
}

struct start {
	uint64_t ns, played_ns, gathered_bytes, sent_bytes, peak_kib;
};

static struct start start_domain(struct urom_players *players)
{
	struct doca_urom_domain *domain;
	struct start start;

	players->bytes = players->ns = 0;
	struct doca_urom_domain_oob_coll oob = urom_players_oob(players);
	check(doca_urom_domain_create(&domain), "domain");
	struct doca_ctx *ctx = doca_urom_domain_as_ctx(domain);
	check(doca_pe_connect_ctx(rig.pe, ctx), "domain");
	check(doca_urom_domain_set_oob(domain, &oob), "domain");
	check(doca_urom_domain_set_workers(domain, ids, workers, options.workers), "domain");
	uint64_t sent = loopback_bytes(), kib = reset_peak_kib(), from = sf_now_ns();
	must(doca_ctx_start(ctx) == DOCA_ERROR_IN_PROGRESS && urom_rig_await(&rig, ctx, DOCA_CTX_STATE_RUNNING),
	     "a domain's start");
	start.ns = sf_now_ns() - from;
	start.played_ns = players->ns;
	start.gathered_bytes = players->bytes;
	start.sent_bytes = loopback_bytes() - sent;
	start.peak_kib = read_number("/proc/self/status", "VmHWM:") - kib;
	check(doca_ctx_stop(ctx), "domain");
	check(doca_urom_domain_destroy(domain), "domain");
	return start;
}

/* ---- the same bytes by plain TCP ---- */

struct pipe {
	int listener;
	size_t len;
	void *bytes;
};

static void *receive(void *arg)
{
	const struct pipe *pipe = (const struct pipe *)arg;
	int fd = accept(pipe->listener, NULL, NULL);

	for (size_t got = 0; got < pipe->len;) {
		ssize_t one = read(fd, (char *)pipe->bytes + got, pipe->len - got);

		must(one > 0, "read");
		got += (size_t)one;
	}
	must(write(fd, "", 1) == 1, "write");
	close(fd);
	return NULL;
}

static uint64_t send_plainly(size_t len)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	struct pipe pipe = {socket(AF_INET, SOCK_STREAM, 0), len, calloc(1, len)};
	char *bytes = (char *)calloc(1, len), answer;
	pthread_t thread;

	must(bind(pipe.listener, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(pipe.listener, 1) == 0 &&
		     getsockname(pipe.listener, (struct sockaddr *)&address, &size) == 0 &&
		     pthread_create(&thread, NULL, receive, &pipe) == 0,
	     "a socket");
	memset(bytes, 1, len);
	memset(pipe.bytes, 1, len);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	must(connect(fd, (struct sockaddr *)&address, size) == 0, "connect");
	uint64_t from = sf_now_ns();
	for (size_t sent = 0; sent < len;) {
		ssize_t one = write(fd, bytes + sent, len - sent);

		must(one > 0, "write");
		sent += (size_t)one;
	}
	must(read(fd, &answer, 1) == 1, "read");
	uint64_t ns = sf_now_ns() - from;
	pthread_join(thread, NULL);
	close(fd);
	close(pipe.listener);
	free(pipe.bytes);
	free(bytes);
	return ns;
}

/* ---- the command line ---- */

static void parse(int argc, char **argv)
{
	static const struct option known[] = {
		{"processes", required_argument, NULL, 'p'}, {"workers", required_argument, NULL, 'w'},
		{"shared", no_argument, NULL, 's'},	     {"buffers", required_argument, NULL, 'b'},
		{"key", required_argument, NULL, 'k'},	     {"address", required_argument, NULL, 'a'},
		{"count", required_argument, NULL, 'n'},     {NULL, 0, NULL, 0},
	};

	for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
		uint32_t value = optarg != NULL ? (uint32_t)strtoul(optarg, NULL, 10) : 0;

		if (option == 'p')
			options.processes = value;
		else if (option == 'w')
			options.workers = value;
		else if (option == 's')
			options.shared = true;
		else if (option == 'b')
			options.buffers = value;
		else if (option == 'k')
			options.key = value;
		else if (option == 'a')
			options.address = value;
		else if (option == 'n')
			options.count = value;
		else
			exit(2);
	}
	if (options.processes == 0 || options.workers == 0 || options.workers > WORKERS_MAX || options.count == 0 ||
	    options.count > COUNT_MAX)
		exit(2);
}

int main(int argc, char **argv)
{
	uint64_t times[COUNT_MAX], plain[COUNT_MAX];
	struct urom_players players;
	struct start start = {0};
	size_t directory = 0;

	parse(argc, argv);
	urom_players_open(&players, options.processes);
	for (uint32_t i = 0; i + 1 < options.processes; i++) {
		urom_player_set(&players, i, options.workers, options.address, options.buffers, options.key);
		directory += players.lens[i];
	}
	start_workers();
	uint64_t peak_kib = start_domain(&players).peak_kib; /* later starts reuse the memory */
	for (uint32_t i = 0; i < options.count; i++) {
		start = start_domain(&players);
		times[i] = start.ns - start.played_ns;
		plain[i] = send_plainly(directory + 1) * (options.shared ? 1 : options.workers);
	}
	printf("{\"processes\": %u, \"workers\": %u, \"directory_bytes\": %zu, \"gathered_bytes\": %" PRIu64
	       ", \"sent_bytes\": %" PRIu64 ", \"ns\": %" PRIu64 ", \"plain_ns\": %" PRIu64 ", \"peak_kib\": %" PRIu64 "}\n",
	       options.processes, options.workers, directory, start.gathered_bytes, start.sent_bytes,
	       samples_median(times, options.count), samples_median(plain, options.count), peak_kib);
	for (uint32_t i = 0; i < options.workers; i++)
		(void)urom_rig_stop_worker(&rig, workers[i]);
	urom_rig_close(&rig);
	urom_players_close(&players);
	return 0;
}
