/* SPDX-License-Identifier: BSD-3-Clause */
/* doca_dpu_gpu_remote_offload_client: sends requests to the server, checks the answers and
 * measures. See docs/remote_offload.md. */
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <doca_log.h>

#include "config.h"
#include "messages.h"
#include "remote_offload/clock.h"
#include "remote_offload/signals.h"
#include "report.h"
#include "worker.h"

DOCA_LOG_REGISTER(CLIENT::MAIN);

#define PROGRESS_MS 200
/* Descriptors beside the connections. */
#define SPARE_FILES 64

static doca_error_t server_resolve(struct control *control, const struct client_config *config)
{
	struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	char port[8];
	int error;

	snprintf(port, sizeof(port), "%u", config->server_port);
	snprintf(control->server, sizeof(control->server), "%s:%s", config->server_address, port);
	error = getaddrinfo(config->server_address, port, &hints, &found);
	if (error != 0) {
		DOCA_LOG_ERR("%s is not the address of a server: %s", config->server_address, gai_strerror(error));
		return DOCA_ERROR_INVALID_VALUE;
	}
	memcpy(&control->address, found->ai_addr, found->ai_addrlen);
	control->address_len = found->ai_addrlen;
	freeaddrinfo(found);
	return DOCA_SUCCESS;
}

static void raise_file_limit(const struct client_config *config)
{
	rlim_t needed = (rlim_t)config->threads * (config->connections + 1) + SPARE_FILES;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed)
		return;
	limit.rlim_cur = needed < limit.rlim_max ? needed : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static uint64_t answered_sum(struct worker *workers, uint32_t count)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < count; i++)
		sum += __atomic_load_n(&workers[i].answered, __ATOMIC_RELAXED);
	return sum;
}

/* The first signal waits for requests in flight, a second one does not. */
static void on_signal(struct control *control, int signal_fd)
{
	struct signalfd_siginfo info;

	if (read(signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	if (__atomic_exchange_n(&control->stop, 1, __ATOMIC_ACQ_REL) != 0)
		control_fail(control, NULL);
}

static void wait_for(struct control *control, struct worker *workers, uint32_t started, int signal_fd)
{
	struct pollfd fds[] = {{.fd = signal_fd, .events = POLLIN}, {.fd = control->done_fd, .events = POLLIN}};
	uint64_t total = (uint64_t)control->config->iterations * started;
	uint64_t done = 0, begin_ns = clock_ns();

	while (done < started) {
		eventfd_t finished = 0;

		poll(fds, 2, PROGRESS_MS);
		if (fds[0].revents & POLLIN)
			on_signal(control, signal_fd);
		if ((fds[1].revents & POLLIN) && eventfd_read(control->done_fd, &finished) == 0)
			done += finished;
		report_progress(answered_sum(workers, started), total, (double)(clock_ns() - begin_ns) / 1e9);
	}
	report_progress_end();
}

static void results_collect(struct report *report, struct worker *workers, uint32_t count)
{
	uint64_t start_ns = UINT64_MAX, end_ns = 0;

	latency_reset(&report->latency);
	for (uint32_t i = 0; i < count; i++) {
		start_ns = workers[i].start_ns < start_ns ? workers[i].start_ns : start_ns;
		end_ns = workers[i].end_ns > end_ns ? workers[i].end_ns : end_ns;
		latency_merge(&report->latency, &workers[i].latency);
	}
	report->operations = answered_sum(workers, count);
	report->run_s = end_ns > start_ns ? (double)(end_ns - start_ns) / 1e9 : 0;
}

static uint32_t start_threads(struct control *control, struct worker *workers)
{
	uint32_t started;

	for (started = 0; started < control->config->threads; started++) {
		struct worker *worker = &workers[started];
		int error;

		worker->control = control;
		worker->first_number = started * control->config->connections;
		worker->epoll_fd = -1;
		error = pthread_create(&worker->thread, NULL, worker_run, worker);
		if (error != 0) {
			control_fail(control, "thread %u cannot start: %s", started, strerror(error));
			break;
		}
	}
	return started;
}

static int client_run(struct control *control)
{
	struct worker *workers = calloc(control->config->threads, sizeof(*workers));
	struct report *report = calloc(1, sizeof(*report));
	int signal_fd = signals_open();
	int status = EXIT_FAILURE;
	uint32_t started;

	control->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (workers == NULL || report == NULL || signal_fd < 0 || control->done_fd < 0) {
		DOCA_LOG_ERR("no memory or descriptors for %u threads: %s", control->config->threads, strerror(errno));
	} else {
		started = start_threads(control, workers);
		wait_for(control, workers, started, signal_fd);
		for (uint32_t i = 0; i < started; i++)
			pthread_join(workers[i].thread, NULL);
		report->interrupted = control->stop != 0;
		if (!control_failed(control) || report->interrupted) {
			results_collect(report, workers, started);
			report_print(report, control->config, control->messages);
		}
		status = control_failed(control) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	if (control->done_fd >= 0)
		close(control->done_fd);
	if (signal_fd >= 0)
		close(signal_fd);
	free(workers);
	free(report);
	return status;
}

static int client_start(struct control *control, int argc, char **argv, struct client_config *config, struct messages *messages)
{
	if (options_start_log() != DOCA_SUCCESS)
		return EXIT_FAILURE;
	if (client_config_parse(config, argc, argv) != DOCA_SUCCESS)
		return OPTIONS_EXIT_WRONG;
	if (server_resolve(control, config) != DOCA_SUCCESS || messages_init(messages, config) != DOCA_SUCCESS)
		return EXIT_FAILURE;
	raise_file_limit(config);
	return client_run(control);
}

int main(int argc, char **argv)
{
	static struct client_config config;
	struct messages messages = {0};
	struct control control = {.config = &config, .messages = &messages, .done_fd = -1};
	int status;

	pthread_mutex_init(&control.phase_lock, NULL);
	pthread_cond_init(&control.phase_cond, NULL);
	status = client_start(&control, argc, argv, &config, &messages);
	messages_fini(&messages);
	client_config_fini(&config);
	pthread_cond_destroy(&control.phase_cond);
	pthread_mutex_destroy(&control.phase_lock);
	return status;
}
