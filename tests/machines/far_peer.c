/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One of two processes between which lost_machine_test.py cuts the network. It prints a line for each event, and obeys commands
 * on standard input.
 *
 *   far_peer serve             prints: serving NAME ADDRESS DESCRIPTOR, connected INDEX, closed INDEX STATUS
 *   far_peer call NAME ADDRESS DESCRIPTOR
 *                              reads: connection    open one more, which stays idle
 *                                     busy    the same, and keep messages in flight on it
 *                                     ask     connect to a listener that does not answer
 *                                     access  write to the imported memory
 *   both                       read: count (prints: holds LINKS connections, DESCRIPTORS descriptors, done MESSAGES), quit
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fabric/fabric.h"

#define CONNS_MAX 2048
#define SLOTS 256	/* receives, and messages in flight */
#define MSG_SIZE 100000 /* together they exceed what the sockets hold */
#define MEMORY_SIZE ((size_t)SLOTS * MSG_SIZE)
#define DEVICE "host0/0000:d8:00.0"
#define NAME "far_peer"

static struct sf_domain *domain;
static struct sf_ep *ep;
static struct sf_region *region, *import;
static struct sf_listener *listener, *silent_listener;
static char *memory;
static int event_fd;
static struct sf_conn *conns[CONNS_MAX];
static unsigned conn_num, open_num, done_num;

static struct sf_conn *busy;
static struct sf_op ops[SLOTS];
static bool op_used[SLOTS];
static struct sf_iov op_piece, slot_pieces[SLOTS];
static struct sf_recv slots[SLOTS];

static void check(doca_error_t error, const char *what)
{
	if (error == DOCA_SUCCESS)
		return;
	printf("failed: %s: %s\n", what, doca_error_get_name(error));
	exit(1);
}

/* ---- connections ---- */

static unsigned conn_add(struct sf_conn *conn)
{
	conns[conn_num] = conn;
	conn->user = (void *)(uintptr_t)conn_num;
	open_num++;
	return conn_num++;
}

static void conn_drop(struct sf_conn *conn)
{
	conns[(uintptr_t)conn->user] = NULL;
	open_num--;
	busy = busy == conn ? NULL : busy;
	sf_conn_close(conn);
}

static void on_accepted(struct sf_listener *from, struct sf_conn *conn, const void *data, size_t len)
{
	(void)from;
	(void)data;
	(void)len;
	printf("connected %u\n", conn_add(conn));
}

static void on_connected(struct sf_conn *conn, doca_error_t status, const void *data, size_t len)
{
	(void)data;
	(void)len;
	printf("%s %u %s\n", status == DOCA_SUCCESS ? "connected" : "refused", (unsigned)(uintptr_t)conn->user,
	       doca_error_get_name(status));
	if (status != DOCA_SUCCESS)
		conn_drop(conn);
}

static void on_closed(struct sf_conn *conn, doca_error_t reason)
{
	printf("closed %u %s\n", (unsigned)(uintptr_t)conn->user, doca_error_get_name(reason));
	conn_drop(conn);
}

/* A request stays pending. */
static const struct sf_ep_handler handler = {.accepted = on_accepted, .connected = on_connected, .closed = on_closed};

static void conn_begin(const char *name, const char *address, bool is_busy)
{
	struct sf_conn *conn;

	check(sf_conn_connect(ep, name, address, NULL, 0, NULL, &conn), "connect");
	(void)conn_add(conn);
	if (is_busy)
		busy = conn;
}

/* ---- messages ---- */

static void op_done(struct sf_op *op)
{
	op_used[op - ops] = false;
	done_num += op->status == DOCA_SUCCESS;
}

/* Keeps as many messages in flight as the connection accepts. */
static void send_all(void)
{
	for (unsigned i = 0; i < SLOTS && busy != NULL; i++) {
		if (op_used[i])
			continue;
		ops[i] = (struct sf_op){.kind = SF_OP_SEND, .iov = &op_piece, .iov_num = 1, .done = op_done};
		if (sf_conn_submit(busy, &ops[i]) != DOCA_SUCCESS)
			return;
		op_used[i] = true;
	}
}

static void recv_done(struct sf_recv *recv)
{
	done_num++;
	check(sf_ep_post_recv(ep, recv), "post");
}

