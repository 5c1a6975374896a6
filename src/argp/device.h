/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the devices and representors that values of DEVICE and DEVICE_REP flags name. */
#ifndef SF_ARGP_DEVICE_H
#define SF_ARGP_DEVICE_H

#include <stdbool.h>

#include "argp/param.h"

struct sf_argp_device {
	struct doca_argp_device_rep_ctx ctx; /* passed to the flag's callback; for a DEVICE flag only its dev_ctx */
	bool is_ours;			     /* opened here, not by the program's callback */
};

/* INVALID_VALUE, reported, if the text lacks the form of the flag's type. */
doca_error_t sf_argp_device_check(const struct doca_argp_param *param, const char *text);

/* Opens the device that a well-formed text names. Reports errors. devargs points into text. */
doca_error_t sf_argp_device_open(struct sf_argp_device *device, const struct doca_argp_param *param, const char *text);

/* Closes it again, if the program's callback rejects it. */
void sf_argp_device_close(struct sf_argp_device *device);

/* Sets the program's callback to open devices; NULL for doca_dev_open. Forgets the devices that the earlier one opened. */
void sf_argp_device_set_open(doca_argp_dev_open_cb_t callback, void *usr_ctx);

#endif
