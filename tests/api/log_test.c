/* SPDX-License-Identifier: BSD-3-Clause */
/* A backend lives as long as the process, so most tests here run in a process of their own. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>

#include <cmocka.h>

#define DOCA_LOGGING_ALLOW_TRACE
#include "base/log.h"
#include "base/log_rate.h"
#include "support/child.h"

DOCA_LOG_REGISTER(LOG_TEST::LINES);

#define RECORD_MAX (64 * 1024)

/* One read of the socket is one write of the backend. */
static int records[2];

static void open_records(void)
{
	int size = 4 * RECORD_MAX;

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, records) == 0);
	CHECK(setsockopt(records[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)) == 0);
}

/* Returns the next record, or "" if nothing was written. Valid until the next call. */
static const char *next_record(void)
{
	static char record[2 * RECORD_MAX];
	ssize_t len = recv(records[0], record, sizeof(record) - 1, MSG_DONTWAIT);

	record[len > 0 ? len : 0] = '\0';
	return record;
}

static bool matches(const char *text, const char *pattern)
{
	regex_t regex;

	CHECK(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) == 0);
	bool result = regexec(&regex, text, 0, NULL, 0) == 0;

	regfree(&regex);
	return result;
}

static struct doca_log_backend *program_backend(void)
{
	struct doca_log_backend *backend = NULL;

	open_records();
	CHECK_OK(doca_log_backend_create_with_fd(records[1], &backend));
	CHECK(backend != NULL);
	return backend;
}

/* Which of the six levels are written, most severe first: "111100" by default. */
static const char *levels_shown(void)
{
	static char shown[7];

	DOCA_LOG_CRIT("level");
	shown[0] = *next_record() ? '1' : '0';
	DOCA_LOG_ERR("level");
	shown[1] = *next_record() ? '1' : '0';
	DOCA_LOG_WARN("level");
	shown[2] = *next_record() ? '1' : '0';
	DOCA_LOG_INFO("level");
	shown[3] = *next_record() ? '1' : '0';
	DOCA_LOG_DBG("level");
	shown[4] = *next_record() ? '1' : '0';
	DOCA_LOG_TRC("level");
	shown[5] = *next_record() ? '1' : '0';
	return shown;
}

static void nothing_before_a_backend_body(void)
{
	open_records();
	CHECK(dup2(records[1], STDOUT_FILENO) == STDOUT_FILENO);
	CHECK(dup2(records[1], STDERR_FILENO) == STDERR_FILENO);
	DOCA_LOG_CRIT("lost");
	SF_LOG_CRIT("lost too");
	fflush(stdout);
	_exit(*next_record() != '\0');
}

static void line_format_body(void)
{
	char pid[32];

	program_backend();
	DOCA_LOG_INFO("%s is %d", "answer", 42);

	const char *record = next_record();

	snprintf(pid, sizeof(pid), "\\]\\[%d\\]\\[", (int)getpid());
	CHECK(matches(record, "^\\[[0-2][0-9]:[0-5][0-9]:[0-6][0-9]:[0-9]{6}\\]\\[[0-9]+\\]\\[DOCA\\]\\[INF\\]"
			      "\\[log_test.c:[0-9]+\\]\\[line_format_body\\] answer is 42\n$"));
	CHECK(matches(record, pid));
	CHECK(!strstr(record, "LOG_TEST"));
	DOCA_LOG_CRIT("x");
	CHECK(strstr(next_record(), "[CRT]"));
	DOCA_LOG_ERR("x");
	CHECK(strstr(next_record(), "[ERR]"));
	DOCA_LOG_WARN("x\n");
	CHECK(matches(next_record(), "\\[WRN\\].* x\n$"));
}

static void default_limits_body(void)
{
	CHECK(doca_log_level_get_global_lower_limit() == DOCA_LOG_LEVEL_INFO);
	CHECK(doca_log_level_get_global_upper_limit() == DOCA_LOG_LEVEL_CRIT);
	CHECK(doca_log_level_get_global_sdk_limit() == DOCA_LOG_LEVEL_INFO);
	program_backend();
	CHECK(!strcmp(levels_shown(), "111100"));
}

