/* SPDX-License-Identifier: BSD-3-Clause */
/* A small program of DOCA 1.5: parses its flags, and copies texts by DMA jobs on a work queue, all to the same buffer. */
#include <stdio.h>
#include <string.h>

#include <doca_argp.h>
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_config.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_version.h>

DOCA_LOG_REGISTER(OUTSIDE::DMA_JOB);

#ifdef DOCA_ARCH_DPU
static const char built_for[] = "dpu";
#else
static const char built_for[] = "host";
#endif

#define ROOM 32 /* for one text, but not for two */

struct objects {
	struct doca_dev *dev;
	struct doca_mmap *mmap;
	struct doca_buf_inventory *inventory;
	struct doca_workq *workq;
	struct doca_dma *dma;
	struct doca_buf *src, *dst;
};

static doca_error_t set_flavour(void *value, void *config)
{
	snprintf(config, 16, "%s", (const char *)value);
	return DOCA_SUCCESS;
}

static doca_error_t parse_flags(int argc, char **argv, char *flavour)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_init("dma_job", flavour);

	if (result == DOCA_SUCCESS)
		result = doca_argp_param_create(&param);
	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, "f");
	doca_argp_param_set_long_name(param, "flavour");
	doca_argp_param_set_description(param, "For which side the program should have been built");
	doca_argp_param_set_callback(param, set_flavour);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_mandatory(param);
	result = doca_argp_register_param(param);
	return result == DOCA_SUCCESS ? doca_argp_start(argc, argv) : result;
}

static doca_error_t open_device(struct doca_dev **dev)
{
	struct doca_devinfo **list;
	struct doca_pci_bdf bdf;
	uint32_t num;
	doca_error_t result = doca_devinfo_list_create(&list, &num);

	if (result != DOCA_SUCCESS)
		return result;
	result = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < num && result != DOCA_SUCCESS; i++) {
		if (doca_devinfo_get_pci_addr(list[i], &bdf) == DOCA_SUCCESS &&
		    doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS)
			result = doca_dev_open(list[i], dev);
	}
	doca_devinfo_list_destroy(list);
	return result;
}

static doca_error_t make_memory(struct objects *o, char *from, char *to, size_t size)
{
	doca_error_t result = doca_mmap_create(NULL, &o->mmap);

	if (result == DOCA_SUCCESS)
		result = doca_mmap_set_max_num_chunks(o->mmap, 2);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_start(o->mmap);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_dev_add(o->mmap, o->dev);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_populate(o->mmap, from, size, 4096, NULL, NULL);
	if (result == DOCA_SUCCESS)
		result = doca_mmap_populate(o->mmap, to, size, 4096, NULL, NULL);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &o->inventory);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_start(o->inventory);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_buf_by_addr(o->inventory, o->mmap, from, size, &o->src);
	if (result == DOCA_SUCCESS)
		result = doca_buf_inventory_buf_by_addr(o->inventory, o->mmap, to, size, &o->dst);
	return result;
}

static doca_error_t make_queue(struct objects *o)
{
	doca_error_t result = doca_workq_create(4, &o->workq);

	if (result == DOCA_SUCCESS)
		result = doca_dma_create(&o->dma);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_dev_add(doca_dma_as_ctx(o->dma), o->dev);
	if (result == DOCA_SUCCESS)
		result = doca_ctx_start(doca_dma_as_ctx(o->dma));
	return result == DOCA_SUCCESS ? doca_ctx_workq_add(doca_dma_as_ctx(o->dma), o->workq) : result;
}

static doca_error_t copy(struct objects *o)
{
	struct doca_dma_job_memcpy job = {
		.base = {.type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = doca_dma_as_ctx(o->dma)},
		.dst_buff = o->dst,
		.src_buff = o->src};
	struct doca_event event;
	doca_error_t result = doca_workq_submit(o->workq, &job.base);

	if (result != DOCA_SUCCESS)
		return result;
	do {
		result = doca_workq_progress_retrieve(o->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
	} while (result == DOCA_ERROR_AGAIN);
	return result == DOCA_ERROR_IO_FAILED ? (doca_error_t)event.result.u64 : result;
}

static doca_error_t copy_texts(struct objects *o, char *from, const char *to)
{
	static const char *const texts[] = {"a text of the spring of 2022", "and one of the autumn"};
	doca_error_t result = DOCA_SUCCESS;

	for (size_t i = 0; i < 2 && result == DOCA_SUCCESS; i++) {
		strcpy(from, texts[i]);
		result = doca_buf_set_data(o->src, from, strlen(from) + 1);
		if (result == DOCA_SUCCESS)
			result = copy(o);
		if (result == DOCA_SUCCESS && strcmp(to, texts[i]) != 0)
			result = DOCA_ERROR_UNEXPECTED;
	}
	return result;
}

static doca_error_t destroy(struct objects *o)
{
	doca_buf_refcount_rm(o->src, NULL);
	doca_buf_refcount_rm(o->dst, NULL);
	doca_ctx_workq_rm(doca_dma_as_ctx(o->dma), o->workq);
	doca_ctx_stop(doca_dma_as_ctx(o->dma));
	doca_ctx_dev_rm(doca_dma_as_ctx(o->dma), o->dev);
	doca_dma_destroy(o->dma);
	doca_workq_destroy(o->workq);
	doca_buf_inventory_destroy(o->inventory);
	doca_mmap_dev_rm(o->mmap, o->dev);
	doca_mmap_destroy(o->mmap);
	return doca_dev_close(o->dev);
}

int main(int argc, char **argv)
{
	static char from[ROOM], to[ROOM];
	struct objects o = {0};
	char flavour[16] = "";
	doca_error_t result;

	if (parse_flags(argc, argv, flavour) != DOCA_SUCCESS)
		return 1;
	result = open_device(&o.dev);
	if (result == DOCA_SUCCESS)
		result = make_memory(&o, from, to, ROOM);
	if (result == DOCA_SUCCESS)
		result = make_queue(&o);
	if (result == DOCA_SUCCESS)
		result = copy_texts(&o, from, to);
	if (result == DOCA_SUCCESS)
		result = destroy(&o);
	doca_argp_destroy();
	DOCA_LOG_INFO("built for the %s with %s: %s, copied: %s", built_for, doca_version(), doca_get_error_string(result), to);
	return result == DOCA_SUCCESS && strcmp(flavour, built_for) == 0 ? 0 : 1;
}
