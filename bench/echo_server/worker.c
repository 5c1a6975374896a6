/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_log.h>

#include "remote_offload/frame.h"
#include "remote_offload/kernels.h"

DOCA_LOG_REGISTER(ECHO::WORKER);

#define BUFFER_SIZE (256U * 1024)
#define EVENTS_MAX 256

struct client {
	struct client *next, *prev;
	int fd;
	bool armed_out;
	uint8_t *partial; /* the beginning of an incomplete frame */
	uint32_t partial_len;
	uint8_t *unsent; /* answers that did not fit into the socket */
	uint32_t unsent_len;
	uint32_t unsent_at;
};

static void client_close(struct worker *worker, struct client *client)
{
	pthread_mutex_lock(&worker->clients_lock);
	if (client->prev != NULL)
		client->prev->next = client->next;
	else
		worker->clients = client->next;
	if (client->next != NULL)
		client->next->prev = client->prev;
	pthread_mutex_unlock(&worker->clients_lock);
	close(client->fd);
	free(client->partial);
	free(client->unsent);
	free(client);
}

/* Waits either for room to send or for requests. */
static void client_arm(struct worker *worker, struct client *client, bool out)
{
	struct epoll_event event = {.events = out ? EPOLLOUT : EPOLLIN, .data.ptr = client};

	if (client->armed_out == out)
		return;
	client->armed_out = out;
	epoll_ctl(worker->epoll_fd, EPOLL_CTL_MOD, client->fd, &event);
}

/* Copies bytes to a buffer of the client. */
static bool keep(uint8_t **kept, uint32_t *kept_len, const uint8_t *bytes, uint32_t len)
{
	uint8_t *room = NULL;

	*kept_len = len;
	if (len > 0) {
		room = malloc(len);
		if (room == NULL)
			return false;
		memcpy(room, bytes, len);
	}
	free(*kept);
	*kept = room;
	return true;
}

static ssize_t send_some(int fd, const uint8_t *bytes, uint32_t len)
{
	ssize_t sent = send(fd, bytes, len, MSG_NOSIGNAL);

	if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return 0;
	return sent;
}

/* Answers the complete frames at the front of the buffer in place; returns their bytes, or -1 for an invalid frame. */
static int64_t answer_frames(struct worker *worker, uint8_t *bytes, uint32_t len)
{
	uint32_t at = 0;
	char why[160];

	for (;;) {
		struct frame frame;
		enum frame_status status = frame_parse(bytes + at, len - at, worker->frame_max, &frame);

		if (status == FRAME_PARTIAL)
			return at;
		if (status != FRAME_COMPLETE) {
			frame_explain(bytes + at, len - at, worker->frame_max, why, sizeof(why));
			DOCA_LOG_ERR("client closed: %s", why);
			return -1;
		}
		if (worker->config->function != OFFLOAD_FUNCTION_COUNT)
			offload_apply(worker->config->function, bytes + at + FRAME_OVERHEAD, frame.payload_len, 0, 1);
		at += frame.size;
		worker->messages++;
	}
}

/* Reads and answers complete frames, and keeps the rest for the next call. */
static bool client_receive(struct worker *worker, struct client *client)
{
	uint32_t len = client->partial_len;
	int64_t whole;
	ssize_t got, sent;

	if (len > 0)
		memcpy(worker->buffer, client->partial, len);
	got = recv(client->fd, worker->buffer + len, worker->buffer_size - len, 0);
	if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return true;
	if (got <= 0)
		return false;
	len += (uint32_t)got;
	whole = answer_frames(worker, worker->buffer, len);
	if (whole < 0)
		return false;
	sent = whole > 0 ? send_some(client->fd, worker->buffer, (uint32_t)whole) : 0;
	if (sent < 0 || !keep(&client->partial, &client->partial_len, worker->buffer + whole, len - (uint32_t)whole))
		return false;
	if (sent == whole)
		return true;
	client->unsent_at = 0;
	if (!keep(&client->unsent, &client->unsent_len, worker->buffer + sent, (uint32_t)(whole - sent)))
		return false;
	client_arm(worker, client, true);
	return true;
}

static bool client_send(struct worker *worker, struct client *client)
{
	ssize_t sent = send_some(client->fd, client->unsent + client->unsent_at, client->unsent_len - client->unsent_at);

	if (sent < 0)
		return false;
	client->unsent_at += (uint32_t)sent;
	if (client->unsent_at < client->unsent_len)
		return true;
	free(client->unsent);
	client->unsent = NULL;
	client->unsent_len = 0;
	client_arm(worker, client, false);
	return true;
}

static void pin(const struct worker *worker)
{
	cpu_set_t set;

	if (worker->cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(worker->cpu, &set);
	if (pthread_setaffinity_np(pthread_self(), sizeof(set), &set) != 0)
		DOCA_LOG_WARN("cannot pin a thread to cpu %d, which does not exist", worker->cpu);
}

static void *run(void *argument)
{
	struct worker *worker = argument;
	struct epoll_event events[EVENTS_MAX];

	pin(worker);
	for (;;) {
		int count = epoll_wait(worker->epoll_fd, events, EVENTS_MAX, -1);

		for (int i = 0; i < count; i++) {
			struct client *client = events[i].data.ptr;

			if (client == NULL)
				return NULL; /* stop_fd */
			if (!(client->armed_out ? client_send(worker, client) : client_receive(worker, client)))
				client_close(worker, client);
		}
	}
}

bool worker_start(struct worker *worker, const struct echo_config *config, int cpu)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

	*worker = (struct worker){.config = config, .cpu = cpu, .frame_max = frame_size_max(config->max_message_length)};
	worker->buffer_size = 2 * worker->frame_max > BUFFER_SIZE ? 2 * worker->frame_max : BUFFER_SIZE;
	pthread_mutex_init(&worker->clients_lock, NULL);
	worker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	worker->stop_fd = eventfd(0, EFD_CLOEXEC);
	worker->buffer = malloc(worker->buffer_size);
	if (worker->buffer == NULL || worker->epoll_fd < 0 || worker->stop_fd < 0 ||
	    epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, worker->stop_fd, &event) != 0 ||
	    pthread_create(&worker->thread, NULL, run, worker) != 0) {
		DOCA_LOG_ERR("a thread cannot start: %s", strerror(errno));
		return false;
	}
	return true;
}

bool worker_add(struct worker *worker, int fd)
{
	struct client *client = calloc(1, sizeof(*client));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = client};

	if (client == NULL)
		return false;
	client->fd = fd;
	pthread_mutex_lock(&worker->clients_lock);
	client->next = worker->clients;
	if (client->next != NULL)
		client->next->prev = client;
	worker->clients = client;
	pthread_mutex_unlock(&worker->clients_lock);
	if (epoll_ctl(worker->epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0) {
		client_close(worker, client);
		DOCA_LOG_ERR("a client cannot be waited for: %s", strerror(errno));
	}
	return true;
}

void worker_stop(struct worker *worker)
{
	eventfd_write(worker->stop_fd, 1);
	pthread_join(worker->thread, NULL);
	while (worker->clients != NULL)
		client_close(worker, worker->clients);
	close(worker->epoll_fd);
	close(worker->stop_fd);
	free(worker->buffer);
	pthread_mutex_destroy(&worker->clients_lock);
}
