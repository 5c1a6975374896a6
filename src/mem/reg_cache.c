/* SPDX-License-Identifier: BSD-3-Clause */
#include "mem/reg_cache.h"

#include <string.h>

#include "base/log.h"
#include "base/log_rate.h"
#include "core/dev.h"
#include "core/gpu.h"
#include "mem/buf_source.h"
#include "mem/mmap_private.h"
#include "validation/validation.h"

#define BOUNCE_SIZE 16384 /* on the stack, for bytes that are imported on both sides */

/* A device that may write for others may also write for its own process, as with a network card's memory keys. */
#define WRITABLE (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_WRITE)

/* Stands in place of a region for memory of a real GPU, which sf_gpu_copy accesses. */
static struct sf_region gpu_memory;

/* ---- memory maps ---- */

void sf_reg_cache_init(struct sf_reg_cache *cache, const struct doca_dev *dev)
{
	memset(cache, 0, sizeof(*cache));
	cache->dev = dev;
	for (uint32_t i = 0; i < SF_REG_SLOTS; i++)
		cache->slot[i].id = SF_REG_NONE;
}

doca_error_t sf_reg_find(struct sf_reg_cache *cache, struct doca_mmap *mmap, const struct sf_reg **reg)
{
	struct sf_reg *slot = &cache->slot[sf_mmap_id(mmap) % SF_REG_SLOTS];
	const struct sf_mmap_dev *entry = sf_mmap_dev_find(mmap, cache->dev);

	if (mmap == &sf_buf_no_mmap) {
		SF_LOG_ERR("a buffer of the task was released: release it after the task's callback");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (!mmap->started) {
		SF_LOG_ERR("buffer's memory map is not started: call doca_mmap_start first");
		SF_BROKEN(MMAP_003, mmap, "doca_task_submit", "a task has a buffer of it, and it is not started");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (entry == NULL) {
		SF_LOG_ERR("buffer's memory map lacks device %s: doca_mmap_add_dev it before start, or import with that device",
			   sf_dev_desc(cache->dev)->pci_addr);
		SF_BROKEN(MMAP_005, mmap, "doca_task_submit", "a task of device %s has a buffer of it, and it lacks the device",
			  sf_dev_desc(cache->dev)->pci_addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (mmap->is_gpu_memory && (mmap->from_export || !cache->takes_gpu_memory)) {
		SF_LOG_ERR("buffer is GPU memory, which only kernels can access: copy it to host memory first");
		return DOCA_ERROR_NOT_SUPPORTED;
	}
	*slot = (struct sf_reg){.id = sf_mmap_id(mmap), .addr = (uintptr_t)mmap->addr, .len = mmap->len};
	slot->region = mmap->from_export ? entry->region : mmap->is_gpu_memory ? &gpu_memory : NULL;
	slot->network = mmap->from_export && (mmap->permissions & sf_mmap_export_flags(SF_MMAP_EXPORT_RDMA)) != 0;
	slot->readable = !mmap->from_export || (slot->region->rights & SF_RIGHT_READ) != 0;
	slot->writable = mmap->from_export ? (slot->region->rights & SF_RIGHT_WRITE) != 0 : (mmap->permissions & WRITABLE) != 0;
	*reg = slot;
	return DOCA_SUCCESS;
}

/* Copies between imported memory and this process's. */
static doca_error_t access_imported(struct sf_region *region, enum sf_op_kind kind, const uint8_t *remote, const void *here,
				    size_t len)
{
	struct sf_iov iov = {.addr = (void *)(uintptr_t)here, .len = len};
	struct sf_op op = {.kind = kind, .iov_num = 1, .iov = &iov, .remote_addr = (uintptr_t)remote};
	doca_error_t result = sf_region_access(region, &op);

	if (result != DOCA_ERROR_CONNECTION_ABORTED && result != DOCA_ERROR_TIME_OUT)
		return result;
	SF_LOG_ERR_LIMITED("imported memory at %p: %s", (const void *)remote,
			   result == DOCA_ERROR_TIME_OUT ? "its owner does not answer: is it stopped?"
							 : "its owner has ended the export, or has exited");
	return DOCA_ERROR_IO_FAILED;
}

/* ---- local operands of the network ---- */

static doca_error_t reg_check_owner(const struct sf_reg *reg)
{
	return reg->region == NULL || sf_region_ready(reg->region) == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

static doca_error_t find_here(struct sf_reg_cache *cache, struct doca_mmap *mmap, bool written, struct sf_mmap_here *here)
{
	return sf_mmap_find_here(mmap, (struct doca_dev *)(uintptr_t)cache->dev, written, here);
}

/* The data is there when this returns. */
static doca_error_t map_piece(struct sf_reg_cache *cache, struct doca_mmap *mmap, bool written, uint8_t **addr, size_t len)
{
	const struct sf_reg *reg;
	struct sf_mmap_here here;
	uint8_t *imported = *addr;
	doca_error_t result = sf_reg_get(cache, mmap, &reg);

	if (result != DOCA_SUCCESS || reg->region == NULL)
		return result;
	if (reg->network) {
		SF_LOG_ERR("the local buffer is a peer's memory: use this process's own, or memory that was exported over PCI");
		return DOCA_ERROR_INVALID_VALUE;
	}
	result = find_here(cache, mmap, written, &here);
	if (result != DOCA_SUCCESS)
		return result;
	*addr = here.addr + ((uintptr_t)imported - reg->addr);
	if (here.bounced && !written)
		return access_imported(reg->region, SF_OP_READ, imported, *addr, len);
	return reg_check_owner(reg);
}

doca_error_t sf_reg_map(struct sf_reg_cache *cache, struct doca_mmap *mmap, uint8_t **addr)
{
	return map_piece(cache, mmap, true, addr, 0);
}

doca_error_t sf_reg_copy_back_at(struct sf_reg_cache *cache, struct doca_mmap *mmap, const uint8_t *addr, size_t len)
{
	const struct sf_reg *reg;
	struct sf_mmap_here here;
	doca_error_t result = sf_reg_get(cache, mmap, &reg);

	if (result != DOCA_SUCCESS || reg->region == NULL || len == 0)
		return result;
	result = find_here(cache, mmap, true, &here);
	if (result != DOCA_SUCCESS || !here.bounced)
		return result;
	return access_imported(reg->region, SF_OP_WRITE, addr, here.addr + ((uintptr_t)addr - reg->addr), len);
}

doca_error_t sf_reg_copy_back(struct sf_reg_cache *cache, const struct doca_buf *buf, uint64_t len)
{
	doca_error_t result = DOCA_SUCCESS;

	for (; buf != NULL && len != 0 && result == DOCA_SUCCESS; buf = buf->next) {
		size_t room = sf_buf_tailroom(buf), part = room < len ? room : (size_t)len;

		result = sf_reg_copy_back_at(cache, buf->mmap, buf->data + buf->data_len, part);
		len -= part;
	}
	return result;
}

/* ---- lists of bufs ---- */

static doca_error_t rights_reject(const struct doca_mmap *mmap, const char *what)
{
	if (mmap->from_export)
		SF_LOG_ERR_LIMITED("imported memory cannot be a %s: its exporter did not permit it", what);
	else
		SF_LOG_ERR("memory cannot be a %s: its memory map has no DOCA_ACCESS_FLAG_LOCAL_READ_WRITE", what);
	if (mmap->from_export)
		SF_BROKEN(MMAP_004, mmap, "doca_task_submit",
			  "a task has it as its %s, and its exporter did not permit it: it has 0x%x", what, mmap->permissions);
	else
		SF_BROKEN(MMAP_004, mmap, "doca_task_submit",
			  "a task has it as its %s, and its permissions, 0x%x, lack DOCA_ACCESS_FLAG_LOCAL_READ_WRITE", what,
			  mmap->permissions);
	return DOCA_ERROR_NOT_PERMITTED;
}

static doca_error_t list_add(struct sf_reg_list *list, const struct sf_reg *reg, uint8_t *addr, size_t len)
{
	if (!sf_reg_contains(reg, addr, len)) {
		SF_LOG_ERR("buffer's %zu bytes at %p reach out of its memory map, which has %zu at %p", len, (void *)addr,
			   reg->len, (void *)reg->addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (len > SF_REG_LEN_MAX - list->len) {
		SF_LOG_ERR("buffers hold more than %llu bytes, the maximum of one task", (unsigned long long)SF_REG_LEN_MAX);
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (len != 0)
		list->pieces[list->num++] = (struct sf_reg_piece){addr, len, reg->region};
	list->len += len;
	return DOCA_SUCCESS;
}

static doca_error_t check_list_len(const struct doca_buf *buf)
{
	uint32_t num = 0;

	for (; buf != NULL && num <= SF_REG_LIST_MAX; buf = buf->next)
		num++;
	if (num <= SF_REG_LIST_MAX)
		return DOCA_SUCCESS;
	SF_LOG_ERR("a list of more than %d buffers: shorten it", SF_REG_LIST_MAX);
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t sf_reg_source(struct sf_reg_cache *cache, const struct doca_buf *buf, struct sf_reg_list *list)
{
	doca_error_t result = check_list_len(buf);
	const struct sf_reg *reg;

	list->num = 0;
	list->len = 0;
	for (; result == DOCA_SUCCESS && buf != NULL; buf = buf->next) {
		result = sf_reg_get(cache, buf->mmap, &reg);
		if (result == DOCA_SUCCESS && !reg->readable)
			result = rights_reject(buf->mmap, "source");
		if (result == DOCA_SUCCESS)
			result = list_add(list, reg, buf->data, buf->data_len);
	}
	return result;
}

doca_error_t sf_reg_destination(struct sf_reg_cache *cache, const struct doca_buf *buf, uint64_t len, struct sf_reg_list *list)
{
	doca_error_t result = check_list_len(buf);
	const struct sf_reg *reg;

	list->num = 0;
	list->len = 0;
	for (; result == DOCA_SUCCESS && buf != NULL && list->len < len; buf = buf->next) {
		size_t room = sf_buf_tailroom(buf);

		result = sf_reg_get(cache, buf->mmap, &reg);
		if (result == DOCA_SUCCESS && !reg->writable)
			result = rights_reject(buf->mmap, "destination");
		if (result == DOCA_SUCCESS)
			result = list_add(list, reg, buf->data + buf->data_len, room < len - list->len ? room : len - list->len);
	}
	if (result == DOCA_SUCCESS && list->len < len) {
		SF_LOG_ERR("destination has room for %llu bytes after its data, and the result has %llu: give a larger buffer, "
			   "or reset its "
			   "data length",
			   (unsigned long long)list->len, (unsigned long long)len);
		result = DOCA_ERROR_INVALID_VALUE;
	}
	return result;
}

doca_error_t sf_reg_destination_anew(struct sf_reg_cache *cache, struct doca_buf *buf, uint64_t len, struct sf_reg_list *list)
{
	size_t kept[SF_REG_LIST_MAX];
	uint32_t num = 0;

	for (struct doca_buf *at = buf; at != NULL && num < SF_REG_LIST_MAX; at = at->next) {
		kept[num++] = at->data_len;
		at->data_len = 0;
	}
	doca_error_t result = sf_reg_destination(cache, buf, len, list);
	for (uint32_t i = 0; i < num; buf = buf->next)
		buf->data_len = kept[i++];
	return result;
}

void sf_reg_empty(struct doca_buf *buf)
{
	for (; buf != NULL; buf = buf->next)
		buf->data_len = 0;
}

/* Pieces and bufs are in one order; a buf without bytes has no piece. */
doca_error_t sf_reg_map_list(struct sf_reg_cache *cache, const struct doca_buf *buf, bool destination, struct sf_reg_list *list)
{
	doca_error_t result = DOCA_SUCCESS;

	for (uint32_t i = 0; i < list->num && result == DOCA_SUCCESS; buf = buf->next) {
		struct sf_reg_piece *piece = &list->pieces[i];

		if ((destination ? sf_buf_tailroom(buf) : buf->data_len) == 0)
			continue;
		result = map_piece(cache, buf->mmap, destination, &piece->addr, piece->len);
		piece->region = NULL;
		i++;
	}
	return result;
}

doca_error_t sf_reg_check_mapped(struct sf_reg_cache *cache, const struct doca_buf *buf)
{
	const struct sf_reg *reg;
	doca_error_t result = DOCA_SUCCESS;

	for (; buf != NULL && result == DOCA_SUCCESS; buf = buf->next) {
		result = sf_reg_get(cache, buf->mmap, &reg);
		if (result == DOCA_SUCCESS)
			result = reg_check_owner(reg);
	}
	return result;
}

void sf_reg_grow(struct doca_buf *buf, uint64_t len)
{
	for (; buf != NULL && len != 0; buf = buf->next) {
		size_t room = sf_buf_tailroom(buf), part = room < len ? room : (size_t)len;

		buf->data_len += part;
		len -= part;
	}
}

/* ---- bytes ---- */

/* The address of byte number at of a list, and the number of bytes that follow it there. */
struct place {
	const struct sf_reg_piece *piece;
	size_t offset;
};

static struct place place_at(const struct sf_reg_list *list, uint64_t at)
{
	const struct sf_reg_piece *piece = list->pieces;

	for (; at >= piece->len; piece++)
		at -= piece->len;
	return (struct place){piece, (size_t)at};
}

static void place_advance(struct place *place, size_t len)
{
	place->offset += len;
	if (place->offset == place->piece->len)
		*place = (struct place){place->piece + 1, 0};
}

static size_t place_room(const struct place *place)
{
	return place->piece->len - place->offset;
}

static uint8_t *place_addr(const struct place *place)
{
	return place->piece->addr + place->offset;
}

/* Copies from, or to, a place that plain loads and stores do not access. */
static doca_error_t place_load(const struct place *from, size_t at, void *here, size_t len)
{
	if (from->piece->region == &gpu_memory)
		return sf_gpu_copy(here, place_addr(from) + at, len);
	return access_imported(from->piece->region, SF_OP_READ, place_addr(from) + at, here, len);
}

static doca_error_t place_store(const struct place *to, size_t at, const void *here, size_t len)
{
	if (to->piece->region == &gpu_memory)
		return sf_gpu_copy(place_addr(to) + at, here, len);
	return access_imported(to->piece->region, SF_OP_WRITE, place_addr(to) + at, here, len);
}

static doca_error_t copy_by_bounce(const struct place *to, const struct place *from, size_t len)
{
	uint8_t bounce[BOUNCE_SIZE];
	doca_error_t result = DOCA_SUCCESS;
	size_t part;

	for (size_t at = 0; at < len && result == DOCA_SUCCESS; at += part) {
		part = len - at < sizeof(bounce) ? len - at : sizeof(bounce);
		result = place_load(from, at, bounce, part);
		if (result == DOCA_SUCCESS)
			result = place_store(to, at, bounce, part);
	}
	return result;
}

static doca_error_t copy_stretch(const struct place *to, const struct place *from, size_t len)
{
	if (to->piece->region == &gpu_memory && from->piece->region == &gpu_memory)
		return sf_gpu_copy(place_addr(to), place_addr(from), len);
	if (to->piece->region != NULL && from->piece->region != NULL)
		return copy_by_bounce(to, from, len);
	if (to->piece->region != NULL)
		return place_store(to, 0, place_addr(from), len);
	if (from->piece->region != NULL)
		return place_load(from, 0, place_addr(to), len);
	memmove(place_addr(to), place_addr(from), len); /* a program may make them overlap */
	return DOCA_SUCCESS;
}

doca_error_t sf_reg_copy(const struct sf_reg_list *to, const struct sf_reg_list *from, uint64_t at, uint64_t len)
{
	struct place source = place_at(from, at), destination = place_at(to, at);
	doca_error_t result = DOCA_SUCCESS;

	while (len != 0 && result == DOCA_SUCCESS) {
		size_t part = place_room(&source);

		if (part > place_room(&destination))
			part = place_room(&destination);
		if (part > len)
			part = (size_t)len;
		result = copy_stretch(&destination, &source, part);
		len -= part;
		if (len == 0)
			break;
		place_advance(&source, part);
		place_advance(&destination, part);
	}
	return result;
}

static doca_error_t read_imported(const struct place *from, size_t len, void (*consume)(void *arg, const void *bytes, size_t len),
				  void *arg)
{
	uint8_t bounce[BOUNCE_SIZE];
	size_t part;

	for (size_t at = 0; at < len; at += part) {
		part = len - at < sizeof(bounce) ? len - at : sizeof(bounce);

		doca_error_t result = access_imported(from->piece->region, SF_OP_READ, place_addr(from) + at, bounce, part);

		if (result != DOCA_SUCCESS)
			return result;
		consume(arg, bounce, part);
	}
	return DOCA_SUCCESS;
}

doca_error_t sf_reg_read(const struct sf_reg_list *from, uint64_t at, uint64_t len,
			 void (*consume)(void *arg, const void *bytes, size_t len), void *arg)
{
	doca_error_t result = DOCA_SUCCESS;

	if (len == 0)
		return DOCA_SUCCESS;
	for (struct place source = place_at(from, at); result == DOCA_SUCCESS;) {
		size_t part = place_room(&source) < len ? place_room(&source) : (size_t)len;

		if (source.piece->region != NULL)
			result = read_imported(&source, part, consume, arg);
		else
			consume(arg, place_addr(&source), part);
		len -= part;
		if (len == 0)
			break;
		place_advance(&source, part);
	}
	return result;
}

doca_error_t sf_reg_write(const struct sf_reg_list *to, const void *bytes, size_t len)
{
	const uint8_t *from = bytes;
	doca_error_t result = DOCA_SUCCESS;

	for (const struct sf_reg_piece *piece = to->pieces; len != 0 && result == DOCA_SUCCESS; piece++) {
		size_t part = piece->len < len ? piece->len : len;

		if (piece->region != NULL)
			result = access_imported(piece->region, SF_OP_WRITE, piece->addr, from, part);
		else
			memcpy(piece->addr, from, part);
		from += part;
		len -= part;
	}
	return result;
}