static void backend_limits_body(void)
{
	struct doca_log_backend *backend = program_backend();

	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_TRACE));
	CHECK(!strcmp(levels_shown(), "111111"));
	CHECK_OK(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_WARNING));
	CHECK(!strcmp(levels_shown(), "001111"));
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_WARNING));
	CHECK(!strcmp(levels_shown(), "001000"));
	CHECK_OK(doca_log_backend_set_level_upper_limit(backend, DOCA_LOG_LEVEL_CRIT));
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DISABLE));
	CHECK(!strcmp(levels_shown(), "000000"));
}

static void global_limits_body(void)
{
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
	program_backend(); /* the new backend gets the current limit */
	CHECK(!strcmp(levels_shown(), "110000"));
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DEBUG));
	CHECK(!strcmp(levels_shown(), "111110"));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_INFO));
	CHECK(!strcmp(levels_shown(), "000110"));
	CHECK(doca_log_level_get_global_lower_limit() == DOCA_LOG_LEVEL_DEBUG);
	CHECK(doca_log_level_get_global_upper_limit() == DOCA_LOG_LEVEL_INFO);
}

static void strict_limits_body(void)
{
	struct doca_log_backend *backend = program_backend();

	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_WARNING));
	CHECK_OK(doca_log_backend_set_level_lower_limit_strict(backend));
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	CHECK(!strcmp(levels_shown(), "111000"));
	CHECK_OK(doca_log_backend_set_level_upper_limit_strict(backend));
	CHECK_OK(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_WARNING));
	CHECK(!strcmp(levels_shown(), "111000"));

	/* A call that names the backend is not limited. */
	CHECK_OK(doca_log_backend_set_level_lower_limit(backend, DOCA_LOG_LEVEL_DEBUG));
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_CRIT));
	CHECK(!strcmp(levels_shown(), "111110"));
}

static void sdk_and_program_apart_body(void)
{
	struct doca_log_backend *sdk, *program = program_backend();
	int program_records[2] = {records[0], records[1]};

	SF_LOG_CRIT("ours");
	CHECK(!*next_record());
	open_records();
	CHECK_OK(doca_log_backend_create_with_fd_sdk(records[1], &sdk));
	DOCA_LOG_CRIT("theirs");
	CHECK(!*next_record());
	SF_LOG_INFO("ours %d", 1);
	CHECK(matches(next_record(), "\\[DOCA\\]\\[INF\\]\\[log_test.c:[0-9]+\\]\\[sdk_and_program_apart_body\\] ours 1\n$"));
	SF_LOG_DBG("not by default");
	CHECK(!*next_record());

	CHECK_OK(doca_log_backend_set_sdk_level(sdk, DOCA_LOG_LEVEL_WARNING));
	SF_LOG_INFO("ours");
	CHECK(!*next_record());
	CHECK_OK(doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DEBUG));
	CHECK(doca_log_level_get_global_sdk_limit() == DOCA_LOG_LEVEL_DEBUG);
	SF_LOG_DBG("ours");
	CHECK(*next_record());
	CHECK(doca_log_level_get_global_lower_limit() == DOCA_LOG_LEVEL_INFO);

	/* Each kind of backend has its own calls. */
	CHECK(doca_log_backend_set_sdk_level(program, DOCA_LOG_LEVEL_INFO) == DOCA_ERROR_NOT_PERMITTED);
	CHECK(doca_log_backend_set_level_lower_limit(sdk, DOCA_LOG_LEVEL_INFO) == DOCA_ERROR_NOT_PERMITTED);
	CHECK(recv(program_records[0], (char[1024]){0}, 1024, MSG_DONTWAIT) > 0);
	CHECK(recv(program_records[0], (char[1024]){0}, 1024, MSG_DONTWAIT) < 0);
}

static void disabled_levels_do_not_evaluate_body(void)
{
	int evaluated = 0;

	SF_LOG_CRIT("%d", ++evaluated);
	CHECK(evaluated == 0);
}

