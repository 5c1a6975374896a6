/* SPDX-License-Identifier: BSD-3-Clause */
#include "urom/directory.h"

#include <limits.h>
#include <stdlib.h>

#include "urom/pack.h"

/* ---- packing ---- */

static size_t aligned_size(size_t used, size_t len)
{
	used += sizeof(uint32_t);
	return ((used + 7) & ~(size_t)7) + len;
}

static size_t entry_size(const struct urom_entry_worker *workers, uint32_t num_workers, const struct urom_entry_buffer *buffers,
			 uint32_t num_buffers)
{
	size_t used = 2 * sizeof(uint32_t);

	for (uint32_t i = 0; i < num_workers; i++)
		used = aligned_size(used + sizeof(uint64_t), workers[i].addresses.len);
	for (uint32_t i = 0; i < num_buffers; i++)
		used = aligned_size(aligned_size(used + 2 * sizeof(uint64_t), buffers[i].memh.len), buffers[i].mkey.len);
	return used;
}

size_t urom_entry_pack(const struct urom_entry_worker *workers, uint32_t num_workers, const struct urom_entry_buffer *buffers,
		       uint32_t num_buffers, void *out, size_t room)
{
	struct urom_writer writer = {(uint8_t *)out, room, 0, false};

	if (out == NULL)
		return entry_size(workers, num_workers, buffers, num_buffers);
	urom_put_u32(&writer, num_workers);
	urom_put_u32(&writer, num_buffers);
	for (uint32_t i = 0; i < num_workers; i++) {
		urom_put_u64(&writer, workers[i].domain_id);
		urom_put_aligned(&writer, workers[i].addresses.data, workers[i].addresses.len);
	}
	for (uint32_t i = 0; i < num_buffers; i++) {
		urom_put_u64(&writer, buffers[i].va);
		urom_put_u64(&writer, buffers[i].len);
		urom_put_aligned(&writer, buffers[i].memh.data, buffers[i].memh.len);
		urom_put_aligned(&writer, buffers[i].mkey.data, buffers[i].mkey.len);
	}
	return urom_written(&writer);
}

size_t urom_directory_begin(void *directory, uint32_t num)
{
	if (directory != NULL)
		memcpy(directory, &num, sizeof(num));
	return sizeof(num);
}

size_t urom_directory_place(void *directory, size_t used, size_t len)
{
	const uint32_t written = (uint32_t)len;
	size_t place = aligned_size(used, 0);

	if (directory != NULL) {
		memset((uint8_t *)directory + used, 0, place - used);
		memcpy((uint8_t *)directory + used, &written, sizeof(written));
	}
	return place;
}

size_t urom_addresses_append(void *addresses, size_t room, size_t used, uint64_t plugin, const void *address, size_t len)
{
	struct urom_writer writer = {(uint8_t *)addresses, room, used, false};

	urom_put_u64(&writer, plugin);
	urom_put_aligned(&writer, address, len);
	return urom_written(&writer);
}

/* ---- parsing ---- */

struct segment {
	uint64_t va, len;
	struct urom_blob memh, mkey;
};

/* The place of a segment. */
struct span {
	uint64_t va, end;
	uint32_t segment;
};

struct process {
	struct segment *segments; /* in the order in which they were added */
	struct span *spans;	  /* by va; NULL: some overlap */
	uint32_t num_segments;
};

struct member {
	uint64_t domain_id;
	struct urom_blob addresses;
	const struct process *process;
};

struct urom_directory {
	void *data;
	struct process *processes;
	uint32_t num_processes;
	struct member *members; /* by domain_id */
	size_t num_members, room_members;
};

static const char malformed[] = "it is malformed";
static const char no_memory[] = "there is no memory for it";

static struct urom_blob get_blob(struct urom_reader *reader, const void *body)
{
	struct urom_blob blob;

	blob.data = urom_get_aligned(reader, body, &blob.len);
	return blob;
}

static bool grow_members(struct urom_directory *directory, uint32_t more)
{
	size_t needed = directory->num_members + more;

	if (needed <= directory->room_members)
		return true;
	size_t room = needed + needed / 2;
	struct member *members = (struct member *)realloc(directory->members, room * sizeof(*members));
	if (members == NULL)
		return false;
	directory->members = members;
	directory->room_members = room;
	return true;
}

