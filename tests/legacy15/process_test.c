/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs of the 1.5 API in two processes: the DPU's service here, the host in a child, which is this program again with a role
 * as its argument. The host sends the text of its export through the Comm Channel; the DPU reads addr and len in it, imports the
 * memory, and copies both ways.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "legacy/fixture.h"

#include <doca_comm_channel.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <json-c/json.h>

DOCA_LOG_REGISTER(LEGACY15::PROCESSES);

#define SECONDS_MAX 60 /* only a hang takes longer, even on a busy machine */
#define HOST_MEMORY 16384
#define SERVICE "legacy15_processes"

static char *self;

/* For both sides, one of which has no test runner. */
static void must(doca_error_t result, const char *what)
{
	if (result == DOCA_SUCCESS)
		return;
	DOCA_LOG_ERR("%s: %s", what, doca_get_error_string(result));
	exit(1);
}

static struct doca_dev *open_bus(unsigned int bus)
{
	struct doca_devinfo **list;
	struct doca_pci_bdf bdf;
	struct doca_dev *dev = NULL;
	uint32_t num;

	must(doca_devinfo_list_create(&list, &num), "devices");
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		must(doca_devinfo_get_pci_addr(list[i], &bdf), "address");
		if (bdf.bus == bus && bdf.device == 0 && bdf.function == 0)
			must(doca_dev_open(list[i], &dev), "open");
	}
	doca_devinfo_list_destroy(list);
	must(dev != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "device");
	return dev;
}

static struct doca_dev_rep *open_rep(struct doca_dev *dpu, unsigned int bus)
{
	struct doca_devinfo_rep **list;
	struct doca_dev_rep *rep = NULL;
	struct doca_pci_bdf bdf;
	uint32_t num;

	must(doca_devinfo_rep_list_create(dpu, DOCA_DEV_REP_FILTER_NET, &list, &num), "representors");
	for (uint32_t i = 0; i < num && rep == NULL; i++) {
		must(doca_devinfo_rep_get_pci_addr(list[i], &bdf), "address");
		if (bdf.bus == bus)
			must(doca_dev_rep_open(list[i], &rep), "open");
	}
	doca_devinfo_rep_list_destroy(list);
	must(rep != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "representor");
	return rep;
}

/* ---- messages ---- */

static struct doca_comm_channel_ep_t *ep_make(struct doca_dev *dev)
{
	struct doca_comm_channel_ep_t *ep;

	must(doca_comm_channel_ep_create(&ep), "endpoint");
	must(doca_comm_channel_ep_set_device(ep, dev), "device");
	must(doca_comm_channel_ep_set_max_msg_size(ep, 4080), "size");
	must(doca_comm_channel_ep_set_send_queue_size(ep, 10), "queue");
	must(doca_comm_channel_ep_set_recv_queue_size(ep, 10), "queue");
	return ep;
}

static void send_text(struct doca_comm_channel_ep_t *ep, struct doca_comm_channel_addr_t *peer, const void *text, size_t len)
{
	double end = sf_now_s() + SECONDS_MAX;
	doca_error_t result;

	do {
		result = doca_comm_channel_ep_sendto(ep, text, len, DOCA_CC_MSG_FLAG_NONE, peer);
	} while (result == DOCA_ERROR_AGAIN && sf_now_s() < end);
	must(result, "send");
}

static size_t receive_text(struct doca_comm_channel_ep_t *ep, char *text, size_t room, struct doca_comm_channel_addr_t **peer)
{
	double end = sf_now_s() + SECONDS_MAX;
	doca_error_t result;
	size_t len;

	do {
		len = room;
		result = doca_comm_channel_ep_recvfrom(ep, text, &len, DOCA_CC_MSG_FLAG_NONE, peer);
	} while (result == DOCA_ERROR_AGAIN && sf_now_s() < end);
	must(result, "receive");
	return len;
}

/* ---- the host ---- */

static struct doca_comm_channel_addr_t *service_find(struct doca_comm_channel_ep_t *ep)
{
	struct doca_comm_channel_addr_t *peer;
	double end = sf_now_s() + SECONDS_MAX;
	doca_error_t result;

	do { /* the service may not listen yet */
		result = doca_comm_channel_ep_connect(ep, SERVICE, &peer);
	} while (result == DOCA_ERROR_CONNECTION_ABORTED && sf_now_s() < end);
	must(result, "connect");
	return peer;
}