static void standard_splits_by_severity_body(void)
{
	int err[2], saved = dup(STDERR_FILENO);
	char text[1024];

	open_records();
	CHECK(dup2(records[1], STDOUT_FILENO) == STDOUT_FILENO);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, err) == 0);
	CHECK_OK(doca_log_backend_create_standard());
	CHECK_OK(doca_log_backend_create_standard()); /* once more changes nothing */
	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_TRACE));
	dup2(err[1], STDERR_FILENO);
	const char *out_shown = levels_shown();
	int shown_on_err = 0;

	while (recv(err[0], text, sizeof(text), MSG_DONTWAIT) > 0)
		shown_on_err++;
	dup2(saved, STDERR_FILENO);
	CHECK(!strcmp(out_shown, "000111"));
	CHECK(shown_on_err == 3);

	CHECK_OK(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_ERROR));
	dup2(err[1], STDERR_FILENO);
	out_shown = levels_shown();
	for (shown_on_err = 0; recv(err[0], text, sizeof(text), MSG_DONTWAIT) > 0;)
		shown_on_err++;
	dup2(saved, STDERR_FILENO);
	CHECK(!strcmp(out_shown, "000000"));
	CHECK(shown_on_err == 2);
}

static void file_backend_writes_each_record_immediately_body(void)
{
	struct doca_log_backend *backend;

	open_records();
	FILE *file = fdopen(records[1], "w");

	CHECK(file != NULL);
	CHECK_OK(doca_log_backend_create_with_file(file, &backend));
	DOCA_LOG_INFO("first");
	CHECK(matches(next_record(), "^\\[.* first\n$"));
	setvbuf(file, NULL, _IONBF, 0);
	DOCA_LOG_INFO("second");
	CHECK(matches(next_record(), "^\\[.* second\n$"));
}

static char buffer[64];
static char handled[256];
static int handler_calls;

static void keep_record(char *record)
{
	CHECK(record == buffer);
	snprintf(handled, sizeof(handled), "%s", record);
	handler_calls++;
	DOCA_LOG_INFO("a handler that logs does not loop");
}

static void buffer_backend_body(void)
{
	struct doca_log_backend *backend;

	CHECK_OK(doca_log_backend_create_with_buf(buffer, sizeof(buffer), keep_record, &backend));
	DOCA_LOG_INFO("this record is longer than what the buffer has room for, so its end is cut off");
	CHECK(handler_calls == 1);
	CHECK(strlen(handled) == sizeof(buffer) - 1);
	DOCA_LOG_INFO("next");
	CHECK(handler_calls == 2);
	CHECK(handled[0] == '[');
}

static void long_records_body(void)
{
	static char text[2 * RECORD_MAX];

	program_backend();
	memset(text, 'x', sizeof(text) - 1);
	for (size_t len = 900; len < 1100; len++) { /* around the size that needs no allocation */
		DOCA_LOG_INFO("%.*s|", (int)len, text);

		const char *record = next_record();
		const char *body = strchr(record, 'x');

		CHECK(body && strspn(body, "x") == len && !strcmp(body + len, "|\n"));
	}
	DOCA_LOG_INFO("%s", text);

	const char *record = next_record();

	CHECK(strlen(record) > RECORD_MAX / 2 && strlen(record) <= RECORD_MAX);
	CHECK(record[strlen(record) - 1] == '\n');
}

static void errno_is_kept_body(void)
{
	struct doca_log_backend *broken;
	int fd;

	program_backend();
	fd = dup(STDERR_FILENO);
	CHECK_OK(doca_log_backend_create_with_fd(fd, &broken));
	close(fd); /* now each write to it fails */
	errno = ENOTTY;
	DOCA_LOG_INFO("%m");
	CHECK(errno == ENOTTY);
	CHECK(strstr(next_record(), strerror(ENOTTY)));
}

#define THREADS 4
#define RECORDS_EACH 500

static void *log_many(void *arg)
{
	for (int i = 0; i < RECORDS_EACH; i++)
		DOCA_LOG_INFO("thread %d record %d end", (int)(intptr_t)arg, i);
	return NULL;
}

