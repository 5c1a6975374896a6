/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/handshake.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/control/agent.h"
#include "fabric/control/nodes.h"
#include "fabric/control/runtime.h"

/* A pending request, until it is answered: the listener's queue may be full. */
struct sf_question {
	struct sf_msg_connect ask;
	char address[SF_ADDRESS_MAX]; /* empty: not known yet */
	char place[SF_ADDRESS_MAX];   /* where the address is looked up: empty, the runtime folder; then the other nodes */
	uint32_t asked;		      /* nodes asked so far */
	bool was_located;	      /* the address was looked up */
	uint32_t cuts;		      /* calls that a network peer closed without an answer, */
	uint64_t call_ns;	      /* and the time of the next call; 0: now */
};

#define CUTS_MAX 6
#define CUT_PAUSE_NS UINT64_C(10000000) /* after the first; doubled each time */

static LIST_HEAD(, sf_handshake) awaited GUARDED_BY(sf_control_lock) = LIST_HEAD_INITIALIZER(awaited);

/* No answers arrive in a forked child. */
SF_IN_CHILD void sf_handshakes_after_fork(void)
{
	struct sf_handshake *handshake;

	LIST_FOREACH (handshake, &awaited, entry)
		handshake->is_awaited = handshake->is_asking = false;
	LIST_INIT(&awaited);
}

static void handshake_heard(struct sf_handshake *handshake)
{
	if (!handshake->is_awaited)
		return;
	assert(sf_is_locked(&sf_control_lock));
	handshake->is_awaited = false;
	LIST_REMOVE(handshake, entry);
	pthread_cond_broadcast(&sf_control_changed);
}

static void asking_end(struct sf_handshake *handshake)
{
	handshake_heard(handshake);
	handshake->is_asking = false;
	free(handshake->question);
	handshake->question = NULL;
}

static void channel_end(struct sf_handshake *handshake)
{
	sf_channel_close(handshake->channel);
	handshake->channel = NULL;
}

static void handshake_opened(struct sf_handshake *handshake, doca_error_t status, const void *data, size_t len)
{
	assert(handshake->is_asking && handshake->question != NULL);
	if (status == DOCA_ERROR_NOT_FOUND && handshake->question->cuts != 0)
		SF_LOG_WARN_LIMITED("cannot connect to %s: its process closed the connection and listens no longer: did it end?",
				    handshake->question->ask.name);
	/* The listener was there, and has ended since. */
	if ((status == DOCA_ERROR_NOT_FOUND || status == DOCA_ERROR_TIME_OUT) && handshake->question->cuts != 0)
		status = DOCA_ERROR_CONNECTION_ABORTED;
	asking_end(handshake);
	if (status != DOCA_SUCCESS)
		channel_end(handshake);
	handshake->ops->opened(handshake, status, data, len);
}

/* Logs how the peer is reached, and why. */
static void log_way(const struct sf_handshake *handshake)
{
	const struct sf_question *question = handshake->question;
	const char *name = question->ask.name, *provider = handshake->ops->provider->name, *guard;
	char address[SF_ADDRESS_MAX];

	if (!handshake->channel->is_stream) {
		SF_LOG_INFO_LIMITED("connection to %s: %s, its listener answers in the runtime folder", name, provider);
		return;
	}
	guard = handshake->ops->provider->by_network ? sf_stream_guard(&handshake->channel->stream) : "";
	sf_address_show_peer(handshake->channel->stream.fd, address);
	if (question->was_located && question->asked != 0)
		SF_LOG_INFO_LIMITED(
			"connection to %s: %s%s%s to %s, as the service of node %s says; no listener of that name is in the "
			"runtime folder",
			name, provider, guard, guard[0] != '\0' ? "," : "", address, sf_nodes_name(question->asked));
	else
		SF_LOG_INFO_LIMITED("connection to %s: %s%s%s to %s, %s", name, provider, guard, guard[0] != '\0' ? "," : "",
				    address,
				    question->was_located ? "as its listener in the runtime folder says"
							  : "the address that the program gave");
}

static void handshake_call(struct sf_handshake *handshake);

/* Tries the next place to look up the address. Returns false if there is none. */
static bool look_elsewhere(struct sf_handshake *handshake)
{
	struct sf_question *question = handshake->question;

	if (!handshake->is_locating || !sf_nodes_next(&question->asked, question->place))
		return false;
	channel_end(handshake);
	handshake_call(handshake);
	return true;
}

