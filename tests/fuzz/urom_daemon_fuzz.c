/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service without its processes: its clients, its workers and its search for plugins, with clients, worker processes and a
 * plugin folder that send anything. The input is a script of what arrives. Clients send mostly well-formed messages, and the
 * right answers to challenges if the script says so. The target replaces system calls that would start, end or list something.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doca_log.h>

#include "../../apps/urom/daemon/clients.h"
#include "../../apps/urom/daemon/clock.h"
#include "../../apps/urom/daemon/daemon.h"
#include "../../apps/urom/daemon/output.h"
#include "../../apps/urom/daemon/plugins.h"
#include "../../apps/urom/daemon/ref.h"
#include "../../apps/urom/daemon/spawn.h"
#include "../../apps/urom/daemon/supervise.h"
#include "../../apps/urom/daemon/workers.h"
#include "support/check.h"
#include "urom_fake_comm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CLIENTS_MAX 4
#define PROCESSES_MAX 64
#define PID 1000000000 /* of the first process: a pid that cannot exist */

static struct fake_input input;
static struct daemon *served;

/* ---- processes that are none ---- */

static int process_fds[PROCESSES_MAX]; /* the worker's end; -1: ended */
static uint32_t num_processes;
static pid_t dead; /* pid to be reaped, or 0 */
static int dead_status;

bool spawn_worker(struct daemon *daemon, struct daemon_worker *worker, const struct urom_spawn *wanted,
		  char reason[UROM_TEXT_MAX])
{
	int fds[2];

	(void)daemon;
	for (uint32_t i = 0; i < wanted->num_env; i++)
		CHECK(strchr(wanted->env[i], '=') != NULL);
	strcpy(reason, "there are enough");
	if (num_processes == PROCESSES_MAX || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) != 0)
		return false;
	worker->fd = fds[0];
	worker->pid = PID + (pid_t)num_processes;
	worker->heartbeat =
		(struct heartbeat *)mmap(NULL, HEARTBEAT_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(worker->heartbeat != MAP_FAILED);
	process_fds[num_processes++] = fds[1];
	return true;
}

static void process_dies(uint32_t i, int status)
{
	if (process_fds[i] < 0)
		return;
	close(process_fds[i]);
	process_fds[i] = -1;
	dead = PID + (pid_t)i;
	dead_status = status;
	workers_reap(served);
	CHECK(dead == 0);
}

int kill(pid_t pid, int number)
{
	return number == 0 && pid < 0 ? -1 : 0;
}

int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
	info->si_pid = dead;
	return 0;
}

pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
	pid_t which = dead;

	CHECK(pid == dead);
	memset(usage, 0, sizeof(*usage));
	*status = dead_status;
	dead = 0;
	return which;
}

/* ---- not tested here: workers' output, and their supervision ---- */

bool output_watch(struct daemon *daemon, struct daemon_worker *worker)
{
	return true;
}
void output_close(struct daemon_worker *worker) {}
uint64_t output_expire(struct daemon *daemon, struct daemon_worker *worker, uint64_t now)
{
	return UINT64_MAX;
}
void supervise_set_names(const struct daemon *daemon, struct daemon_worker *worker)
{
	strcpy(worker->names, "plugins");
}
uint64_t supervise_workers(struct daemon *daemon, uint64_t now)
{
	return UINT64_MAX;
}

void supervise_explain(const struct daemon *daemon, const struct daemon_worker *worker, int status, const struct rusage *usage,
		       char reason[UROM_TEXT_MAX], const char **path)
{
	memcpy(reason, worker->reason, UROM_TEXT_MAX);
	*path = NULL;
}

/* No process ever exceeds a time limit. */
void own_time_begin(struct own_time *time, pid_t pid, bool all_threads, uint64_t now)
{
	*time = (struct own_time){.looked_ns = now};
}

uint64_t own_time_left(struct own_time *time, pid_t pid, uint64_t now, uint64_t limit_ns)
{
	uint64_t until = time->looked_ns + limit_ns;

	return now >= until ? 0 : until;
}

uint64_t daemon_now_ns(void)
{
	static uint64_t now;

	return ++now;
}

/* ---- a plugin folder, and what those who look at its files print ---- */

