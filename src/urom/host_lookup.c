/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * getaddrinfo has no time limit, and some resolvers are slow, so a thread calls it. If it does not return in time it is
 * abandoned: it ends, and frees its memory, whenever it returns.
 */
#include "urom/host_lookup.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/liveness.h"
#include "base/log.h"
#include "urom/service_file.h"

struct lookup {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t ended;
	bool done, abandoned; /* under the lock */
	_Atomic pid_t tid;    /* of the thread; 0: it has not run yet */
	int error;
	struct addrinfo *found;
	char host[UROM_HOST_MAX], port[8];
};

static _Atomic uint32_t num_abandoned;

static const struct addrinfo by_stream = {.ai_socktype = SOCK_STREAM};
static const struct addrinfo of_digits = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};

static struct lookup *lookup_create(const char *host, const char *port)
{
	struct lookup *lookup = (struct lookup *)calloc(1, sizeof(*lookup));
	pthread_condattr_t clock;

	if (lookup == NULL)
		return NULL;
	pthread_mutex_init(&lookup->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&lookup->ended, &clock);
	pthread_condattr_destroy(&clock);
	snprintf(lookup->host, sizeof(lookup->host), "%s", host);
	snprintf(lookup->port, sizeof(lookup->port), "%s", port);
	return lookup;
}

static void lookup_destroy(struct lookup *lookup)
{
	if (lookup->found != NULL)
		freeaddrinfo(lookup->found);
	pthread_cond_destroy(&lookup->ended);
	pthread_mutex_destroy(&lookup->lock);
	free(lookup);
}

static void *lookup_main(void *arg)
{
	struct lookup *lookup = (struct lookup *)arg;

	atomic_store(&lookup->tid, gettid());
	lookup->error = getaddrinfo(lookup->host, lookup->port, &by_stream, &lookup->found);
	if (lookup->error != 0)
		lookup->found = NULL;
	pthread_mutex_lock(&lookup->lock);
	bool abandoned = lookup->abandoned;
	lookup->done = true;
	pthread_cond_signal(&lookup->ended);
	pthread_mutex_unlock(&lookup->lock);
	if (abandoned) {
		lookup_destroy(lookup);
		atomic_fetch_sub(&num_abandoned, 1);
	}
	return NULL;
}

/* The thread must not handle the program's signals. */
static bool lookup_begin(struct lookup *lookup)
{
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	bool begun = pthread_create(&lookup->thread, NULL, lookup_main, lookup) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return begun;
}

/* Returns false if the lookup belongs to its thread now. A thread that waits for a processor does not count as a resolver that
 * hangs. */
static bool lookup_await(struct lookup *lookup, uint64_t limit_ns)
{
	struct sf_liveness liveness;

	sf_liveness_begin(&liveness);
	pthread_mutex_lock(&lookup->lock);
	while (!lookup->done && !sf_liveness_thread_lost(&liveness, atomic_load(&lookup->tid), limit_ns)) {
		uint64_t until = sf_now_ns() + sf_liveness_interval(limit_ns);
		const struct timespec time = {(time_t)(until / 1000000000), (long)(until % 1000000000)};

		(void)pthread_cond_timedwait(&lookup->ended, &lookup->lock, &time);
	}
	bool done = lookup->done;
	lookup->abandoned = !done;
	if (!done) {
		atomic_fetch_add(&num_abandoned, 1);
		pthread_detach(lookup->thread);
	}
	pthread_mutex_unlock(&lookup->lock);
	if (done)
		pthread_join(lookup->thread, NULL);
	return done;
}

static doca_error_t lookup_result(struct lookup *lookup, struct addrinfo **found)
{
	doca_error_t result = lookup->error == EAI_MEMORY ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_NOT_FOUND;

	if (lookup->error == 0)
		result = DOCA_SUCCESS;
	if (lookup->error != 0)
		SF_LOG_ERR("urom service: %s of the service file has no address: %s", lookup->host, gai_strerror(lookup->error));
	*found = lookup->found;
	lookup->found = NULL;
	lookup_destroy(lookup);
	return result;
}

doca_error_t urom_host_look_up(const char *host, uint16_t port_number, uint64_t limit_ns, struct addrinfo **found)
{
	char port[8];

	snprintf(port, sizeof(port), "%u", port_number);
	if (getaddrinfo(host, port, &of_digits, found) == 0) /* needs no resolver */
		return DOCA_SUCCESS;
	if (atomic_load(&num_abandoned) >= UROM_LOOKUPS_MAX) {
		SF_LOG_ERR("urom service: did not look up %s of the service file: %d look-ups are unanswered, so the "
			   "resolver hangs; give its address instead",
			   host, UROM_LOOKUPS_MAX);
		return DOCA_ERROR_TIME_OUT;
	}
	struct lookup *lookup = lookup_create(host, port);
	if (lookup == NULL || !lookup_begin(lookup)) {
		SF_LOG_ERR("urom service: no memory, or no thread, to look %s up", host);
		if (lookup != NULL)
			lookup_destroy(lookup);
		return DOCA_ERROR_NO_MEMORY;
	}
	if (lookup_await(lookup, limit_ns))
		return lookup_result(lookup, found);
	SF_LOG_ERR("urom service: no DNS reply for %s of the service file: is the name server reachable? An address "
		   "instead "
		   "needs no look-up",
		   host);
	return DOCA_ERROR_TIME_OUT;
}
