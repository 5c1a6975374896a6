/* SPDX-License-Identifier: BSD-3-Clause */
/* A UROM service for one test, in a runtime folder of its own, and the contexts of a program that uses it. */
#ifndef TEST_UROM_RIG_H
#define TEST_UROM_RIG_H

#include <stdbool.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_pe.h>
#include <doca_urom.h>

#include "base/clock.h"
#include "support/program.h"

#define UROM_RIG_WAIT_NS UINT64_C(60000000000) /* only a hang takes longer, even on a busy machine */

#define PUBLISHED_VERSION 1 /* of NVIDIA's plugins with the names of ours, whose messages have other forms */

struct urom_rig {
	char folder[64];
	char service_file[96];
	struct program daemon;
	unsigned port;
	struct doca_dev *dev;
	struct doca_pe *pe;
	struct doca_urom_service *service;
};

/* Starts the daemon, with at most four more arguments and a final NULL, and writes the service file. */
bool urom_rig_start_daemon(struct urom_rig *rig, const char *const *more);
/* Ends the daemon by SIGTERM; returns the exit status as program_wait does. */
int urom_rig_end_daemon(struct urom_rig *rig);

/* Starts the daemon, and a service context until it is RUNNING. */
bool urom_rig_open(struct urom_rig *rig, const char *const *more);
void urom_rig_close(struct urom_rig *rig);

/* A service context that is not started. */
struct doca_urom_service *urom_rig_service(struct urom_rig *rig);
/* A worker context with the plugin, not started; id DOCA_UROM_WORKER_ID_ANY for any. */
struct doca_urom_worker *urom_rig_worker(struct urom_rig *rig, uint64_t id, const char *plugin);
/* Returns the plugin's id; 0: no such plugin. */
uint64_t urom_rig_plugin(struct urom_rig *rig, const char *name);
/* Returns the plugin's version; 0: no such plugin. */
uint64_t urom_rig_plugin_version(struct urom_rig *rig, const char *name);

/* Progresses until the context has that state. False: the deadline passed. */
bool urom_rig_await(struct urom_rig *rig, struct doca_ctx *ctx, enum doca_ctx_states state);
bool urom_rig_start_worker(struct urom_rig *rig, struct doca_urom_worker *worker);
bool urom_rig_stop_worker(struct urom_rig *rig, struct doca_urom_worker *worker);
/* The pid of the worker, from the daemon's log. Fails the test if there is none. */
pid_t urom_rig_process_of(struct urom_rig *rig, struct doca_urom_worker *worker);
/* Progresses once, for loops that wait for something else; rests after many turns in which nothing moved. */
void urom_rig_progress(struct doca_pe *pe);
/* Progresses until *flag. */
bool urom_rig_await_flag(struct urom_rig *rig, const int *flag);

/* Performs a loopback by the graph plugin, waits for it, and returns its status. */
doca_error_t urom_rig_loopback(struct urom_rig *rig, struct doca_urom_worker *worker, uint64_t value);

#endif