static void threads_write_whole_records_body(void)
{
	char path[] = "/tmp/softfield-log-XXXXXX", line[1024];
	struct doca_log_backend *by_file, *by_fd;
	pthread_t threads[THREADS];
	int fd = mkstemp(path), seen[THREADS] = {0}, lines = 0;

	CHECK(fd >= 0 && unlink(path) == 0);
	CHECK(fcntl(fd, F_SETFL, O_APPEND) == 0);
	FILE *file = fdopen(dup(fd), "a");

	CHECK_OK(doca_log_backend_create_with_file(file, &by_file));
	CHECK_OK(doca_log_backend_create_with_fd(fd, &by_fd));
	for (intptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, log_many, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);

	FILE *back = fdopen(dup(fd), "r");

	CHECK(back && fseek(back, 0, SEEK_SET) == 0);
	while (fgets(line, sizeof(line), back)) {
		int thread, record;

		CHECK(matches(line, "^\\[[0-9:]+\\]\\[[0-9]+\\]\\[DOCA\\]\\[INF\\].* thread [0-9]+ record [0-9]+ end\n$"));
		CHECK(sscanf(strstr(line, "thread"), "thread %d record %d", &thread, &record) == 2);
		CHECK(record == seen[thread] / 2); /* once by each backend, in order */
		seen[thread]++;
		lines++;
	}
	CHECK(lines == 2 * THREADS * RECORDS_EACH);
	fclose(back);
}

/* Replace the C library's functions, which the library finds through the symbol table. */
static char syslog_ident[64], syslog_text[256];
static int syslog_level;

void openlog(const char *ident, int option, int facility)
{
	snprintf(syslog_ident, sizeof(syslog_ident), "%s", ident);
}

void syslog(int priority, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(syslog_text, sizeof(syslog_text), format, args);
	va_end(args);
	syslog_level = priority;
}

static void syslog_backends_body(void)
{
	struct doca_log_backend *program, *sdk;
	char name[] = "program";

	CHECK_OK(doca_log_backend_create_with_syslog(name, &program));
	name[0] = '?'; /* the backend has copied the name */
	CHECK_OK(doca_log_backend_create_with_syslog_sdk("library", &sdk));
	DOCA_LOG_ERR("to syslog");
	CHECK(!strcmp(syslog_ident, "program") && syslog_level == LOG_ERR);
	CHECK(matches(syslog_text, "\\[ERR\\].* to syslog$"));
	SF_LOG_INFO("as well");
	CHECK(!strcmp(syslog_ident, "library") && syslog_level == LOG_INFO);
	DOCA_LOG_CRIT("again");
	CHECK(!strcmp(syslog_ident, "program") && syslog_level == LOG_CRIT);
}

/* ---- lines that a peer can trigger ---- */

static void window_line_is(struct sf_log_window *window, uint32_t now_s, bool allowed, uint32_t suppressed, uint32_t seconds)
{
	struct sf_log_window_line line = sf_log_window_line(window, LOG_RATE_LINES, now_s);

	assert_int_equal(line.allowed, allowed);
	assert_int_equal(line.suppressed, suppressed);
	if (suppressed != 0)
		assert_int_equal(line.seconds, seconds);
}

static void a_window_allows_its_lines_and_counts_the_rest(void **state)
{
	struct sf_log_window window = {0};

	for (int lines = 0; lines < LOG_RATE_LINES; lines++)
		window_line_is(&window, 1000, true, 0, 0);
	for (int lines = 0; lines < 77; lines++)
		window_line_is(&window, 1000 + LOG_RATE_SECONDS - 1, false, 0, 0);
	window_line_is(&window, 1000 + LOG_RATE_SECONDS, true, 77, LOG_RATE_SECONDS);
	for (int lines = 1; lines < LOG_RATE_LINES; lines++)
		window_line_is(&window, 1000 + LOG_RATE_SECONDS, true, 0, 0);
	window_line_is(&window, 1000 + LOG_RATE_SECONDS, false, 0, 0);
	window_line_is(&window, 5000, true, 1, 4000 - LOG_RATE_SECONDS);
}

/* From the first second of a machine's uptime, and across the wrap of the clock. */
static void a_window_begins_at_any_second(void **state)
{
	struct sf_log_window young = {0}, old = {0};

	for (int lines = 0; lines < LOG_RATE_LINES; lines++)
		window_line_is(&young, 3, true, 0, 0);
	window_line_is(&young, 3, false, 0, 0);
	window_line_is(&young, LOG_RATE_SECONDS, true, 1, LOG_RATE_SECONDS);
	for (int lines = 0; lines < LOG_RATE_LINES; lines++)
		window_line_is(&old, UINT32_MAX, true, 0, 0);
	window_line_is(&old, 3, false, 0, 0);
	window_line_is(&old, LOG_RATE_SECONDS - 1, true, 1, LOG_RATE_SECONDS);
}

