/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting a service against something that is not a service: each case fails with its code, in bounded time, and leaves
 * nothing behind. */
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_log.h>

#include "support/urom_rig.h"
#include "support/wait.h"

#define BOUND_NS UINT64_C(20000000000) /* two seconds, plus what a busy machine needs: only a hang takes longer */
#define BUSY_NS UINT64_C(3000000000)   /* more than two seconds */
#define NAME "several.test"
#define HANGING "hanging.test" /* its resolver answers when the test lets it */
#define LOOKUPS_MAX 4	       /* number of look-ups that may hang at a time */

static struct urom_rig rig;
static FILE *lines;
static char *all, *said; /* all log lines, and those since the last start */
static size_t all_len;

/* ---- a name with chosen addresses ---- */

typedef int (*getaddrinfo_fn)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
static const char *const *addresses; /* addresses of NAME, up to NULL */

static pthread_mutex_t resolver_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t resolver_released = PTHREAD_COND_INITIALIZER;
static bool resolver_answers; /* guarded by resolver_lock */
static atomic_bool resolver_computes;
static atomic_int num_asked;

static void hang(void)
{
	uint64_t until = sf_now_ns() + BUSY_NS;

	atomic_fetch_add(&num_asked, 1);
	while (atomic_load(&resolver_computes) && sf_now_ns() < until)
		;
	pthread_mutex_lock(&resolver_lock);
	while (!resolver_answers) /* asleep: a thread that runs now and then would count as alive */
		pthread_cond_wait(&resolver_released, &resolver_lock);
	pthread_mutex_unlock(&resolver_lock);
}

static void resolver_notify(bool answers)
{
	pthread_mutex_lock(&resolver_lock);
	resolver_answers = answers;
	pthread_cond_broadcast(&resolver_released);
	pthread_mutex_unlock(&resolver_lock);
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
	getaddrinfo_fn real = (getaddrinfo_fn)dlsym(RTLD_NEXT, "getaddrinfo");
	bool is_digits = hints != NULL && (hints->ai_flags & AI_NUMERICHOST) != 0;

	if (node != NULL && strcmp(node, HANGING) == 0 && !is_digits)
		hang();
	if (node == NULL || is_digits || (strcmp(node, NAME) != 0 && strcmp(node, HANGING) != 0))
		return real(node, service, hints, found);
	struct addrinfo **last = found;
	*found = NULL;
	for (size_t i = 0; addresses[i] != NULL; i++) {
		int error = real(addresses[i], service, hints, last);

		if (error != 0)
			return error;
		last = &(*last)->ai_next;
	}
	return 0;
}

/* ---- a listener at the other end ---- */

static struct {
	int fd;
	unsigned port;
	const void *answer; /* what it sends on each connection; NULL: it does not even accept */
	size_t answer_len;
	pthread_t thread;
	atomic_bool ends;
	int taken[64];
	int num_taken;
} other;

static void *accept_and_answer(void *unused)
{
	(void)unused;
	while (!atomic_load(&other.ends)) {
		int fd = accept(other.fd, NULL, NULL);

		if (fd < 0)
			continue;
		(void)!write(fd, other.answer, other.answer_len);
		if (other.num_taken < 64)
			other.taken[other.num_taken++] = fd;
	}
	return NULL;
}

static void other_listen(const void *answer, size_t len, int backlog)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t size = sizeof(address);
	const struct timeval soon = {.tv_usec = 20000};

	other.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(other.fd >= 0);
	assert_int_equal(bind(other.fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(other.fd, backlog), 0);
	assert_int_equal(getsockname(other.fd, (struct sockaddr *)&address, &size), 0);
	assert_int_equal(setsockopt(other.fd, SOL_SOCKET, SO_RCVTIMEO, &soon, sizeof(soon)), 0);
	other.port = ntohs(address.sin_port);
	other.answer = answer;
	other.answer_len = len;
	other.num_taken = 0;
	atomic_store(&other.ends, false);
	if (answer != NULL)
		assert_int_equal(pthread_create(&other.thread, NULL, accept_and_answer, NULL), 0);
}

static void other_close(void)
{
	atomic_store(&other.ends, true);
	if (other.answer != NULL)
		pthread_join(other.thread, NULL);
	for (int i = 0; i < other.num_taken; i++)
		close(other.taken[i]);
	close(other.fd);
}

/* ---- a start ---- */

static uint32_t num_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint32_t num = 0;

	while (readdir(dir) != NULL)
		num++;
	closedir(dir);
	return num;
}

static size_t num_lines(void)
{
	size_t num = 0;

	for (const char *at = said; (at = strchr(at, '\n')) != NULL; at++)
		num++;
	return num;
}

