/* SPDX-License-Identifier: BSD-3-Clause */
#include "orchestrator.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <doca_gpunetio.h>
#include <doca_log.h>

#include "remote_offload/clock.h"
#include "remote_offload/devices.h"
#include "remote_offload/directory.h"
#include "remote_offload/frame.h"
#include "remote_offload/log_limit.h"
#include "remote_offload/signals.h"

DOCA_LOG_REGISTER(ORCHESTRATOR);

#define EXCHANGE_TIMEOUT_MS 10000
#define SECOND_SIGNAL_MS 1000
#define CLOSE_TIMEOUT_MS 10000
#define RETRY_MS_MIN 20
#define RETRY_MS_MAX 500
#define CONNECT_POLL_MS 5
#define WATCH_MS 100 /* poll interval of a kernel that rings no doorbell */

static void state_enter(struct orchestrator *orchestrator, enum orchestrator_state state, uint64_t timeout_ms)
{
	orchestrator->state = state;
	orchestrator->deadline_ms = timeout_ms ? clock_ms() + timeout_ms : 0;
}

static bool is_late(const struct orchestrator *orchestrator)
{
	return orchestrator->deadline_ms && clock_ms() >= orchestrator->deadline_ms;
}

static void orchestrator_end(struct orchestrator *orchestrator, bool failed)
{
	orchestrator->failed |= failed;
	state_enter(orchestrator, ORCHESTRATOR_ENDED, 0);
}

static struct control_terms own_terms(const struct orchestrator *orchestrator)
{
	return (struct control_terms){
		.queues = orchestrator->config->queues,
		.max_concurrent_messages = orchestrator->config->max_concurrent_messages,
		.max_message_length = orchestrator->config->max_message_length,
		.batch_bytes = orchestrator->batch_bytes,
	};
}

/* The length of all receives. */
static uint32_t message_max(const struct orchestrator *orchestrator)
{
	uint32_t frame_max = frame_size_max(orchestrator->config->max_message_length);

	return frame_max > orchestrator->batch_bytes ? frame_max : orchestrator->batch_bytes;
}

/* The first queue's request decides for all. */
static void agree_on_batches(struct orchestrator *orchestrator, const struct control_message *request)
{
	if (orchestrator->queue_count > 0)
		return;
	orchestrator->batch_bytes = 0;
	if (request->has_terms)
		orchestrator->batch_bytes =
			gpu_run_batch_bytes(orchestrator->gpu, orchestrator->config, request->terms.batch_bytes);
}

/* Connecting: the server may start a little later, or serve another orchestrator until that one leaves. */

static void give_up_connecting(struct orchestrator *orchestrator)
{
	const struct orchestrator_config *config = orchestrator->config;
	char other[OPTION_TEXT_MAX];

	if (orchestrator->channel.was_up)
		DOCA_LOG_ERR("the server on channel %s serves another orchestrator, for %u s now: stop that one, or give a "
			     "longer --wait-server",
			     config->channel_name, config->wait_server_s);
	else if (directory_ask(orchestrator->dev, other, sizeof(other)))
		DOCA_LOG_ERR("no server on channel %s of device %s: the server there has channel %s; give both the same "
			     "--comch-channel-name",
			     config->channel_name, config->device_id, other);
	else
		DOCA_LOG_ERR(
			"no server on channel %s of device %s within %u s: start the server first, with the same channel name",
			config->channel_name, config->device_id, config->wait_server_s);
	orchestrator_end(orchestrator, true);
}

/* Logs why the last attempt failed: once, and again when the reason changes. */
static void log_waiting(struct orchestrator *orchestrator)
{
	const struct orchestrator_config *config = orchestrator->config;
	bool refused =
		orchestrator->channel.was_up; /* a server that disconnects before it asked for a queue has another orchestrator */

	if (orchestrator->attempts == 0 || (orchestrator->waiting_logged && orchestrator->refused == refused))
		return;
	orchestrator->waiting_logged = true;
	orchestrator->refused = refused;
	if (orchestrator->refused)
		DOCA_LOG_INFO("the server on channel %s serves another orchestrator, waiting for up to %u s",
			      config->channel_name, config->wait_server_s);
	else
		DOCA_LOG_INFO("no server on channel %s of device %s yet, looking for up to %u s", config->channel_name,
			      config->device_id, config->wait_server_s);
}

