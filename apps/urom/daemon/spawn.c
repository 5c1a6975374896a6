/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's side of its spawner: a worker's descriptors, and the request for its process. */
#include "spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_log.h>

#include "spawner.h"

DOCA_LOG_REGISTER(UROM_DAEMON::SPAWN);

#define ANSWER_MS 100 /* until SIGCONT is sent to a spawner that does not answer: it may be stopped */

/* ---- the spawner ---- */

doca_error_t spawn_open(struct daemon *daemon)
{
	int ends[2];
	pid_t self = getpid();

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0) {
		daemon->spawner_pid = fork();
		if (daemon->spawner_pid == 0) {
			close(ends[0]);
			spawner_run(daemon, self, ends[1]);
		}
		close(ends[1]);
		daemon->spawner_fd = ends[0];
		if (daemon->spawner_pid > 0)
			return DOCA_SUCCESS;
	}
	DOCA_LOG_ERR("cannot start the process that starts workers: %s", strerror(errno));
	return DOCA_ERROR_OPERATING_SYSTEM;
}

void spawn_close(struct daemon *daemon)
{
	if (daemon->spawner_fd >= 0)
		close(daemon->spawner_fd);
	if (daemon->spawner_pid <= 0)
		return;
	kill(daemon->spawner_pid, SIGCONT);
	while (waitpid(daemon->spawner_pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* ---- descriptors ---- */

/* The descriptors of the process and their ends in the daemon: a socket, the pipe for the worker's output, and its heartbeat. */
struct ends {
	int socket[2], door[2], output[2], heartbeat;
	struct heartbeat *page;
};

static void close_end(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_ends(struct ends *ends)
{
	for (int i = 0; i < 2; i++) {
		close_end(&ends->socket[i]);
		close_end(&ends->door[i]);
		close_end(&ends->output[i]);
	}
	close_end(&ends->heartbeat);
	if (ends->page != NULL)
		munmap(ends->page, HEARTBEAT_SIZE);
}

/* Its size is sealed: if a plugin could truncate it, the daemon would get SIGBUS when it reads. */
static bool open_heartbeat(struct ends *ends)
{
	ends->heartbeat = memfd_create("urom-heartbeat", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (ends->heartbeat < 0 || ftruncate(ends->heartbeat, HEARTBEAT_SIZE) != 0 ||
	    fcntl(ends->heartbeat, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
		return false;
	void *page = mmap(NULL, HEARTBEAT_SIZE, PROT_READ, MAP_SHARED, ends->heartbeat, 0);
	ends->page = page != MAP_FAILED ? (struct heartbeat *)page : NULL;
	return ends->page != NULL;
}

/* Neither end of the output blocks: output that the daemon does not read is lost and does not delay the worker. */
static bool open_ends(struct ends *ends)
{
	*ends = (struct ends){.socket = {-1, -1}, .door = {-1, -1}, .output = {-1, -1}, .heartbeat = -1};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends->socket) == 0 &&
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends->door) == 0 &&
	    pipe2(ends->output, O_CLOEXEC | O_NONBLOCK) == 0 && open_heartbeat(ends))
		return true;
	int error = errno;
	close_ends(ends);
	errno = error;
	return false;
}

/* ---- the process ---- */

static bool send_request(int fd, const struct ends *ends, void *body, size_t len)
{
	const int fds[SPAWNER_FDS] = {[SPAWNER_SOCKET] = ends->socket[1],
				      [SPAWNER_DOOR] = ends->door[1],
				      [SPAWNER_OUTPUT] = ends->output[1],
				      [SPAWNER_HEARTBEAT] = ends->heartbeat};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(fds))];
	} control = {.bytes = {0}};
	struct iovec part = {body, len};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	struct cmsghdr *rights = CMSG_FIRSTHDR(&message);

	rights->cmsg_level = SOL_SOCKET;
	rights->cmsg_type = SCM_RIGHTS;
	rights->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(rights), fds, sizeof(fds));
	return sendmsg(fd, &message, MSG_NOSIGNAL) >= 0;
}

/* The spawner never blocks, so it answers soon unless it was stopped by a signal. */
static bool await_answer(const struct daemon *daemon, struct spawner_answer *answer)
{
	struct pollfd ready = {daemon->spawner_fd, POLLIN, 0};

	while (poll(&ready, 1, ANSWER_MS) <= 0)
		kill(daemon->spawner_pid, SIGCONT);
	return recv(daemon->spawner_fd, answer, sizeof(*answer), 0) == (ssize_t)sizeof(*answer);
}

/* Returns -1 and sets reason if it fails. */
static pid_t start_process(const struct daemon *daemon, const struct daemon_worker *worker, const struct urom_spawn *wanted,
			   const struct ends *ends, char reason[UROM_TEXT_MAX])
{
	static uint8_t body[UROM_CONTROL_MAX];
	struct urom_spawn spawn = *wanted;
	struct spawner_answer answer = {-1, EPIPE};

	spawn.worker_id = worker->id;
	size_t len = urom_spawn_pack(&spawn, body, sizeof(body));
	if (!send_request(daemon->spawner_fd, ends, body, len))
		answer.error = errno;
	else if (!await_answer(daemon, &answer))
		answer = (struct spawner_answer){-1, EPIPE};
	if (answer.pid < 0)
		spawner_format_reason(reason, "no process can be started", answer.error);
	return answer.pid;
}

bool spawn_worker(struct daemon *daemon, struct daemon_worker *worker, const struct urom_spawn *wanted,
		  char reason[UROM_TEXT_MAX])
{
	struct ends ends;

	if (!open_ends(&ends)) {
		spawner_format_reason(reason, "no process can be started", errno);
		return false;
	}
	worker->pid = start_process(daemon, worker, wanted, &ends, reason);
	if (worker->pid < 0) {
		close_ends(&ends);
		return false;
	}
	close_end(&ends.socket[1]);
	close_end(&ends.door[1]);
	close_end(&ends.output[1]);
	close_end(&ends.heartbeat);
	worker->fd = ends.socket[0];
	worker->door = ends.door[0];
	worker->output.fd = ends.output[0];
	worker->heartbeat = ends.page;
	return true;
}
