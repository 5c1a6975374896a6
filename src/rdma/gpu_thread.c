/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The instance's thread. It polls while there is work; then it sleeps until a peer or a kernel of a software GPU wakes it. A real
 * GPU cannot wake it, so for one it polls, at first often and then seldom.
 */
#include "rdma/gpu_thread.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/doorbell.h"
#include "base/log.h"
#include "rdma/connection.h"
#include "rdma/gpu.h"
#include "rdma/gpu_commands.h"
#include "rdma/gpu_lock.h"
#include "rdma/gpu_memory.h"
#include "rdma/gpu_receives.h"
#include "rdma/rdma.h"

#define SPIN_NS 20000 /* software GPU: how long it polls after the last work */
#define SPIN_HARDWARE_NS 5000000
#define SLEEP_HARDWARE_MIN_NS 50000
#define SLEEP_HARDWARE_MAX_NS 1000000
#define SLEEP_WAITING_MS 1 /* something waits without a wake-up */
#define SLEEP_MS 1000

/* The answer to a connect by address runs the program's callback inside the poll: only the program's progress calls may
 * poll then. */
static bool may_poll(const struct doca_rdma *rdma)
{
	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		if (rdma->connections[i].state == RDMA_CONNECTION_CONNECTING)
			return false;
	}
	return true;
}

static bool gpu_step(struct rdma_gpu *gpu, bool poll_ep)
{
	struct doca_rdma *rdma = gpu->rdma;
	bool moved = poll_ep && sf_ep_poll(rdma->ep, RDMA_POLL_BUDGET) > 0;

	for (uint32_t i = 0; i < rdma->num_connections; i++) {
		if (gpu->queues[i].published_state != SOFTFIELD_RDMA_NEW)
			moved |= rdma_gpu_commands_run(&gpu->queues[i]);
	}
	moved |= rdma_gpu_receives_run(gpu);
	rdma_gpu_publish(gpu);
	return moved;
}

bool rdma_gpu_step(struct rdma_gpu *gpu)
{
	return gpu_step(gpu, may_poll(gpu->rdma));
}

bool rdma_gpu_poll(struct rdma_gpu *gpu)
{
	return gpu_step(gpu, true);
}

bool rdma_gpu_is_drained(struct rdma_gpu *gpu)
{
	struct doca_rdma *entered __attribute__((cleanup(rdma_instance_leave), unused)) = rdma_instance_enter(gpu->rdma);
	(void)gpu_step(gpu, true);
	if (gpu->num_posted != 0)
		return false;
	for (uint32_t i = 0; i < gpu->rdma->num_connections; i++) {
		if (gpu->rdma->connections[i].num_out != 0)
			return false;
		rdma_gpu_memory_release(&gpu->queues[i]);
	}
	return true;
}

/* Is there work without a wake-up? */
static bool is_waiting(const struct rdma_gpu *gpu)
{
	for (uint32_t i = 0; i < gpu->rdma->num_connections; i++) {
		if (gpu->queues[i].submitted != gpu->queues[i].taken)
			return true;
	}
	return !may_poll(gpu->rdma);
}

static bool is_due(const struct rdma_gpu *gpu)
{
	for (uint32_t i = 0; i < gpu->rdma->num_connections; i++) {
		const struct rdma_gpu_queue *queue = &gpu->queues[i];

		if (queue->published_state == SOFTFIELD_RDMA_OPEN && queue->submitted == queue->taken &&
		    rdma_gpu_commands_due(queue))
			return true;
	}
	return rdma_gpu_receives_due(gpu);
}

static void prepare_to_sleep(struct rdma_gpu *gpu)
{
	pthread_mutex_lock(&gpu->lock);
	rdma_gpu_publish_polling(gpu, false);
	for (uint32_t i = 0; i < gpu->num_queues; i++) {
		if (gpu->queues[i].taken == gpu->queues[i].finished)
			rdma_gpu_memory_release(&gpu->queues[i]);
	}
	pthread_mutex_unlock(&gpu->lock);
}

/* Announces that it sleeps, checks once more, and sleeps. */
static void sleep_soft(struct rdma_gpu *gpu)
{
	struct pollfd fd = {.fd = gpu->event_fd, .events = POLLIN};

	pthread_mutex_lock(&gpu->lock);
	__atomic_store_n(gpu->sleeping, 1, __ATOMIC_RELAXED);
	softfield_fence_system();
	bool waiting = is_waiting(gpu), due = is_due(gpu) || (may_poll(gpu->rdma) && sf_ep_arm(gpu->rdma->ep));
	pthread_mutex_unlock(&gpu->lock);
	if (!due)
		poll(&fd, 1, waiting ? SLEEP_WAITING_MS : SLEEP_MS);
	__atomic_store_n(gpu->sleeping, 0, __ATOMIC_RELAXED);
	(void)sf_doorbell_clear(gpu->event_fd, NULL);
}

static void sleep_hardware(uint64_t idle_ns)
{
	uint64_t ns = idle_ns / 100;

	ns = ns < SLEEP_HARDWARE_MIN_NS ? SLEEP_HARDWARE_MIN_NS : ns > SLEEP_HARDWARE_MAX_NS ? SLEEP_HARDWARE_MAX_NS : ns;
	const struct timespec time = {0, (long)ns};
	nanosleep(&time, NULL);
}

/* Do kernels execute writes that they would leave to this thread if it polled all the time? */
static bool is_wanted(struct rdma_gpu *gpu)
{
	if (__atomic_load_n(gpu->wanted_by_kernels, __ATOMIC_RELAXED) == 0)
		return false;
	__atomic_store_n(gpu->wanted_by_kernels, 0, __ATOMIC_RELAXED);
	return true;
}

static void *thread_main(void *arg)
{
	struct rdma_gpu *gpu = (struct rdma_gpu *)arg;
	uint64_t busy = sf_now_ns(), spin = gpu->device->ops->hardware ? SPIN_HARDWARE_NS : SPIN_NS;

	while (!atomic_load(&gpu->stopping)) {
		while (atomic_load(&gpu->wanted) != 0)
			sched_yield();
		pthread_mutex_lock(&gpu->lock);
		bool moved = rdma_gpu_step(gpu), wanted = is_wanted(gpu);
		pthread_mutex_unlock(&gpu->lock);
		uint64_t now = sf_now_ns();
		if (moved || wanted) {
			rdma_gpu_publish_polling(gpu, gpu->device->ops->hardware);
			busy = now;
		}
		if (now - busy < spin)
			continue;
		prepare_to_sleep(gpu);
		if (gpu->device->ops->hardware)
			sleep_hardware(now - busy);
		else
			sleep_soft(gpu);
	}
	return NULL;
}

doca_error_t rdma_gpu_run(struct rdma_gpu *gpu)
{
	sigset_t all, before;

	sigfillset(&all); /* the program's signals must not run on this thread */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_store(&gpu->stopping, false);
	int error = pthread_create(&gpu->thread, NULL, thread_main, gpu);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	gpu->has_thread = error == 0;
	if (error == 0)
		return DOCA_SUCCESS;
	SF_LOG_ERR("rdma: no thread for the GPU's data path: too many threads?");
	return DOCA_ERROR_OPERATING_SYSTEM;
}

void rdma_gpu_join(struct rdma_gpu *gpu)
{
	if (!gpu->has_thread)
		return;
	atomic_store(&gpu->stopping, true);
	rdma_gpu_ring(gpu);
	pthread_join(gpu->thread, NULL);
	gpu->has_thread = false;
}