int scandir(const char *folder, struct dirent ***list, int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **))
{
	int num = 0, most = fake_byte(&input) % 80;

	*list = (struct dirent **)calloc((size_t)most + 1, sizeof(struct dirent *));
	CHECK(*list != NULL);
	for (int i = 0; i < most; i++) {
		struct dirent entry = {.d_name = "worker_"};
		const uint8_t *name;
		size_t len = fake_bytes(&input, &name, 60);

		memcpy(entry.d_name + 7, name, len);
		entry.d_name[7 + strnlen(entry.d_name + 7, len)] = '\0';
		if (len % 4 != 0)
			sprintf(entry.d_name + strlen(entry.d_name), "%d.so", i);
		if (filter != NULL && filter(&entry) == 0)
			continue;
		(*list)[num] = (struct dirent *)malloc(sizeof(entry));
		CHECK((*list)[num] != NULL);
		*(*list)[num++] = entry;
	}
	return num;
}

/* The complete output is available immediately. */
int pipe2(int fds[2], int flags)
{
	const uint8_t *text;
	size_t len = fake_bytes(&input, &text, 255);

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0)
		return -1;
	CHECK(len > 1 ? write(fds[1], text, len) == (ssize_t)len : write(fds[1], "1\n", 2) == 2);
	return 0;
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		char *const argv[], char *const env[])
{
	*pid = PID - 1;
	return fake_byte(&input) >= 250 ? ENOENT : 0;
}

int posix_spawnp(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
		 char *const argv[], char *const env[])
{
	return posix_spawn(pid, path, actions, attributes, argv, env);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	*status = fake_byte(&input) >= 240 ? 11 : 0;
	return pid;
}

static void discover(void)
{
	uint64_t ids = 0;

	served->num_plugins = 0;
	plugins_discover(served);
	CHECK(served->num_plugins <= UROM_PLUGINS_MAX);
	for (uint32_t i = 0; i < served->num_plugins; i++) {
		CHECK(__builtin_popcountll(served->plugins[i].info.id) == 1 && (ids & served->plugins[i].info.id) == 0);
		CHECK(strnlen(served->plugins[i].info.name, UROM_PLUGIN_NAME_SIZE) < UROM_PLUGIN_NAME_SIZE);
		ids |= served->plugins[i].info.id;
	}
}

/* ---- clients ---- */

bool fake_poll(struct sf_comm *comm)
{
	return false;
}

static uint32_t num_peers(void)
{
	uint32_t num = 0;

	for (const struct fake_peer *peer = served->comm->peers; peer != NULL; peer = peer->next)
		num++;
	return num;
}

static struct fake_peer *any_peer(void)
{
	uint32_t at = fake_byte(&input) % CLIENTS_MAX;
	struct fake_peer *peer = served->comm->peers;

	while (peer != NULL && at-- != 0 && peer->next != NULL)
		peer = peer->next;
	return peer;
}

static void deliver(struct fake_peer *peer, enum urom_kind kind, uint64_t subject, uint8_t *body, size_t len, size_t room)
{
	const struct urom_head head = urom_head_make(kind, DOCA_SUCCESS, 3, subject);

	fake_deliver(peer, &head, body, fake_mutate(&input, body, len, room));
}

static void say_handshake(struct fake_peer *peer)
{
	const struct urom_handshake handshake = {.message_max = UROM_MESSAGE_DEFAULT};
	uint8_t body[128];

	deliver(peer, UROM_HANDSHAKE, 0, body, urom_handshake_pack(&handshake, body, sizeof(body)), sizeof(body));
}

/* The answer to a challenge, if one has come. */
static void give_proof(struct fake_peer *peer)
{
	static const uint8_t nonce[UROM_NONCE_SIZE];
	struct urom_challenge challenge = {.nonce = {0}};
	struct fake_sent sent;
	uint8_t body[64] = {0};

	while (fake_take_sent(peer, &sent)) {
		if (sent.head.kind == UROM_CHALLENGE)
			CHECK(urom_challenge_parse(sent.body, sent.len, &challenge) == DOCA_SUCCESS);
		free(sent.body);
	}
	CHECK(urom_proof_make(&served->secret, UROM_ROLE_CLIENT, nonce, challenge.nonce, body) == DOCA_SUCCESS);
	deliver(peer, UROM_PROOF, 0, body, UROM_PROOF_SIZE, sizeof(body));
}

static void ask_for_worker(struct fake_peer *peer)
{
	static struct urom_spawn spawn;
	static uint8_t body[1024];
	uint8_t what = fake_byte(&input);

	memset(&spawn, 0, sizeof(spawn));
	spawn.worker_id = what < 64 ? UINT64_MAX : what % 8;
	spawn.plugins = 1;
	spawn.gid = what % 3;
	spawn.has_gid = what % 2 != 0;
	if (what >= 192) {
		spawn.num_env = 2;
		spawn.env[0] = "A=1";
		spawn.env[1] = "B=";
	}
	deliver(peer, UROM_SPAWN, spawn.worker_id, body, urom_spawn_pack(&spawn, body, sizeof(body)), sizeof(body));
}

