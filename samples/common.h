/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers for all samples: a log, a device, waiting with a timeout, and files that pass bytes to another process. */
#ifndef SAMPLES_COMMON_H
#define SAMPLES_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_pe.h>

/* Timeout of all waits, in seconds. */
#define SAMPLE_PATIENCE_SECONDS 30

/* Logs the SDK's warnings and errors to stderr. */
doca_error_t sample_log_to_stderr(void);

/* Prints to stderr what failed and why. Returns status, so that a function can return the result. */
doca_error_t sample_failed(const char *what, doca_error_t status);

/* Opens the first device with the address (NULL: any) for which supports (may be NULL) returns SUCCESS. */
doca_error_t sample_open_device(const char *pci_address, doca_error_t (*supports)(const struct doca_devinfo *devinfo),
				struct doca_dev **dev);

/* Opens the representor with that address on a DPU's device; NULL: the first. */
doca_error_t sample_open_representor(struct doca_dev *dev, const char *pci_address, struct doca_dev_rep **rep);

/* Runs the progress engine until *done. TIME_OUT after SAMPLE_PATIENCE_SECONDS. */
doca_error_t sample_progress_until(struct doca_pe *pe, const bool *done);

/* Writes bytes to a file for another process, which sees all of them or none. */
doca_error_t sample_leave(const char *path, const void *data, size_t len);

/* Waits for a file that sample_leave wrote, and reads it. TOO_BIG: it has more than room bytes. */
doca_error_t sample_await(const char *path, void *data, size_t room, size_t *len);

#endif