static bool handshake_answered(struct sf_handshake *handshake, const struct sf_msg *msg, int *fds)
{
	const struct sf_msg_accept *accept = (const struct sf_msg_accept *)msg;
	const struct sf_msg_refuse *refuse = (const struct sf_msg_refuse *)msg;
	doca_error_t status;

	switch (msg->kind) {
	case SF_MSG_PENDING:
		handshake_heard(handshake);
		return true;
	case SF_MSG_ADDRESS:
		if (!handshake->is_locating)
			return false;
		strcpy(handshake->question->address, ((const struct sf_msg_address *)msg)->address);
		handshake->is_locating = false;
		handshake->question->was_located = true;
		channel_end(handshake);
		handshake_call(handshake);
		return true;
	case SF_MSG_REFUSE:
		status = sf_msg_status(msg->value);
		if (status == DOCA_ERROR_TIME_OUT && handshake->is_locating)
			SF_LOG_WARN_LIMITED(
				"the node at %s reports that the process which listens as %s does not answer: is it stopped?",
				handshake->question->place, handshake->question->ask.name);
		if (look_elsewhere(handshake))
			return true;
		handshake_opened(handshake, status == DOCA_SUCCESS ? DOCA_ERROR_UNEXPECTED : status, refuse->data,
				 refuse->data_len);
		return true;
	case SF_MSG_ACCEPT:
		if (accept->provider != handshake->ops->provider->kinds)
			return false;
		status = handshake->ops->meet(handshake, &accept->side, fds);
		if (status == DOCA_SUCCESS)
			log_way(handshake);
		handshake_opened(handshake, status, accept->data, status == DOCA_SUCCESS ? accept->data_len : 0);
		return true;
	default:
		return false;
	}
}

static bool channel_message(struct sf_channel *channel, const struct sf_msg *msg, int *fds)
{
	struct sf_handshake *handshake = channel->owner;

	assert(sf_is_locked(&sf_control_lock));
	if (handshake->is_asking)
		return handshake_answered(handshake, msg, fds);
	return handshake->ops->message != NULL && handshake->ops->message(handshake, msg);
}

/* On a busy machine a caller may be slow to speak, and be closed as a silent stranger: it then retries. It also does if the
 * called process is slow to prove its key, for as long as it would wait for an answer without a key: the tick ends that. */
static bool calls_again(const struct sf_handshake *handshake, const struct sf_channel *channel)
{
	struct sf_question *question = handshake->question;

	if (handshake->is_awaited && channel->is_slow && channel->why == DOCA_ERROR_TIME_OUT && !handshake->is_locating) {
		question->call_ns = sf_now_ns();
		return true;
	}
	if (!handshake->is_awaited || !channel->is_stream ||
	    (channel->why != DOCA_SUCCESS && channel->why != DOCA_ERROR_CONNECTION_ABORTED) || channel->heartbeat.is_lost ||
	    ++question->cuts == CUTS_MAX)
		return false;
	question->call_ns = sf_now_ns() + (CUT_PAUSE_NS << (question->cuts - 1));
	return true;
}

/* Logs what no other line reports: a machine or a process that does not answer, or closes the channel. */
static void call_failed_log(const struct sf_handshake *handshake, const struct sf_channel *channel)
{
	const struct sf_question *question = handshake->question;
	const char *address = handshake->is_locating ? question->place : question->address;

	if (!channel->is_stream || channel->why == DOCA_ERROR_NOT_FOUND || channel->why == DOCA_ERROR_NOT_PERMITTED)
		return;
	SF_LOG_WARN_LIMITED("cannot connect to %s: %s %.*s %s", question->ask.name,
			    handshake->is_locating ? "the node at" : "the process at",
			    (int)strcspn(address, "#"), /* the token behind it is secret */
			    address,
			    channel->why == DOCA_ERROR_TIME_OUT ? "does not answer in time, or there is no route to it"
								: "closes the connection");
}