static void say_anything(struct fake_peer *peer)
{
	const uint8_t *body;
	struct urom_head head = fake_head(&input);
	size_t len = fake_bytes(&input, &body, 255);

	fake_deliver(peer, &head, body, len);
}

/* ---- worker processes ---- */

static struct daemon_worker *worker_of(uint32_t process)
{
	struct daemon_worker *worker;

	TAILQ_FOREACH (worker, &served->workers, next) {
		if (worker->pid == PID + (pid_t)process)
			return worker;
	}
	return NULL;
}

static void process_says(uint32_t i)
{
	uint8_t packet[UROM_HEAD_SIZE + 255];
	const uint8_t *body;
	struct urom_head head = fake_head(&input);
	uint8_t how = fake_byte(&input);
	size_t len = fake_bytes(&input, &body, 255);

	if (how < 160)
		head = urom_head_make(how < 128 ? UROM_READY : UROM_FAILED, DOCA_SUCCESS, 0, 4000 + how);
	memcpy(packet, &head, sizeof(head));
	memcpy(packet + sizeof(head), body, len);
	if (process_fds[i] < 0)
		return;
	(void)send(process_fds[i], packet, how == 255 ? len : sizeof(head) + len, MSG_DONTWAIT | MSG_NOSIGNAL);
	workers_read(served, worker_of(i));
	while (recv(process_fds[i], packet, sizeof(packet), MSG_DONTWAIT) > 0)
		;
}

/* ---- a script ---- */

static void begin(void)
{
	const struct sf_comm_options options = {.handler = &daemon_handler, .user = served, .body_max = UROM_CONTROL_MAX};

	memset(served, 0, sizeof(*served));
	num_processes = 0;
	served->config.message_max = UROM_MESSAGE_DEFAULT;
	served->config.workers_max = 8;
	strcpy(served->config.plugin_path, "/a;;/b");
	served->secret.len = 32;
	served->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	TAILQ_INIT(&served->clients);
	TAILQ_INIT(&served->workers);
	CHECK(sf_comm_open(&options, &served->comm) == DOCA_SUCCESS);
	served->num_plugins = 1;
	served->plugins[0].info = (struct urom_plugin){1, 1, "worker_graph"};
}

static void end(void)
{
	while (served->comm->peers != NULL)
		fake_lose(served->comm->peers);
	CHECK(TAILQ_EMPTY(&served->clients));
	for (uint32_t i = 0; i < num_processes; i++)
		process_dies(i, 0);
	CHECK(TAILQ_EMPTY(&served->workers) && served->num_workers == 0);
	sf_comm_close(served->comm);
	close(served->epoll_fd);
}

static void act(uint8_t what)
{
	struct fake_peer *peer = any_peer();
	uint32_t process = num_processes != 0 ? what / 16 % num_processes : 0;

	if (what % 16 == 0 || peer == NULL) {
		if (num_peers() < CLIENTS_MAX)
			(void)fake_arrive(served->comm);
	} else if (what % 16 <= 2) {
		say_handshake(peer);
	} else if (what % 16 <= 4) {
		give_proof(peer);
	} else if (what % 16 <= 7) {
		ask_for_worker(peer);
	} else if (what % 16 == 8) {
		deliver(peer, UROM_RELEASE, fake_byte(&input) % 10, NULL, 0, 0);
	} else if (what % 16 == 9) {
		deliver(peer, UROM_GROUP, what / 16 % 3, NULL, 0, 0);
	} else if (what % 16 == 10) {
		say_anything(peer);
	} else if (what % 16 <= 12 && num_processes != 0) {
		process_says(process);
	} else if (what % 16 == 13 && num_processes != 0) {
		process_dies(process, fake_byte(&input));
	} else if (what == 14) {
		fake_lose(peer);
	} else if (what == 30) {
		discover();
	} else if (what == 46) {
		(void)clients_expire(served, UINT64_MAX - 1);
	} else if (what == 62) {
		served->draining = true;
		workers_end_all(served);
	} else {
		(void)workers_expire(served, what == 15 ? UINT64_MAX - 1 : 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (served == NULL) {
		served = (struct daemon *)calloc(1, sizeof(*served));
		CHECK(served != NULL);
		(void)doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE);
	}
	input = (struct fake_input){data, data + size};
	begin();
	while (input.at < input.end)
		act(fake_byte(&input));
	end();
	return 0;
}
