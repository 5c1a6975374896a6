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
	for (uint32_t i = 0; i < SF_TRACE_RINGS_MAX; i++)
		free(process->rings[i].seen);
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
	more[process->num_threads] = (struct trace_thread){.id = ring->thread, .is_kernel = ring->is_kernel != 0};
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

/* Keeps the valid events from `from` on; earlier slots were overwritten while they were read. */
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

/* Reads the events [from, end), each to its slot. */
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

/* Returns the first complete event in a ring with that head: the one a full ring before may just be overwritten. */
static uint64_t first_whole(uint64_t head)
{
	return head < SF_TRACE_EVENTS ? 0 : head - SF_TRACE_EVENTS + 1;
}

static uint64_t ticks_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- rings of kernels ---- */

static bool event_is_whole(const struct trace_process *process, const struct sf_trace_event *event)
{
	return (event->kind == SF_TRACE_SEND || event->kind == SF_TRACE_DELIVER) && event->name == 0 &&
	       event->check == sf_trace_check(event->ticks) && process->num_events < TRACE_EVENTS_MAX;
}

/* A slot whose ticks changed has a new event. Events between the two are lost and not counted. */
static void kernel_events_keep(struct trace_process *process, struct trace_thread *thread, const struct sf_trace_event *slots,
			       uint64_t *seen)
{
	for (uint32_t i = 0; i < SF_TRACE_EVENTS; i++) {
		if (slots[i].ticks == seen[i] || !event_is_whole(process, &slots[i]))
			continue;
		seen[i] = slots[i].ticks;
		thread->events[thread->num] = slots[i];
		thread->events[thread->num++].object = 0; /* no task of the host */
		process->num_events++;
	}
}

static void stamps_keep(struct trace_thread *thread, const struct sf_trace_ring *ring)
{
	thread->num_stamps = ring->num_stamps == 2 ? 2 : 1;
	memcpy(thread->stamps, ring->stamps, sizeof(thread->stamps));
}

/* Like ring_read. */
static bool kernel_ring_read(struct trace_process *process, uint32_t number, const struct sf_trace_ring *ring,
			     struct sf_trace_event *slots)
{
	const size_t at = sf_trace_ring_at(number);
	struct trace_thread *thread;

	if (process->rings[number].seen == NULL)
		process->rings[number].seen = calloc(SF_TRACE_EVENTS, sizeof(uint64_t));
	if (process->rings[number].seen == NULL)
		return false;
	if (process->rings[number].thread == NO_THREAD || process->rings[number].first != ring->first) {
		if (!thread_add(process, ring, &process->rings[number].thread))
			return false;
		process->rings[number].first = ring->first;
	}
	if (process->rings[number].thread == NO_THREAD || !slots_read(process, at, slots, 0, SF_TRACE_EVENTS))
		return true;
	thread = &process->threads[process->rings[number].thread];
	if (!thread->is_kernel)
		return true;
	if (!room_make(thread, SF_TRACE_EVENTS))
		return false;
	kernel_events_keep(process, thread, slots, process->rings[number].seen);
	stamps_keep(thread, ring);
	return true;
}

/* ---- all rings ---- */

/* Returns false without memory. Skips an invalid ring. */
static bool ring_read(struct trace_process *process, uint32_t number, struct sf_trace_event *slots)
{
	const size_t at = sf_trace_ring_at(number);
	struct sf_trace_ring ring, after;
	uint64_t from;

	if (!bytes_read(process->fd, &ring, sizeof(ring), at))
		return true;
	if (ring.is_kernel != 0)
		return kernel_ring_read(process, number, &ring, slots);
	if (ring.first > ring.head || ring.head < process->rings[number].next)
		return true;
	if (process->rings[number].thread == NO_THREAD || process->rings[number].first != ring.first) {
		if (!thread_add(process, &ring, &process->rings[number].thread))
			return false;
		process->rings[number].first = ring.first;
		if (ring.first > process->rings[number].next && process->rings[number].next != 0)
			process->num_lost +=
				ring.first - process->rings[number].next; /* events of the thread that had the ring before */
		process->rings[number].next = ticks_later(process->rings[number].next, ring.first);
	}
	from = ticks_later(process->rings[number].next, first_whole(ring.head));
	if (process->rings[number].thread == NO_THREAD || !slots_read(process, at, slots, from, ring.head) ||
	    !bytes_read(process->fd, &after, sizeof(after), at) || after.head < ring.head)
		return true;
	from = ticks_later(from, first_whole(after.head));
	if (from > ring.head)
		from = ring.head;
	process->num_lost += from - process->rings[number].next;
	process->rings[number].next = ring.head;

	struct trace_thread *thread = &process->threads[process->rings[number].thread];

	if (thread->is_kernel)
		return true;
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