/* A failed attempt is no error while there is time left. Only the last attempt lets the libraries log. */
static void connect_again(struct orchestrator *orchestrator)
{
	if (orchestrator->last_attempt) {
		give_up_connecting(orchestrator);
		return;
	}
	log_waiting(orchestrator);
	orchestrator->last_attempt = clock_ms() >= orchestrator->connect_until_ms;
	if (!orchestrator->last_attempt && clock_ms() < orchestrator->retry_at_ms)
		return;
	doca_log_level_set_global_sdk_limit(orchestrator->last_attempt ? orchestrator->sdk_log_level : DOCA_LOG_LEVEL_CRIT);
	orchestrator->attempts++;
	orchestrator->retry_at_ms = clock_ms() + orchestrator->retry_ms;
	orchestrator->retry_ms = orchestrator->retry_ms * 2 < RETRY_MS_MAX ? orchestrator->retry_ms * 2 : RETRY_MS_MAX;
	channel_connect(&orchestrator->channel, orchestrator->config->channel_name);
}

static void progress_connecting(struct orchestrator *orchestrator)
{
	switch (channel_status(&orchestrator->channel)) {
	case CHANNEL_UP:
		doca_log_level_set_global_sdk_limit(orchestrator->sdk_log_level);
		if (!orchestrator->refused)
			DOCA_LOG_INFO("connected to the server on channel %s", orchestrator->config->channel_name);
		state_enter(orchestrator, ORCHESTRATOR_EXCHANGING, EXCHANGE_TIMEOUT_MS);
		break;
	case CHANNEL_DOWN:
		connect_again(orchestrator);
		break;
	case CHANNEL_CONNECTING:
		break;
	}
}

/* Exchanging */

