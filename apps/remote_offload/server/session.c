/* SPDX-License-Identifier: BSD-3-Clause */
#include "session.h"

#include <stdlib.h>

#include <doca_log.h>

#include "remote_offload/clock.h"
#include "remote_offload/frame.h"
#include "remote_offload/log_limit.h"

DOCA_LOG_REGISTER(SERVER::SESSION);

#define CONNECT_TIMEOUT_MS 10000
#define CLOSE_TIMEOUT_MS 5000

static void state_enter(struct server *server, enum server_state state, uint64_t timeout_ms)
{
	server->state = state;
	server->deadline_ms = timeout_ms ? clock_ms() + timeout_ms : 0;
}

static bool is_late(const struct server *server)
{
	return server->deadline_ms && clock_ms() >= server->deadline_ms;
}

static struct control_terms own_terms(const struct server *server)
{
	return (struct control_terms){
		.queues = server->worker_count,
		.max_concurrent_messages = server->config->max_concurrent_messages,
		.max_message_length = server->config->max_message_length,
		.batch_bytes = DATAPATH_BATCH_BYTES,
	};
}

static void begin_connecting(struct server *server);

void session_wait(struct server *server)
{
	if (server->stop_requested) {
		state_enter(server, SERVER_ENDED, 0);
		return;
	}
	LIMITED_LOG_INFO("waiting for an orchestrator on channel %s of device %s, representor %s", server->config->channel_name,
			 server->config->device_id, server->config->representor_id);
	state_enter(server, SERVER_WAITING, 0);
	if (server->next_waits)
		begin_connecting(server);
}

static void close_queues(struct server *server)
{
	for (uint32_t i = 0; i < server->worker_count && server->queues_open; i++)
		datapath_close(server->workers[i]->dp);
	server->queues_open = false;
}

static void order_all(struct server *server, enum worker_order order)
{
	for (uint32_t i = 0; i < server->worker_count; i++)
		worker_order(server->workers[i], order);
}

static bool all_have_obeyed(const struct server *server)
{
	for (uint32_t i = 0; i < server->worker_count; i++) {
		if (!worker_has_obeyed(server->workers[i]))
			return false;
	}
	return true;
}

/* Connecting */

static void drop_orchestrator(struct server *server)
{
	close_queues(server);
	channel_disconnect(&server->channel);
	session_wait(server);
}

/* Queues are set up one after the other: this side sends its consumer id, the orchestrator answers with its own. */
static void exchange_next(struct server *server)
{
	struct control_message request = {
		.id = CONTROL_EXCHANGE_CONSUMER_ID_REQUEST,
		.has_terms = true,
		.terms = own_terms(server),
	};
	struct datapath *dp = server->workers[server->exchanged]->dp;

	server->queues_open = true;
	if (datapath_open(dp, server->channel.connection, &request.consumer_id) != DOCA_SUCCESS ||
	    channel_send(&server->channel, &request) != DOCA_SUCCESS)
		drop_orchestrator(server);
}

static void begin_connecting(struct server *server)
{
	server->exchanged = 0;
	server->announced_count = 0;
	server->has_peer_terms = false;
	server->stop_notified = false;
	server->given_up = false;
	server->next_waits = false;
	state_enter(server, SERVER_CONNECTING, CONNECT_TIMEOUT_MS);
	LIMITED_LOG_INFO("an orchestrator has connected");
	exchange_next(server);
}

static void take_response(struct server *server, const struct control_message *response)
{
	struct control_terms own = own_terms(server);
	char why[256];

	if (response->has_terms && !control_terms_match(&own, &response->terms, why, sizeof(why))) {
		LIMITED_LOG_ERR("rejected this orchestrator: %s", why);
		drop_orchestrator(server);
		return;
	}
	if (response->consumer_id == CONTROL_CONSUMER_ID_NONE) {
		LIMITED_LOG_ERR("the orchestrator could not set up queue %u", server->exchanged);
		drop_orchestrator(server);
		return;
	}
	if (response->has_terms) {
		server->has_peer_terms = true;
		server->peer_terms = response->terms;
	}
	DOCA_LOG_DBG("queue %u on cpu %u sends to consumer %u", server->exchanged, server->workers[server->exchanged]->cpu,
		     response->consumer_id);
	server->remote_ids[server->exchanged++] = response->consumer_id;
	if (server->exchanged < server->worker_count)
		exchange_next(server);
}

static bool is_announced(const struct server *server, uint32_t id)
{
	for (uint32_t i = 0; i < server->announced_count; i++) {
		if (server->announced[i] == id)
			return true;
	}
	return false;
}

