/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Comm Channel between two processes, by programs of the releases in between (today's headers, tasks and a progress engine):
 * the DPU's service here, the host's client in a child, which is this program again with a role as its argument. With
 * SOFTFIELD_TEST_ELSEWHERE the children run on another machine.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_comm_channel.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "base/clock.h"

#define SECONDS_MAX 60 /* only a hang takes longer, even on a busy machine */
#define assert_ok(call) assert_int_equal((call), DOCA_SUCCESS)

/* Also used by the roles, which have no test runner. */
static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	fprintf(stderr, "%s: %s\n", what, doca_error_get_name(result));
	exit(1);
}

static struct doca_dev *open_device(const char *pci_addr)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;
	uint8_t equal = 0;

	must(doca_devinfo_create_list(&list, &num), "devices");
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		if (doca_devinfo_is_equal_pci_addr(list[i], pci_addr, &equal) == DOCA_SUCCESS && equal)
			must(doca_dev_open(list[i], &dev), "device");
	}
	doca_devinfo_destroy_list(list);
	must(dev != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, pci_addr);
	return dev;
}

/* Waits on the receive channel for a message. */
static doca_error_t await(struct doca_comm_channel_ep_t *ep, void *msg, size_t *len, struct doca_comm_channel_addr_t **peer)
{
	doca_event_channel_t channel;
	size_t room = *len;
	double end = sf_now_s() + SECONDS_MAX;
	doca_error_t result = doca_comm_channel_ep_get_event_channel(ep, NULL, &channel);

	while (result == DOCA_SUCCESS && sf_now_s() < end) {
		struct pollfd wait = {.fd = channel, .events = POLLIN};

		*len = room;
		result = doca_comm_channel_ep_recvfrom(ep, msg, len, DOCA_CC_MSG_FLAG_NONE, peer);
		if (result != DOCA_ERROR_AGAIN)
			return result;
		must(doca_comm_channel_ep_event_handle_arm_recv(ep), "arm");
		poll(&wait, 1, 1000);
		result = DOCA_SUCCESS;
	}
	return result == DOCA_SUCCESS ? DOCA_ERROR_TIME_OUT : result;
}

static doca_error_t send_all(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer, const void *msg,
			     size_t len)
{
	double end = sf_now_s() + SECONDS_MAX;
	doca_error_t result;

	do {
		result = doca_comm_channel_ep_sendto(ep, msg, len, DOCA_CC_MSG_FLAG_NONE, peer);
	} while (result == DOCA_ERROR_AGAIN && sf_now_s() < end);
	return result;
}

/* ---- roles of the client ---- */

static struct doca_dev *host;
static struct doca_comm_channel_ep_t *client;
static struct doca_comm_channel_addr_t *service_addr;

static void client_connect(const char *name)
{
	double end = sf_now_s() + SECONDS_MAX;
	doca_error_t result;

	host = open_device("d8:00.0");
	must(doca_comm_channel_ep_create(&client), "endpoint");
	must(doca_comm_channel_ep_set_device(client, host), "set device");
	do { /* the service's process may not listen yet */
		result = doca_comm_channel_ep_connect(client, name, &service_addr);
	} while (result == DOCA_ERROR_CONNECTION_ABORTED && sf_now_s() < end);
	must(result, "connect");
	do {
		result = doca_comm_channel_peer_addr_update_info(service_addr);
	} while (result == DOCA_ERROR_CONNECTION_INPROGRESS && sf_now_s() < end);
	must(result, "connected");
}

static int client_end(void)
{
	must(doca_comm_channel_ep_destroy(client), "destroy");
	must(doca_dev_close(host), "close");
	return 0;
}

/* Sends back each message, until "end". */
static int role_echo(const char *name)
{
	struct doca_comm_channel_addr_t *from;
	char text[4080];
	size_t len;

	client_connect(name);
	must(send_all(client, service_addr, "hello", 6), "hello");
	do {
		len = sizeof(text);
		must(await(client, text, &len, &from), "receive");
		must(send_all(client, from, text, len), "send back");
	} while (strcmp(text, "end") != 0);
	return client_end();
}