/* Starts a service at that host and port, and stops it if the start succeeded. */
static doca_error_t start(const char *host, unsigned port)
{
	struct doca_urom_service *service = urom_rig_service(&rig);
	struct doca_ctx *ctx = doca_urom_service_as_ctx(service);
	char path[128];

	assert_non_null(service);
	snprintf(path, sizeof(path), "%s/other", rig.folder);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fprintf(file, "localhost dpu %s:%u d8:00.0 lo\n", host, port);
	fclose(file);
	setenv("DOCA_UROM_SERVICE_FILE", path, 1);
	fflush(lines);
	size_t len = all_len;
	uint64_t from = sf_now_ns();
	doca_error_t result = doca_ctx_start(ctx);
	uint64_t took = sf_now_ns() - from;
	fflush(lines);
	said = all + len;
	print_message("%s after %llu ms\n", doca_error_get_name(result), (unsigned long long)took / 1000000);
	assert_true(took < BOUND_NS || atomic_load(&resolver_computes));
	if (result == DOCA_SUCCESS)
		assert_int_equal(doca_ctx_stop(ctx), DOCA_SUCCESS);
	assert_int_equal(doca_urom_service_destroy(service), DOCA_SUCCESS);
	setenv("DOCA_UROM_SERVICE_FILE", rig.service_file, 1);
	return result;
}

/* The start fails with the code and one log line that contains `what`, and leaves no descriptor open. */
static void fails(const char *host, unsigned port, doca_error_t code, const char *what)
{
	uint32_t before = num_descriptors();

	assert_int_equal(start(host, port), code);
	assert_int_equal(num_lines(), 1);
	assert_non_null(strstr(said, what));
	assert_int_equal(num_descriptors(), before);
}

static int open_rig(void **state)
{
	struct doca_log_backend *backend;

	(void)state;
	lines = open_memstream(&all, &all_len);
	if (lines == NULL || doca_log_backend_create_with_file_sdk(lines, &backend) != DOCA_SUCCESS)
		return -1;
	if (!urom_rig_open(&rig, NULL))
		return -1;
	(void)start("127.0.0.1", rig.port); /* after this, UCX has opened all descriptors that it keeps */
	return 0;
}

static int close_rig(void **state)
{
	(void)state;
	urom_rig_close(&rig);
	return 0;
}

/* ---- the tests ---- */

static void nobody_listens(void **state)
{
	(void)state;
	fails("127.0.0.1", 1, DOCA_ERROR_CONNECTION_ABORTED, "127.0.0.1: no service is there");
}

/* Its queue is full, so the kernel drops further requests, as if the host could not be reached. */
static void a_host_that_cannot_be_reached(void **state)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	int fds[4];

	(void)state;
	other_listen(NULL, 0, 0);
	address.sin_port = htons((uint16_t)other.port);
	for (int i = 0; i < 4; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		(void)connect(fds[i], (struct sockaddr *)&address, sizeof(address));
	}
	fails("127.0.0.1", other.port, DOCA_ERROR_TIME_OUT, "127.0.0.1: no reply");
	for (int i = 0; i < 4; i++)
		close(fds[i]);
	other_close();
}

/* A listener sends these bytes and then waits. The start must fail, however UCX notices. */
static void answers(const void *bytes, size_t len)
{
	uint32_t before = num_descriptors();

	other_listen(bytes, len, 8);
	doca_error_t result = start("127.0.0.1", other.port);
	assert_true(result == DOCA_ERROR_TIME_OUT || result == DOCA_ERROR_CONNECTION_ABORTED);
	assert_int_equal(num_lines(), 1);
	other_close();
	assert_int_equal(num_descriptors(), before);
}

static void a_listener_that_says_nothing(void **state)
{
	(void)state;
	answers("", 0);
	assert_non_null(strstr(said, "127.0.0.1: no reply"));
}

/* UCX sends a length and a status first, then the data of its two ends. */
static void half_an_answer(void **state)
{
	static const uint64_t header[8] = {200, 0, 1, 1, 1};

	(void)state;
	answers(header, 5);
	answers(header, 8);
	answers(header, sizeof(header));
}

static void another_protocol(void **state)
{
	static const char http[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
	static char long_one[20000];

	(void)state;
	answers(http, sizeof(http) - 1);
	memset(long_one, 'x', sizeof(long_one));
	answers(long_one, sizeof(long_one));
}

static void no_such_host(void **state)
{
	(void)state;
	fails("no.such.host.invalid", 18650, DOCA_ERROR_NOT_FOUND, "no.such.host.invalid");
}

/* ---- a name with several addresses ---- */

static void the_second_address_answers(void **state)
{
	static const char *const refused_first[] = {"127.0.0.9", "127.0.0.1", NULL};
	static const char *const other_kind_first[] = {"::1", "127.0.0.1", NULL};

	(void)state;
	addresses = refused_first;
	assert_int_equal(start(NAME, rig.port), DOCA_SUCCESS);
	assert_int_equal(num_lines(), 0);
	addresses = other_kind_first;
	assert_int_equal(start(NAME, rig.port), DOCA_SUCCESS);
}

/* The daemon listens on all addresses at its port; the silent listener has the first address at the same port. */
static void a_silent_first_address_leaves_time_for_the_second(void **state)
{
	static const char *const silent_first[] = {"127.0.0.8", "127.0.0.1", NULL};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)rig.port)};

	(void)state;
	inet_pton(AF_INET, "127.0.0.8", &address.sin_addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 8), 0);
	addresses = silent_first;
	assert_int_equal(start(NAME, rig.port), DOCA_SUCCESS);
	close(fd);
}

