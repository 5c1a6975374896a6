/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwards the standard output and error of workers to the daemon's standard error, line by line, at a limited rate. If no
 * process reads the daemon's output, it drops lines instead of waiting.
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <doca_log.h>

#include "base/log_rate.h"
#include "clock.h"
#include "daemon.h"

DOCA_LOG_REGISTER(UROM_DAEMON::OUTPUT);

#define OWN_SOCKET_US 10000
#define WINDOW_BYTES (256 * 1024) /* most bytes of one worker in each window */
#define WINDOW_NS UINT64_C(4000000000)

/* ---- the daemon's output ---- */

/* Other processes share the file description and may need it to block, so it is opened again. A socket, such as systemd's
 * journal, cannot be opened again: there a line is dropped after a short time. */
static void fd_unblock(int fd)
{
	const struct timeval soon = {.tv_usec = OWN_SOCKET_US};
	char path[32];
	struct stat st;

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &soon, sizeof(soon)); /* fails if it is no socket */
	if (fstat(fd, &st) != 0 || !(S_ISFIFO(st.st_mode) || isatty(fd)))
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	int own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (own < 0)
		return;
	(void)dup2(own, fd);
	close(own);
}

/* Opens closed standard descriptors too, so that none of ours gets their numbers. */
void output_open_own(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
	fd_unblock(STDOUT_FILENO);
	fd_unblock(STDERR_FILENO);
}

/* ---- a worker's output ---- */

static void write_out(const char *bytes, size_t len)
{
	while (write(STDERR_FILENO, bytes, len) < 0 && errno == EINTR)
		;
}

static void write_lines(struct daemon_output *output)
{
	const char *end = (const char *)memrchr(output->bytes, '\n', output->len);
	size_t whole = end != NULL ? (size_t)(end - output->bytes) + 1 : 0;

	if (whole == 0 && output->len == sizeof(output->bytes))
		whole = output->len;
	if (whole == 0)
		return;
	write_out(output->bytes, whole);
	output->len -= whole;
	memmove(output->bytes, output->bytes + whole, output->len);
}

/* False: there is no more for now; *ended: no more will come. */
static bool read_some(struct daemon_output *output, bool *ended)
{
	ssize_t got = read(output->fd, output->bytes + output->len, sizeof(output->bytes) - output->len);

	*ended = got == 0;
	if (got <= 0)
		return got < 0 && errno == EINTR;
	output->len += (size_t)got;
	output->used += (size_t)got;
	write_lines(output);
	return true;
}

bool output_watch(struct daemon *daemon, struct daemon_worker *worker)
{
	struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = &worker->output.source}};

	worker->output.source = (struct daemon_source){worker, output_read};
	return epoll_ctl(daemon->epoll_fd, EPOLL_CTL_ADD, worker->output.fd, &event) == 0;
}

void output_read(struct daemon *daemon, struct daemon_worker *worker)
{
	struct daemon_output *output = &worker->output;
	uint64_t now = daemon_now_ns();
	bool ended = false;

	if (now >= output->window_end) {
		output->window_end = now + WINDOW_NS;
		output->used = 0;
	}
	while (output->used < WINDOW_BYTES && read_some(output, &ended))
		;
	output->waits = output->used >= WINDOW_BYTES && !ended;
	if (ended || output->waits)
		epoll_ctl(daemon->epoll_fd, EPOLL_CTL_DEL, output->fd, NULL);
	if (output->waits)
		PROGRAM_LOG_WARN_LIMITED("worker %" PRIu64
					 " with %s printed %d KiB within %d seconds: its output is dropped for a while",
					 worker->id, worker->names, WINDOW_BYTES / 1024, (int)(WINDOW_NS / 1000000000));
}

uint64_t output_expire(struct daemon *daemon, struct daemon_worker *worker, uint64_t now)
{
	if (!worker->output.waits)
		return UINT64_MAX;
	if (now < worker->output.window_end)
		return worker->output.window_end;
	worker->output.waits = !output_watch(daemon, worker);
	return UINT64_MAX;
}

void output_close(struct daemon_worker *worker)
{
	struct daemon_output *output = &worker->output;
	bool ended;

	if (output->fd < 0)
		return;
	output->used = 0; /* the last output has a limit of its own: it may explain a crash */
	while (output->used < WINDOW_BYTES && read_some(output, &ended))
		;
	if (output->len != 0) {
		output->bytes[output->len < sizeof(output->bytes) ? output->len++ : output->len - 1] = '\n';
		write_out(output->bytes, output->len);
	}
	close(output->fd);
	output->fd = -1;
}
