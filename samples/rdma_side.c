/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rdma_address.h"
#include "rdma_side.h"

/* ---- the device ---- */

static bool device_fits(const struct doca_devinfo *devinfo, const struct side *side)
{
	char name[DOCA_DEVINFO_IBDEV_NAME_SIZE];

	if (side->options.device[0] != '\0' &&
	    (doca_devinfo_get_ibdev_name(devinfo, name, sizeof(name)) != DOCA_SUCCESS || strcmp(name, side->options.device) != 0))
		return false;
	return side->sample->supports == NULL || side->sample->supports(devinfo) == DOCA_SUCCESS;
}

static doca_error_t open_device(struct side *side)
{
	struct doca_devinfo **list;
	uint32_t num;
	doca_error_t status = doca_devinfo_create_list(&list, &num);

	if (status != DOCA_SUCCESS)
		return sample_failed("list of devices", status);
	status = DOCA_ERROR_NOT_FOUND;
	for (uint32_t i = 0; i < num && status == DOCA_ERROR_NOT_FOUND; i++)
		if (device_fits(list[i], side))
			status = doca_dev_open(list[i], &side->dev);
	doca_devinfo_destroy_list(list);
	if (status == DOCA_ERROR_NOT_FOUND)
		fprintf(stderr, "no IB device%s%s can do this here: `softfield devices` lists them\n",
			side->options.device[0] != '\0' ? " " : "", side->options.device);
	else if (status != DOCA_SUCCESS)
		(void)sample_failed("IB device", status);
	return status;
}

/* ---- memory ---- */

static doca_error_t make_memory(struct side *side)
{
	doca_error_t status = doca_mmap_create(&side->mmap);

	if (status != DOCA_SUCCESS)
		return status;
	side->memory = aligned_alloc(MEMORY_SIZE, MEMORY_SIZE);
	if (side->memory == NULL)
		return DOCA_ERROR_NO_MEMORY;
	memset(side->memory, 0, MEMORY_SIZE);
	status = doca_mmap_add_dev(side->mmap, side->dev);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_set_memrange(side->mmap, side->memory, MEMORY_SIZE);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_set_permissions(side->mmap, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | side->sample->permissions);
	if (status == DOCA_SUCCESS)
		status = doca_mmap_start(side->mmap);
	if (status == DOCA_SUCCESS)
		status = doca_buf_inventory_create(BUFS_MAX, &side->inventory);
	return status == DOCA_SUCCESS ? doca_buf_inventory_start(side->inventory) : status;
}

doca_error_t side_export_memory(struct side *side, struct bytes *descriptor)
{
	const void *data;
	size_t len;
	doca_error_t status = doca_mmap_export_rdma(side->mmap, side->dev, &data, &len);

	return status == DOCA_SUCCESS ? bytes_set(descriptor, data, len) : sample_failed("export of the memory", status);
}

doca_error_t side_import_memory(struct side *side, const struct bytes *descriptor)
{
	doca_error_t status = doca_mmap_create_from_export(NULL, descriptor->data, descriptor->len, side->dev, &side->remote);

	return status == DOCA_SUCCESS ? status : sample_failed("the peer's memory", status);
}

static doca_error_t make_buf(struct side *side, struct doca_mmap *mmap, void *addr, size_t len, bool data, struct doca_buf **buf)
{
	doca_error_t status = DOCA_ERROR_NO_MEMORY;

	if (side->num_bufs < BUFS_MAX)
		status = data ? doca_buf_inventory_buf_get_by_data(side->inventory, mmap, addr, len, buf)
			      : doca_buf_inventory_buf_get_by_addr(side->inventory, mmap, addr, len, buf);
	if (status != DOCA_SUCCESS)
		return sample_failed("buffer", status);
	side->bufs[side->num_bufs++] = *buf;
	return DOCA_SUCCESS;
}

doca_error_t side_data(struct side *side, size_t offset, size_t len, struct doca_buf **buf)
{
	return make_buf(side, side->mmap, side->memory + offset, len, true, buf);
}

doca_error_t side_room(struct side *side, size_t offset, size_t len, struct doca_buf **buf)
{
	return make_buf(side, side->mmap, side->memory + offset, len, false, buf);
}

