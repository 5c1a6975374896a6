/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports: one line for each rule that was broken. */
#include "validation/report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <softfield/validation.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/log_file.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"
#include "validation/object.h"
#include "validation/rules.h"
#include "validation/site.h"

#define LINE_MAX_LEN 1536 /* longer lines are truncated */

bool sf_validation_is_on;

static struct sf_rule_choice choice; /* written once, when the library is loaded */
static struct sf_log_file *file;     /* the same; NULL: the log, or standard error */
static uint64_t num_reports;
static struct sf_log_site sites[SF_RULES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static softfield_validation_cb_t callback GUARDED_BY(lock);
static void *callback_data GUARDED_BY(lock);

SF_FORK_LOCK(SF_FORK_TABLE, &lock, NULL);

/* ---- public ---- */

uint64_t softfield_validation_num_reports(void)
{
	return __atomic_load_n(&num_reports, __ATOMIC_RELAXED);
}

void softfield_validation_set_callback(softfield_validation_cb_t its_callback, void *user_data)
{
	pthread_mutex_lock(&lock);
	callback = its_callback;
	callback_data = user_data;
	pthread_mutex_unlock(&lock);
}

/* ---- one report ---- */

static void callback_run(const struct softfield_validation_report *report)
{
	pthread_mutex_lock(&lock);
	softfield_validation_cb_t its_callback = callback;
	void *user_data = callback_data;
	pthread_mutex_unlock(&lock);
	if (its_callback != NULL)
		its_callback(report, user_data);
}

/* Several processes may append to the file, so its lines name the process. */
static void file_write(const char *line)
{
	char record[LINE_MAX_LEN];
	int len = snprintf(record, sizeof(record), "%s[%d]: %s\n", program_invocation_short_name, (int)getpid(), line);

	if (len >= (int)sizeof(record)) {
		len = sizeof(record) - 1;
		record[len - 1] = '\n';
	}
	if (len > 0)
		sf_log_file_write(file, record, (size_t)len);
}

void sf_report_write(const char *line)
{
	if (file != NULL)
		file_write(line);
	else if (fcntl(STDERR_FILENO, F_GETFD) >= 0)
		dprintf(STDERR_FILENO, "softfield: %s\n", line);
}

/* Writes to the terminal if the log does not show warnings, so that the report is seen. */
static void line_write(const char *line)
{
	if (file == NULL && DOCA_LOG_LEVEL_WARNING <= __atomic_load_n(&sf_log_limit, __ATOMIC_RELAXED))
		SF_LOG_WARN("%s", line);
	else
		sf_report_write(line);
}

static void object_fill(struct softfield_validation_report *report, enum sf_rule rule, const void *address, const char *type)
{
	struct sf_object object = {.type = NULL};
	char task[64] = "";

	if (address != NULL && sf_object_get(address, &object) && object.created_at != NULL)
		sf_site_text(object.created_at, report->created_at, sizeof(report->created_at));
	if (type == NULL)
		type = object.type != NULL ? object.type : sf_rules[rule].object;
	else if (strcmp(sf_rules[rule].object, "task") == 0) /* "dma memcpy" */
		snprintf(task, sizeof(task), "%s task", type);
	sf_object_text(address, task[0] != '\0' ? task : type, report->object, sizeof(report->object));
}

void sf_rule_report(enum sf_rule rule, struct softfield_validation_report *report)
{
	report->number = __atomic_add_fetch(&num_reports, 1, __ATOMIC_RELAXED);
	snprintf(report->rule, sizeof(report->rule), "%s", sf_rules[rule].id);
	if (report->fix[0] == '\0')
		snprintf(report->fix, sizeof(report->fix), "%s", sf_rules[rule].fix);
	snprintf(report->message, sizeof(report->message), "%s: %s: %s%s%s; fix: %s", report->rule, report->object, report->call,
		 report->call[0] != '\0' ? ": " : "", report->cause, report->fix);
	callback_run(report);
	if (sf_log_site_line(&sites[rule]))
		line_write(report->message);
}

bool sf_rule_is_chosen(enum sf_rule rule)
{
	return sf_validation_is_on && choice.chosen[rule];
}

/* Starts a report of that object and call, with empty cause and fix. */
static void report_begin(struct softfield_validation_report *report, enum sf_rule rule, const void *object, const char *type,
			 const char *call)
{
	memset(report, 0, sizeof(*report));
	object_fill(report, rule, object, type);
	if (call == NULL)
		call = sf_site_find().call;
	snprintf(report->call, sizeof(report->call), "%s", call != NULL ? call : "");
}

void sf_rule_broken(enum sf_rule rule, const void *object, const char *type, const char *call, const char *format, ...)
{
	struct softfield_validation_report report;
	va_list args;

	if (!sf_rule_is_chosen(rule))
		return;
	report_begin(&report, rule, object, type, call);
	va_start(args, format);
	vsnprintf(report.cause, sizeof(report.cause), format, args);
	va_end(args);
	sf_rule_report(rule, &report);
}

void sf_rule_broken_so(enum sf_rule rule, const void *object, const char *type, const char *call, const char *fix,
		       const char *format, ...)
{
	struct softfield_validation_report report;
	va_list args;

	if (!sf_rule_is_chosen(rule))
		return;
	report_begin(&report, rule, object, type, call);
	snprintf(report.fix, sizeof(report.fix), "%s", fix);
	va_start(args, format);
	vsnprintf(report.cause, sizeof(report.cause), format, args);
	va_end(args);
	sf_rule_report(rule, &report);
}

/* ---- SOFTFIELD_VALIDATE ---- */

static void file_open(void)
{
	char path[PATH_MAX], line[PATH_MAX + 256];
	int error = ENAMETOOLONG;

	if (choice.file == NULL)
		return;
	snprintf(path, sizeof(path), "%.*s", (int)choice.file_len, choice.file);
	if (choice.file_len < sizeof(path)) {
		file = sf_log_file_open(path);
		error = file != NULL ? 0 : errno;
	}
	if (error == 0)
		return;
	snprintf(line, sizeof(line), "SOFTFIELD_VALIDATE names the file %s, which cannot be opened: %s; reports go to the log",
		 path, strerror(error));
	line_write(line);
}

static void mistake_report(const char *bad, size_t bad_len)
{
	char line[256];

	snprintf(line, sizeof(line),
		 "SOFTFIELD_VALIDATE has \"%.*s\": set it to 1, or to a list of rules of docs/validation.md such as SF-MMAP-003, "
		 "SF-MMAP or -SF-EXIT-001, and file=PATH",
		 (int)(bad_len < 48 ? bad_len : 48), bad);
	line_write(line);
}

/* Runs when the library is loaded, before the program creates an object. */
static __attribute__((constructor)) void choice_read(void)
{
	const char *text = secure_getenv("SOFTFIELD_VALIDATE"), *bad;
	size_t bad_len = 0;

	if (text == NULL || text[0] == '\0')
		return;
	for (size_t i = 0; i < SF_RULES; i++)
		sites[i] = (struct sf_log_site){.file = __FILE__,
						.func = sf_rules[i].id,
						.line = 0,
						.level = DOCA_LOG_LEVEL_WARNING,
						.lines_max = LOG_RATE_LINES};
	bad = sf_rule_choose(text, &choice, &bad_len);
	for (size_t i = 0; i < SF_RULES; i++)
		sf_validation_is_on |= choice.chosen[i];
	file_open();
	if (bad != NULL)
		mistake_report(bad, bad_len);
}
