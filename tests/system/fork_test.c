/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forks children from a process whose other threads are in the middle of all kinds of calls. A child has none of those threads.
 * It opens devices, exports and imports memory, logs, waits for sync events and connects to itself, and exits normally.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include <doca_log.h>
#include <doca_sync_event.h>

#include "support/child.h"
#include "support/comch_side.h"
#include "support/test_dev.h"

#define ROUNDS 60
#define SIZE (256 << 10)

static _Atomic bool ending;

/* ---- what the threads do, and the child, too ---- */

static void use_memory(void)
{
	struct doca_dev *dev = test_dev_open(0);
	char *memory = malloc(SIZE);
	struct doca_mmap *mmap, *imported;
	const void *bytes;
	size_t len;

	CHECK(dev != NULL && memory != NULL);
	memset(memory, 1, SIZE);
	CHECK_OK(doca_mmap_create(&mmap));
	CHECK_OK(doca_mmap_set_memrange(mmap, memory, SIZE));
	CHECK_OK(doca_mmap_add_dev(mmap, dev));
	CHECK_OK(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	CHECK_OK(doca_mmap_start(mmap));
	CHECK_OK(doca_mmap_export_pci(mmap, dev, &bytes, &len));
	CHECK_OK(doca_mmap_create_from_export(NULL, bytes, len, dev, &imported));
	CHECK_OK(doca_mmap_destroy(imported));
	CHECK_OK(doca_mmap_destroy(mmap));
	CHECK_OK(doca_dev_close(dev));
	free(memory);
}

static void use_event(void)
{
	struct doca_dev *dev = test_dev_open(0);
	struct doca_sync_event *event;
	uint64_t value;

	CHECK(dev != NULL);
	CHECK_OK(doca_sync_event_create(&event));
	CHECK_OK(doca_sync_event_add_publisher_location_cpu(event, dev));
	CHECK_OK(doca_sync_event_add_subscriber_location_cpu(event, dev));
	CHECK_OK(doca_sync_event_start(event));
	CHECK_OK(doca_sync_event_update_set(event, 7));
	CHECK_OK(doca_sync_event_get(event, &value));
	CHECK(value == 7);
	CHECK_OK(doca_sync_event_stop(event));
	CHECK_OK(doca_sync_event_destroy(event));
	CHECK_OK(doca_dev_close(dev));
}

static void use_log(void)
{
	int source;

	CHECK_OK(doca_log_register_source("fork", &source));
	CHECK_OK(doca_log(DOCA_LOG_LEVEL_INFO, source, __FILE__, __LINE__, __func__, "a line that a thread writes"));
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_INFO));
	CHECK_OK(doca_log_unregister_source(source));
}

static void use_comch(const char *name)
{
	struct comch_side *server = calloc(1, sizeof(*server)), *client = calloc(1, sizeof(*client));

	side_wait_s = CHILD_SECONDS_MAX;
	side_init_server(server, name);
	side_init_client(client, name);
	side_connect(server, client);
	CHECK_OK(side_send(client, "word", 4));
	SIDE_WAIT(server->num_msgs == 1, server->pe, client->pe, NULL, NULL);
	side_fini(client, server);
	side_fini(server, NULL);
	free(server);
	free(client);
}

static void use_own_name(const char *who)
{
	char name[64];

	snprintf(name, sizeof(name), "fork %s %d", who, (int)getpid());
	use_comch(name);
}

/* ---- threads ---- */

static void *memory_run(void *arg)
{
	while (!ending)
		use_memory();
	return arg;
}

static void *event_run(void *arg)
{
	while (!ending)
		use_event();
	return arg;
}

static void *log_run(void *arg)
{
	while (!ending)
		use_log();
	return arg;
}

static void *comch_run(void *arg)
{
	while (!ending)
		use_own_name("thread");
	return arg;
}

static void line_written(char *line)
{
	(void)line;
}

/* ---- children ---- */

static void child_run(void)
{
	use_log();
	use_memory();
	use_event();
	use_own_name("child");
	use_memory();
	_exit(0); /* memory that the parent's other threads had allocated is not a leak of the child */
}

int main(void)
{
	static void *(*const runs[])(void *) = {memory_run, memory_run, event_run, log_run, comch_run};
	static char line[1024];
	pthread_t threads[sizeof(runs) / sizeof(runs[0])];
	struct doca_log_backend *backend;
	int failed = 0;

	CHECK_OK(doca_log_backend_create_with_buf(line, sizeof(line), line_written, &backend));
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		CHECK(pthread_create(&threads[i], NULL, runs[i], NULL) == 0);
	for (int round = 0; round < ROUNDS && failed == 0; round++)
		failed = run_in_child(child_run);
	ending = true;
	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	if (failed != 0)
		dprintf(STDERR_FILENO, "a child ended with status %d%s\n", failed, failed == 128 + SIGALRM ? ": it hung" : "");
	return failed;
}
