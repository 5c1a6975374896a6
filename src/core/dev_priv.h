/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by dev.c, devinfo.c and dev_rep.c only: libraries include core/dev.h. */
#ifndef SF_CORE_DEV_PRIV_H
#define SF_CORE_DEV_PRIV_H

#include <pthread.h>

#include "base/thread_safety.h"
#include "core/dev.h"

/* An RDMA device here has one port of its own; its representors count from the next number on. */
#define SF_UPLINK_IB_PORT 1

/* One element of a list, or the info part of an opened device. */
struct doca_devinfo {
	const struct sf_device *desc;
};

struct doca_devinfo_rep {
	const struct sf_device *desc; /* the host function */
	struct doca_dev *dev;	      /* the DPU port; pinned */
};

/* Guards the lists of opened devices and representors and their counts. */
extern pthread_mutex_t sf_dev_lock;

struct doca_dev {
	struct doca_devinfo info;
	struct doca_dev *next;
	uint32_t opens GUARDED_BY(sf_dev_lock); /* opens by the program, each of which needs a close */
	uint32_t holds GUARDED_BY(sf_dev_lock); /* holds by libraries: while there are any, it cannot be closed */
	uint32_t pins GUARDED_BY(sf_dev_lock);	/* holds by representors: it may be closed, but its memory stays */
	pthread_mutex_t domain_lock;
	struct sf_domain *domain GUARDED_BY_MEMBER(domain_lock);
};

/* Keeps the memory of a device, whether opened or not. */
void sf_dev_pin(struct doca_dev *dev) REQUIRES(sf_dev_lock);
void sf_dev_unpin(struct doca_dev *dev) REQUIRES(sf_dev_lock);

static inline enum doca_pci_func_type sf_function_type(const struct sf_device *desc)
{
	switch (desc->kind) {
	case SF_FUNCTION_VF:
		return DOCA_PCI_FUNC_TYPE_VF;
	case SF_FUNCTION_SF:
		return DOCA_PCI_FUNC_TYPE_SF;
	default:
		return DOCA_PCI_FUNC_TYPE_PF;
	}
}

/* For doca_devinfo(_rep)_is_equal_pci_addr. */
doca_error_t sf_dev_compare_pci(const struct sf_device *desc, const char *text, uint8_t *is_equal);

/* The kernel's index of the interface of that name. INVALID_VALUE, logged: the kernel has none. */
doca_error_t sf_dev_iface_index(const struct sf_device *desc, const char *iface, uint32_t *index);

/* NOT_FOUND, logged: the device has no Data Direct function. */
doca_error_t sf_dev_no_data_direct(const struct sf_device *desc);

/* Copies a property to a caller's memory of size bytes, which must be at least size_min. */
doca_error_t sf_dev_copy_out(const char *what, void *out, uint32_t size, uint32_t size_min, const void *value, size_t len);

#endif
