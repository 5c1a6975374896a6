/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <doca_log.h>

#include "remote_offload/log_limit.h"
#include "traffic.h"
#include "worker_thread.h"

DOCA_LOG_REGISTER(SERVER::WORKER);

#define BLOCK_BYTES_MIN 16384u
#define OUT_BYTES_MIN (256u << 10)
#define OUT_FRAMES_MIN 8u

static bool add_fd(int epoll_fd, int fd, void *tag)
{
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = tag};

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void worker_free(struct worker *worker)
{
	if (worker->dp)
		datapath_destroy(worker->dp);
	block_pool_fini(&worker->pool);
	if (worker->epoll_fd >= 0)
		close(worker->epoll_fd);
	if (worker->wake_fd >= 0)
		close(worker->wake_fd);
	watchdog_close(&worker->watchdog);
	pthread_mutex_destroy(&worker->lock);
	free(worker->inflight);
	free(worker);
}

static doca_error_t worker_prepare(struct worker *worker, struct doca_dev *dev)
{
	uint32_t frame_max = worker->limits.frame_max, ring = 1;
	doca_notification_handle_t pe_fd;
	doca_error_t result;

	while (ring < worker->limits.depth)
		ring *= 2;
	worker->inflight = calloc(ring, sizeof(*worker->inflight));
	worker->inflight_mask = ring - 1;
	worker->out_bytes_max = (size_t)OUT_FRAMES_MIN * frame_max;
	if (worker->out_bytes_max < OUT_BYTES_MIN)
		worker->out_bytes_max = OUT_BYTES_MIN;
	block_pool_init(&worker->pool, frame_max > BLOCK_BYTES_MIN ? frame_max : BLOCK_BYTES_MIN);
	worker->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	worker->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!worker->inflight || worker->epoll_fd < 0 || worker->wake_fd < 0 ||
	    !watchdog_open(&worker->watchdog, worker->limits.gpu_timeout_s, worker->limits.idle_timeout_s)) {
		DOCA_LOG_ERR("thread for cpu %u not set up: %s", worker->cpu, strerror(errno));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	result = datapath_create(dev, worker->limits.depth, frame_max > DATAPATH_BATCH_BYTES ? frame_max : DATAPATH_BATCH_BYTES,
				 traffic_receive_answer, worker, &worker->dp);
	if (result != DOCA_SUCCESS)
		return result;
	result = doca_pe_get_notification_handle(worker->dp->pe, &pe_fd);
	if (result != DOCA_SUCCESS || !add_fd(worker->epoll_fd, pe_fd, worker->dp) ||
	    !add_fd(worker->epoll_fd, worker->wake_fd, worker) ||
	    (worker->watchdog.fd >= 0 && !add_fd(worker->epoll_fd, worker->watchdog.fd, &worker->watchdog))) {
		DOCA_LOG_ERR("thread for cpu %u cannot wait for events", worker->cpu);
		return result != DOCA_SUCCESS ? result : DOCA_ERROR_OPERATING_SYSTEM;
	}
	return DOCA_SUCCESS;
}

doca_error_t worker_start(uint32_t index, uint32_t cpu, const struct worker_limits *limits, struct doca_dev *dev, int notify_fd,
			  struct worker **out)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	doca_error_t result;

	if (!worker)
		return DOCA_ERROR_NO_MEMORY;
	worker->index = index;
	worker->cpu = cpu;
	worker->limits = *limits;
	worker->notify_fd = notify_fd;
	worker->epoll_fd = -1;
	worker->wake_fd = -1;
	worker->watchdog.fd = -1;
	pthread_mutex_init(&worker->lock, NULL);
	result = worker_prepare(worker, dev);
	if (result == DOCA_SUCCESS && pthread_create(&worker->thread, NULL, worker_thread, worker) != 0) {
		DOCA_LOG_ERR("thread for cpu %u not started", cpu);
		result = DOCA_ERROR_OPERATING_SYSTEM;
	}
	if (result != DOCA_SUCCESS) {
		worker_free(worker);
		return result;
	}
	*out = worker;
	return DOCA_SUCCESS;
}

static void worker_wake(struct worker *worker)
{
	uint64_t one = 1;

	if (write(worker->wake_fd, &one, sizeof(one)) < 0)
		DOCA_LOG_ERR("thread for cpu %u not woken: %s", worker->cpu, strerror(errno));
}

void worker_stop(struct worker *worker)
{
	worker_order(worker, WORKER_EXIT);
	pthread_join(worker->thread, NULL);
}

void worker_destroy(struct worker *worker)
{
	while (worker->inbox) {
		struct connection *connection = worker->inbox;

		worker->inbox = connection->next;
		connection_close(connection, &worker->pool);
		free(connection);
	}
	worker_free(worker);
}

void worker_add(struct worker *worker, int fd, const union peer_address *peer)
{
	struct connection *connection = connection_create(fd, peer);

	if (!connection) {
		LIMITED_LOG_WARN("a client is closed: no memory for its connection");
		close(fd);
		return;
	}
	atomic_fetch_add(&worker->connection_count, 1);
	pthread_mutex_lock(&worker->lock);
	connection->next = worker->inbox;
	worker->inbox = connection;
	pthread_mutex_unlock(&worker->lock);
	worker_wake(worker);
}

void worker_order(struct worker *worker, enum worker_order order)
{
	pthread_mutex_lock(&worker->lock);
	worker->order = order;
	atomic_fetch_add(&worker->ordered, 1);
	pthread_mutex_unlock(&worker->lock);
	worker_wake(worker);
}

bool worker_has_obeyed(const struct worker *worker)
{
	return atomic_load(&worker->obeyed) == atomic_load(&worker->ordered);
}

void worker_set_limits(struct worker *worker, uint32_t frame_max, uint32_t depth, uint32_t batch_bytes)
{
	worker->limits.frame_max = frame_max;
	worker->limits.depth = depth;
	worker->limits.batch_bytes = batch_bytes;
	atomic_store(&worker->queue_state, QUEUE_WORKS);
}
