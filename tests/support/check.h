/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CHECK, for test code that may run in any process: rigs, children, threads, fuzz targets. In cmocka's own process, cmocka's
 * asserts do as well. A failed check prints its place and the condition. In the thread that runs cmocka's tests it then fails the
 * test; elsewhere it ends the process with status 1; in a fuzz target (CHECK_ABORTS) it aborts, which is a finding.
 */
#ifndef TEST_CHECK_H
#define TEST_CHECK_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, "%s does not hold", #condition))

/* For a call that returns doca_error_t. */
#define CHECK_RESULT(call, want)                                                                                                 \
	do {                                                                                                                     \
		doca_error_t got_ = (call);                                                                                      \
		if (got_ != (want))                                                                                              \
			check_failed(__FILE__, __LINE__, "%s gave %s, not %s", #call, doca_error_get_name(got_),                 \
				     doca_error_get_name(want));                                                                 \
	} while (0)
#define CHECK_OK(call) CHECK_RESULT(call, DOCA_SUCCESS)

/* The pid of the process that the program started as; a forked child has another one. */
static pid_t check_first_process;

__attribute__((constructor)) static void check_process_note(void)
{
	check_first_process = getpid();
}

/* A function of cmocka, which a program need not link: ends the running test. */
void _fail(const char *file, int line) __attribute__((weak));

__attribute__((noreturn, format(printf, 3, 4))) static inline void check_failed(const char *file, int line, const char *format,
										...)
{
	va_list arguments;

	fflush(stdout);
	va_start(arguments, format);
	fprintf(stderr, "%s:%d: process %d: ", file, line, (int)getpid());
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
#ifdef CHECK_ABORTS
	abort();
#endif
	if (_fail != NULL && gettid() == check_first_process)
		_fail(file, line);
	_exit(1);
}

#endif
