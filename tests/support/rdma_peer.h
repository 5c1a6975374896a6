/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA between processes: the test's program is started again in a role, at the other end of a socket. Over the socket, both
 * exchange words, connection details and memory maps. A failed CHECK ends the process.
 */
#ifndef TEST_RDMA_PEER_H
#define TEST_RDMA_PEER_H

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/provider.h"
#include "support/rdma_rig.h"
#include "support/stop.h"

#define PEER_DETAILS_MAX 2048
#define PEER_LIFE_S 120 /* after which a leftover process ends */

struct peer {
	pid_t pid;
	int socket;
};

struct peer_introduction {
	size_t details_len, descriptor_len;
	uint8_t details[PEER_DETAILS_MAX], descriptor[PEER_DETAILS_MAX];
};

static inline void peer_say(int socket, const void *bytes, size_t len)
{
	CHECK(send(socket, bytes, len, MSG_NOSIGNAL) == (ssize_t)len);
}

static inline void peer_hear(int socket, void *bytes, size_t len)
{
	CHECK(recv(socket, bytes, len, MSG_WAITALL) == (ssize_t)len);
}

static inline void peer_notify(int socket, char word)
{
	peer_say(socket, &word, 1);
}

static inline void peer_expect(int socket, char word)
{
	char heard = 0;

	peer_hear(socket, &heard, 1);
	CHECK(heard == word);
}

/* Returns whether a word has arrived. */
static inline bool peer_has_said(int socket, char *word)
{
	return recv(socket, word, 1, MSG_DONTWAIT) == 1;
}

static inline void peer_spawn(struct peer *peer, const char *role)
{
	int sockets[2];
	char number[16];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0);
	fflush(NULL);
	peer->pid = fork();
	CHECK(peer->pid >= 0);
	if (peer->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		snprintf(number, sizeof(number), "%d", dup(sockets[1]));
		execl("/proc/self/exe", "peer", role, number, (char *)NULL);
		_exit(1);
	}
	close(sockets[1]);
	peer->socket = sockets[0];
}

static inline void peer_kill(const struct peer *peer)
{
	CHECK(kill(peer->pid, SIGKILL) == 0);
}

/* Waits for its end, either normal or killed. */
static inline void peer_wait(struct peer *peer)
{
	int status;

	CHECK(waitpid(peer->pid, &status, 0) == peer->pid);
	CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
	close(peer->socket);
	peer->pid = 0;
}

/* Called by both sides simultaneously: connects the rig to the other side, and imports the other's memory map. */
static inline void peer_meet(int socket, struct rdma_rig *rig, struct doca_rdma_connection **connection)
{
	static struct peer_introduction mine, theirs;
	const void *details, *descriptor;

	CHECK_OK(doca_rdma_export(rig->rdma, &details, &mine.details_len, connection));
	CHECK_OK(doca_mmap_export_rdma(rig->mmap, rig->dev, &descriptor, &mine.descriptor_len));
	CHECK(mine.details_len <= PEER_DETAILS_MAX && mine.descriptor_len <= PEER_DETAILS_MAX);
	memcpy(mine.details, details, mine.details_len);
	memcpy(mine.descriptor, descriptor, mine.descriptor_len);
	peer_say(socket, &mine, sizeof(mine));
	peer_hear(socket, &theirs, sizeof(theirs));
	CHECK_OK(doca_rdma_connect(rig->rdma, theirs.details, theirs.details_len, *connection));
	rdma_rig_import(rig, theirs.descriptor, theirs.descriptor_len);
}

/* ---- a runtime folder of the test, and what is left in it ---- */

static char peer_folder[] = "/tmp/softfield-rdma-XXXXXX";

static inline void peer_folder_make(void)
{
	CHECK(mkdtemp(peer_folder) != NULL);
	CHECK(setenv("SOFTFIELD_RUNTIME", peer_folder, 1) == 0);
}

static inline void peer_folder_remove(void)
{
	DIR *dir = opendir(peer_folder);
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir != NULL)
		closedir(dir);
	(void)rmdir(peer_folder);
}

/* The same, as a group setup and teardown. */
static inline int peer_folder_setup(void **state)
{
	(void)state;
	peer_folder_make();
	return 0;
}

static inline int peer_folder_teardown(void **state)
{
	(void)state;
	peer_folder_remove();
	return 0;
}

static inline uint32_t count_entries(const char *path)
{
	DIR *dir = opendir(path);
	uint32_t num = 0;

	if (dir == NULL)
		return 0;
	while (readdir(dir) != NULL)
		num++;
	closedir(dir);
	return num;
}

/* Counts the status pages in a runtime folder: separate files beside those of the fabric. */
static inline uint32_t count_pages(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	uint32_t num = 0;

	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL)
		num += strncmp(entry->d_name, "status.", strlen("status.")) == 0;
	closedir(dir);
	return num;
}

/* For tasks on the memory of a peer that is stopped. By TCP the peer's agent executes them, so none completes before it
 * continues; with other providers it stays stopped. */
static inline void peer_continue_by_tcp(struct rdma_rig *rig, pid_t pid)
{
	uint32_t good = rig->num_good;

	if (!provider_is("tcp"))
		return;
	for (int i = 0; i < 1000; i++)
		(void)doca_pe_progress(rig->pe);
	CHECK(rig->num_good == good && rig->num_failed == 0);
	CHECK(kill(pid, SIGCONT) == 0);
}

#endif