static void each_address_is_reported(void **state)
{
	static const char *const three[] = {"127.0.0.7", "127.0.0.8", "127.0.0.9", NULL};

	(void)state;
	addresses = three;
	fails(NAME, 1, DOCA_ERROR_CONNECTION_ABORTED,
	      "127.0.0.7: no service is there, 127.0.0.8: no service is there, 127.0.0.9: no");
}

static void as_many_addresses_as_are_tried(void **state)
{
	static const char *const many[] = {"127.0.0.11", "127.0.0.12", "127.0.0.13", "127.0.0.14", "127.0.0.15",
					   "127.0.0.16", "127.0.0.17", "127.0.0.18", "127.0.0.1",  NULL};

	(void)state;
	addresses = many;
	assert_int_equal(start(NAME, rig.port), DOCA_ERROR_CONNECTION_ABORTED);
	addresses = many + 1;
	assert_int_equal(start(NAME, rig.port), DOCA_SUCCESS);
}

/* UCX cannot reach this address; it is reported like any other. */
static void an_address_of_the_other_kind_alone(void **state)
{
	static const char *const other_kind[] = {"::1", NULL};

	(void)state;
	addresses = other_kind;
	doca_error_t result = start(NAME, rig.port);
	assert_true(result == DOCA_ERROR_CONNECTION_ABORTED || result == DOCA_ERROR_TIME_OUT);
	assert_non_null(strstr(said, "(::1: "));
}

/* ---- a slow resolver ---- */

static uint32_t num_threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	uint32_t num = 0;

	while (readdir(dir) != NULL)
		num++;
	closedir(dir);
	return num;
}

static void await_threads(uint32_t num)
{
	(void)WAIT_UNTIL(num_threads() <= num);
	assert_int_equal(num_threads(), num);
}

static void *answer_soon(void *unused)
{
	(void)unused;
	(void)WAIT_UNTIL(atomic_load(&num_asked) != 0);
	time_pass_ms(300);
	resolver_notify(true);
	return NULL;
}

static void a_resolver_that_is_slow(void **state)
{
	static const char *const one[] = {"127.0.0.1", NULL};
	pthread_t thread;

	(void)state;
	addresses = one;
	resolver_notify(false);
	atomic_store(&num_asked, 0);
	assert_int_equal(pthread_create(&thread, NULL, answer_soon, NULL), 0);
	assert_int_equal(start(HANGING, rig.port), DOCA_SUCCESS);
	pthread_join(thread, NULL);
	assert_int_equal(num_lines(), 0);
}

/* The thread of the look-up runs all the time, as one would that waits for a processor. */
static void a_resolver_that_is_busy(void **state)
{
	static const char *const one[] = {"127.0.0.1", NULL};

	(void)state;
	addresses = one;
	resolver_notify(true);
	atomic_store(&resolver_computes, true);
	assert_int_equal(start(HANGING, rig.port), DOCA_SUCCESS);
	atomic_store(&resolver_computes, false);
	assert_int_equal(num_lines(), 0);
}

/* Each start fails in time. Once too many look-ups hang, no more are begun. In the end no thread is left. */
static void a_resolver_that_hangs(void **state)
{
	static const char *const one[] = {"127.0.0.1", NULL};
	uint32_t threads = num_threads();

	(void)state;
	addresses = one;
	resolver_notify(false);
	atomic_store(&num_asked, 0);
	for (int i = 0; i < LOOKUPS_MAX; i++)
		fails(HANGING, rig.port, DOCA_ERROR_TIME_OUT, "no DNS reply for " HANGING);
	fails(HANGING, rig.port, DOCA_ERROR_TIME_OUT, "4 look-ups are unanswered");
	assert_int_equal(atomic_load(&num_asked), LOOKUPS_MAX);
	assert_int_equal(start("127.0.0.1", rig.port), DOCA_SUCCESS); /* an address needs no look-up */
	resolver_notify(true);
	await_threads(threads);
	assert_int_equal(start(HANGING, rig.port), DOCA_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_listens),
		cmocka_unit_test(a_host_that_cannot_be_reached),
		cmocka_unit_test(a_listener_that_says_nothing),
		cmocka_unit_test(half_an_answer),
		cmocka_unit_test(another_protocol),
		cmocka_unit_test(no_such_host),
		cmocka_unit_test(the_second_address_answers),
		cmocka_unit_test(a_silent_first_address_leaves_time_for_the_second),
		cmocka_unit_test(each_address_is_reported),
		cmocka_unit_test(as_many_addresses_as_are_tried),
		cmocka_unit_test(an_address_of_the_other_kind_alone),
		cmocka_unit_test(a_resolver_that_is_slow),
		cmocka_unit_test(a_resolver_that_is_busy),
		cmocka_unit_test(a_resolver_that_hangs),
	};

	return cmocka_run_group_tests(tests, open_rig, close_rig);
}