static int evaluated;

static void flood(int lines)
{
	for (int i = 0; i < lines; i++)
		SF_LOG_WARN_LIMITED("peer %d", ++evaluated);
}

static void peer_lines_open(void)
{
	struct doca_log_backend *sdk;

	open_records();
	CHECK_OK(doca_log_backend_create_with_fd_sdk(records[1], &sdk));
}

/* Counts the lines about the peer, and sums up the numbers that the reports name. */
static void count_peer_lines(unsigned long *logged, unsigned long *suppressed)
{
	const char *record;

	while (*(record = next_record())) {
		const char *text = strrchr(record, ']') + 2;
		unsigned number, seconds;

		CHECK(strstr(record, "[WRN][log_test.c:") != NULL);
		if (sscanf(text, "%u more of this kind suppressed in the last %u s", &number, &seconds) == 2)
			*suppressed += number;
		else
			++*logged;
	}
}

static void a_flood_is_limited_and_its_rest_counted_body(void)
{
	unsigned long logged = 0, suppressed = 0;

	peer_lines_open();
	flood(100000);
	count_peer_lines(&logged, &suppressed);
	CHECK(logged >= LOG_RATE_LINES && logged == (unsigned long)evaluated);
	CHECK(logged < 1000);	   /* even if this takes minutes */
	sf_log_rate_report(false); /* the flood may have stopped just now, or long ago */
	sf_log_rate_report(true);
	count_peer_lines(&logged, &suppressed);
	CHECK(logged + suppressed == 100000);
	sf_log_rate_report(true);
	CHECK(!*next_record());
	flood(1);
	sf_log_rate_report(true);
	count_peer_lines(&logged, &suppressed);
	CHECK(logged + suppressed == 100001);
}

static void *flood_once(void *arg)
{
	flood(RECORDS_EACH);
	sf_log_rate_report(true);
	return NULL;
}

