/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Peers whose agent does not get the CPU. A peer that runs is waited for, longer than any time limit; one that is stopped, or
 * sleeps instead of answering, is not. Peers that connect and send nothing do not block others.
 */
#include "forked_case.h"
#include "support/stop.h"
#include "support/wait.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define CROWD 100 /* connections of one process */
#define IMPORT_HELD_MS 2500
#define CONNECT_HELD_MS 7000

/* ---- the owner ---- */

static pid_t agent_thread(void)
{
	DIR *dir = opendir("/proc/self/task");
	struct dirent *entry;
	pid_t tid = 0;

	CHECK(dir != NULL);
	while ((entry = readdir(dir)) != NULL) {
		char path[300], name[32] = "";
		FILE *file;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", entry->d_name);
		file = fopen(path, "r");
		if (file == NULL)
			continue;
		if (fgets(name, sizeof(name), file) != NULL && strcmp(name, "softfield-agent\n") == 0)
			tid = atoi(entry->d_name);
		fclose(file);
	}
	closedir(dir);
	return tid;
}

struct owned {
	pid_t agent;
	size_t len;
	char descriptor[SF_DESCRIPTOR_MAX];
	char name[SF_NAME_MAX];
};

static void own(int sock, bool runs)
{
	struct owned owned = {.len = sizeof(owned.descriptor)};
	struct pollfd command = {.fd = sock, .events = POLLIN};
	struct end end;

	end_open(&end, "dpu0/0000:03:00.0", 1);
	end_listen(&end, SF_LISTEN_AUTO);
	memcpy(owned.name, end.name, sizeof(owned.name));
	CHECK_OK(sf_region_export(end.region, owned.descriptor, &owned.len));
	owned.agent = agent_thread();
	CHECK(owned.agent != 0);
	say(sock, &owned, sizeof(owned));
	while (poll(&command, 1, runs ? 0 : -1) == 0)
		;
	hear_word(sock, 'q');
}

static void own_and_run(int sock)
{
	own(sock, true);
}

static void own_and_sleep(int sock)
{
	own(sock, false);
}

/* ---- the importing process ---- */

/* Stops one thread, as an overloaded machine would. */
struct holder {
	pid_t tid;
	uint32_t ms; /* 0: until hold_end */
	pthread_barrier_t held;
	pthread_t thread;
};

static void *hold(void *arg)
{
	struct holder *holder = arg;
	int status;

	CHECK(ptrace(PTRACE_SEIZE, holder->tid, NULL, NULL) == 0);
	CHECK(ptrace(PTRACE_INTERRUPT, holder->tid, NULL, NULL) == 0);
	CHECK(waitpid(holder->tid, &status, __WALL) == holder->tid);
	pthread_barrier_wait(&holder->held);
	time_pass_ms(holder->ms);
	CHECK(ptrace(PTRACE_DETACH, holder->tid, NULL, NULL) == 0);
	return NULL;
}

static void hold_begin(struct holder *holder, pid_t tid, uint32_t ms)
{
	*holder = (struct holder){.tid = tid, .ms = ms};
	CHECK(pthread_barrier_init(&holder->held, NULL, 2) == 0);
	CHECK(pthread_create(&holder->thread, NULL, hold, holder) == 0);
	pthread_barrier_wait(&holder->held);
}

static void hold_end(struct holder *holder)
{
	CHECK(pthread_join(holder->thread, NULL) == 0);
	pthread_barrier_destroy(&holder->held);
}

static void owner_begin(struct peer *peer, void (*script)(int sock), struct end *end, struct owned *owned)
{
	peer_fork(peer, script);
	end_open(end, "host0/0000:d8:00.0", 1);
	hear(peer->sock, owned, sizeof(*owned));
}

static void owner_end(struct peer *peer, struct end *end)
{
	say_word(peer->sock, 'q');
	peer_end(peer);
	end_close(end);
}

static void the_owner_of_memory_is_waited_for(void)
{
	struct holder holder;
	struct owned owned;
	struct sf_region *import;
	struct peer peer;
	struct end end;

	needs_ptrace();
	owner_begin(&peer, own_and_run, &end, &owned);
	hold_begin(&holder, owned.agent, IMPORT_HELD_MS);
	CHECK_OK(sf_region_import(end.domain, owned.descriptor, owned.len, &import));
	hold_end(&holder);
	sf_region_close(import);
	owner_end(&peer, &end);
}

