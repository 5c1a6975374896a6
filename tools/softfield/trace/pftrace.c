/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/pftrace.h"

#include <string.h>

#define MESSAGE_MAX 2048 /* bytes; texts are cut to TEXT_MAX, so that every message fits */
#define TEXT_MAX 120
#define SEQUENCE 1 /* of packets: there is one */

/* The numbers of Perfetto's fields (protos/perfetto/trace in its sources). */
enum {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_CLOCK = 58,
	PACKET_TRACK_DESCRIPTOR = 60,
	SNAPSHOT_CLOCK = 1,
	SNAPSHOT_PRIMARY = 2,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	CLOCK_IS_MONOTONIC = 3,
	CLOCK_IS_BOOTTIME = 6,
	TRACK_UUID = 1,
	TRACK_NAME = 2,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	THREAD_NAME = 5,
	EVENT_ARG = 4,
	EVENT_TYPE = 9,
	EVENT_TRACK = 11,
	EVENT_CATEGORY = 22,
	EVENT_NAME = 23,
	EVENT_FLOW = 47,
	ARG_NUMBER = 3,
	ARG_TEXT = 6,
	ARG_NAME = 10,
};

enum { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 };

struct message {
	uint8_t bytes[MESSAGE_MAX];
	size_t len;
};

static void put_varint(struct message *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		to->bytes[to->len++] = (uint8_t)(value | 0x80);
	to->bytes[to->len++] = (uint8_t)value;
}

static void put_number(struct message *to, uint32_t field, uint64_t value)
{
	put_varint(to, field << 3 | WIRE_VARINT);
	put_varint(to, value);
}

static void put_fixed(struct message *to, uint32_t field, uint64_t value)
{
	put_varint(to, field << 3 | WIRE_FIXED64);
	for (int i = 0; i < 8; i++)
		to->bytes[to->len++] = (uint8_t)(value >> 8 * i);
}

static void put_bytes(struct message *to, uint32_t field, const void *bytes, size_t len)
{
	put_varint(to, field << 3 | WIRE_BYTES);
	put_varint(to, len);
	memcpy(to->bytes + to->len, bytes, len);
	to->len += len;
}

static void put_text(struct message *to, uint32_t field, const char *text)
{
	put_bytes(to, field, text, strnlen(text, TEXT_MAX));
}

static void put_message(struct message *to, uint32_t field, const struct message *inner)
{
	put_bytes(to, field, inner->bytes, inner->len);
}

static void packet_write(FILE *out, struct message *packet)
{
	struct message head;

	head.len = 0;
	put_number(packet, PACKET_SEQUENCE, SEQUENCE);
	put_varint(&head, TRACE_PACKET << 3 | WIRE_BYTES);
	put_varint(&head, packet->len);
	fwrite(head.bytes, 1, head.len, out);
	fwrite(packet->bytes, 1, packet->len, out);
}

static void put_clock(struct message *to, uint32_t id, uint64_t ns)
{
	struct message clock;

	clock.len = 0;
	put_number(&clock, CLOCK_ID, id);
	put_number(&clock, CLOCK_TIMESTAMP, ns);
	put_message(to, SNAPSHOT_CLOCK, &clock);
}

/* Viewers expect time since boot, unless a clock snapshot relates the clocks. */
void pftrace_begin(FILE *out, uint64_t ns)
{
	struct message snapshot, packet;

	snapshot.len = packet.len = 0;
	put_clock(&snapshot, CLOCK_IS_MONOTONIC, ns);
	put_clock(&snapshot, CLOCK_IS_BOOTTIME, ns);
	put_number(&snapshot, SNAPSHOT_PRIMARY, CLOCK_IS_MONOTONIC);
	put_number(&packet, PACKET_TIMESTAMP, ns);
	put_number(&packet, PACKET_CLOCK, CLOCK_IS_MONOTONIC);
	put_message(&packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
	packet_write(out, &packet);
}

static void track_write(FILE *out, const struct message *track)
{
	struct message packet;

	packet.len = 0;
	put_message(&packet, PACKET_TRACK_DESCRIPTOR, track);
	packet_write(out, &packet);
}

void pftrace_process(FILE *out, uint64_t track, uint32_t pid, const char *name)
{
	struct message process, descriptor;

	process.len = descriptor.len = 0;
	put_number(&process, PROCESS_PID, pid);
	put_text(&process, PROCESS_NAME, name);
	put_number(&descriptor, TRACK_UUID, track);
	put_message(&descriptor, TRACK_PROCESS, &process);
	track_write(out, &descriptor);
}

void pftrace_thread(FILE *out, uint64_t track, uint64_t process, uint32_t pid, uint32_t tid, const char *name)
{
	struct message thread, descriptor;

	thread.len = descriptor.len = 0;
	put_number(&thread, THREAD_PID, pid);
	put_number(&thread, THREAD_TID, tid);
	put_text(&thread, THREAD_NAME, name);
	put_number(&descriptor, TRACK_UUID, track);
	put_number(&descriptor, TRACK_PARENT, process);
	put_message(&descriptor, TRACK_THREAD, &thread);
	track_write(out, &descriptor);
}

void pftrace_track(FILE *out, uint64_t track, uint64_t process, const char *name)
{
	struct message descriptor;

	descriptor.len = 0;
	put_number(&descriptor, TRACK_UUID, track);
	put_number(&descriptor, TRACK_PARENT, process);
	put_text(&descriptor, TRACK_NAME, name);
	track_write(out, &descriptor);
}

static void put_arg(struct message *to, const struct pftrace_arg *arg)
{
	struct message message;

	message.len = 0;
	put_text(&message, ARG_NAME, arg->name);
	if (arg->text != NULL)
		put_text(&message, ARG_TEXT, arg->text);
	else
		put_number(&message, ARG_NUMBER, arg->number);
	put_message(to, EVENT_ARG, &message);
}

void pftrace_event(FILE *out, const struct pftrace_event *event)
{
	struct message body, packet;

	body.len = packet.len = 0;
	put_number(&body, EVENT_TYPE, event->type);
	put_number(&body, EVENT_TRACK, event->track);
	if (event->category != NULL)
		put_text(&body, EVENT_CATEGORY, event->category);
	if (event->name != NULL)
		put_text(&body, EVENT_NAME, event->name);
	if (event->flow != 0)
		put_fixed(&body, EVENT_FLOW, event->flow);
	for (uint32_t i = 0; i < event->num_args; i++)
		put_arg(&body, &event->args[i]);
	put_number(&packet, PACKET_TIMESTAMP, event->ns);
	put_number(&packet, PACKET_CLOCK, CLOCK_IS_MONOTONIC);
	put_message(&packet, PACKET_TRACK_EVENT, &body);
	packet_write(out, &packet);
}