/* Returns a buffer at the beginning of the peer's memory, with the peer's addresses. */
static doca_error_t remote_buf(struct side *side, size_t len, bool data, struct doca_buf **buf)
{
	void *addr;
	size_t size;
	doca_error_t status = doca_mmap_get_memrange(side->remote, &addr, &size);

	if (status == DOCA_SUCCESS && size < len)
		status = sample_failed("the peer's memory is smaller than that", DOCA_ERROR_TOO_BIG);
	return status == DOCA_SUCCESS ? make_buf(side, side->remote, addr, len, data, buf) : status;
}

doca_error_t side_remote_data(struct side *side, size_t len, struct doca_buf **buf)
{
	return remote_buf(side, len, true, buf);
}

doca_error_t side_remote_room(struct side *side, size_t len, struct doca_buf **buf)
{
	return remote_buf(side, len, false, buf);
}

/* ---- the instance ---- */

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev,
			  enum doca_ctx_states next)
{
	struct side *side = user_data.ptr;

	(void)ctx;
	if (next == DOCA_CTX_STATE_STOPPING && prev == DOCA_CTX_STATE_RUNNING)
		printf("stopping\n");
	side->idle = next == DOCA_CTX_STATE_IDLE;
}

static doca_error_t set_properties(struct side *side)
{
	const struct sample *sample = side->sample;
	doca_error_t status = doca_rdma_set_permissions(side->rdma, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | sample->permissions);

	if (status == DOCA_SUCCESS && side->options.has_gid_index)
		status = doca_rdma_set_gid_index(side->rdma, side->options.gid_index);
	if (status == DOCA_SUCCESS)
		status = doca_rdma_set_max_num_connections(side->rdma, (uint16_t)side->options.num_connections);
	if (status == DOCA_SUCCESS && side->options.by_address)
		status = address_configure(side);
	if (status == DOCA_SUCCESS && sample->configure != NULL)
		status = sample->configure(side);
	return status == DOCA_SUCCESS ? status : sample_failed("properties of the instance", status);
}

static doca_error_t start_instance(struct side *side)
{
	doca_error_t status = doca_pe_create(&side->pe);

	if (status == DOCA_SUCCESS)
		status = doca_rdma_create(side->dev, &side->rdma);
	if (status != DOCA_SUCCESS)
		return sample_failed("instance", status);
	side->ctx = doca_rdma_as_ctx(side->rdma);
	status = doca_ctx_set_user_data(side->ctx, (union doca_data){.ptr = side});
	if (status == DOCA_SUCCESS)
		status = doca_ctx_set_state_changed_cb(side->ctx, state_changed);
	if (status == DOCA_SUCCESS)
		status = doca_pe_connect_ctx(side->pe, side->ctx);
	if (status == DOCA_SUCCESS)
		status = set_properties(side);
	if (status == DOCA_SUCCESS) {
		status = doca_ctx_start(side->ctx);
		side->idle = status != DOCA_SUCCESS;
	}
	return status == DOCA_SUCCESS ? status : sample_failed("start", status);
}

/* ---- the connection ---- */

static doca_error_t write_papers(struct side *side, struct papers *papers)
{
	const void *data;
	size_t len;
	doca_error_t status = DOCA_SUCCESS;

	for (uint32_t i = 0; i < side->options.num_connections && status == DOCA_SUCCESS; i++) {
		status = doca_rdma_export(side->rdma, &data, &len, &side->connections[i]);
		if (status == DOCA_SUCCESS)
			status = bytes_set(&papers->connections[i], data, len);
	}
	if (status != DOCA_SUCCESS)
		return sample_failed("export of the connection", status);
	return side->sample->export != NULL ? side->sample->export(side, &papers->resource) : DOCA_SUCCESS;
}

static doca_error_t use_papers(struct side *side, const struct papers *papers)
{
	doca_error_t status = DOCA_SUCCESS;

	for (uint32_t i = 0; i < side->options.num_connections && status == DOCA_SUCCESS; i++) {
		const struct bytes *bytes = &papers->connections[i];

		status = doca_rdma_connect(side->rdma, bytes->data, bytes->len, side->connections[i]);
	}
	if (status != DOCA_SUCCESS)
		return sample_failed("connection", status);
	return side->sample->import != NULL ? side->sample->import(side, &papers->resource) : DOCA_SUCCESS;
}