static bool queues_are_running(struct server *server)
{
	bool running = server->exchanged == server->worker_count;

	/* This thread progresses the queues' engines during the exchange; workers do so from the order to serve. */
	for (uint32_t i = 0; i < server->worker_count && i <= server->exchanged; i++) {
		struct datapath *dp = server->workers[i]->dp;

		if (!dp->consumer)
			return false;
		datapath_progress(dp, 16);
		running = running && datapath_is_running(dp) && is_announced(server, server->remote_ids[i]);
	}
	return running;
}

static void begin_serving(struct server *server)
{
	const struct server_config *config = server->config;
	uint32_t depth = config->max_concurrent_messages, batch_bytes = 0;

	if (server->has_peer_terms && server->peer_terms.max_concurrent_messages < depth)
		depth = server->peer_terms.max_concurrent_messages;
	if (server->has_peer_terms && server->peer_terms.batch_bytes <= DATAPATH_BATCH_BYTES)
		batch_bytes = server->peer_terms.batch_bytes;
	for (uint32_t i = 0; i < server->worker_count; i++) {
		if (datapath_begin(server->workers[i]->dp, server->remote_ids[i]) != DOCA_SUCCESS) {
			drop_orchestrator(server);
			return;
		}
		worker_set_limits(server->workers[i], frame_size_max(config->max_message_length), depth, batch_bytes);
	}
	if (clients_set_max(server) != DOCA_SUCCESS || listener_open(&server->listener) != DOCA_SUCCESS) {
		server->failed = true;
		server->stop_requested = true;
		drop_orchestrator(server);
		return;
	}
	order_all(server, WORKER_SERVE);
	server->orchestrators++;
	state_enter(server, SERVER_SERVING, 0);
	LIMITED_LOG_INFO("connected to the orchestrator: %u queues of %u messages", server->worker_count, depth);
	LIMITED_LOG_INFO("listening for clients on %s port %u", config->listen_address, server->listener.port);
}

static void progress_connecting(struct server *server)
{
	if (queues_are_running(server)) {
		begin_serving(server);
	} else if (is_late(server)) {
		LIMITED_LOG_ERR("the orchestrator set up %u of %u queues in %d s: it needs --num-gpu-threads %u",
				server->exchanged, server->worker_count, CONNECT_TIMEOUT_MS / 1000, server->worker_count);
		drop_orchestrator(server);
	}
}

/* Losing an orchestrator */

static void orchestrator_abandon(struct server *server)
{
	order_all(server, WORKER_ABANDON);
	state_enter(server, SERVER_ABANDONING, CLOSE_TIMEOUT_MS);
}

/* Disconnects an orchestrator that is connected but unusable. */
static void give_up(struct server *server)
{
	server->given_up = true;
	if (server->state == SERVER_CONNECTING)
		drop_orchestrator(server);
	else if (server->state == SERVER_SERVING)
		orchestrator_abandon(server);
}

static void progress_abandoning(struct server *server)
{
	if (!all_have_obeyed(server))
		return;
	close_queues(server);
	if (!server->channel.connection || server->next_waits) {
		session_wait(server);
	} else if (server->given_up) {
		channel_disconnect(&server->channel);
		session_wait(server);
	} else if (server->stop_notified) {
		channel_send(&server->channel, &(struct control_message){.id = CONTROL_SHUTDOWN_COMPLETE});
		state_enter(server, SERVER_CLOSING, CLOSE_TIMEOUT_MS);
	} else if (is_late(server) || server->stop_requested) {
		channel_disconnect(&server->channel);
		session_wait(server);
	}
}

/* Shutdown */

static void begin_drain(struct server *server)
{
	listener_close(&server->listener);
	order_all(server, WORKER_DRAIN);
	state_enter(server, SERVER_DRAINING, 0);
	DOCA_LOG_INFO("finishing the requests in flight");
}

static void end_queues(struct server *server)
{
	close_queues(server);
	channel_send(&server->channel, &(struct control_message){.id = CONTROL_SHUTDOWN_COMPLETE});
	state_enter(server, SERVER_CLOSING, CLOSE_TIMEOUT_MS);
}

static void progress_draining(struct server *server)
{
	if (!all_have_obeyed(server))
		return;
	if (!server->channel.connection) {
		close_queues(server);
		state_enter(server, SERVER_ENDED, 0);
	} else if (server->stop_notified) {
		end_queues(server);
	} else {
		channel_send(&server->channel, &(struct control_message){.id = CONTROL_START_SHUTDOWN});
		state_enter(server, SERVER_CLOSING, CLOSE_TIMEOUT_MS);
	}
}

/* The orchestrator disconnects once it has received or sent the message that the shutdown is complete. */
static void progress_closing(struct server *server)
{
	if (server->channel.connection && !is_late(server))
		return;
	if (server->channel.connection)
		DOCA_LOG_WARN("the orchestrator did not leave within %d s", CLOSE_TIMEOUT_MS / 1000);
	close_queues(server);
	state_enter(server, SERVER_ENDED, 0);
}