/* Exports a text and sends it; after the DPU's reply, the DPU's words must follow the text. */
static int role_host(void)
{
	struct doca_dev *dev = open_bus(0xd8);
	struct doca_comm_channel_ep_t *ep = ep_make(dev);
	struct doca_comm_channel_addr_t *peer = service_find(ep);
	struct doca_mmap *mmap;
	char *memory = aligned_alloc(4096, HOST_MEMORY), answer[16];
	void *descriptor;
	size_t len;

	memset(memory, 0, HOST_MEMORY);
	strcpy(memory, "words of the host");
	must(doca_mmap_create(NULL, &mmap), "memory map");
	must(doca_mmap_start(mmap), "start");
	must(doca_mmap_dev_add(mmap, dev), "add the device");
	must(doca_mmap_populate(mmap, memory, HOST_MEMORY, 4096, NULL, NULL), "populate");
	must(doca_mmap_export(mmap, dev, &descriptor, &len), "export");
	send_text(ep, peer, descriptor, len);
	free(descriptor);
	receive_text(ep, answer, sizeof(answer), &peer);
	must(strcmp(memory + 4096, "words of the DPU") == 0 ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED, "what the DPU wrote");
	must(doca_mmap_destroy(mmap), "destroy the memory map");
	must(doca_comm_channel_ep_disconnect(ep, peer), "disconnect");
	must(doca_comm_channel_ep_destroy(ep), "destroy");
	must(doca_dev_close(dev), "close");
	free(memory);
	return 0;
}

static pid_t host_start(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl(self, self, "host", (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

/* ---- the DPU ---- */

/* As programs of the release read the text. */
static void range_read(const char *text, char **addr, size_t *len)
{
	struct json_object *object = json_tokener_parse(text), *value;

	assert_non_null(object);
	assert_true(json_object_object_get_ex(object, "addr", &value));
	*addr = (char *)(uintptr_t)json_object_get_int64(value);
	assert_true(json_object_object_get_ex(object, "len", &value));
	*len = (size_t)json_object_get_int64(value);
	json_object_put(object);
}

static void copy(struct fixture *f, struct doca_ctx *ctx, struct doca_buf *from, struct doca_buf *to)
{
	struct doca_dma_job_memcpy job = {.base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = ctx}, .dst_buff = to, .src_buff = from};
	struct doca_event event;

	assert_ok(doca_workq_submit(f->workq, &job.base));
	assert_ok(retrieve(f->workq, &event));
}

/* Reads the host's words, and writes others after them. */
static void memory_use(struct fixture *f, struct doca_mmap *host_memory, char *addr, size_t len)
{
	struct doca_buf *local = room_at(f, 0, 4096), *remote;
	struct doca_dma *dma;

	assert_int_equal(len, HOST_MEMORY);
	assert_ok(doca_dma_create(&dma));
	fixture_start(f, doca_dma_as_ctx(dma));
	assert_ok(doca_buf_inventory_buf_by_addr(f->inventory, host_memory, addr, len, &remote));
	assert_ok(doca_buf_set_data(remote, addr, 18));
	copy(f, doca_dma_as_ctx(dma), remote, local);
	assert_string_equal((char *)f->memory, "words of the host");
	strcpy((char *)f->memory, "words of the DPU");
	assert_ok(doca_buf_set_data(local, f->memory, 17));
	assert_ok(doca_buf_set_data(remote, addr + 4096, 17));
	copy(f, doca_dma_as_ctx(dma), local, remote);
	release(local);
	release(remote);
	fixture_stop(f, doca_dma_as_ctx(dma));
	assert_ok(doca_dma_destroy(dma));
}

static void a_host_lends_its_memory_to_the_dpu(void **state)
{
	struct doca_comm_channel_addr_t *peer;
	struct doca_comm_channel_ep_t *ep;
	struct doca_mmap *host_memory;
	struct doca_dev_rep *rep;
	char text[4080], *addr;
	size_t text_len, len;
	struct fixture f;
	int status;

	(void)state;
	fixture_open(&f, 4);
	rep = open_rep(f.dev, 0xd8);
	ep = ep_make(f.dev);
	assert_ok(doca_comm_channel_ep_set_device_rep(ep, rep));
	assert_ok(doca_comm_channel_ep_listen(ep, SERVICE));
	pid_t host = host_start();

	text_len = receive_text(ep, text, sizeof(text), &peer);
	range_read(text, &addr, &len);
	assert_ok(doca_mmap_create_from_export(NULL, text, text_len, f.dev, &host_memory));
	memory_use(&f, host_memory, addr, len);
	assert_ok(doca_mmap_destroy(host_memory));
	send_text(ep, peer, "done", 5);
	do { /* the service progresses inside its calls */
		text_len = sizeof(text);
		doca_comm_channel_ep_recvfrom(ep, text, &text_len, DOCA_CC_MSG_FLAG_NONE, &peer);
	} while (waitpid(host, &status, WNOHANG) == 0);
	assert_int_equal(status, 0);
	assert_ok(doca_comm_channel_ep_destroy(ep));
	assert_ok(doca_dev_rep_close(rep));
	fixture_close(&f);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(a_host_lends_its_memory_to_the_dpu)};

	self = argv[0];
	if (argc == 2 && strcmp(argv[1], "host") == 0)
		return role_host();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
