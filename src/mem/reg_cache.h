/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registration cache: how the CPU accesses the bytes of bufs, whether their memory maps are of this process or imported. A
 * memory map is looked up once and stays cached for as long as its sf_mmap_id is the same. A list of bufs is a run of bytes,
 * which is copied as one.
 */
#ifndef SF_MEM_REG_CACHE_H
#define SF_MEM_REG_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/visibility.h"
#include "mem/buf.h"
#include "mem/mmap.h"

#define SF_REG_SLOTS 32			   /* memory maps in the cache */
#define SF_REG_LIST_MAX 64		   /* bufs of a list */
#define SF_REG_LEN_MAX (UINT64_C(1) << 31) /* bytes of a list: the maximum of one operation of the fabric */

#define SF_REG_NONE UINT64_MAX /* no memory map's sf_mmap_id, not even that of a stopped one */

struct sf_reg {
	uint64_t id; /* sf_mmap_id of the memory map, or SF_REG_NONE */
	uintptr_t addr;
	size_t len;
	struct sf_region *region; /* imported memory, or a real GPU's; NULL: this process's own, for plain loads and stores */
	bool readable, writable;
	bool network; /* imported from an export for RDMA: a peer's memory, never a local operand */
};

struct sf_reg_cache {
	const struct doca_dev *dev;
	bool takes_gpu_memory; /* the library copies by sf_reg_copy alone, which accesses a real GPU's memory too */
	struct sf_reg slot[SF_REG_SLOTS];
};

SF_API void sf_reg_cache_init(struct sf_reg_cache *cache, const struct doca_dev *dev);

/* Looks the mmap up and caches it. INVALID_VALUE: the mmap lacks the device, or is not started; NOT_SUPPORTED: memory of a real
 * GPU, unless the cache takes it. */
SF_API doca_error_t sf_reg_find(struct sf_reg_cache *cache, struct doca_mmap *mmap, const struct sf_reg **reg);

/* The mmap's entry, valid until the next lookup. */
static inline doca_error_t sf_reg_get(struct sf_reg_cache *cache, struct doca_mmap *mmap, const struct sf_reg **reg)
{
	uint64_t id = sf_mmap_id(mmap);
	const struct sf_reg *slot = &cache->slot[id % SF_REG_SLOTS];

	if (__builtin_expect(slot->id != id, 0))
		return sf_reg_find(cache, mmap, reg);
	*reg = slot;
	return DOCA_SUCCESS;
}

/* The same if it is cached, else NULL. Logs nothing. */
static inline const struct sf_reg *sf_reg_known(const struct sf_reg_cache *cache, const struct doca_mmap *mmap)
{
	uint64_t id = sf_mmap_id(mmap);
	const struct sf_reg *slot = &cache->slot[id % SF_REG_SLOTS];

	return slot->id == id ? slot : NULL;
}

/*
 * The same for a caller that looks up several memory maps: *last is the slot of the last hit, at first any slot. That slot is
 * tried first, without a search.
 */
static inline const struct sf_reg *sf_reg_known_by(const struct sf_reg_cache *cache, const struct sf_reg **last,
						   const struct doca_mmap *mmap)
{
	if (__builtin_expect((*last)->id == sf_mmap_id(mmap), 1))
		return *last;

	const struct sf_reg *slot = sf_reg_known(cache, mmap);

	if (slot != NULL)
		*last = slot;
	return slot;
}

static inline bool sf_reg_contains(const struct sf_reg *reg, const void *addr, size_t len)
{
	uintptr_t offset = (uintptr_t)addr - reg->addr;

	return offset <= reg->len && len <= reg->len - offset;
}

/* Translates *addr, an address of the mmap, into one of this process: the local operand of a network operation that writes there.
 * Memory that was exported over PCI is accessed through a mapping, or without one through a bounce buffer: then call
 * sf_reg_copy_back_at afterwards. Logged: INVALID_VALUE, exported for RDMA; IO_FAILED, its owner ended the export; NO_MEMORY. */
