/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another process with one sync event, which executes orders. It runs this program again; orders and answers use a socket. The
 * puppet acts for the DPU or the host, depending on the device that it opens.
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
	ORDER_EXPORT, /* create an event and export it; value: 1 if its value is to lie in the program's memory */
	ORDER_IMPORT, /* import the event from the bytes */
	ORDER_SET,
	ORDER_ADD, /* returns the value before */
	ORDER_GET,
	ORDER_WAIT_EQ,
	ORDER_STOP,	     /* stop and destroy the event */
	ORDER_SET_AND_DIE,   /* no answer: SIGKILL immediately after the update */
	ORDER_STORE_AND_DIE, /* no answer: SIGKILL in the middle of the update, when the value has changed but no waiter has been
				woken */
	ORDER_SLEEP_AND_DIE, /* as a context: submits a wait, arms the notification, and is killed */
	ORDER_ADD_MANY,	     /* adds 1, value times */
	ORDER_ANSWER_MANY,   /* as a context, sleeping: waits for 1, 3, 5, ... and sets 2, 4, 6, ..., value times */
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

/* The other process's main function: executes orders from file descriptor 3 on that device until ORDER_QUIT. */
int puppet_main(const char *pci_addr);

/* Starts a puppet. An answer that takes longer than a minute fails the test. */
struct puppet puppet_start(const char *pci_addr);
void puppet_order(struct puppet *puppet, enum order_kind kind, uint64_t value);
struct answer puppet_answer(struct puppet *puppet);
struct answer puppet_do(struct puppet *puppet, enum order_kind kind, uint64_t value);
struct answer puppet_import(struct puppet *puppet, const void *bytes, size_t len);
/* Orders the puppet to quit and checks that it exits with success; otherwise kills it. */
void puppet_quit(struct puppet *puppet);
void puppet_kill(struct puppet *puppet);

/* A sleeper: a context with one task of each kind, in this process or in a puppet. */
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
/* Progresses and sleeps until the task in flight has ended. Returns TIME_OUT after that many seconds. */
doca_error_t sleeper_finish(struct sleeper *sleeper, double seconds);
doca_error_t sleeper_set(struct sleeper *sleeper, uint64_t value);

#endif