static int by_va(const void *a, const void *b)
{
	uint64_t x = ((const struct span *)a)->va, y = ((const struct span *)b)->va;

	return (x > y) - (x < y);
}

static bool sort_segments(struct process *process)
{
	uint32_t num = process->num_segments, i;

	process->spans = (struct span *)calloc(num + 1, sizeof(process->spans[0]));
	if (process->spans == NULL)
		return false;
	for (i = 0; i < num; i++) {
		const struct segment *segment = &process->segments[i];

		process->spans[i] = (struct span){segment->va, segment->va + segment->len, i};
	}
	if (num > 1)
		qsort(process->spans, num, sizeof(process->spans[0]), by_va);
	for (i = 0; i < num; i++) {
		const struct span *span = &process->spans[i];

		if (span->end < span->va || (i > 0 && span->va < span[-1].end))
			break;
	}
	if (i == num)
		return true;
	free(process->spans);
	process->spans = NULL;
	return true;
}

/* Each takes at least 16 bytes of the message, so a wrong number cannot cause a large allocation. */
static const char *parse_process(struct urom_directory *directory, struct process *process, const void *body,
				 struct urom_blob entry)
{
	struct urom_reader reader = {(const uint8_t *)entry.data, entry.len, false};
	uint32_t num_workers = urom_get_u32(&reader), num_segments = urom_get_u32(&reader);

	if (reader.failed || num_workers > entry.len / 12 || num_segments > entry.len / 24)
		return malformed;
	if (!grow_members(directory, num_workers))
		return no_memory;
	for (uint32_t i = 0; i < num_workers; i++) {
		struct member *member = &directory->members[directory->num_members++];

		member->domain_id = urom_get_u64(&reader);
		member->addresses = get_blob(&reader, body);
		member->process = process;
	}
	process->segments = (struct segment *)calloc(num_segments + 1, sizeof(process->segments[0]));
	if (process->segments == NULL)
		return no_memory;
	process->num_segments = num_segments;
	for (uint32_t i = 0; i < num_segments; i++) {
		struct segment *segment = &process->segments[i];

		segment->va = urom_get_u64(&reader);
		segment->len = urom_get_u64(&reader);
		segment->memh = get_blob(&reader, body);
		segment->mkey = get_blob(&reader, body);
	}
	if (urom_finished(&reader) != DOCA_SUCCESS)
		return malformed;
	return sort_segments(process) ? NULL : no_memory;
}

static const char *parse_processes(struct urom_directory *directory, const void *data, size_t len)
{
	struct urom_reader reader = {(const uint8_t *)data, len, false};
	uint32_t num = urom_get_u32(&reader);
	const char *wrong = reader.failed || num > len / 12 ? malformed : NULL;

	if (wrong == NULL) {
		directory->processes = (struct process *)calloc(num + 1, sizeof(directory->processes[0]));
		wrong = directory->processes == NULL ? no_memory : NULL;
	}
	for (uint32_t i = 0; i < num && wrong == NULL; i++) {
		struct urom_blob entry = get_blob(&reader, data);

		directory->num_processes++;
		wrong = reader.failed ? malformed : parse_process(directory, &directory->processes[i], data, entry);
	}
	return wrong == NULL && urom_finished(&reader) != DOCA_SUCCESS ? malformed : wrong;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct member *)a)->domain_id, y = ((const struct member *)b)->domain_id;

	return (x > y) - (x < y);
}

static const char *sort_members(struct urom_directory *directory)
{
	size_t in_order = 1; /* as most lists are */

	while (in_order < directory->num_members && by_id(&directory->members[in_order - 1], &directory->members[in_order]) < 0)
		in_order++;
	if (in_order < directory->num_members)
		qsort(directory->members, directory->num_members, sizeof(directory->members[0]), by_id);
	for (size_t i = 1; i < directory->num_members; i++) {
		if (directory->members[i].domain_id == directory->members[i - 1].domain_id)
			return "two of its workers have the same id";
	}
	return NULL;
}

static void free_parsed(struct urom_directory *directory)
{
	for (uint32_t i = 0; i < directory->num_processes; i++) {
		free(directory->processes[i].segments);
		free(directory->processes[i].spans);
	}
	free(directory->processes);
	free(directory->members);
	free(directory);
}