static void channel_ended(struct sf_channel *channel)
{
	struct sf_handshake *handshake = channel->owner;

	assert(sf_is_locked(&sf_control_lock));
	handshake->channel = NULL;
	if (handshake->is_asking && calls_again(handshake, channel))
		return; /* the tick does */
	if (!handshake->is_asking) {
		handshake->ops->ended(handshake);
		return;
	}
	call_failed_log(handshake, channel);
	if (!look_elsewhere(handshake))
		handshake_opened(handshake, channel->why != DOCA_SUCCESS ? channel->why : DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
}

void sf_handshake_follow(struct sf_handshake *handshake, const struct sf_handshake_ops *ops, struct sf_channel *channel)
{
	handshake->ops = ops;
	handshake->channel = channel;
	channel->owner = handshake;
	channel->message = channel_message;
	channel->ended = channel_ended;
}

void sf_handshake_end(struct sf_handshake *handshake)
{
	asking_end(handshake);
	channel_end(handshake);
}

/* Sends the request to the listener, or the look-up to an agent. Returns false if the channel has ended. */
static bool request_submit(struct sf_handshake *handshake)
{
	struct sf_question *question = handshake->question;
	struct sf_msg_locate locate = {.head = sf_msg_head(SF_MSG_LOCATE, sizeof(locate), 0)};
	int fds[SF_MSG_FDS_MAX];

	if (handshake->is_locating) {
		strcpy(locate.name, question->ask.name);
		return sf_channel_send(handshake->channel, &locate, NULL, 0);
	}
	handshake->ops->describe(handshake, &question->ask.side, fds);
	return sf_channel_send(handshake->channel, &question->ask, fds, handshake->ops->provider->connect_fds);
}

/* Calls the listener, and sends the request. */
static void handshake_call(struct sf_handshake *handshake)
{
	struct sf_question *question = handshake->question;
	struct sf_key key = sf_key_of_name(question->ask.name);
	doca_error_t error;

	handshake->is_locating = handshake->ops->provider->by_network && question->address[0] == '\0';
	error = sf_channel_call(SF_SOCKET_LISTENER, &key, handshake->is_locating ? question->place : question->address,
				handshake->ops->provider->by_network, handshake->scope, handshake, &handshake->channel);
	if (error == DOCA_ERROR_AGAIN)
		return; /* the next tick tries again */
	if (error == DOCA_SUCCESS) {
		sf_handshake_follow(handshake, handshake->ops, handshake->channel);
		if (!request_submit(handshake))
			error = DOCA_ERROR_NOT_FOUND;
	}
	if (error != DOCA_SUCCESS && !look_elsewhere(handshake))
		handshake_opened(handshake, error, NULL, 0);
}

doca_error_t sf_handshake_ask(struct sf_handshake *handshake, const struct sf_handshake_ops *ops, const char *name,
			      const char *address, uint32_t scope, const void *data, size_t len)
{
	struct sf_question *question = calloc(1, sizeof(*question));

	assert(sf_is_locked(&sf_control_lock));
	if (question == NULL)
		return DOCA_ERROR_NO_MEMORY;
	question->ask.head = sf_msg_head(SF_MSG_CONNECT, sizeof(question->ask), 0);
	question->ask.provider = ops->provider->kinds;
	strcpy(question->ask.name, name);
	question->ask.data_len = (uint32_t)len;
	if (len != 0)
		memcpy(question->ask.data, data, len);
	if (address != NULL)
		strcpy(question->address, address);
	handshake->ops = ops;
	handshake->scope = scope;
	handshake->question = question;
	handshake->is_asking = handshake->is_awaited = true;
	LIST_INSERT_HEAD(&awaited, handshake, entry);
	sf_liveness_begin(&handshake->answering);
	handshake_call(handshake);
	sf_control_wake(); /* for the time limit of the answer */
	return DOCA_SUCCESS;
}

enum sf_pace sf_handshakes_tick(uint64_t now_ns)
{
	struct sf_handshake *handshake, *next;
	enum sf_pace pace;

	assert(sf_is_locked(&sf_control_lock));
	pace = LIST_EMPTY(&awaited) ? SF_PACE_IDLE : SF_PACE_SLOW;
	for (handshake = LIST_FIRST(&awaited); handshake != NULL; handshake = next) {
		next = LIST_NEXT(handshake, entry);
		if (sf_liveness_lost(&handshake->answering, handshake->channel != NULL ? handshake->channel->pid : 0,
				     SF_ANSWER_LIMIT_NS)) {
			SF_LOG_ERR_LIMITED("no answer from %s; is the process that listens there stopped, or out of descriptors?",
					   handshake->question->ask.name);
			handshake_opened(handshake, DOCA_ERROR_TIME_OUT, NULL, 0);
		} else if (handshake->channel == NULL) {
			pace = SF_PACE_FAST; /* it retries soon */
			if (now_ns >= handshake->question->call_ns)
				handshake_call(handshake);
		}
	}
	return pace;
}

doca_error_t sf_conn_wait(struct sf_conn *conn)
{
	const struct sf_handshake *handshake = conn->handshake;
	struct sf_liveness answering;
	doca_error_t error = DOCA_SUCCESS;

	if (handshake == NULL)
		return DOCA_SUCCESS;
	sf_liveness_begin(&answering);
	pthread_mutex_lock(&sf_control_lock);
	while (handshake->is_awaited && error == DOCA_SUCCESS) {
		if (!sf_control_await(handshake->channel, &answering, SF_SILENCE_LIMIT_NS))
			error = DOCA_ERROR_TIME_OUT;
	}
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}

int sf_conn_peer_pid(struct sf_conn *conn)
{
	const struct sf_handshake *handshake = conn->handshake;
	int pid = 0;

	if (handshake == NULL) /* connections inside a process have none */
		return (conn->ops->caps & SF_CAP_OTHER_PROCESS) != 0 ? 0 : getpid();
	pthread_mutex_lock(&sf_control_lock);
	if (handshake->channel != NULL)
		pid = handshake->channel->pid;
	pthread_mutex_unlock(&sf_control_lock);
	return pid;
}