static void recvs_post(void)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		slot_pieces[i] = (struct sf_iov){.addr = memory + (size_t)i * MSG_SIZE, .len = MSG_SIZE};
		slots[i] = (struct sf_recv){.region = region, .iov = &slot_pieces[i], .iov_num = 1, .done = recv_done};
		check(sf_ep_post_recv(ep, &slots[i]), "post");
	}
}

static void import_access(void)
{
	uint64_t word = 1;
	struct sf_iov piece = {.addr = &word, .len = sizeof(word)};
	struct sf_op op = {.kind = SF_OP_WRITE, .iov = &piece, .iov_num = 1, .remote_addr = import->addr};

	printf("access %s\n", doca_error_get_name(sf_region_access(import, &op)));
}

/* ---- both sides ---- */

static void begin(void)
{
	event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	op_piece = (struct sf_iov){.addr = memory, .len = MSG_SIZE};
	check(sf_domain_open(sf_fabric_find("tcp"), DEVICE, &domain), "open");
	check(sf_region_register(domain, memory, MEMORY_SIZE, SF_RIGHT_READ | SF_RIGHT_WRITE, &region), "register");
	check(sf_ep_open(domain, &handler, SLOTS, event_fd, &ep), "endpoint");
}

static void serve(void)
{
	char address[SF_ADDRESS_MAX];
	uint8_t descriptor[SF_DESCRIPTOR_MAX];
	size_t len = sizeof(descriptor);

	check(sf_listener_open(ep, NAME, SF_LISTEN_AUTO, NULL, &listener), "listen");
	check(sf_listener_open(ep, NAME "/silent", 0, NULL, &silent_listener), "listen");
	check(sf_listener_address(listener, address), "address");
	check(sf_region_export(region, descriptor, &len), "export");
	recvs_post();
	printf("serving %s %s ", NAME, address);
	for (size_t i = 0; i < len; i++)
		printf("%02x", descriptor[i]);
	printf("\n");
}

static void import_memory(const char *hex)
{
	uint8_t descriptor[SF_DESCRIPTOR_MAX];
	size_t len = strlen(hex) / 2;

	for (size_t i = 0; i < len && i < sizeof(descriptor); i++)
		check(sscanf(hex + 2 * i, "%2hhx", &descriptor[i]) == 1 ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE, "descriptor");
	check(sf_region_import(domain, descriptor, len, &import), "import");
}

static unsigned descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned num = 0;

	while (readdir(folder) != NULL)
		num++;
	closedir(folder);
	return num;
}

/* Returns false to exit. */
static bool obey(char *argv[])
{
	char line[64];

	if (fgets(line, sizeof(line), stdin) == NULL || strcmp(line, "quit\n") == 0)
		return false;
	if (strcmp(line, "connection\n") == 0 || strcmp(line, "busy\n") == 0)
		conn_begin(argv[2], argv[3], line[0] == 'b');
	else if (strcmp(line, "ask\n") == 0)
		conn_begin(NAME "/silent", argv[3], false);
	else if (strcmp(line, "access\n") == 0)
		import_access();
	else if (strcmp(line, "count\n") == 0)
		printf("holds %u connections, %u descriptors, done %u\n", open_num, descriptors(), done_num);
	return true;
}

static void run(char *argv[])
{
	struct pollfd ready[] = {{.fd = event_fd, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
	uint64_t count;

	for (;;) {
		bool is_due = sf_ep_poll(ep, SLOTS) != 0;

		send_all();
		is_due = is_due || sf_ep_arm(ep);
		/* A full connection is tried again after a while, because no event reports free space. */
		if (poll(ready, 2, is_due ? 0 : busy != NULL ? 5 : -1) < 0 && errno != EINTR)
			return;
		if ((ready[0].revents & POLLIN) != 0)
			(void)!read(event_fd, &count, sizeof(count));
		if (ready[1].revents != 0 && !obey(argv))
			return;
	}
}

int main(int argc, char *argv[])
{
	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	(void)setvbuf(stdin, NULL, _IONBF, 0);
	begin();
	if (argc == 5) {
		import_memory(argv[4]);
		printf("calling\n");
	} else {
		serve();
	}
	run(argv);
	return 0; /* as a process that crashes: it closes nothing */
}
