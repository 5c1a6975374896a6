/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of another node's event, imported. */
#ifndef SF_SYNC_EVENT_IMPORT_H
#define SF_SYNC_EVENT_IMPORT_H

#include "core/dev.h"
#include "sync_event/cell.h"
#include "sync_event/descriptor.h"

struct sf_event_import {
	struct sf_region *page, *word; /* word is NULL when it is in the page */
	uint64_t word_addr;	       /* the owner's */
	struct sf_cell_page *mapped;   /* the page as mapped here; NULL if it cannot be mapped */
	struct sf_cell_page *own;      /* for local sleepers if the page cannot be mapped; else NULL */
	bool held;		       /* mapped is a page of this process */
};

/* Unpacks and imports. INVALID_VALUE: not such a descriptor, altered, stale, of a dead exporter, or of a device that dev does not
 * reach. NOT_SUPPORTED, NO_MEMORY. Logged. */
doca_error_t sf_event_regions_import(struct doca_dev *dev, const void *bytes, size_t len, enum sf_event_export kind,
				     struct sf_event_import *import);
void sf_event_regions_close(struct sf_event_import *import);

#endif
