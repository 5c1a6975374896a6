/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/timing.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/trace_clock.h"

#define SPAN_MIN_NS UINT64_C(1000000000) /* between two stamps: then their errors are negligible */
#define TICKS_PER_NS_MAX 64		 /* bound in both directions */
#define SPAN_MAX INT64_MAX		 /* of both clocks: its product with any ticks fits in 128 bits */

static bool is_of_this_boot(const struct sf_trace_head *head)
{
	char boot[SF_TRACE_TEXT_MAX];
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, boot, sizeof(boot) - 1) : 0;

	if (fd >= 0)
		close(fd);
	boot[len > 0 ? len : 0] = '\0';
	boot[strcspn(boot, "\n")] = '\0';
	return boot[0] != '\0' && strcmp(boot, head->boot) == 0;
}

static bool stamps_take(struct trace_timing *timing, const struct sf_trace_stamp *begin, const struct sf_trace_stamp *end)
{
	if (end->ticks <= begin->ticks || end->ns <= begin->ns)
		return false;
	timing->begin = *begin;
	timing->ticks = end->ticks - begin->ticks;
	timing->ns = end->ns - begin->ns;
	return timing->ticks <= SPAN_MAX && timing->ns <= SPAN_MAX && timing->ticks / TICKS_PER_NS_MAX <= timing->ns &&
	       timing->ns / TICKS_PER_NS_MAX <= timing->ticks;
}

bool trace_timing_of(const struct sf_trace_head *head, struct trace_timing *timing)
{
	const struct sf_trace_stamp *last = &head->last[head->last_stamp];
	struct sf_trace_stamp now;

	*timing = (struct trace_timing){.is_ns = head->clock == SF_TRACE_CLOCK_NS};
	if (timing->is_ns)
		return true;
	if (last->ns >= head->begin.ns && last->ns - head->begin.ns >= SPAN_MIN_NS && stamps_take(timing, &head->begin, last))
		return true;
	now = sf_trace_clock_stamp();
	if (sf_trace_clock_kind() == SF_TRACE_CLOCK_CPU && is_of_this_boot(head) && stamps_take(timing, &head->begin, &now))
		return true;
	return stamps_take(timing, &head->begin, last);
}

/* The kernel's clock counts nanoseconds. Two distant stamps give its rate, with an error of a few ppm. */
bool trace_timing_of_kernel(const struct trace_thread *thread, struct trace_timing *timing)
{
	const struct sf_trace_stamp *begin = &thread->stamps[0], *end = &thread->stamps[1];

	*timing = (struct trace_timing){.is_ns = false};
	if (thread->num_stamps == 2 && end->ns >= begin->ns && end->ns - begin->ns >= SPAN_MIN_NS &&
	    stamps_take(timing, begin, end))
		return true;
	*timing = (struct trace_timing){.begin = *begin, .ticks = 1, .ns = 1};
	return begin->ns != 0 && begin->ticks != 0;
}

uint64_t trace_time(const struct trace_timing *timing, uint64_t ticks)
{
	__extension__ typedef __int128 wide;
	wide ns;

	if (timing->is_ns)
		return ticks;
	ns = (wide)timing->begin.ns + ((wide)ticks - (wide)timing->begin.ticks) * (wide)timing->ns / (wide)timing->ticks;
	return ns < 0 ? 0 : ns > INT64_MAX ? INT64_MAX : (uint64_t)ns;
}
