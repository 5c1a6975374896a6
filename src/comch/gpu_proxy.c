/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/gpu_proxy.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>

#include "base/clock.h"
#include "base/doorbell.h"
#include "base/fork.h"
#include "base/log.h"
#include "base/thread_safety.h"

#define SPIN_NS 50000 /* from the last message to the sleep: as long as a short answer takes */
#define SLEEP_MIN_MS 1
#define SLEEP_MAX_MS 10 /* unless a GPU is real */

static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER; /* taken before lock */
static uint32_t users GUARDED_BY(users_lock);
static pthread_t thread GUARDED_BY(users_lock);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct gpu_proxy *proxies GUARDED_BY(lock);
static atomic_uint wanted; /* threads of the program that wait for the lock */
static atomic_bool stopping;
static atomic_int doorbell = -1; /* made once, and kept: a kernel may ring it at any time */
static uint64_t generation = 1;	 /* changes in a child made by fork */

/* The thread is not in the child. Its eventfd is shared with the parent. */
static SF_IN_CHILD void begin_anew(void)
{
	pthread_mutex_init(&users_lock, NULL);
	pthread_mutex_init(&lock, NULL);
	users = 0;
	proxies = NULL;
	atomic_store(&wanted, 0);
	atomic_store(&doorbell, -1);
	generation++;
}

SF_FORK_LOCK(SF_FORK_TABLE, NULL, begin_anew);

/* ---- the thread ---- */

static REQUIRES(lock) bool poll_all(void)
{
	bool moved = false;

	for (struct gpu_proxy *proxy = proxies; proxy != NULL; proxy = proxy->next)
		moved |= proxy->poll(proxy);
	return moved;
}

static REQUIRES(lock) bool arm_all(void)
{
	bool due = false;

	for (struct gpu_proxy *proxy = proxies; proxy != NULL; proxy = proxy->next)
		due |= proxy->arm(proxy);
	return due;
}

/* Sleeps for a tenth of the idle time. A real GPU rings for nothing that it writes. */
static REQUIRES(lock) int sleep_ms(uint64_t idle_ns)
{
	uint64_t ms = idle_ns / 10000000;

	for (struct gpu_proxy *proxy = proxies; proxy != NULL; proxy = proxy->next) {
		if (proxy->hardware)
			return SLEEP_MIN_MS;
	}
	return ms < SLEEP_MIN_MS ? SLEEP_MIN_MS : ms > SLEEP_MAX_MS ? SLEEP_MAX_MS : (int)ms;
}

static void sleep_armed(uint64_t idle_ns)
{
	struct pollfd fd = {.fd = atomic_load(&doorbell), .events = POLLIN};
	bool due;
	int ms;

	pthread_mutex_lock(&lock);
	ms = sleep_ms(idle_ns);
	due = arm_all();
	pthread_mutex_unlock(&lock);
	if (!due)
		poll(&fd, 1, ms);
	(void)sf_doorbell_clear(fd.fd, NULL);
}

static void *thread_main(void *unused)
{
	uint64_t busy = sf_now_ns();

	while (!atomic_load(&stopping)) {
		bool moved;

		while (atomic_load(&wanted) != 0)
			sched_yield();
		pthread_mutex_lock(&lock);
		moved = poll_all();
		pthread_mutex_unlock(&lock);
		if (moved)
			busy = sf_now_ns();
		else if (sf_now_ns() - busy >= SPIN_NS)
			sleep_armed(sf_now_ns() - busy);
		else
			sched_yield(); /* what it waits for may need this CPU: the software GPU, an agent, the peer */
	}
	return unused;
}

static REQUIRES(users_lock) doca_error_t thread_start(void)
{
	sigset_t all, before;
	int error;

	if (atomic_load(&doorbell) < 0)
		atomic_store(&doorbell, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (atomic_load(&doorbell) < 0) {
		SF_LOG_ERR("no doorbell for the GPU's proxy thread: %s; raise the limit of open files (ulimit -n)",
			   strerror(errno));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	atomic_store(&stopping, false);
	sigfillset(&all); /* the program's signals are its own threads' */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&thread, NULL, thread_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0) {
		SF_LOG_ERR("cannot start the GPU's proxy thread: %s", strerror(error));
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	pthread_setname_np(thread, "softfield-gpu");
	return DOCA_SUCCESS;
}

/* ---- its users ---- */

doca_error_t comch_gpu_proxy_acquire(int *event_fd)
{
	doca_error_t result = DOCA_SUCCESS;

	pthread_mutex_lock(&users_lock);
	if (users == 0)
		result = thread_start();
	if (result == DOCA_SUCCESS)
		users++;
	*event_fd = atomic_load(&doorbell);
	pthread_mutex_unlock(&users_lock);
	return result;
}

void comch_gpu_proxy_release(void)
{
	pthread_mutex_lock(&users_lock);
	if (users != 0 && --users == 0) { /* 0: a child's, whose parent acquired it */
		atomic_store(&stopping, true);
		comch_gpu_proxy_ring(NULL);
		pthread_join(thread, NULL);
	}
	pthread_mutex_unlock(&users_lock);
}

/* The caller keeps the lock, which clang knows by these two functions only. */
NO_THREAD_SAFETY_ANALYSIS void comch_gpu_proxy_lock(void)
{
	atomic_fetch_add(&wanted, 1);
	pthread_mutex_lock(&lock);
	atomic_fetch_sub(&wanted, 1);
}

NO_THREAD_SAFETY_ANALYSIS void comch_gpu_proxy_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

void comch_gpu_proxy_add(struct gpu_proxy *proxy)
{
	assert(sf_is_locked(&lock));
	proxy->generation = generation;
	proxy->next = proxies;
	proxies = proxy;
}

void comch_gpu_proxy_remove(struct gpu_proxy *proxy)
{
	struct gpu_proxy **slot;

	assert(sf_is_locked(&lock));
	slot = &proxies;
	while (*slot != NULL && *slot != proxy)
		slot = &(*slot)->next;
	if (*slot != NULL)
		*slot = proxy->next;
}

bool comch_gpu_proxy_is_ours(const struct gpu_proxy *proxy)
{
	return proxy->generation == generation;
}

void comch_gpu_proxy_ring(void *unused)
{
	int fd = atomic_load(&doorbell);

	if (fd >= 0)
		sf_doorbell_ring(fd);
}
