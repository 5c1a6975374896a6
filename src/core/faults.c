/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/faults.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread_safety.h"
#include "core/ctx.h"
#include "core/dev_priv.h"
#include "core/offload.h"
#include "core/pe.h"
#include "topology/topology.h"

#define REMOVED_MAX 64
#define NAME_MAX_LEN 128

/* ---- devices ---- */

/* Keys of devices that were removed. The list only grows, so readers need no lock. */
static const char *removed[REMOVED_MAX];
static uint32_t num_removed; /* atomic; written with the lock */
static pthread_mutex_t removed_lock = PTHREAD_MUTEX_INITIALIZER;

static bool key_is_removed(const char *key)
{
	uint32_t num = __atomic_load_n(&num_removed, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < num; i++) {
		if (strcmp(removed[i], key) == 0)
			return true;
	}
	return false;
}

static void key_remove(const char *key)
{
	pthread_mutex_lock(&removed_lock);
	if (!key_is_removed(key) && num_removed < REMOVED_MAX) {
		removed[num_removed] = key;
		__atomic_store_n(&num_removed, num_removed + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&removed_lock);
}

bool sf_dev_is_removed(const struct sf_device *device)
{
	return key_is_removed(device->key);
}

/* The state of each device, however often it is opened and closed. */
struct device_faults {
	const struct sf_device *device;
	struct sf_faults *faults;
	struct device_faults *next;
};

static struct device_faults *devices GUARDED_BY(sf_dev_lock);

static REQUIRES(sf_dev_lock) struct sf_faults *device_faults(const struct sf_device *device)
{
	struct device_faults *at = devices;

	while (at != NULL && at->device != device)
		at = at->next;
	if (at != NULL || !sf_faults_concern(SF_FAULT_DEVICE))
		return at != NULL ? at->faults : NULL;
	at = malloc(sizeof(*at));
	if (at == NULL)
		return NULL;
	*at = (struct device_faults){device, sf_faults_attach(SF_FAULT_DEVICE, device->key, NULL), devices};
	devices = at;
	return at->faults;
}

doca_error_t sf_dev_faults_open(const struct sf_device *device)
{
	assert(sf_is_locked(&sf_dev_lock));
	if (key_is_removed(device->key)) {
		SF_LOG_ERR("device %s was removed (device.remove of SOFTFIELD_FAULTS): list the devices again", device->key);
		return DOCA_ERROR_NOT_CONNECTED;
	}
	if (sf_fault(device_faults(device), SF_FAULT_DEVICE_OPEN) == NULL)
		return DOCA_SUCCESS;
	SF_LOG_ERR("device %s does not open (device.open of SOFTFIELD_FAULTS)", device->key);
	return DOCA_ERROR_INITIALIZATION;
}

/* ---- contexts ---- */

void sf_ctx_faults_attach(struct doca_ctx *ctx)
{
	char name[NAME_MAX_LEN];

	if (ctx->faults_asked)
		return;
	ctx->faults_asked = true;
	snprintf(name, sizeof(name), "%s %s", ctx->ops->name, ctx->status.device != NULL ? ctx->status.device : "");
	ctx->faults = sf_faults_attach(SF_FAULT_CTX, name, NULL);
}

doca_error_t sf_task_submit_faulty(struct doca_task *task, uint32_t flags)
{
	struct doca_ctx *ctx = task->ctx;

	if (sf_fault(ctx->faults, SF_FAULT_DEVICE_REMOVE) != NULL && ctx->status.device != NULL) {
		key_remove(ctx->status.device);
		sf_ctx_kick(ctx);
	}
	if (sf_fault(ctx->faults, SF_FAULT_SUBMIT_AGAIN) != NULL)
		return DOCA_ERROR_AGAIN;
	return task->cls->submit(task, flags);
}

void sf_ctx_faults_poll(struct doca_ctx *ctx)
{
	if (ctx->status.device == NULL || ctx->cancelled || !key_is_removed(ctx->status.device))
		return;
	SF_LOG_ERR("%s: device %s was removed (device.remove of SOFTFIELD_FAULTS); it stops", ctx->ops->name, ctx->status.device);
	sf_ctx_fail(ctx);
}

doca_error_t sf_offload_fault(struct sf_offload *offload, const struct doca_ctx *ctx, struct doca_task *task)
{
	const struct sf_fault_rule *slow;

	if (offload->fault_task != task) {
		if (sf_fault(ctx->faults, SF_FAULT_TASK_FAIL) != NULL)
			return DOCA_ERROR_IO_FAILED;
		slow = sf_fault(ctx->faults, SF_FAULT_COPY_SLOW);
		offload->fault_task = task;
		offload->slow_until = slow != NULL ? sf_now_ns() + slow->ms * UINT64_C(1000000) : 0;
	}
	return offload->slow_until != 0 && sf_now_ns() < offload->slow_until ? DOCA_ERROR_IN_PROGRESS : DOCA_SUCCESS;
}

/* ---- progress engines ---- */

static int timer_open(const struct doca_pe *pe)
{
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

	if (fd >= 0 && epoll_ctl(pe->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

struct sf_pe_faults *sf_pe_faults_attach(struct doca_pe *pe)
{
	struct sf_faults *attached = sf_faults_attach(SF_FAULT_PE, "progress engine", NULL);
	struct sf_pe_faults *faults = attached != NULL ? calloc(1, sizeof(*faults)) : NULL;

	if (faults == NULL) {
		sf_faults_detach(attached);
		return NULL;
	}
	faults->faults = attached;
	faults->timer_fd = timer_open(pe);
	return faults;
}

void sf_pe_faults_detach(struct sf_pe_faults *faults)
{
	if (faults == NULL)
		return;
	if (faults->timer_fd >= 0)
		close(faults->timer_fd);
	sf_faults_detach(faults->faults);
	free(faults);
}

static void timer_set(int fd, uint32_t ms)
{
	struct itimerspec at = {.it_value = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000}};

	if (fd >= 0)
		timerfd_settime(fd, 0, &at, NULL); /* expired ones are forgotten */
}

void sf_pe_faults_request(struct doca_pe *pe)
{
	struct sf_pe_faults *faults = pe->faults;
	const struct sf_fault_rule *lost = sf_fault(faults->faults, SF_FAULT_NOTIFY_LOST);
	const struct sf_fault_rule *late = sf_fault(faults->faults, SF_FAULT_NOTIFY_LATE);

	if ((lost == NULL && late == NULL) || epoll_ctl(pe->epoll_fd, EPOLL_CTL_DEL, pe->event_fd, NULL) != 0)
		return;
	faults->hidden = true;
	if (lost == NULL)
		timer_set(faults->timer_fd, late->ms);
}

void sf_pe_faults_show(struct doca_pe *pe)
{
	struct epoll_event event = {.events = EPOLLIN, .data.fd = pe->event_fd};

	if (!pe->faults->hidden)
		return;
	timer_set(pe->faults->timer_fd, 0);
	pe->faults->hidden = epoll_ctl(pe->epoll_fd, EPOLL_CTL_ADD, pe->event_fd, &event) != 0;
}
