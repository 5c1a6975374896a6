/* SPDX-License-Identifier: BSD-3-Clause */
/* The private part of a mmap, for the files of src/mem. */
#ifndef SF_MEM_MMAP_PRIVATE_H
#define SF_MEM_MMAP_PRIVATE_H

#include <pthread.h>

#include "fabric/key.h"
#include "mem/mmap.h"
#include "mem/mmap_descriptor.h"

#define SF_MMAP_DEVICES_DEFAULT 32
#define SF_MMAP_DEVICES_MAX 4096

/* A device of the mmap, and the mmap's state in it. */
struct sf_mmap_dev {
	struct doca_dev *dev;
	struct sf_region *region; /* registered on first use, or imported; closed by stop */
	struct sf_region *here;	  /* the region of imported memory in this process, for receives; created on first use */
	void *bounce[2];     /* for imported memory that cannot be mapped: to read from, and to write to; created on first use */
	uint32_t mkey;	     /* created on first use; freed by stop */
	bool has_token;	     /* the program set it (mmap_token.c) */
	struct sf_key token; /* the token that importers present then; otherwise it is random */
	struct {
		struct sf_region *region; /* its rights are those of the kind of export */
		void *descriptor;
		size_t descriptor_len;
	} exports[SF_MMAP_EXPORTS]; /* created on first use; valid until stop */
};

struct doca_mmap {
	struct sf_mmap_head head;
	/* The range in which bufs may lie: the memory range while started, otherwise empty and at the end of all addresses. It is
	 * in the first cache line, because every new buf reads it. */
	uintptr_t live_addr;
	size_t live_len;
	uint32_t num_bufs; /* not counted when thread_safe */
	bool thread_safe;

	bool started;
	bool was_started; /* once at least */
	bool from_export;
	bool exported[SF_MMAP_EXPORTS];
	bool is_gpu_memory;
	bool has_range;
	void *addr;
	size_t len;
	uint32_t permissions;
	union doca_data user_data;

	doca_mmap_memrange_free_cb_t *free_cb;
	void *free_cookie;
	bool free_due; /* started since free_cb was set */

	uint32_t max_devs;
	uint32_t num_devs;
	struct sf_mmap_dev *devs; /* regions, keys and descriptors in it guarded by lock */
	uint32_t holds;		  /* guarded by lock */
	void *origin;		  /* from_export: the descriptor of the memory, with which it can be imported again */
	size_t origin_len;
	pthread_mutex_t lock;
};

/* Returns true if bufs may use the range. */
static inline bool sf_mmap_is_live(const struct doca_mmap *mmap, const void *addr, size_t len)
{
	uintptr_t offset = (uintptr_t)addr - mmap->live_addr;

	return offset <= mmap->live_len && len <= mmap->live_len - offset;
}

static inline void sf_mmap_set_live(struct doca_mmap *mmap, void *addr, size_t len)
{
	mmap->live_addr = (uintptr_t)addr;
	mmap->live_len = len;
}

/* Starts the mmap: its range may be used from here on, and it has a new id. */
void sf_mmap_set_started(struct doca_mmap *mmap);

static inline void sf_mmap_buf_made(struct doca_mmap *mmap)
{
	if (!mmap->thread_safe)
		mmap->num_bufs++;
}

static inline void sf_mmap_buf_gone(struct doca_mmap *mmap)
{
	if (!mmap->thread_safe)
		mmap->num_bufs--;
}

/* The device's entry, or NULL. */
struct sf_mmap_dev *sf_mmap_dev_find(const struct doca_mmap *mmap, const struct doca_dev *dev);

static inline bool sf_mmap_is_exported(const struct doca_mmap *mmap)
{
	return mmap->exported[SF_MMAP_EXPORT_PCI] || mmap->exported[SF_MMAP_EXPORT_RDMA];
}

/* The rights that others have in the fabric to memory with these permissions. */
uint32_t sf_mmap_rights(uint32_t permissions);

/* Creates an empty, unstarted mmap; NULL, logged, without memory. */
struct doca_mmap *sf_mmap_new(void);
void sf_mmap_free(struct doca_mmap *mmap);

#endif
