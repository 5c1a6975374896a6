/* SPDX-License-Identifier: BSD-3-Clause */
/* Opened devices and representors, as the libraries see them. */
#ifndef SF_CORE_DEV_H
#define SF_CORE_DEV_H

#include <doca_dev.h>

#include "base/visibility.h"
#include "fabric/fabric.h"
#include "topology/topology.h"

/* The device's description. Valid until the process ends. */
SF_API const struct sf_device *sf_dev_desc(const struct doca_dev *dev);
SF_API const struct sf_device *sf_devinfo_desc(const struct doca_devinfo *devinfo);
/* The host function that the representor stands for, and the DPU device on which it was listed. */
SF_API const struct sf_device *sf_dev_rep_desc(const struct doca_dev_rep *rep);
SF_API const struct doca_dev *sf_dev_rep_dev(const struct doca_dev_rep *rep);

/* A held device cannot be closed: the doca_dev_close of the last open returns IN_USE. Any thread. */
SF_API void sf_dev_hold(struct doca_dev *dev);
SF_API void sf_dev_release(struct doca_dev *dev);
SF_API void sf_dev_rep_hold(struct doca_dev_rep *rep);
SF_API void sf_dev_rep_release(struct doca_dev_rep *rep);

/* On a node that is a machine of the topology: from here on this process connects to the other machines. The file may describe
 * them wrongly: NOT_FOUND, BAD_CONFIG; logged. */
SF_API doca_error_t sf_dev_join(void);

/* The device's domain, opened on first use and closed with the device. */
SF_API doca_error_t sf_dev_domain(struct doca_dev *dev, struct sf_domain **domain);

#endif