void session_request_stop(struct server *server)
{
	server->stop_requested = true;
	if (server->state == SERVER_WAITING)
		state_enter(server, SERVER_ENDED, 0);
	else if (server->state == SERVER_CONNECTING)
		drop_orchestrator(server);
	else if (server->state == SERVER_SERVING)
		begin_drain(server);
}

/* Events */

static void take_message(struct server *server, const struct control_message *message)
{
	if (message->id == CONTROL_START_SHUTDOWN) {
		LIMITED_LOG_INFO("the orchestrator is shutting down");
		server->stop_notified = true;
		if (server->state == SERVER_SERVING)
			begin_drain(server);
		else if (server->state == SERVER_CLOSING)
			end_queues(server);
		else if (server->state == SERVER_CONNECTING)
			drop_orchestrator(server);
	} else if (message->id == CONTROL_SHUTDOWN_COMPLETE && server->state == SERVER_CLOSING) {
		close_queues(server);
	} else if (message->id == CONTROL_EXCHANGE_CONSUMER_ID_RESPONSE && server->state == SERVER_CONNECTING &&
		   server->exchanged < server->worker_count) {
		take_response(server, message);
	} else {
		LIMITED_LOG_WARN("ignored control message %d, which is invalid in this state", message->id);
	}
}

static void take_disconnect(struct server *server)
{
	switch (server->state) {
	case SERVER_CONNECTING:
		LIMITED_LOG_ERR("the orchestrator left before its queues ran");
		drop_orchestrator(server);
		break;
	case SERVER_SERVING:
		LIMITED_LOG_ERR("the orchestrator is lost; clients are served again when one connects");
		orchestrator_abandon(server);
		break;
	case SERVER_ABANDONING: /* its consumers were reported first */
		if (!server->stop_notified && !server->given_up)
			LIMITED_LOG_ERR("the orchestrator is lost; clients are served again when one connects");
		break;
	case SERVER_DRAINING:
		DOCA_LOG_ERR("the orchestrator is lost");
		order_all(server, WORKER_ABANDON);
		break;
	default:
		break;
	}
}

static void take_expired(struct server *server, uint32_t id)
{
	if (server->state != SERVER_SERVING && server->state != SERVER_DRAINING)
		return;
	for (uint32_t i = 0; i < server->worker_count; i++) {
		if (server->remote_ids[i] != id)
			continue;
		if (server->state == SERVER_DRAINING) {
			order_all(server, WORKER_ABANDON);
			return;
		}
		DOCA_LOG_DBG("the orchestrator has closed queue %u", i);
		orchestrator_abandon(server);
		return;
	}
}

void session_handle_events(struct server *server)
{
	struct channel_event event;

	channel_progress(&server->channel);
	while (channel_next_event(&server->channel, &event)) {
		switch (event.kind) {
		case CHANNEL_CONNECTED:
			server->next_waits = server->channel.connection != NULL;
			if (server->state == SERVER_WAITING && server->next_waits)
				begin_connecting(server);
			break;
		case CHANNEL_DISCONNECTED:
			server->next_waits = false;
			take_disconnect(server);
			break;
		case CHANNEL_MESSAGE:
			take_message(server, &event.message);
			break;
		case CHANNEL_CONSUMER_NEW:
			if (server->announced_count < CHANNEL_EVENTS_MAX)
				server->announced[server->announced_count++] = event.consumer_id;
			break;
		case CHANNEL_CONSUMER_EXPIRED:
			take_expired(server, event.consumer_id);
			break;
		case CHANNEL_OVERRUN:
			LIMITED_LOG_ERR("more than %d pending events on the control channel: disconnected the orchestrator",
					CHANNEL_EVENTS_MAX);
			give_up(server);
			break;
		}
	}
}

static void take_failed_queues(struct server *server)
{
	for (uint32_t i = 0; i < server->worker_count && server->state == SERVER_SERVING; i++) {
		switch (atomic_load(&server->workers[i]->queue_state)) {
		case QUEUE_WORKS:
			break;
		case QUEUE_FAILED: /* usually the orchestrator has just died: that is the next event */
			LIMITED_LOG_ERR("queue %u has failed: disconnecting the orchestrator", i);
			orchestrator_abandon(server);
			break;
		case QUEUE_TIMED_OUT:
			LIMITED_LOG_ERR(
				"queue %u: no answer from the orchestrator for --gpu-timeout %u s: it is disconnected, and "
				"the next one is served",
				i, server->config->gpu_timeout_s);
			give_up(server);
			break;
		}
	}
}

void session_progress(struct server *server)
{
	take_failed_queues(server);
	if (server->state == SERVER_CONNECTING)
		progress_connecting(server);
	if (server->state == SERVER_ABANDONING)
		progress_abandoning(server);
	if (server->state == SERVER_DRAINING)
		progress_draining(server);
	if (server->state == SERVER_CLOSING)
		progress_closing(server);
}
