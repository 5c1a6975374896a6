/* SPDX-License-Identifier: BSD-3-Clause */
/* The devices and representors that values of DEVICE and DEVICE_REP flags name. */
#ifndef SF_ARGP_DEVICE_H
#define SF_ARGP_DEVICE_H

#include <stdbool.h>

#include "argp/param.h"

struct sf_argp_device {
	struct doca_argp_device_rep_ctx ctx; /* what the flag's callback gets; of a DEVICE flag its dev_ctx */
	bool is_ours;			     /* the device was opened here, not by the program's callback */
};

/* INVALID_VALUE, reported: the text has not the form of the flag's type. */
doca_error_t sf_argp_device_check(const struct doca_argp_param *param, const char *text);

/* Opens what a text of the right form names. Reports what is missing. devargs points into text. */
doca_error_t sf_argp_device_open(struct sf_argp_device *device, const struct doca_argp_param *param, const char *text);

/* Undoes that, for a program that does not take it. */
void sf_argp_device_close(struct sf_argp_device *device);

/* The program's way to open devices; NULL for doca_dev_open. Forgets which it has opened. */
void sf_argp_device_set_open(doca_argp_dev_open_cb_t callback, void *usr_ctx);

#endif