static void threads_share_a_limit_body(void)
{
	unsigned long logged = 0, suppressed = 0;
	pthread_t threads[THREADS];

	peer_lines_open();
	for (intptr_t i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, flood_once, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	count_peer_lines(&logged, &suppressed);
	CHECK(logged + suppressed == THREADS * RECORDS_EACH);
}

static void programs_have_limited_lines_body(void)
{
	unsigned long logged = 0, suppressed = 0;

	program_backend();
	for (int i = 0; i < 100; i++)
		PROGRAM_LOG_WARN_LIMITED("client %d", i);
	sf_log_rate_report(true);
	count_peer_lines(&logged, &suppressed);
	CHECK(logged + suppressed == 100 && suppressed != 0);
}

static void a_child_reports_its_own_lines_only_body(void)
{
	unsigned long logged = 0, suppressed = 0;
	int status;

	peer_lines_open();
	flood(100);
	count_peer_lines(&logged, &suppressed);
	if (fork() == 0) {
		logged = suppressed = 0;
		flood(2);
		sf_log_rate_report(true);
		count_peer_lines(&logged, &suppressed);
		CHECK(logged + suppressed == 2);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
	sf_log_rate_report(true);
	count_peer_lines(&logged, &suppressed);
	CHECK(logged + suppressed == 100);
}

#define CHILD_TEST(name)                                                                                                         \
	static void name(void **state)                                                                                           \
	{                                                                                                                        \
		assert_int_equal(run_in_child(name##_body), 0);                                                                  \
	}

CHILD_TEST(a_flood_is_limited_and_its_rest_counted)
CHILD_TEST(threads_share_a_limit)
CHILD_TEST(programs_have_limited_lines)
CHILD_TEST(a_child_reports_its_own_lines_only)
CHILD_TEST(nothing_before_a_backend)
CHILD_TEST(line_format)
CHILD_TEST(default_limits)
CHILD_TEST(backend_limits)
CHILD_TEST(global_limits)
CHILD_TEST(strict_limits)
CHILD_TEST(sdk_and_program_apart)
CHILD_TEST(disabled_levels_do_not_evaluate)
CHILD_TEST(standard_splits_by_severity)
CHILD_TEST(file_backend_writes_each_record_immediately)
CHILD_TEST(buffer_backend)
CHILD_TEST(long_records)
CHILD_TEST(errno_is_kept)
CHILD_TEST(threads_write_whole_records)
CHILD_TEST(syslog_backends)

static void wrong_arguments_are_rejected(void **state)
{
	struct doca_log_backend *backend;
	char memory[16];

	assert_int_equal(doca_log_backend_create_with_file(NULL, &backend), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_file_sdk(stderr, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_fd(-1, &backend), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_fd_sdk(1, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_buf(memory, sizeof(memory), NULL, &backend), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_buf(NULL, sizeof(memory), keep_record, &backend), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_buf_sdk(memory, 1, keep_record, &backend), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_create_with_syslog(NULL, &backend), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_set_level_lower_limit(NULL, DOCA_LOG_LEVEL_INFO), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_backend_set_level_upper_limit_strict(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_level_set_global_lower_limit(DOCA_LOG_LEVEL_DISABLE - 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_level_set_global_upper_limit(DOCA_LOG_LEVEL_TRACE + 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_level_set_global_sdk_limit(1000), DOCA_ERROR_INVALID_VALUE);
}

static void wrong_records_are_rejected_body(void)
{
	program_backend();
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, log_source, NULL, 1, "f", "x") == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, log_source, "f", 1, NULL, "x") == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log(DOCA_LOG_LEVEL_INFO, log_source, "f", 1, "f", NULL) == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log(DOCA_LOG_LEVEL_DISABLE, log_source, "f", 1, "f", "x") == DOCA_ERROR_INVALID_VALUE);
	CHECK(doca_log(35, log_source, "f", 1, "f", "x") == DOCA_ERROR_INVALID_VALUE);
	CHECK(!*next_record());
}
CHILD_TEST(wrong_records_are_rejected)

static void sources_have_numbers_of_their_own(void **state)
{
	int first = -1, second = -1;

	assert_int_equal(doca_log_register_source("A::B", &first), DOCA_SUCCESS);
	assert_int_equal(doca_log_register_source("A::B", &second), DOCA_SUCCESS);
	assert_true(first >= 0 && second >= 0);
	assert_int_not_equal(first, second);
	assert_int_not_equal(first, log_source);
	assert_int_equal(doca_log_unregister_source(first), DOCA_SUCCESS);
	assert_int_equal(doca_log_unregister_source(first), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_unregister_source(second), DOCA_SUCCESS);
	assert_int_equal(doca_log_unregister_source(-1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_register_source(NULL, &first), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_log_register_source("A", NULL), DOCA_ERROR_INVALID_VALUE);
}

/* ---- loggers ---- */

/* Loggers A, A::B, A::B::C, A::BB and D, besides LOG_TEST::LINES of this file. */
static int sources[5];

static int loggers_setup(void **state)
{
	static const char *const names[] = {"A", "A::B", "A::B::C", "A::BB", "D"};

	for (int i = 0; i < 5; i++)
		assert_int_equal(doca_log_register_source(names[i], &sources[i]), DOCA_SUCCESS);
	return 0;
}

static int loggers_teardown(void **state)
{
	for (int i = 0; i < 5; i++)
		(void)doca_log_unregister_source(sources[i]);
	return 0;
}

static struct doca_logger *logger_named(const char *name)
{
	struct doca_logger **list, *found;
	uint32_t num;

	assert_int_equal(doca_logger_create_list(NULL, 0, &list, &num), DOCA_SUCCESS);
	found = doca_logger_find_by_name(list, name);
	assert_int_equal(doca_logger_destroy_list(list), DOCA_SUCCESS);
	return found;
}

static void expect_below(const struct doca_logger *logger, uint8_t depth, const char *expected)
{
	char text[1024] = "", name[DOCA_LOGGER_NAME_SIZE];
	struct doca_logger **list;
	uint32_t num;

	assert_int_equal(doca_logger_create_list(logger, depth, &list, &num), DOCA_SUCCESS);
	for (uint32_t i = 0; i < num; i++) {
		assert_int_equal(doca_logger_get_name(list[i], name), DOCA_SUCCESS);
		strcat(strcat(text, name), " ");
	}
	assert_int_equal(doca_logger_destroy_list(list), DOCA_SUCCESS);
	assert_string_equal(text, expected);
}

static int level_of(const char *name)
{
	int level = 0;

	assert_int_equal(doca_logger_get_level(logger_named(name), &level), DOCA_SUCCESS);
	return level;
}

static void loggers_are_a_tree_of_names(void **state)
{
	struct doca_logger **list;
	uint32_t num;

	expect_below(NULL, 1, "A D ");
	expect_below(NULL, 2, "LOG_TEST::LINES A A::B A::BB D ");
	expect_below(NULL, 0, "LOG_TEST::LINES A A::B A::B::C A::BB D ");
	expect_below(logger_named("A"), 1, "A::B A::BB ");
	expect_below(logger_named("A"), 0, "A::B A::B::C A::BB ");
	expect_below(logger_named("A::B"), 0, "A::B::C ");
	assert_int_equal(doca_logger_create_list(logger_named("D"), 0, &list, &num), DOCA_ERROR_NOT_FOUND);
	assert_null(logger_named("A::"));
}

static void levels_propagate_on_request(void **state)
{
	assert_int_equal(level_of("A"), DOCA_LOG_LEVEL_TRACE);
	assert_int_equal(doca_logger_set_level(logger_named("A"), DOCA_LOG_LEVEL_ERROR, 0), DOCA_SUCCESS);
	assert_int_equal(level_of("A"), DOCA_LOG_LEVEL_ERROR);
	assert_int_equal(level_of("A::B"), DOCA_LOG_LEVEL_TRACE);
	assert_int_equal(doca_logger_set_level(logger_named("A::B"), DOCA_LOG_LEVEL_DEBUG, 1), DOCA_SUCCESS);
	assert_int_equal(level_of("A"), DOCA_LOG_LEVEL_ERROR);
	assert_int_equal(level_of("A::B"), DOCA_LOG_LEVEL_DEBUG);
	assert_int_equal(level_of("A::B::C"), DOCA_LOG_LEVEL_DEBUG);
	assert_int_equal(level_of("A::BB"), DOCA_LOG_LEVEL_TRACE);
	assert_int_equal(doca_logger_set_level(NULL, DOCA_LOG_LEVEL_INFO, 1), DOCA_SUCCESS);
	assert_int_equal(level_of("A::B::C"), DOCA_LOG_LEVEL_INFO);
	assert_int_equal(level_of("D"), DOCA_LOG_LEVEL_INFO);
	assert_int_equal(level_of("LOG_TEST::LINES"), DOCA_LOG_LEVEL_INFO);
	assert_int_equal(doca_logger_set_level(NULL, DOCA_LOG_LEVEL_TRACE, 1), DOCA_SUCCESS);
}

static void a_logger_passes_on_its_levels_body(void)
{
	program_backend();
	CHECK_OK(doca_logger_set_level(logger_named("LOG_TEST::LINES"), DOCA_LOG_LEVEL_WARNING, 0));
	CHECK_OK(DOCA_LOG_INFO("not passed on"));
	CHECK(!*next_record());
	DOCA_LOG_WARN("passed on");
	CHECK(*next_record());
	CHECK_OK(doca_log(DOCA_LOG_LEVEL_INFO, -1, "f", 1, "f", "of no source"));
	CHECK(*next_record());
	CHECK_OK(doca_logger_set_level(logger_named("LOG_TEST::LINES"), DOCA_LOG_LEVEL_DISABLE, 0));
	DOCA_LOG_CRIT("not passed on");
	CHECK(!*next_record());
	CHECK_OK(doca_logger_set_level(logger_named("LOG_TEST::LINES"), DOCA_LOG_LEVEL_TRACE, 0));
	DOCA_LOG_DBG("the backend shows no such level");
	CHECK(!*next_record());
}
CHILD_TEST(a_logger_passes_on_its_levels)

static void destroyed_or_wrong_loggers_are_rejected(void **state)
{
	struct doca_logger *gone = logger_named("D"), **list;
	char name[DOCA_LOGGER_NAME_SIZE];
	uint32_t num;
	int level;

	assert_int_equal(doca_log_unregister_source(sources[4]), DOCA_SUCCESS);
	assert_int_equal(doca_logger_get_level(gone, &level), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_logger_set_level(gone, DOCA_LOG_LEVEL_INFO, 0), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(doca_logger_get_name(gone, name), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_create_list(gone, 0, &list, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_create_list(NULL, 0, NULL, &num), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_create_list(NULL, 0, &list, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_destroy_list(NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_set_level(NULL, DOCA_LOG_LEVEL_INFO, 0), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_set_level(NULL, 55, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_set_level(NULL, 80, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_get_level(NULL, &level), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_get_level(logger_named("A"), NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_logger_get_name(NULL, name), DOCA_ERROR_INVALID_VALUE);
	assert_null(doca_logger_find_by_name(NULL, "A"));
}

static void long_names_are_truncated(void **state)
{
	char wanted[2 * DOCA_LOGGER_NAME_SIZE], name[DOCA_LOGGER_NAME_SIZE];
	int source;

	memset(wanted, 'x', sizeof(wanted) - 1);
	wanted[sizeof(wanted) - 1] = '\0';
	assert_int_equal(doca_log_register_source(wanted, &source), DOCA_SUCCESS);
	assert_int_equal(doca_logger_get_name(logger_named(wanted), name), DOCA_SUCCESS);
	assert_int_equal(strlen(name), sizeof(name) - 1);
	assert_int_equal(doca_log_unregister_source(source), DOCA_SUCCESS);
}

static void keep_nothing(char *record) {}

static void backends_have_a_maximum_body(void)
{
	struct doca_log_backend *backend;
	char memory[16];

	for (uint32_t i = 0; i < doca_log_get_max_num_backends(); i++)
		CHECK_OK(doca_log_backend_create_with_buf(memory, sizeof(memory), keep_nothing, &backend));
	CHECK(doca_log_backend_create_with_buf(memory, sizeof(memory), keep_nothing, &backend) == DOCA_ERROR_NO_MEMORY);
	CHECK(doca_log_backend_create_standard() == DOCA_ERROR_NO_MEMORY);
	for (uint32_t i = 0; i < doca_log_get_max_num_backends_sdk(); i++)
		CHECK_OK(doca_log_backend_create_with_buf_sdk(memory, sizeof(memory), keep_nothing, &backend));
	CHECK(doca_log_backend_create_with_syslog_sdk("x", &backend) == DOCA_ERROR_NO_MEMORY);
}
CHILD_TEST(backends_have_a_maximum)

#define T_LOGGERS(name) cmocka_unit_test_setup_teardown(name, loggers_setup, loggers_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_allows_its_lines_and_counts_the_rest),
		cmocka_unit_test(a_window_begins_at_any_second),
		cmocka_unit_test(a_flood_is_limited_and_its_rest_counted),
		cmocka_unit_test(threads_share_a_limit),
		cmocka_unit_test(programs_have_limited_lines),
		cmocka_unit_test(a_child_reports_its_own_lines_only),
		cmocka_unit_test(nothing_before_a_backend),
		cmocka_unit_test(line_format),
		cmocka_unit_test(default_limits),
		cmocka_unit_test(backend_limits),
		cmocka_unit_test(global_limits),
		cmocka_unit_test(strict_limits),
		cmocka_unit_test(sdk_and_program_apart),
		cmocka_unit_test(disabled_levels_do_not_evaluate),
		cmocka_unit_test(standard_splits_by_severity),
		cmocka_unit_test(file_backend_writes_each_record_immediately),
		cmocka_unit_test(buffer_backend),
		cmocka_unit_test(long_records),
		cmocka_unit_test(errno_is_kept),
		cmocka_unit_test(threads_write_whole_records),
		cmocka_unit_test(syslog_backends),
		cmocka_unit_test(wrong_arguments_are_rejected),
		cmocka_unit_test(wrong_records_are_rejected),
		cmocka_unit_test(sources_have_numbers_of_their_own),
		T_LOGGERS(loggers_are_a_tree_of_names),
		T_LOGGERS(levels_propagate_on_request),
		cmocka_unit_test(a_logger_passes_on_its_levels),
		T_LOGGERS(destroyed_or_wrong_loggers_are_rejected),
		T_LOGGERS(long_names_are_truncated),
		cmocka_unit_test(backends_have_a_maximum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
