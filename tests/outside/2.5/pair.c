/* SPDX-License-Identifier: BSD-3-Clause */
/* A message between two RDMA instances of DOCA 2.5 in one process. Usage: pair host|dpu, the side that it was built for. */
#include <stdio.h>
#include <string.h>

#include <doca_buf_inventory.h>
#include <doca_log.h>
#include <doca_rdma.h>

DOCA_LOG_REGISTER(OUTSIDE::PAIR);

#ifdef DOCA_ARCH_DPU
static const char built_for[] = "dpu";
#else
static const char built_for[] = "host";
#endif

#define MUST(call)                                                                                                               \
	do {                                                                                                                     \
		doca_error_t result_ = (call);                                                                                   \
		if (result_ != DOCA_SUCCESS) {                                                                                   \
			DOCA_LOG_ERR("%s: %s", #call, doca_error_get_descr(result_));                                            \
			return 1;                                                                                                \
		}                                                                                                                \
	} while (0)

struct side {
	struct doca_rdma *rdma;
	struct doca_ctx *ctx;
	struct doca_mmap *mmap;
	struct doca_buf *buf;
	char memory[64];
};

static int num_done;

static void sent(struct doca_rdma_task_send *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	num_done++;
	doca_task_free(doca_rdma_task_send_as_task(task));
}

static void received(struct doca_rdma_task_receive *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	num_done += doca_rdma_task_receive_get_result_length(task) == 6;
	doca_task_free(doca_rdma_task_receive_as_task(task));
}

static struct doca_dev *open_device(void)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	uint32_t num;

	if (doca_devinfo_create_list(&list, &num) != DOCA_SUCCESS)
		return NULL;
	for (uint32_t i = 0; i < num && dev == NULL; i++) {
		if (doca_rdma_cap_task_send_is_supported(list[i]) == DOCA_SUCCESS && doca_dev_open(list[i], &dev) != DOCA_SUCCESS)
			dev = NULL;
	}
	doca_devinfo_destroy_list(list);
	return dev;
}

static int prepare(struct side *side, struct doca_dev *dev, struct doca_pe *pe)
{
	MUST(doca_rdma_create(dev, &side->rdma));
	side->ctx = doca_rdma_as_ctx(side->rdma);
	MUST(doca_pe_connect_ctx(pe, side->ctx));
	MUST(doca_rdma_set_permissions(side->rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_rdma_task_send_set_conf(side->rdma, sent, sent, 1));
	MUST(doca_rdma_task_receive_set_conf(side->rdma, received, received, 1));
	MUST(doca_mmap_create(&side->mmap));
	MUST(doca_mmap_set_memrange(side->mmap, side->memory, sizeof(side->memory)));
	MUST(doca_mmap_set_permissions(side->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE));
	MUST(doca_mmap_add_dev(side->mmap, dev));
	MUST(doca_mmap_start(side->mmap));
	if (doca_ctx_start(side->ctx) != DOCA_ERROR_IN_PROGRESS) {
		DOCA_LOG(ERROR, "the start is not asynchronous");
		return 1;
	}
	return 0;
}

static int connect_to(struct side *side, struct side *peer)
{
	const void *details;
	size_t size;

	MUST(doca_rdma_export(peer->rdma, &details, &size));
	MUST(doca_rdma_connect(side->rdma, details, size));
	return 0;
}

static int exchange(struct side *from, struct side *to, struct doca_pe *pe)
{
	struct doca_rdma_task_receive *receive;
	struct doca_rdma_task_send *send;
	enum doca_ctx_states a = DOCA_CTX_STATE_IDLE, b = DOCA_CTX_STATE_IDLE;
	union doca_data data;

	data.u64 = 0;
	while (a != DOCA_CTX_STATE_RUNNING || b != DOCA_CTX_STATE_RUNNING) {
		(void)doca_pe_progress(pe);
		MUST(doca_ctx_get_state(from->ctx, &a));
		MUST(doca_ctx_get_state(to->ctx, &b));
	}
	MUST(doca_rdma_task_receive_allocate_init(to->rdma, to->buf, data, &receive));
	MUST(doca_task_submit(doca_rdma_task_receive_as_task(receive)));
	MUST(doca_rdma_task_send_allocate_init(from->rdma, from->buf, data, &send));
	MUST(doca_task_submit(doca_rdma_task_send_as_task(send)));
	while (num_done < 2)
		(void)doca_pe_progress(pe);
	return strcmp(to->memory, "hello") == 0 ? 0 : 1;
}

static int finish(struct side *side)
{
	MUST(doca_buf_dec_refcount(side->buf, NULL));
	(void)doca_ctx_stop(side->ctx);
	MUST(doca_rdma_destroy(side->rdma));
	MUST(doca_mmap_destroy(side->mmap));
	return 0;
}

int main(int argc, char **argv)
{
	static struct side from, to;
	struct doca_dev *dev = open_device();
	struct doca_buf_inventory *inventory;
	struct doca_pe *pe;

	MUST(doca_log_backend_create_standard());
	if (argc != 2 || strcmp(argv[1], built_for) != 0 || strcmp(doca_version(), "2.5.0108") != 0 || dev == NULL)
		return 1;
	MUST(doca_pe_create(&pe));
	strcpy(from.memory, "hello");
	if (prepare(&from, dev, pe) != 0 || prepare(&to, dev, pe) != 0)
		return 1;
	MUST(doca_buf_inventory_create(2, &inventory));
	MUST(doca_buf_inventory_start(inventory));
	MUST(doca_buf_inventory_buf_get_by_data(inventory, from.mmap, from.memory, 6, &from.buf));
	MUST(doca_buf_inventory_buf_get_by_addr(inventory, to.mmap, to.memory, sizeof(to.memory), &to.buf));
	if (connect_to(&from, &to) != 0 || connect_to(&to, &from) != 0 || exchange(&from, &to, pe) != 0)
		return 1;
	if (finish(&from) != 0 || finish(&to) != 0)
		return 1;
	MUST(doca_buf_inventory_destroy(inventory));
	MUST(doca_pe_destroy(pe));
	MUST(doca_dev_close(dev));
	return 0;
}