static void a_listener_is_waited_for(void)
{
	struct holder holder;
	struct owned owned;
	struct sf_conn *conn;
	struct peer peer;
	struct end end;

	needs_ptrace();
	owner_begin(&peer, own_and_run, &end, &owned);
	hold_begin(&holder, owned.agent, CONNECT_HELD_MS);
	conn = end_connect(&end, owned.name);
	WAIT_WITHIN(CONNECT_HELD_MS + WAIT_MS, end.connects == 1);
	CHECK_OK(end.connect_status);
	hold_end(&holder);
	sf_conn_close(conn);
	owner_end(&peer, &end);
}

/* It sleeps, so it does not wait for a CPU. */
static void an_owner_that_sleeps_is_given_up(void)
{
	struct holder holder;
	struct owned owned;
	struct sf_region *import;
	struct peer peer;
	struct end end;

	needs_ptrace();
	owner_begin(&peer, own_and_sleep, &end, &owned);
	hold_begin(&holder, owned.agent, CONNECT_HELD_MS);
	CHECK_RESULT(sf_region_import(end.domain, owned.descriptor, owned.len, &import), DOCA_ERROR_NOT_FOUND);
	hold_end(&holder);
	owner_end(&peer, &end);
}

static void a_stopped_owner_is_given_up(void)
{
	struct owned owned;
	struct sf_region *import;
	struct sf_conn *conn;
	struct peer peer;
	struct end end;

	owner_begin(&peer, own_and_run, &end, &owned);
	process_stop(peer.pid);
	CHECK_RESULT(sf_region_import(end.domain, owned.descriptor, owned.len, &import), DOCA_ERROR_NOT_FOUND);
	conn = end_connect(&end, owned.name);
	WAIT(end.connects == 1);
	CHECK_RESULT(end.connect_status, DOCA_ERROR_TIME_OUT);
	sf_conn_close(conn);
	CHECK(kill(peer.pid, SIGCONT) == 0);
	owner_end(&peer, &end);
}

/* ---- silent peers ---- */

static void find_agent(const char *folder, struct sockaddr_un *address)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	CHECK(dir != NULL);
	address->sun_family = AF_UNIX;
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == 'a')
			snprintf(address->sun_path, sizeof(address->sun_path), "%s/%.60s", folder, entry->d_name);
	}
	closedir(dir);
	CHECK(address->sun_path[0] != '\0');
}

/* Waits until num connections are closed; no deadline, because a running process has no time limit. */
static void wait_closed(struct pollfd crowd[CROWD], uint32_t num)
{
	for (uint32_t closed = 0; closed < num;) {
		CHECK(poll(crowd, CROWD, -1) > 0);
		for (int i = 0; i < CROWD; i++) {
			if (crowd[i].fd < 0 || crowd[i].revents == 0)
				continue;
			close(crowd[i].fd);
			crowd[i].fd = -1;
			closed++;
		}
	}
}

static void folder_empty(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;

	CHECK(dir != NULL);
	while ((entry = readdir(dir)) != NULL)
		(void)unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
	CHECK(rmdir(folder) == 0);
}

static void silent_peers_do_not_block_others(void)
{
	char folder[] = "/tmp/softfield-test-XXXXXX";
	struct sockaddr_un address = {0};
	struct pollfd crowd[CROWD];
	struct owned owned;
	struct sf_region *import;
	struct peer peer;
	struct end end;

	CHECK(mkdtemp(folder) != NULL && setenv("SOFTFIELD_RUNTIME", folder, 1) == 0);
	peer_fork(&peer, own_and_sleep);
	hear(peer.sock, &owned, sizeof(owned));
	find_agent(folder, &address);
	for (int i = 0; i < CROWD; i++) {
		crowd[i] = (struct pollfd){.fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), .events = POLLIN};
		CHECK(connect(crowd[i].fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	}
	/* Most are closed immediately, the others at the time limit. */
	wait_closed(crowd, CROWD);
	end_open(&end, "host0/0000:d8:00.0", 1);
	CHECK_OK(sf_region_import(end.domain, owned.descriptor, owned.len, &import));
	sf_region_close(import);
	owner_end(&peer, &end);
	folder_empty(folder);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		SHM_CASE(the_owner_of_memory_is_waited_for), SHM_CASE(a_listener_is_waited_for),
		SHM_CASE(an_owner_that_sleeps_is_given_up),  SHM_CASE(a_stopped_owner_is_given_up),
		SHM_CASE(silent_peers_do_not_block_others),
	};

	return cmocka_run_group_tests_name("slow peers", cases, NULL, NULL);
}
