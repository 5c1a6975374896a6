/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by both sides of the sync event sample: options, signalling and waiting in both modes. */
#ifndef SAMPLES_SYNC_EVENT_COMMON_H
#define SAMPLES_SYNC_EVENT_COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include <doca_pe.h>
#include <doca_sync_event.h>

#define EXPORT_SIZE_MAX 1024

struct options {
	char pci_address[32];
	char file[256]; /* that passes the export */
	bool async;	/* tasks on a progress engine instead of blocking calls */
	bool atomic;	/* signal by adding, instead of setting */
};

/* The main function: reads the options, opens the device, which supports must accept, and calls run. */
int side_main(int argc, char **argv, const char *name, doca_error_t (*supports)(const struct doca_devinfo *devinfo),
	      doca_error_t (*run)(const struct options *options, struct doca_dev *dev));

/* An event in the mode of the options. */
struct side {
	const struct options *options;
	struct doca_sync_event *event;
	struct doca_pe *pe;  /* of the asynchronous mode */
	bool done;	     /* the task in flight has completed */
	doca_error_t status; /* of that task */
};

doca_error_t side_start(struct side *side);

/* Raises the event by 1, to the value. */
doca_error_t side_signal(struct side *side, uint64_t value);

/* Waits until the event has the value. */
doca_error_t side_wait(struct side *side, uint64_t value);

/* Stops the event and destroys it. */
void side_end(struct side *side);

#endif
