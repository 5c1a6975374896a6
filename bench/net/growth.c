/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A Comch server and its clients, each in its own process: the rate of connecting, the server's memory per connection, and
 * the rate of messages of 64 bytes while all send. With `socket` the same with plain TCP sockets and epoll.
 *
 *   bench_growth comch|socket PEERS SECONDS
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "measure.h"
#include "support/comch_side.h"

#define NAME "growth"
#define SIZE 64
#define PEERS_MAX 1024
#define CONNECT_LIMIT_S 60
#define WAIT_MS 100 /* between two checks of whether the test is over */

/* Memory shared by the processes. */
struct shared {
	atomic_uint ready, connected;
	atomic_bool end;
	uint16_t port;
};

/* A pipe whose other end the server closes: clients that check a flag now and then would take the processor from it. */
struct gate {
	int wait, hold;
};

struct result {
	double connect_s, measured_s;
	uint64_t memory, messages;
};

static struct shared *shared;
static struct gate connecting, sending;

static void die(const char *what)
{
	perror(what);
	_exit(1);
}

static uint64_t memory_used(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
		die("/proc/self/statm");
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void gate_create(struct gate *gate)
{
	int ends[2];

	if (pipe(ends) != 0)
		die("pipe");
	gate->wait = ends[0];
	gate->hold = ends[1];
}

static void gate_open(struct gate *gate)
{
	close(gate->hold);
}

static void gate_await(const struct gate *gate)
{
	char none;

	if (read(gate->wait, &none, 1) != 0)
		die("read");
}

/* Leaves the first processor to the server, which clients that poll would keep from running. */
static void clients_confine(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) < 2)
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &cpus)) {
			CPU_CLR(cpu, &cpus);
			break;
		}
	}
	(void)sched_setaffinity(0, sizeof(cpus), &cpus);
}

/* The steps of both servers; progress handles what has arrived. */
static void serve(uint32_t peers, double seconds, void (*progress)(void), const uint32_t *connections, const uint32_t *messages,
		  struct result *result)
{
	double begin;
	uint64_t before;
	uint32_t first;

	while (atomic_load(&shared->ready) < peers)
		progress();
	before = memory_used();
	begin = sf_now_s();
	gate_open(&connecting);
	while (*connections < peers || atomic_load(&shared->connected) < peers) {
		progress();
		if (sf_now_s() - begin > CONNECT_LIMIT_S) {
			fprintf(stderr, "%u of %u connected\n", *connections, peers);
			exit(1);
		}
	}
	result->connect_s = sf_now_s() - begin;
	result->memory = memory_used() - before;
	gate_open(&sending);
	while (*messages < 1000)
		progress();
	first = *messages;
	begin = sf_now_s();
	while (sf_now_s() - begin < seconds) {
		for (int i = 0; i < 100; i++)
			progress();
	}
	result->messages = *messages - first;
	result->measured_s = sf_now_s() - begin;
	atomic_store(&shared->end, true);
}

/* ---- Comch ---- */

static struct comch_side side;

static void comch_progress(void)
{
	doca_pe_progress(side.pe);
}

static void comch_serve(uint32_t peers, double seconds, struct result *result)
{
	side_init_server(&side, NAME);
	check(doca_ctx_start(side.ctx), "doca_ctx_start");
	serve(peers, seconds, comch_progress, &side.num_connects, &side.num_msgs, result);
}

/* Sleeps until something happens: clients that poll would leave no processor to each other. */
static void comch_wait(doca_notification_handle_t handle)
{
	struct pollfd ready = {.fd = handle, .events = POLLIN};

	if (doca_pe_progress(side.pe) != 0)
		return;
	check(doca_pe_request_notification(side.pe), "doca_pe_request_notification");
	(void)poll(&ready, 1, WAIT_MS);
	check(doca_pe_clear_notification(side.pe, handle), "doca_pe_clear_notification");
}

