/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another process with one sync event, which does what it is told. It is this program again; orders and answers go over a
 * socket. The puppet is the DPU or the host, whichever device its orders name.
 */
#ifndef SYNC_EVENT_PUPPET_H
#define SYNC_EVENT_PUPPET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <doca_error.h>

#define DESCRIPTOR_MAX 2048

enum order_kind {
	ORDER_EXPORT, /* make an event and export it; value: 1 in memory of its own program */
	ORDER_IMPORT, /* of the bytes */
	ORDER_SET,
	ORDER_ADD, /* answers the value before */
	ORDER_GET,
	ORDER_WAIT_EQ,
	ORDER_STOP,	     /* and destroy */
	ORDER_SET_AND_DIE,   /* no answer: SIGKILL right after the update */
	ORDER_STORE_AND_DIE, /* the same, but killed in the middle of the update: it has changed the value and woken nobody */
	ORDER_SLEEP_AND_DIE, /* as a context: submits a wait, arms, dies armed */
	ORDER_ADD_MANY,	     /* adds 1 so often */
	ORDER_ANSWER_MANY,   /* as a context, sleeping: waits for 1, 3, 5, ... and sets 2, 4, 6, ... so often */
	ORDER_QUIT,
};

struct order {
	enum order_kind kind;
	uint64_t value;
	size_t len;
	uint8_t bytes[DESCRIPTOR_MAX];
};

struct answer {
	doca_error_t status;
	uint64_t value;
	size_t len;
	uint8_t bytes[DESCRIPTOR_MAX];
};

struct puppet {
	pid_t pid;
	int socket;
};

/* The other process's main: does orders on file descriptor 3 with that device until it is told to quit. */
int puppet_main(const char *pci_addr);

/* Starts one. The socket's answers come within a minute, or the test ends. */
struct puppet puppet_start(const char *pci_addr);
void puppet_order(struct puppet *puppet, enum order_kind kind, uint64_t value);
struct answer puppet_answer(struct puppet *puppet);
struct answer puppet_do(struct puppet *puppet, enum order_kind kind, uint64_t value);
struct answer puppet_import(struct puppet *puppet, const void *bytes, size_t len);
/* Orders it to quit and checks that it ended well; or kills it. */
void puppet_quit(struct puppet *puppet);
void puppet_kill(struct puppet *puppet);

/* Sleeping: a context with one task of each kind, in this process or in a puppet. */
struct sleeper {
	struct doca_sync_event *event;
	struct doca_pe *pe;
	struct doca_sync_event_task_notify_set *set;
	struct doca_sync_event_task_wait_eq *wait;
	uint32_t ended;
	doca_error_t status;
};

doca_error_t sleeper_start(struct sleeper *sleeper, struct doca_sync_event *event);
void sleeper_end(struct sleeper *sleeper);
void sleeper_submit_wait(struct sleeper *sleeper, uint64_t value);
/* Progresses and sleeps until the task in flight has ended. TIME_OUT after so many seconds. */
doca_error_t sleeper_finish(struct sleeper *sleeper, double seconds);
doca_error_t sleeper_set(struct sleeper *sleeper, uint64_t value);

struct doca_dev *device_open(const char *pci_addr);

#endif
