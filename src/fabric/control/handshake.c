/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/handshake.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "fabric/control/agent.h"

#define ANSWER_LIMIT_NS UINT64_C(5000000000) /* for a silent agent of the peer; its program may take its time */

/* What is asked, until it is answered: the listener's queue may be full. */
struct sf_question {
	struct sf_msg_connect ask;
	char address[SF_ADDRESS_MAX];
};

static LIST_HEAD(, sf_handshake) awaited = LIST_HEAD_INITIALIZER(awaited); /* GUARDED_BY(sf_control_lock) */

/* In the child nobody will answer. */
void sf_handshakes_after_fork(void)
{
	struct sf_handshake *handshake;

	LIST_FOREACH (handshake, &awaited, entry)
		handshake->is_awaited = handshake->is_asking = false;
	LIST_INIT(&awaited);
}

static void heard(struct sf_handshake *handshake)
{
	if (!handshake->is_awaited)
		return;
	handshake->is_awaited = false;
	LIST_REMOVE(handshake, entry);
	pthread_cond_broadcast(&sf_control_changed);
}

static void asking_end(struct sf_handshake *handshake)
{
	heard(handshake);
	handshake->is_asking = false;
	free(handshake->question);
	handshake->question = NULL;
}

static void conn_end(struct sf_handshake *handshake)
{
	sf_conn_close(handshake->conn);
	handshake->conn = NULL;
}

static void opened(struct sf_handshake *handshake, doca_error_t status, const void *data, size_t len)
{
	asking_end(handshake);
	if (status != DOCA_SUCCESS)
		conn_end(handshake);
	handshake->ops->opened(handshake, status, data, len);
}

static bool answered(struct sf_handshake *handshake, const struct sf_msg *msg, int *fds)
{
	const struct sf_msg_accept *accept = (const struct sf_msg_accept *)msg;
	const struct sf_msg_refuse *refuse = (const struct sf_msg_refuse *)msg;
	doca_error_t status;

	switch (msg->kind) {
	case SF_MSG_PENDING:
		heard(handshake);
		return true;
	case SF_MSG_REFUSE:
		status = sf_msg_status(msg->value);
		opened(handshake, status == DOCA_SUCCESS ? DOCA_ERROR_UNEXPECTED : status, refuse->data, refuse->data_len);
		return true;
	case SF_MSG_ACCEPT:
		if (accept->provider != handshake->ops->provider->kinds)
			return false;
		status = handshake->ops->meet(handshake, &accept->side, fds);
		opened(handshake, status, accept->data, status == DOCA_SUCCESS ? accept->data_len : 0);
		return true;
	default:
		return false;
	}
}

static bool conn_message(struct sf_conn *conn, const struct sf_msg *msg, int *fds)
{
	struct sf_handshake *handshake = conn->owner;

	if (handshake->is_asking)
		return answered(handshake, msg, fds);
	return handshake->ops->message != NULL && handshake->ops->message(handshake, msg);
}

static void conn_ended(struct sf_conn *conn)
{
	struct sf_handshake *handshake = conn->owner;

	handshake->conn = NULL;
	if (handshake->is_asking)
		opened(handshake, conn->why != DOCA_SUCCESS ? conn->why : DOCA_ERROR_CONNECTION_ABORTED, NULL, 0);
	else
		handshake->ops->ended(handshake);
}

void sf_handshake_follow(struct sf_handshake *handshake, const struct sf_handshake_ops *ops, struct sf_conn *conn)
{
	handshake->ops = ops;
	handshake->conn = conn;
	conn->owner = handshake;
	conn->message = conn_message;
	conn->ended = conn_ended;
}

void sf_handshake_end(struct sf_handshake *handshake)
{
	asking_end(handshake);
	conn_end(handshake);
}

/* Calls the listener, and asks. */
static void call(struct sf_handshake *handshake)
{
	struct sf_question *question = handshake->question;
	struct sf_key key = sf_key_of_name(question->ask.name);
	int fds[SF_MSG_FDS_MAX];
	doca_error_t error;

	error = sf_conn_call(SF_SOCKET_LISTENER, &key, question->address, handshake->scope, handshake, &handshake->conn);
	if (error == DOCA_ERROR_AGAIN)
		return; /* the tick tries again */
	if (error == DOCA_SUCCESS) {
		sf_handshake_follow(handshake, handshake->ops, handshake->conn);
		handshake->ops->tell(handshake, &question->ask.side, fds);
		if (!sf_conn_send(handshake->conn, &question->ask, fds, handshake->ops->provider->connect_fds))
			error = DOCA_ERROR_NOT_FOUND;
	}
	if (error != DOCA_SUCCESS)
		opened(handshake, error, NULL, 0);
}

doca_error_t sf_handshake_ask(struct sf_handshake *handshake, const struct sf_handshake_ops *ops, const char *name,
			      const char *address, uint32_t scope, const void *data, size_t len)
{
	struct sf_question *question = calloc(1, sizeof(*question));

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
	call(handshake);
	sf_control_wake(); /* to time the answer */
	return DOCA_SUCCESS;
}

bool sf_handshakes_tick(void)
{
	struct sf_handshake *handshake, *next;

	for (handshake = LIST_FIRST(&awaited); handshake != NULL; handshake = next) {
		next = LIST_NEXT(handshake, entry);
		if (sf_liveness_lost(&handshake->answering, handshake->conn != NULL ? handshake->conn->pid : 0,
				     ANSWER_LIMIT_NS)) {
			SF_LOG_ERR_LIMITED(
				"nobody answers at %s; is the process that listens there stopped, or out of descriptors?",
				handshake->question->ask.name);
			opened(handshake, DOCA_ERROR_TIME_OUT, NULL, 0);
		} else if (handshake->conn == NULL) {
			call(handshake);
		}
	}
	return !LIST_EMPTY(&awaited);
}

doca_error_t sf_link_wait(struct sf_link *link)
{
	const struct sf_handshake *handshake = link->handshake;
	struct sf_liveness answering;
	doca_error_t error = DOCA_SUCCESS;

	if (handshake == NULL)
		return DOCA_SUCCESS;
	sf_liveness_begin(&answering);
	pthread_mutex_lock(&sf_control_lock);
	while (handshake->is_awaited && error == DOCA_SUCCESS) {
		if (!sf_control_await(handshake->conn, &answering, SF_SILENCE_LIMIT_NS))
			error = DOCA_ERROR_TIME_OUT;
	}
	pthread_mutex_unlock(&sf_control_lock);
	return error;
}
