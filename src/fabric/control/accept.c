/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/control/accept.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "fabric/control/agent.h"

/* Guarded by sf_control_lock */
static struct {
	bool full; /* no listening socket is in the epoll set */
	bool has_spare;
	int spare[SF_ACCEPT_SPARE];
} state;

static void spare_release(void)
{
	for (int i = 0; i < SF_ACCEPT_SPARE && state.has_spare; i++)
		close(state.spare[i]);
	state.has_spare = false;
}

/* Opens all descriptors or none. */
static bool descriptors_open(int *fds, int num)
{
	for (int i = 0; i < num; i++) {
		fds[i] = fcntl(sf_control_epoll(), F_DUPFD_CLOEXEC, 0);
		if (fds[i] >= 0)
			continue;

		int error = errno;

		while (i-- != 0)
			close(fds[i]);
		errno = error;
		return false;
	}
	return true;
}

static bool spare_take(void)
{
	state.has_spare = descriptors_open(state.spare, SF_ACCEPT_SPARE);
	return state.has_spare;
}

static bool has_room_for_one(void)
{
	int fds[SF_ACCEPT_EACH];

	if (!descriptors_open(fds, SF_ACCEPT_EACH))
		return false;
	for (int i = 0; i < SF_ACCEPT_EACH; i++)
		close(fds[i]);
	return true;
}

bool sf_accept_begin(void)
{
	state.full = false;
	return spare_take();
}

void sf_accept_end(void)
{
	spare_release();
}

enum sf_pace sf_accept_tick(void)
{
	assert(sf_is_locked(&sf_control_lock));
	if (state.full && has_room_for_one()) {
		state.full = false;
		sf_channels_listen(true);
	}
	if (!state.full && !state.has_spare && spare_take() && !has_room_for_one())
		spare_release();
	return state.full ? SF_PACE_FAST : SF_PACE_IDLE;
}

static void become_full(int error)
{
	state.full = true;
	spare_release();
	sf_channels_listen(false);
	SF_LOG_LIMITED(DOCA_LOG_LEVEL_WARNING, 1,
		       "cannot accept more connections: %s; new peers wait until descriptors are free: raise the limit of open "
		       "files (ulimit -n)",
		       strerror(error));
}

int sf_accept_next(int listening)
{
	assert(sf_is_locked(&sf_control_lock));
	if (state.full) {
		sf_channels_listen(false); /* this listener may have been opened since */
		return -1;
	}
	for (;;) {
		int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0 && !state.full && !has_room_for_one())
			become_full(errno);
		if (fd >= 0)
			return fd;
		if (errno == ECONNABORTED || errno == EINTR)
			continue;
		if (state.full || (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM))
			return -1;
		become_full(errno);
	}
}
