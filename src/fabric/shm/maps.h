/* SPDX-License-Identifier: BSD-3-Clause */
/* The mappings of this process, from /proc/self/maps. */
#ifndef SF_FABRIC_SHM_MAPS_H
#define SF_FABRIC_SHM_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <doca_error.h>

struct sf_vma {
	uintptr_t start, end; /* clipped to the range asked for */
	uint64_t offset;      /* of start in its file */
	dev_t dev;
	ino_t inode; /* 0: no file behind it */
	int prot;    /* PROT_* */
	bool shared;
	bool special; /* the main stack, the kernel's own pages */
};

/* The mappings in [start, end), by address. The caller frees *mappings. */
doca_error_t sf_maps_read(uintptr_t start, uintptr_t end, struct sf_vma **mappings, uint32_t *num);

#endif
