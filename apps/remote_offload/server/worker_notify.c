/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker_notify.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(SERVER::NOTIFY);

void worker_notify(struct worker *worker)
{
	uint64_t one = 1;

	if (write(worker->notify_fd, &one, sizeof(one)) < 0)
		DOCA_LOG_DBG("notification not written: %s", strerror(errno));
}

void worker_count_closed(struct worker *worker)
{
	atomic_fetch_sub(&worker->connection_count, 1);
	if (atomic_load(&worker->notify_closed))
		worker_notify(worker);
}