/* Sends a first message and sleeps until it is killed. */
static int role_sleep(const char *name)
{
	client_connect(name);
	must(send_all(client, service_addr, "hello", 6), "hello");
	pause();
	return 1;
}

/* Waits until the service has ended. */
static int role_outlive(const char *name)
{
	struct doca_comm_channel_addr_t *from;
	char text[64];
	size_t len = sizeof(text);

	client_connect(name);
	must(send_all(client, service_addr, "hello", 6), "hello");
	if (await(client, text, &len, &from) != DOCA_ERROR_CONNECTION_RESET)
		return 2;
	return client_end();
}

/* Connects to a service that does not exist. */
static int role_nobody(const char *name)
{
	host = open_device("d8:00.0");
	must(doca_comm_channel_ep_create(&client), "endpoint");
	must(doca_comm_channel_ep_set_device(client, host), "set device");
	printf("asking\n");
	fflush(stdout);
	if (doca_comm_channel_ep_connect(client, name, &service_addr) != DOCA_ERROR_CONNECTION_ABORTED)
		return 2;
	return client_end();
}

/* Exports memory through the channel and waits until the service has read it. */
static int role_export(const char *name)
{
	struct doca_comm_channel_addr_t *from;
	struct doca_mmap *mmap;
	const void *descriptor;
	char text[16], *memory = aligned_alloc(4096, 8192);
	size_t size, len = sizeof(text);

	client_connect(name);
	must(memory != NULL ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY, "memory");
	snprintf(memory, 8192, "a host's own words");
	must(doca_mmap_create(&mmap), "memory map");
	must(doca_mmap_set_memrange(mmap, memory, 8192), "range");
	must(doca_mmap_add_dev(mmap, host), "device");
	must(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_ONLY), "permissions");
	must(doca_mmap_start(mmap), "start");
	must(doca_mmap_export_pci(mmap, host, &descriptor, &size), "export");
	must(send_all(client, service_addr, descriptor, size), "send the descriptor");
	must(send_all(client, service_addr, &memory, sizeof(memory)), "send the address");
	must(await(client, text, &len, &from), "receive");
	must(doca_mmap_destroy(mmap), "destroy");
	free(memory);
	return client_end();
}

/* ---- the service ---- */

struct service {
	struct doca_dev *dpu;
	struct doca_dev_rep *rep;
	struct doca_comm_channel_ep_t *ep;
	struct doca_comm_channel_addr_t *client;
	pid_t child;
};

static struct service service;
static char self[4096];

static struct doca_dev_rep *open_representor(struct doca_dev *dpu)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	uint32_t num;
	uint8_t equal = 0;

	must(doca_devinfo_rep_create_list(dpu, DOCA_DEVINFO_REP_FILTER_NET, &list, &num), "representors");
	for (uint32_t i = 0; i < num && rep == NULL; i++) {
		if (doca_devinfo_rep_is_equal_pci_addr(list[i], "d8:00.0", &equal) == DOCA_SUCCESS && equal)
			must(doca_dev_rep_open(list[i], &rep), "representor");
	}
	doca_devinfo_rep_destroy_list(list);
	return rep;
}

/* A name that is unique to this process: the same test may run with another provider at the same time. */
static const char *service_name(const char *name)
{
	static char own[64];

	snprintf(own, sizeof(own), "%s of %d", name, (int)getpid());
	return own;
}

/* runner: NULL, or a program that runs another one, on this machine or the other one. */
static pid_t role_start(const char *runner, const char *role, const char *name)
{
	const char *own_name = service_name(name);
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (runner != NULL)
			execl(runner, runner, self, role, own_name, (char *)NULL);
		else
			execl(self, self, role, own_name, (char *)NULL);
		_exit(127);
	}
	return pid;
}

static void child_start(const char *role, const char *name)
{
	service.child = role_start(getenv("SOFTFIELD_TEST_ELSEWHERE"), role, name);
}