SF_API doca_error_t sf_reg_map(struct sf_reg_cache *cache, struct doca_mmap *mmap, uint8_t **addr);

/* ---- lists ---- */

struct sf_reg_piece {
	uint8_t *addr;		  /* in the mmap */
	size_t len;		  /* not 0 */
	struct sf_region *region; /* imported memory, or a real GPU's; or NULL */
};

/* The data sections of a source, or the tailrooms of a destination, one after the other. */
struct sf_reg_list {
	uint32_t num;
	uint64_t len;
	struct sf_reg_piece pieces[SF_REG_LIST_MAX];
};

/* Resolve a list of bufs. INVALID_VALUE: more than SF_REG_LIST_MAX bufs or SF_REG_LEN_MAX bytes, or a buf that extends past its
 * mmap; NOT_PERMITTED: the rights of the mmap; and the errors of sf_reg_find. Errors are logged. A destination is resolved only
 * as far as len bytes need; INVALID_VALUE if it has fewer. */
SF_API doca_error_t sf_reg_source(struct sf_reg_cache *cache, const struct doca_buf *buf, struct sf_reg_list *list);
SF_API doca_error_t sf_reg_destination(struct sf_reg_cache *cache, const struct doca_buf *buf, uint64_t len,
				       struct sf_reg_list *list);

/* Makes every piece one of this process, as sf_reg_map does. buf is the source or destination of the list. Copies the bytes of a
 * source into bounce buffers. */
SF_API doca_error_t sf_reg_map_list(struct sf_reg_cache *cache, const struct doca_buf *buf, bool destination,
				    struct sf_reg_list *list);
/* Call afterwards: returns IO_FAILED if the mapped memory did not stay its owner's to the end. */
SF_API doca_error_t sf_reg_check_mapped(struct sf_reg_cache *cache, const struct doca_buf *buf);
/* Call after len bytes were written to the tailrooms of bufs that sf_reg_map_list, or sf_reg_map, mapped here. Copies those in a
 * bounce buffer to their owner. IO_FAILED, logged, as with sf_reg_copy. */
SF_API doca_error_t sf_reg_copy_back(struct sf_reg_cache *cache, const struct doca_buf *buf, uint64_t len);
/* The same for len bytes at one address of a mmap. */
SF_API doca_error_t sf_reg_copy_back_at(struct sf_reg_cache *cache, struct doca_mmap *mmap, const uint8_t *addr, size_t len);

/* Up to len bytes from at on; all of [at, at + len) must be in every list. IO_FAILED, logged: the owner of imported memory died,
 * ended the export, or does not answer. Any thread. */
SF_API doca_error_t sf_reg_copy(const struct sf_reg_list *to, const struct sf_reg_list *from, uint64_t at, uint64_t len);

/* Calls consume for each stretch of the bytes [at, at + len) in order. Bytes of imported memory are fetched first. */
SF_API doca_error_t sf_reg_read(const struct sf_reg_list *from, uint64_t at, uint64_t len,
				void (*consume)(void *arg, const void *bytes, size_t len), void *arg);

/* Same as sf_reg_destination, as if the bufs had no data: overwrites from the beginning of their data. */
SF_API doca_error_t sf_reg_destination_anew(struct sf_reg_cache *cache, struct doca_buf *buf, uint64_t len,
					    struct sf_reg_list *list);

/* Sets the data length of all bufs of a list to 0. */
SF_API void sf_reg_empty(struct doca_buf *buf);

/* Writes plain memory to the beginning of the list. */
SF_API doca_error_t sf_reg_write(const struct sf_reg_list *to, const void *bytes, size_t len);

/* len bytes were written to the destination: its data sections grow. */
SF_API void sf_reg_grow(struct doca_buf *buf, uint64_t len);

#endif
