/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/load.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_THREAD UINT32_MAX

static bool bytes_read(int fd, void *bytes, size_t len, size_t at)
{
	return pread(fd, bytes, len, (off_t)at) == (ssize_t)len;
}

static void text_end(char *text, size_t size)
{
	text[size - 1] = '\0';
}

/* ---- head and names ---- */

static bool head_check(struct sf_trace_head *head)
{
	if (memcmp(head->magic, SF_TRACE_MAGIC, sizeof(head->magic)) != 0 || head->version != SF_TRACE_VERSION ||
	    head->clock >= SF_TRACE_CLOCKS || head->num_names > SF_TRACE_NAMES_MAX || head->num_rings > SF_TRACE_RINGS_MAX ||
	    head->last_stamp > 1 || head->pid > INT32_MAX)
		return false;
	text_end(head->boot, sizeof(head->boot));
	text_end(head->program, sizeof(head->program));
	text_end(head->node, sizeof(head->node));
	return true;
}

static bool head_read(struct trace_process *process)
{
	struct sf_trace_head head;

	if (!bytes_read(process->fd, &head, sizeof(head), 0) || !head_check(&head))
		return false;
	if (!bytes_read(process->fd, process->names, head.num_names * sizeof(process->names[0]), SF_TRACE_NAMES_AT))
		return false;
	for (uint32_t i = 0; i < head.num_names; i++)
		text_end(process->names[i], sizeof(process->names[i]));
	process->head = head;
	return true;
}

bool trace_process_open(struct trace_process *process, int fd)
{
	struct stat st;

	memset(process, 0, sizeof(*process));
	process->fd = fd;
	for (uint32_t i = 0; i < SF_TRACE_RINGS_MAX; i++)
		process->rings[i].thread = NO_THREAD;
	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && head_read(process);
}

void trace_process_close(struct trace_process *process)
{
	for (uint32_t i = 0; i < process->num_threads; i++)
		free(process->threads[i].events);
	free(process->threads);
	if (process->fd >= 0)
		close(process->fd);
	memset(process, 0, sizeof(*process));
	process->fd = -1;
}

/* ---- rings ---- */

static bool thread_add(struct trace_process *process, const struct sf_trace_ring *ring, uint32_t *thread)
{
	struct trace_thread *more;

	*thread = NO_THREAD;
	if (process->num_threads == TRACE_THREADS_MAX)
		return true;
	more = realloc(process->threads, (process->num_threads + 1) * sizeof(*more));
	if (more == NULL)
		return false;
	process->threads = more;
	more[process->num_threads] = (struct trace_thread){.id = ring->thread};
	memcpy(more[process->num_threads].name, ring->name, sizeof(ring->name));
	text_end(more[process->num_threads].name, sizeof(ring->name));
	*thread = process->num_threads++;
	return true;
}

static bool room_make(struct trace_thread *thread, size_t num)
{
	size_t room = thread->room > 0 ? thread->room : 1024;
	struct sf_trace_event *more;

	while (room < thread->num + num)
		room *= 2;
	if (room == thread->room)
		return true;
	more = realloc(thread->events, room * sizeof(*more));
	if (more == NULL)
		return false;
	thread->events = more;
	thread->room = room;
	return true;
}

/* Takes over those events from `from` on that are ones; the slots were read, and those before `from` were overwritten. */
static void events_keep(struct trace_process *process, struct trace_thread *thread, const struct sf_trace_event *slots,
			uint64_t from, uint64_t end)
{
	for (uint64_t i = from; i < end; i++) {
		const struct sf_trace_event *event = &slots[i & (SF_TRACE_EVENTS - 1)];

		if (event->kind == 0 || event->kind >= SF_TRACE_KINDS || event->name >= process->head.num_names ||
		    process->num_events == TRACE_EVENTS_MAX) {
			process->num_lost++;
			continue;
		}
		thread->events[thread->num++] = *event;
		process->num_events++;
	}
}

/* The events [from, end), each into its slot. */
static bool slots_read(const struct trace_process *process, size_t at, struct sf_trace_event *slots, uint64_t from, uint64_t end)
{
	while (from < end) {
		size_t slot = from & (SF_TRACE_EVENTS - 1);
		uint64_t num = SF_TRACE_EVENTS - slot < end - from ? SF_TRACE_EVENTS - slot : end - from;

		if (!bytes_read(process->fd, &slots[slot], num * sizeof(*slots), at + SF_TRACE_RING_HEAD + slot * sizeof(*slots)))
			return false;
		from += num;
	}
	return true;
}

/* The first event that is whole in a ring with that head: the one a whole ring before may be overwritten right now. */
static uint64_t first_whole(uint64_t head)
{
	return head < SF_TRACE_EVENTS ? 0 : head - SF_TRACE_EVENTS + 1;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* False: no memory. A ring that cannot be is left alone. */
static bool ring_read(struct trace_process *process, uint32_t number, struct sf_trace_event *slots)
{
	const size_t at = sf_trace_ring_at(number);
	struct sf_trace_ring ring, after;
	uint64_t from;

	if (!bytes_read(process->fd, &ring, sizeof(ring), at) || ring.first > ring.head ||
	    ring.head < process->rings[number].next)
		return true;
	if (process->rings[number].thread == NO_THREAD || process->rings[number].first != ring.first) {
		if (!thread_add(process, &ring, &process->rings[number].thread))
			return false;
		process->rings[number].first = ring.first;
		if (ring.first > process->rings[number].next && process->rings[number].next != 0)
			process->num_lost += ring.first - process->rings[number].next; /* of the thread that had it before */
		process->rings[number].next = later(process->rings[number].next, ring.first);
	}
	from = later(process->rings[number].next, first_whole(ring.head));
	if (process->rings[number].thread == NO_THREAD || !slots_read(process, at, slots, from, ring.head) ||
	    !bytes_read(process->fd, &after, sizeof(after), at) || after.head < ring.head)
		return true;
	from = later(from, first_whole(after.head));
	if (from > ring.head)
		from = ring.head;
	process->num_lost += from - process->rings[number].next;
	process->rings[number].next = ring.head;

	struct trace_thread *thread = &process->threads[process->rings[number].thread];

	if (!room_make(thread, ring.head - from))
		return false;
	events_keep(process, thread, slots, from, ring.head);
	return true;
}

bool trace_process_read(struct trace_process *process)
{
	struct sf_trace_event *slots = malloc(SF_TRACE_EVENTS * sizeof(*slots));
	bool done = slots != NULL;

	if (done && head_read(process)) {
		for (uint32_t i = 0; i < process->head.num_rings && done; i++)
			done = ring_read(process, i, slots);
	}
	free(slots);
	return done;
}