static doca_error_t directory_parse(const void *data, size_t len, struct urom_directory **out, const char **reason)
{
	struct urom_directory *directory = (struct urom_directory *)calloc(1, sizeof(*directory));

	*reason = no_memory;
	if (directory == NULL)
		return DOCA_ERROR_NO_MEMORY;
	*reason = parse_processes(directory, data, len);
	if (*reason == NULL)
		*reason = sort_members(directory);
	if (*reason != NULL) {
		free_parsed(directory);
		return *reason == no_memory ? DOCA_ERROR_NO_MEMORY : DOCA_ERROR_INVALID_VALUE;
	}
	*out = directory;
	return DOCA_SUCCESS;
}

doca_error_t urom_directory_open(void *data, size_t len, struct urom_directory **out, const char **reason)
{
	doca_error_t result = directory_parse(data, len, out, reason);

	if (result == DOCA_SUCCESS)
		(*out)->data = data;
	return result;
}

doca_error_t urom_directory_check(const void *data, size_t len, const char **reason)
{
	struct urom_directory *directory;
	doca_error_t result = directory_parse(data, len, &directory, reason);

	if (result == DOCA_SUCCESS)
		free_parsed(directory);
	return result;
}

void urom_directory_close(struct urom_directory *directory)
{
	if (directory == NULL)
		return;
	free(directory->data);
	free_parsed(directory);
}

/* ---- looking up ---- */

size_t urom_directory_num_workers(const struct urom_directory *directory)
{
	return directory->num_members;
}

static const struct member *find_member(const struct urom_directory *directory, uint64_t domain_id)
{
	const struct member key = {.domain_id = domain_id};

	if (directory->num_members == 0)
		return NULL;
	return (const struct member *)bsearch(&key, directory->members, directory->num_members, sizeof(key), by_id);
}

doca_error_t urom_directory_address(const struct urom_directory *directory, uint64_t domain_id, uint64_t plugin,
				    struct urom_blob *address)
{
	const struct member *member = find_member(directory, domain_id);

	if (member == NULL)
		return DOCA_ERROR_NOT_FOUND;
	struct urom_reader reader = {(const uint8_t *)member->addresses.data, member->addresses.len, false};
	while (reader.left != 0 && !reader.failed) {
		uint64_t id = urom_get_u64(&reader);
		struct urom_blob blob = get_blob(&reader, member->addresses.data);

		if (reader.failed || id != plugin)
			continue;
		*address = blob;
		return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_FOUND;
}

/* The last one that begins at va or before. */
static const struct span *find_span(const struct process *process, uint64_t va)
{
	uint32_t low = 0, high = process->num_segments;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (process->spans[middle].va <= va)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && va < process->spans[low - 1].end ? &process->spans[low - 1] : NULL;
}

static doca_error_t search_segments(const struct process *process, uint64_t va, int *segment)
{
	for (uint32_t i = 0; i < process->num_segments && i < INT_MAX; i++) {
		const struct segment *at = &process->segments[i];

		if (va < at->va || va - at->va >= at->len)
			continue;
		*segment = (int)i;
		return DOCA_SUCCESS;
	}
	return DOCA_ERROR_NOT_FOUND;
}

doca_error_t urom_directory_segment(const struct urom_directory *directory, uint64_t domain_id, uint64_t va, int *segment)
{
	const struct member *member = find_member(directory, domain_id);

	if (member == NULL)
		return DOCA_ERROR_NOT_FOUND;
	if (member->process->spans == NULL)
		return search_segments(member->process, va, segment);
	const struct span *span = find_span(member->process, va);
	if (span == NULL || span->segment > INT_MAX)
		return DOCA_ERROR_NOT_FOUND;
	*segment = (int)span->segment;
	return DOCA_SUCCESS;
}

doca_error_t urom_directory_keys(const struct urom_directory *directory, uint64_t domain_id, int segment, struct urom_blob *memh,
				 struct urom_blob *mkey)
{
	const struct member *member = find_member(directory, domain_id);

	if (member == NULL || segment < 0 || (uint32_t)segment >= member->process->num_segments)
		return DOCA_ERROR_NOT_FOUND;
	*memh = member->process->segments[segment].memh;
	*mkey = member->process->segments[segment].mkey;
	return DOCA_SUCCESS;
}
