/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams made by the programs gzip and lz4, and one that gzip reads. Runs with and without engine threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "base/little.h"
#include "compress_fixture.h"

#define SKIPPED 77
#define GZIP_HEADER 10
#define GZIP_TRAILER 8
#define LZ4_TRAILER 8 /* end mark and content checksum */

static char folder[] = "/tmp/compress_tools_XXXXXX";

static void path_of(char path[64], const char *name)
{
	snprintf(path, 64, "%s/%s", folder, name);
}

static void write_file(const char *name, const void *bytes, size_t len)
{
	char path[64];

	path_of(path, name);

	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* Returns what a command prints that reads the named file. */
static size_t read_command(const char *command, const char *name, uint8_t *bytes, size_t room)
{
	char line[160];

	snprintf(line, sizeof(line), "%s <%s/%s", command, folder, name);

	FILE *pipe = popen(line, "r");

	assert_non_null(pipe);

	size_t len = fread(bytes, 1, room, pipe);

	assert_int_equal(pclose(pipe), 0);
	return len;
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
	char path[64];

	(void)state;
	path_of(path, "plain");
	(void)unlink(path);
	path_of(path, "packed");
	(void)unlink(path);
	return rmdir(folder);
}

static void gzip_made_it(void **state)
{
	static const char *const commands[] = {"gzip -n -1 -c", "gzip -n -6 -c", "gzip -n -9 -c"};
	struct rig *rig = *state;
	uint8_t *packed = rig->memory + PACKED_AT;

	for (uint32_t i = 0; i < 9; i++) {
		size_t len = 700000 + i;

		rig_fill(rig->memory, len, i / 3);
		write_file("plain", rig->memory, len);

		size_t size = read_command(commands[i % 3], "plain", packed, PACKED_MAX);

		expect_plain(rig, RIG_INFLATE, PACKED_AT + GZIP_HEADER, size - GZIP_HEADER - GZIP_TRAILER, len, 0);
		assert_int_equal(rig->crc, sf_get_le32(packed + size - GZIP_TRAILER));
	}
}

static void gzip_reads_it(void **state)
{
	static const uint8_t header[GZIP_HEADER] = {0x1f, 0x8b, 8};
	struct rig *rig = *state;
	uint8_t *packed = rig->memory + PACKED_AT, *out = rig->memory + ROOM_AT;
	struct doca_buf *src, *dst = rig_room(rig, rig->mmap, packed + GZIP_HEADER, PACKED_MAX - 100);

	rig_fill(rig->memory, 700000, 0);
	src = rig_source(rig, rig->mmap, rig->memory, 700000);
	ok(rig_run(rig, RIG_DEFLATE, src, dst));

	size_t len = rig_data_len(dst);

	memcpy(packed, header, sizeof(header));
	sf_put_le32(packed + GZIP_HEADER + len, rig->crc);
	sf_put_le32(packed + GZIP_HEADER + len + 4, 700000);
	write_file("packed", packed, GZIP_HEADER + len + GZIP_TRAILER);
	assert_int_equal(read_command("gzip -d -c", "packed", out, ROOM_MAX), 700000);
	assert_memory_equal(out, rig->memory, 700000);
	rig_put(src);
	rig_put(dst);
}

static void lz4_made_it(void **state)
{
	static const char *const commands[] = {"lz4 -q -c -B4 -BI", "lz4 -q -c -B4 -BD -BX", "lz4 -q -c -9 -B5 -BD",
					       "lz4 -q -c -B6 -BX", "lz4 -q -c -B7 -BI -BX", "lz4 -q -c"};
	struct rig *rig = *state;
	uint8_t *packed = rig->memory + PACKED_AT;

	for (uint32_t i = 0; i < 18; i++) {
		size_t len = 700000 + i;

		rig_fill(rig->memory, len, i / 6);
		write_file("plain", rig->memory, len);

		size_t size = read_command(commands[i % 6], "plain", packed, PACKED_MAX);
		size_t header = LZ4F_headerSize(packed, size);

		assert_false(LZ4F_isError(header));
		rig->has_block_checksum = (packed[4] & 0x10) != 0;
		rig->are_blocks_independent = (packed[4] & 0x20) != 0;
		expect_plain(rig, RIG_LZ4_STREAM, PACKED_AT + header, size - header - LZ4_TRAILER, len, 0);
		assert_int_equal(rig->sum, htobe32(sf_get_le32(packed + size - 4)));
		expect_plain(rig, RIG_LZ4, PACKED_AT, size, len, 0);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(gzip_made_it),
		T(gzip_reads_it),
		T(lz4_made_it),
	};

	if (system("gzip --version >/dev/null 2>&1 && lz4 --version >/dev/null 2>&1") != 0) {
		printf("skipped: no gzip or no lz4 here\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