static doca_error_t open_queue(struct orchestrator *orchestrator, uint32_t remote_consumer_id)
{
	const struct orchestrator_config *config = orchestrator->config;
	struct queue_setup setup = {
		.dev = orchestrator->dev,
		.gpu = orchestrator->gpu,
		.pe = orchestrator->queue_pe,
		.depth = config->max_concurrent_messages,
		.message_max = message_max(orchestrator),
	};
	doca_error_t result;

	if (orchestrator->queue_count == config->queues) {
		DOCA_LOG_ERR("the server asks for more than --num-gpu-threads %u queues: start both with the same number",
			     config->queues);
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = queue_open(&orchestrator->queues[orchestrator->queue_count], &setup, orchestrator->channel.connection,
			    remote_consumer_id);
	if (result == DOCA_SUCCESS)
		orchestrator->queue_count++;
	return result;
}

/* A rejection has our terms too, so that the server can log both values. */
static void take_exchange(struct orchestrator *orchestrator, const struct control_message *request)
{
	struct control_message response = {
		.id = CONTROL_EXCHANGE_CONSUMER_ID_RESPONSE,
		.consumer_id = CONTROL_CONSUMER_ID_NONE,
		.has_terms = true,
	};
	char why[256];
	bool refused = false;

	orchestrator->asked = true;
	agree_on_batches(orchestrator, request);
	response.terms = own_terms(orchestrator);
	if (request->has_terms && !control_terms_match(&request->terms, &response.terms, why, sizeof(why))) {
		DOCA_LOG_ERR("rejected this server: %s", why);
		refused = true;
	} else if (open_queue(orchestrator, request->consumer_id) != DOCA_SUCCESS) {
		refused = true;
	} else {
		response.consumer_id = orchestrator->queues[orchestrator->queue_count - 1].consumer_id;
	}
	channel_send(&orchestrator->channel, &response);
	orchestrator->deadline_ms = clock_ms() + EXCHANGE_TIMEOUT_MS;
	if (refused)
		orchestrator_end(orchestrator, true);
}

static bool queues_are_running(const struct orchestrator *orchestrator)
{
	if (orchestrator->queue_count < orchestrator->config->queues)
		return false;
	for (uint32_t i = 0; i < orchestrator->queue_count; i++) {
		if (!queue_is_running(&orchestrator->queues[i]) ||
		    !channel_has_consumer(&orchestrator->channel, orchestrator->queues[i].remote_consumer_id))
			return false;
	}
	return true;
}

static void progress_exchanging(struct orchestrator *orchestrator)
{
	const struct orchestrator_config *config = orchestrator->config;

	if (queues_are_running(orchestrator)) {
		if (gpu_run_start(&orchestrator->run, orchestrator->gpu, config, orchestrator->queues, message_max(orchestrator),
				  orchestrator->batch_bytes > 0) != DOCA_SUCCESS) {
			orchestrator_end(orchestrator, true);
			return;
		}
		orchestrator->launched = true;
		state_enter(orchestrator, ORCHESTRATOR_RUNNING, 0);
	} else if (is_late(orchestrator)) {
		DOCA_LOG_ERR("the server set up only %u queues in %d s, --num-gpu-threads is %u: start both with the same "
			     "number",
			     orchestrator->queue_count, EXCHANGE_TIMEOUT_MS / 1000, config->queues);
		orchestrator_end(orchestrator, true);
	}
}

/* Shutdown */

/* The kernel ends before the queues that it uses. */
static void close_queues(struct orchestrator *orchestrator)
{
	if (orchestrator->launched && !gpu_run_stop(&orchestrator->run))
		orchestrator->failed = true;
	for (uint32_t i = 0; i < orchestrator->queue_count; i++)
		queue_close(&orchestrator->queues[i]);
	orchestrator->queue_count = 0;
}

static void begin_closing(struct orchestrator *orchestrator)
{
	if (channel_send(&orchestrator->channel, &(struct control_message){.id = CONTROL_START_SHUTDOWN}) != DOCA_SUCCESS)
		orchestrator_end(orchestrator, true);
	else
		state_enter(orchestrator, ORCHESTRATOR_CLOSING, CLOSE_TIMEOUT_MS);
}

static void request_stop(struct orchestrator *orchestrator)
{
	orchestrator->stop_requested = true;
	if (orchestrator->state == ORCHESTRATOR_RUNNING)
		begin_closing(orchestrator);
	else if (orchestrator->state != ORCHESTRATOR_CLOSING)
		orchestrator_end(orchestrator, false);
}

static void take_message(struct orchestrator *orchestrator, const struct control_message *message)
{
	switch (message->id) {
	case CONTROL_EXCHANGE_CONSUMER_ID_REQUEST:
		if (orchestrator->state == ORCHESTRATOR_EXCHANGING)
			take_exchange(orchestrator, message);
		else
			LIMITED_LOG_WARN("ignored a request of the server for a queue after the start");
		break;
	case CONTROL_START_SHUTDOWN:
		DOCA_LOG_INFO("the server is shutting down");
		close_queues(orchestrator);
		channel_send(&orchestrator->channel, &(struct control_message){.id = CONTROL_SHUTDOWN_COMPLETE});
		orchestrator_end(orchestrator, false);
		break;
	case CONTROL_SHUTDOWN_COMPLETE:
		if (orchestrator->state == ORCHESTRATOR_CLOSING)
			orchestrator_end(orchestrator, false);
		break;
	default:
		LIMITED_LOG_WARN("ignored control message %d, which is invalid in this state", message->id);
	}
}

static void watch_kernel(struct orchestrator *orchestrator)
{
	if (gpu_run_is_alive(&orchestrator->run))
		return;
	/* A kernel that lost its peer may end before the control channel reports it: then the server's death is the cause. */
	channel_progress(&orchestrator->channel);
	if (channel_status(&orchestrator->channel) == CHANNEL_UP) {
		orchestrator->failed = true;
		begin_closing(orchestrator);
	}
}

static void check_server(struct orchestrator *orchestrator)
{
	if (orchestrator->state == ORCHESTRATOR_CONNECTING || orchestrator->state == ORCHESTRATOR_ENDED ||
	    channel_status(&orchestrator->channel) == CHANNEL_UP)
		return;
	if (orchestrator->state == ORCHESTRATOR_EXCHANGING && !orchestrator->asked) {
		state_enter(orchestrator, ORCHESTRATOR_CONNECTING, 0);
		return;
	}
	if (orchestrator->state == ORCHESTRATOR_EXCHANGING)
		DOCA_LOG_ERR("the server left before all queues ran: see its log");
	else
		DOCA_LOG_ERR("the server is lost");
	orchestrator_end(orchestrator, true);
}

static void take_signal(struct orchestrator *orchestrator)
{
	struct signalfd_siginfo info;

	if (read(orchestrator->signal_fd, &info, sizeof(info)) != sizeof(info))
		return;
	/* One key press may arrive twice, from the terminal and from a parent process: only a later one counts. */
	if (orchestrator->stop_requested) {
		if (clock_ms() - orchestrator->signalled_ms < SECOND_SIGNAL_MS)
			return;
		DOCA_LOG_WARN("second signal: exiting immediately");
		_exit(EXIT_FAILURE);
	}
	orchestrator->signalled_ms = clock_ms();
	DOCA_LOG_INFO("signal %s: shutting down", strsignal((int)info.ssi_signo));
	request_stop(orchestrator);
}

/* Main loop */

/* The queues too: a kernel can wake the server only when its producer's connection is complete. */
static void wait_for_events(struct orchestrator *orchestrator)
{
	struct doca_pe *channel_pe = orchestrator->channel.pe, *queue_pe = orchestrator->queue_pe;
	bool running = orchestrator->state == ORCHESTRATOR_RUNNING || orchestrator->state == ORCHESTRATOR_CLOSING;
	bool armed = running && doca_pe_request_notification(channel_pe) == DOCA_SUCCESS &&
		     doca_pe_request_notification(queue_pe) == DOCA_SUCCESS;
	struct epoll_event events[4];
	int count = epoll_wait(orchestrator->epoll_fd, events, 4, armed ? WATCH_MS : CONNECT_POLL_MS);

	if (running) { /* one may be armed though the other could not be */
		doca_pe_clear_notification(channel_pe, 0);
		doca_pe_clear_notification(queue_pe, 0);
	}
	for (int i = 0; i < count; i++) {
		if (events[i].data.fd == orchestrator->signal_fd)
			take_signal(orchestrator);
	}
}

static void orchestrator_loop(struct orchestrator *orchestrator)
{
	struct control_message message;

	while (orchestrator->state != ORCHESTRATOR_ENDED) {
		channel_progress(&orchestrator->channel);
		if (orchestrator->state == ORCHESTRATOR_CONNECTING)
			progress_connecting(orchestrator);
		while (doca_pe_progress(orchestrator->queue_pe))
			;
		while (orchestrator->state != ORCHESTRATOR_ENDED && channel_next_message(&orchestrator->channel, &message))
			take_message(orchestrator, &message);
		check_server(orchestrator);
		if (orchestrator->state == ORCHESTRATOR_EXCHANGING)
			progress_exchanging(orchestrator);
		else if (orchestrator->state == ORCHESTRATOR_RUNNING)
			watch_kernel(orchestrator);
		if (orchestrator->state == ORCHESTRATOR_CLOSING && is_late(orchestrator)) {
			DOCA_LOG_ERR("the server did not complete the shutdown within %d s", CLOSE_TIMEOUT_MS / 1000);
			orchestrator_end(orchestrator, true);
		}
		log_limits_report(false);
		if (orchestrator->state != ORCHESTRATOR_ENDED)
			wait_for_events(orchestrator);
	}
}

/* Start and stop */

static void counters_report(const struct orchestrator *orchestrator)
{
	const char *path = orchestrator->config->stats_file;
	uint64_t messages, bytes;
	FILE *file;

	gpu_run_count(&orchestrator->run, &messages, &bytes);
	DOCA_LOG_INFO("the gpu answered %" PRIu64 " messages of %" PRIu64 " bytes", messages, bytes);
	if (!path[0])
		return;
	file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
	if (!file) {
		DOCA_LOG_ERR("counters not written to %s: %s", path, strerror(errno));
		return;
	}
	fprintf(file, "{\"messages\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"queues\": [", messages, bytes);
	for (uint32_t i = 0; orchestrator->run.queues && !orchestrator->run.faulted && i < orchestrator->run.queue_count; i++)
		fprintf(file, "%s{\"messages\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", i ? ", " : "",
			orchestrator->run.queues[i].messages, orchestrator->run.queues[i].bytes);
	fprintf(file, "]}\n");
	if (file != stdout)
		fclose(file);
}

static int pe_fd(const struct doca_pe *pe)
{
	doca_notification_handle_t fd = -1;

	doca_pe_get_notification_handle(pe, &fd);
	return fd;
}

static bool fd_watch(struct orchestrator *orchestrator, int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (fd >= 0 && epoll_ctl(orchestrator->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return true;
	DOCA_LOG_ERR("events cannot be waited for: %s", strerror(errno));
	return false;
}

static doca_error_t open_all(struct orchestrator *orchestrator)
{
	const struct orchestrator_config *config = orchestrator->config;
	doca_error_t result;

	orchestrator->signal_fd = signals_open();
	orchestrator->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	result = device_open(config->device_id, &orchestrator->dev);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_gpu_create(config->gpu_pci_addr, &orchestrator->gpu);
	if (result != DOCA_SUCCESS) {
		orchestrator->gpu = NULL;
		DOCA_LOG_ERR("gpu %s not opened: %s", config->gpu_pci_addr, doca_error_get_descr(result));
		return result;
	}
	result = doca_pe_create(&orchestrator->queue_pe);
	if (result == DOCA_SUCCESS)
		result = channel_init(&orchestrator->channel, orchestrator->dev, orchestrator->gpu);
	if (result == DOCA_SUCCESS &&
	    !(fd_watch(orchestrator, orchestrator->signal_fd) && fd_watch(orchestrator, pe_fd(orchestrator->channel.pe)) &&
	      fd_watch(orchestrator, pe_fd(orchestrator->queue_pe))))
		result = DOCA_ERROR_OPERATING_SYSTEM;
	return result;
}

static void close_all(struct orchestrator *orchestrator)
{
	close_queues(orchestrator);
	if (orchestrator->launched) {
		counters_report(orchestrator);
		gpu_run_fini(&orchestrator->run);
	}
	channel_fini(&orchestrator->channel);
	if (orchestrator->queue_pe)
		doca_pe_destroy(orchestrator->queue_pe);
	if (orchestrator->gpu)
		doca_gpu_destroy(orchestrator->gpu);
	if (orchestrator->dev)
		doca_dev_close(orchestrator->dev);
	close(orchestrator->epoll_fd);
	close(orchestrator->signal_fd);
}

int orchestrator_run(const struct orchestrator_config *config)
{
	static struct orchestrator orchestrator;

	memset(&orchestrator, 0, sizeof(orchestrator));
	orchestrator.config = config;
	if (open_all(&orchestrator) != DOCA_SUCCESS) {
		orchestrator.failed = true;
	} else {
		state_enter(&orchestrator, ORCHESTRATOR_CONNECTING, 0);
		orchestrator.connect_until_ms = clock_ms() + config->wait_server_s * UINT64_C(1000);
		orchestrator.retry_ms = RETRY_MS_MIN;
		/* INFO is the global default: without --sdk-log-level the WARNING of options_start_log holds. */
		orchestrator.sdk_log_level = doca_log_level_get_global_sdk_limit();
		if (orchestrator.sdk_log_level == DOCA_LOG_LEVEL_INFO)
			orchestrator.sdk_log_level = DOCA_LOG_LEVEL_WARNING;
		orchestrator_loop(&orchestrator);
	}
	close_all(&orchestrator);
	log_limits_report(true);
	return orchestrator.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
