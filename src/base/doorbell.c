/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/fs.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/log_rate.h"
#include "base/trace.h"

#define RINGS 64 /* operations in flight before their results are reaped */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static aio_context_t context; /* 0: the kernel grants no context */

/* Also runs in a child made by fork, where the parent's context does not exist. */
static void context_open(void)
{
	context = 0;
	if (syscall(SYS_io_setup, (long)RINGS, &context) != 0)
		context = 0;
}

static void first_use(void)
{
	context_open();
	if (context == 0)
		SF_LOG_INFO("no asynchronous I/O (%s): a hostile peer may hold up a wake-up; is fs.aio-max-nr used up?",
			    strerror(errno));
	pthread_atfork(NULL, NULL, context_open);
}

/* Nobody needs the results, but each keeps its slot until it is reaped. */
static void results_drop(void)
{
	struct io_event results[RINGS];
	struct timespec now = {0, 0};

	syscall(SYS_io_getevents, context, 0L, (long)RINGS, results, &now);
}

/*
 * When an asynchronous operation ends, the kernel itself adds to the counter. It never blocks: a full counter stays full. The
 * operation is a read of 0 bytes, which an eventfd fails immediately, whatever its counter and flags.
 */
static bool ring_by_kernel(int fd)
{
	struct iocb operation = {.aio_lio_opcode = IOCB_CMD_PREAD,
				 .aio_fildes = (uint32_t)fd,
				 .aio_flags = IOCB_FLAG_RESFD,
				 .aio_resfd = (uint32_t)fd};
	struct iocb *operations[] = {&operation};

	if (context == 0)
		return false;
	if (syscall(SYS_io_submit, context, 1L, operations) == 1)
		return true;
	if (errno != EAGAIN)
		return false;
	results_drop();
	return syscall(SYS_io_submit, context, 1L, operations) == 1;
}

/* Without asynchronous I/O, O_NONBLOCK is set again before each write. */
static void ring_by_write(int fd)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};
	const uint64_t one = 1;

	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	if (poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0 && write(fd, &one, sizeof(one)) < 0)
		SF_LOG_DBG_LIMITED("cannot ring a doorbell: %s", strerror(errno)); /* a full counter wakes its owner as well */
}

void sf_doorbell_ring(int fd)
{
	int saved = errno;

	if (fd < 0)
		return;
	SF_TRACE(wake, SF_TRACE_WAKE, NULL, 0, (uint32_t)fd, NULL);
	pthread_once(&once, first_use);
	if (!ring_by_kernel(fd))
		ring_by_write(fd);
	errno = saved;
}

static ssize_t counter_read(int fd)
{
	uint64_t count;
	struct iovec piece = {.iov_base = &count, .iov_len = sizeof(count)};

	ssize_t len = syscall(SYS_preadv2, (long)fd, &piece, 1L, -1L, -1L, (long)RWF_NOWAIT);

	/* Linux before 5.8 has no per-call flag for it. A seccomp filter or an emulator may lack this one. */
	if (len >= 0 || errno == EAGAIN)
		return len;
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	return read(fd, &count, sizeof(count));
}

bool sf_doorbell_clear(int fd, bool *rang)
{
	ssize_t len = counter_read(fd);

	if (rang != NULL)
		*rang = len > 0;
	return len >= 0 || errno == EAGAIN;
}