static void comch_peer(void)
{
	static const uint8_t message[SIZE];
	doca_notification_handle_t handle;
	doca_error_t started;

	side_init_client(&side, NAME);
	check(doca_pe_get_notification_handle(side.pe, &handle), "doca_pe_get_notification_handle");
	atomic_fetch_add(&shared->ready, 1);
	gate_await(&connecting);
	started = doca_ctx_start(side.ctx);
	check(started == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : started, "doca_ctx_start");
	while (side_state(side.ctx) == DOCA_CTX_STATE_STARTING)
		comch_wait(handle);
	if (side_state(side.ctx) != DOCA_CTX_STATE_RUNNING)
		_exit(1);
	atomic_fetch_add(&shared->connected, 1);
	gate_await(&sending);
	while (!atomic_load(&shared->end)) {
		for (uint32_t sent = side.num_sent; sent - side.num_sent < 32 && !atomic_load(&shared->end); sent++) {
			struct doca_comch_task_send *task;

			if (doca_comch_client_task_send_alloc_init(side.client, side.connection, message, SIZE, &task) !=
			    DOCA_SUCCESS)
				break;
			if (doca_task_submit(doca_comch_task_send_as_task(task)) != DOCA_SUCCESS) {
				doca_task_free(doca_comch_task_send_as_task(task));
				break;
			}
		}
		comch_wait(handle);
	}
}

/* ---- plain sockets ---- */

static uint32_t num_accepted, num_arrived;
static int listener, epoll;

static void watch(int fd)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		die("epoll_ctl");
}

static void socket_progress(void)
{
	static size_t bytes;
	struct epoll_event events[32];
	uint8_t buffer[8192];
	int num = epoll_wait(epoll, events, 32, 0);

	for (int i = 0; i < num; i++) {
		if (events[i].data.fd == listener) {
			int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

			if (fd >= 0) {
				watch(fd);
				num_accepted++;
			}
			continue;
		}

		ssize_t got = recv(events[i].data.fd, buffer, sizeof(buffer), 0);

		bytes += got > 0 ? (size_t)got : 0;
		num_arrived = (uint32_t)(bytes / SIZE);
	}
}

static void socket_listen(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);

	listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&address, len) != 0 || listen(listener, PEERS_MAX) != 0 ||
	    getsockname(listener, (struct sockaddr *)&address, &len) != 0)
		die("listen");
	shared->port = address.sin_port;
}

static void socket_serve(uint32_t peers, double seconds, struct result *result)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	watch(listener);
	serve(peers, seconds, socket_progress, &num_accepted, &num_arrived, result);
}

static void socket_peer(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK), .sin_port = shared->port};
	static const uint8_t message[SIZE];
	int fd, on = 1;

	atomic_fetch_add(&shared->ready, 1);
	gate_await(&connecting);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		die("connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	atomic_fetch_add(&shared->connected, 1);
	gate_await(&sending);
	while (!atomic_load(&shared->end)) { /* the socket accepts all 64 bytes of a message or none, except near its limit */
		struct pollfd ready = {.fd = fd, .events = POLLOUT};

		if (send(fd, message, SIZE, MSG_NOSIGNAL) < 0)
			(void)poll(&ready, 1, WAIT_MS);
	}
}

/* ---- both ---- */

int main(int argc, char **argv)
{
	bool comch = argc == 4 && strcmp(argv[1], "comch") == 0;
	uint32_t peers = argc == 4 ? (uint32_t)strtoul(argv[2], NULL, 0) : 0;
	struct result result = {0};

	if (peers == 0 || peers > PEERS_MAX || (!comch && strcmp(argv[1], "socket") != 0)) {
		fprintf(stderr, "usage: %s comch|socket PEERS SECONDS; at most %d peers\n", argv[0], PEERS_MAX);
		return 2;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap");
	gate_create(&connecting);
	gate_create(&sending);
	if (!comch)
		socket_listen();
	for (uint32_t i = 0; i < peers; i++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failing server leaves no process behind */
			clients_confine();
			gate_open(&connecting); /* its own copies, so that the server's are the last */
			gate_open(&sending);
			(comch ? comch_peer : socket_peer)();
			_exit(0);
		}
	}
	(comch ? comch_serve : socket_serve)(peers, strtod(argv[3], NULL), &result);
	printf("{\"peers\": %u, \"connections_s\": %.0f, \"bytes_a_connection\": %.0f, \"messages_s\": %.0f}\n", peers,
	       peers / result.connect_s, (double)result.memory / peers, (double)result.messages / result.measured_s);
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	_exit(0);
}