static void service_listen(const char *name)
{
	assert_ok(doca_comm_channel_ep_create(&service.ep));
	assert_ok(doca_comm_channel_ep_set_device(service.ep, service.dpu));
	assert_ok(doca_comm_channel_ep_set_device_rep(service.ep, service.rep));
	assert_ok(doca_comm_channel_ep_listen(service.ep, service_name(name)));
}

static void hello_await(void)
{
	char text[16];
	size_t len = sizeof(text);

	assert_ok(await(service.ep, text, &len, &service.client));
	assert_string_equal(text, "hello");
}

static int setup(void **state)
{
	(void)state;
	memset(&service, 0, sizeof(service));
	service.dpu = open_device("03:00.0");
	service.rep = open_representor(service.dpu);
	return service.rep != NULL ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	if (service.child > 0) {
		kill(service.child, SIGKILL);
		waitpid(service.child, NULL, 0);
	}
	if (service.ep != NULL)
		doca_comm_channel_ep_destroy(service.ep);
	doca_dev_rep_close(service.rep);
	return doca_dev_close(service.dpu) == DOCA_SUCCESS ? 0 : -1;
}

static void child_expect_exit(void)
{
	int status;

	assert_int_equal(waitpid(service.child, &status, 0), service.child);
	service.child = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void child_kill(void)
{
	assert_int_equal(kill(service.child, SIGKILL), 0);
	assert_int_equal(waitpid(service.child, NULL, 0), service.child);
	service.child = 0;
}

static void messages_cross_between_processes(void **state)
{
	struct doca_comm_channel_addr_t *from;
	char sent[4080], got[4080];

	service_listen("echo");
	child_start("echo", "echo");
	hello_await();
	for (int i = 0; i < 500; i++) {
		size_t len = 1 + (size_t)i * 7 % sizeof(sent), got_len = sizeof(got);

		memset(sent, i, len);
		assert_ok(send_all(service.ep, service.client, sent, len));
		assert_ok(await(service.ep, got, &got_len, &from));
		assert_int_equal(got_len, len);
		assert_memory_equal(got, sent, len);
		assert_ptr_equal(from, service.client);
	}
	assert_ok(send_all(service.ep, service.client, "end", 4));
	child_expect_exit();
	(void)state;
}

static void a_killed_client_is_noticed_and_may_reconnect(void **state)
{
	double begin;
	doca_error_t result;

	service_listen("killed client");
	for (int i = 0; i < 2; i++) {
		child_start("sleep", "killed client");
		hello_await();
		child_kill();
		begin = sf_now_s();
		do {
			assert_ok(doca_comm_channel_ep_update_service_state_info(service.ep));
			result = doca_comm_channel_peer_addr_update_info(service.client);
		} while (result == DOCA_SUCCESS && sf_now_s() < begin + SECONDS_MAX);
		assert_int_equal(result, DOCA_ERROR_CONNECTION_ABORTED);
		assert_int_equal(doca_comm_channel_ep_sendto(service.ep, "x", 1, 0, service.client), DOCA_ERROR_CONNECTION_RESET);
		assert_ok(doca_comm_channel_ep_disconnect(service.ep, service.client));
	}
	(void)state;
}

/* Here the service is a process of its own, which kills itself after the client's first message. */
static void a_killed_service_is_noticed(void **state)
{
	pid_t killed = role_start(getenv("SOFTFIELD_TEST_HERE"), "serve", "killed service");

	child_start("outlive", "killed service");
	assert_int_equal(waitpid(killed, NULL, 0), killed);
	child_expect_exit();
	(void)state;
}

static void a_missing_service_is_noticed_immediately(void **state)
{
	child_start("nobody", "nobody");
	child_expect_exit();
	(void)state;
}

static int role_serve(const char *name)
{
	char text[16];
	size_t len = sizeof(text);

	service.dpu = open_device("03:00.0");
	service.rep = open_representor(service.dpu);
	must(doca_comm_channel_ep_create(&service.ep), "endpoint");
	must(doca_comm_channel_ep_set_device(service.ep, service.dpu), "device");
	must(doca_comm_channel_ep_set_device_rep(service.ep, service.rep), "representor");
	must(doca_comm_channel_ep_listen(service.ep, name), "listen");
	must(await(service.ep, text, &len, &service.client), "hello");
	raise(SIGKILL);
	return 1;
}

/* ---- together with a progress engine ---- */

static void copied(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)ctx_user_data;
	*(doca_error_t *)task_user_data.ptr = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
	doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void copy(struct doca_mmap *from, void *from_addr, struct doca_mmap *to, void *to_addr, size_t len)
{
	struct doca_buf_inventory *inventory;
	struct doca_dma_task_memcpy *task;
	struct doca_buf *src, *dst;
	struct doca_dma *dma;
	struct doca_pe *pe;
	doca_error_t status = DOCA_ERROR_IN_PROGRESS;

	assert_ok(doca_buf_inventory_create(2, &inventory));
	assert_ok(doca_buf_inventory_start(inventory));
	assert_ok(doca_buf_inventory_buf_get_by_data(inventory, from, from_addr, len, &src));
	assert_ok(doca_buf_inventory_buf_get_by_addr(inventory, to, to_addr, len, &dst));
	assert_ok(doca_pe_create(&pe));
	assert_ok(doca_dma_create(service.dpu, &dma));
	assert_ok(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
	assert_ok(doca_dma_task_memcpy_set_conf(dma, copied, copied, 1));
	assert_ok(doca_ctx_start(doca_dma_as_ctx(dma)));
	assert_ok(doca_dma_task_memcpy_alloc_init(dma, src, dst, (union doca_data){.ptr = &status}, &task));
	assert_ok(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
	for (double end = sf_now_s() + SECONDS_MAX; status == DOCA_ERROR_IN_PROGRESS && sf_now_s() < end;)
		doca_pe_progress(pe);
	assert_ok(status);
	assert_ok(doca_ctx_stop(doca_dma_as_ctx(dma)));
	assert_ok(doca_dma_destroy(dma));
	assert_ok(doca_pe_destroy(pe));
	assert_ok(doca_buf_dec_refcount(src, NULL));
	assert_ok(doca_buf_dec_refcount(dst, NULL));
	assert_ok(doca_buf_inventory_destroy(inventory));
}

static void a_descriptor_travels_and_a_task_copies(void **state)
{
	static char local[4096];
	struct doca_mmap *imported, *mmap;
	uint8_t descriptor[4080];
	size_t size = sizeof(descriptor), len = sizeof(void *);
	void *remote;

	service_listen("export");
	child_start("export", "export");
	assert_ok(await(service.ep, descriptor, &size, &service.client));
	assert_ok(await(service.ep, &remote, &len, &service.client));
	assert_ok(doca_mmap_create_from_export(NULL, descriptor, size, service.dpu, &imported));
	assert_ok(doca_mmap_create(&mmap));
	assert_ok(doca_mmap_set_memrange(mmap, local, sizeof(local)));
	assert_ok(doca_mmap_add_dev(mmap, service.dpu));
	assert_ok(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	assert_ok(doca_mmap_start(mmap));
	copy(imported, remote, mmap, local, 19);
	assert_string_equal(local, "a host's own words");
	assert_ok(doca_mmap_destroy(imported));
	assert_ok(doca_mmap_destroy(mmap));
	assert_ok(send_all(service.ep, service.client, "done", 5));
	child_expect_exit();
	(void)state;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(const char *name);
	} roles[] = {{"echo", role_echo},     {"sleep", role_sleep},   {"outlive", role_outlive},
		     {"nobody", role_nobody}, {"export", role_export}, {"serve", role_serve}};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(messages_cross_between_processes, setup, teardown),
		cmocka_unit_test_setup_teardown(a_killed_client_is_noticed_and_may_reconnect, setup, teardown),
		cmocka_unit_test_setup_teardown(a_killed_service_is_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_missing_service_is_noticed_immediately, setup, teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_travels_and_a_task_copies, setup, teardown),
	};

	if (realpath("/proc/self/exe", self) == NULL)
		return 2;
	for (size_t i = 0; argc == 3 && i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(argv[1], roles[i].name) == 0)
			return roles[i].run(argv[2]);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
