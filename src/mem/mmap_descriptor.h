/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes that a program passes from the exporter of a memory map to the importer: the memory map's attributes, and the
 * fabric's own descriptor of the region. Position-independent, versioned, checksummed. The reader checks every field.
 */
#ifndef SF_MEM_MMAP_DESCRIPTOR_H
#define SF_MEM_MMAP_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>

#include "fabric/fabric.h"

#define SF_MMAP_DEVICE_MAX 96 /* a device's key, with its NUL */
#define SF_MMAP_DESCRIPTOR_HEADER (48 + SF_MMAP_DEVICE_MAX)
#define SF_MMAP_DESCRIPTOR_MAX (SF_MMAP_DESCRIPTOR_HEADER + SF_DESCRIPTOR_MAX)

enum sf_mmap_export { SF_MMAP_EXPORT_PCI, SF_MMAP_EXPORT_RDMA, SF_MMAP_EXPORTS };

struct sf_mmap_descriptor {
	enum sf_mmap_export kind;
	uint32_t permissions;		 /* enum doca_access_flag values of that kind */
	bool is_gpu_memory;		 /* memory of a real GPU: region is the GPU library's descriptor */
	uint64_t addr, len;		 /* in the exporter */
	char device[SF_MMAP_DEVICE_MAX]; /* the key of the device that it was exported on */
	const void *region;		 /* the fabric's descriptor */
	size_t region_len;		 /* up to SF_DESCRIPTOR_MAX */
};

/* Returns how many of the SF_MMAP_DESCRIPTOR_MAX bytes were written. */
size_t sf_mmap_descriptor_pack(const struct sf_mmap_descriptor *descriptor, uint8_t bytes[SF_MMAP_DESCRIPTOR_MAX]);

/* INVALID_VALUE, logged: not a descriptor, truncated, altered, or of another version. region points into bytes. */
doca_error_t sf_mmap_descriptor_unpack(const void *bytes, size_t len, struct sf_mmap_descriptor *descriptor);

/* The rights that an export of that kind passes on. */
uint32_t sf_mmap_export_flags(enum sf_mmap_export kind);

#endif