static doca_error_t connect_sides(struct side *side)
{
	static struct papers ours, theirs;

	if (side->options.by_address)
		return address_connect(side);
	doca_error_t status = exchange_open(&side->exchange, &side->options, side->sample->name, side->sample->peer);

	if (status == DOCA_SUCCESS)
		status = write_papers(side, &ours);
	if (status == DOCA_SUCCESS)
		status = exchange_papers(&side->exchange, &ours, side->sample->import != NULL, &theirs);
	return status == DOCA_SUCCESS ? use_papers(side, &theirs) : status;
}

/* ---- tasks ---- */

void side_task_ended(union doca_data data, struct doca_task *task)
{
	struct side *side = data.ptr;
	doca_error_t status = doca_task_get_status(task);

	side->num_ended++;
	if (status != DOCA_SUCCESS && side->status == DOCA_SUCCESS)
		side->status = sample_failed("task", status);
	doca_task_free(task);
}

/* No timeout if a user copies files. */
doca_error_t side_progress_until(struct side *side, const uint32_t *count, uint32_t num)
{
	const time_t end = time(NULL) + SAMPLE_PATIENCE_SECONDS;

	while (*count < num && side->status == DOCA_SUCCESS) {
		if (doca_pe_progress(side->pe) == 0 && side->exchange.socket >= 0 && time(NULL) > end)
			return sample_failed("peer", DOCA_ERROR_TIME_OUT);
	}
	return side->status;
}

doca_error_t side_wait(struct side *side, uint32_t num_tasks)
{
	return side_progress_until(side, &side->num_ended, num_tasks);
}

doca_error_t side_wait_for_peer(struct side *side, const char *for_what)
{
	return side->options.by_address ? address_wait_for_end(side) : exchange_wait(&side->exchange, for_what);
}

doca_error_t side_run(struct side *side, struct doca_task *task)
{
	uint32_t num = side->num_ended + 1;
	doca_error_t status = doca_task_submit(task);

	if (status == DOCA_SUCCESS)
		return side_wait(side, num);
	doca_task_free(task);
	return sample_failed("submit", status);
}

void side_print(const char *what, const char *text, size_t len)
{
	printf("%s: \"", what);
	for (size_t i = 0; i < len && text[i] != '\0'; i++)
		putchar(isprint((unsigned char)text[i]) ? text[i] : '.');
	printf("\"\n");
}

/* ---- open and close ---- */

static doca_error_t prepare(struct side *side)
{
	doca_error_t status = open_device(side);

	if (status != DOCA_SUCCESS)
		return status;
	status = make_memory(side);
	if (status != DOCA_SUCCESS)
		return sample_failed("memory", status);
	return start_instance(side);
}

static void end(struct side *side)
{
	address_disconnect(side);
	if (side->ctx != NULL && !side->idle)
		(void)doca_ctx_stop(side->ctx);
	while (side->ctx != NULL && !side->idle)
		(void)doca_pe_progress(side->pe);
	for (uint32_t i = 0; i < side->num_bufs; i++)
		(void)doca_buf_dec_refcount(side->bufs[i], NULL);
	if (side->sample->clean != NULL)
		side->sample->clean(side);
	if (side->rdma != NULL)
		(void)doca_rdma_destroy(side->rdma);
	if (side->pe != NULL)
		(void)doca_pe_destroy(side->pe);
	if (side->remote != NULL)
		(void)doca_mmap_destroy(side->remote);
	if (side->mmap != NULL)
		(void)doca_mmap_destroy(side->mmap);
	if (side->inventory != NULL)
		(void)doca_buf_inventory_destroy(side->inventory);
	free(side->memory);
	if (side->dev != NULL)
		(void)doca_dev_close(side->dev);
	exchange_close(&side->exchange);
}

int side_main(int argc, char **argv, const struct sample *sample)
{
	static struct side side = {.idle = true, .exchange = {.socket = -1}};
	doca_error_t status = sample_log_to_stderr();

	side.sample = sample;
	if (status == DOCA_SUCCESS)
		status = options_read(argc, argv, sample->name, sample->options | (sample->listens ? 0 : OPTION_SERVER),
				      &side.options);
	if (status != DOCA_SUCCESS)
		return EXIT_FAILURE;
	status = prepare(&side);
	if (status == DOCA_SUCCESS)
		status = connect_sides(&side);
	if (status == DOCA_SUCCESS)
		status = sample->work(&side);
	if (status == DOCA_SUCCESS)
		exchange_finished(&side.exchange);
	end(&side);
	return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
