/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Deflate tasks compared to zlib's API on one thread, with the same streams and the same two checksums, which each task
 * returns; and to zlib without checksums. The streams of a run differ, because the branch predictor would learn a short one.
 * Then the cost of a task above zlib, with a stream of one byte. Alternating runs, medians of the thread's CPU time. Fails
 * beyond the limits.
 */
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include <zlib.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_compress.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#include "measure.h"
#include "support/test_dev.h"

#define RUNS 9
#define LEN_MAX (1 << 20)
#define ROOM (LEN_MAX + 65536)
#define BYTES_A_RUN (2 << 20)
#define STREAMS_MAX 16
#define SMALL_TASKS 200000
#define LIMIT 0.95
#define LIMIT_NS 60

struct stream {
	uint8_t *at;
	size_t len;
	struct doca_buf *buf;
};

struct side {
	struct doca_pe *pe;
	struct doca_compress *compress;
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	uint8_t *plain, *packed, *out;
	z_stream deflate, inflate;
	struct stream streams[STREAMS_MAX]; /* inputs of a run, used in turn */
	uint64_t num_streams, left, due;
	uint32_t sums; /* of all results, so that the compiler cannot drop any */
};

static struct side bench;

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static const struct stream *stream_of(uint64_t number)
{
	return &bench.streams[number % bench.num_streams];
}

#define CALLBACKS(name)                                                                                                          \
	static void name##_done(struct doca_compress_task_##name *task, union doca_data task_user_data,                          \
				union doca_data ctx_user_data)                                                                   \
	{                                                                                                                        \
		struct doca_task *base = doca_compress_task_##name##_as_task(task);                                              \
		(void)ctx_user_data;                                                                                             \
		check(doca_task_get_status(base), #name);                                                                        \
		bench.sums += doca_compress_task_##name##_get_crc_cs(task) + doca_compress_task_##name##_get_adler_cs(task);     \
		bench.due--;                                                                                                     \
		if (bench.left == 0)                                                                                             \
			return;                                                                                                  \
		bench.left--;                                                                                                    \
		doca_compress_task_##name##_set_src(task, stream_of(bench.left)->buf);                                           \
		doca_buf_reset_data_len(task_user_data.ptr);                                                                     \
		check(doca_task_submit(base), "submit");                                                                         \
	}

CALLBACKS(compress_deflate)
CALLBACKS(decompress_deflate)

/* ---- tasks ---- */

static struct doca_task *task_make(bool is_deflate, const struct doca_buf *src, struct doca_buf *dst)
{
	union doca_data data = {.ptr = dst};
	struct doca_compress_task_compress_deflate *deflate;
	struct doca_compress_task_decompress_deflate *inflate;

	if (is_deflate) {
		check(doca_compress_task_compress_deflate_alloc_init(bench.compress, src, dst, data, &deflate), "allocate");
		return doca_compress_task_compress_deflate_as_task(deflate);
	}
	check(doca_compress_task_decompress_deflate_alloc_init(bench.compress, src, dst, data, &inflate), "allocate");
	return doca_compress_task_decompress_deflate_as_task(inflate);
}

/* Returns ns per task. */
static double run_tasks(bool is_deflate, uint64_t num)
{
	struct doca_buf *dst;

	check(doca_buf_inventory_buf_get_by_addr(bench.inventory, bench.mmap, bench.out, ROOM, &dst), "destination");

	struct doca_task *task = task_make(is_deflate, stream_of(num - 1)->buf, dst);
	uint64_t begin = cpu_ns();

	bench.left = num - 1;
	bench.due = num;
	check(doca_task_submit(task), "submit");
	while (bench.due > 0)
		(void)doca_pe_progress(bench.pe);

	double ns = (double)(cpu_ns() - begin) / (double)num;

	doca_task_free(task);
	check(doca_buf_dec_refcount(dst, NULL), "release");
	return ns;
}

/* ---- zlib ---- */

static void sum(const uint8_t *bytes, size_t len)
{
	bench.sums += (uint32_t)crc32(0, bytes, (uInt)len) + (uint32_t)adler32(1, bytes, (uInt)len);
}

/* Converts one buffer to another; returns the length of the result. */
static size_t zlib_once(bool is_deflate, const struct stream *from, uint8_t *to)
{
	z_stream *stream = is_deflate ? &bench.deflate : &bench.inflate;

	(void)(is_deflate ? deflateReset(stream) : inflateReset(stream));
	stream->next_in = from->at;
	stream->avail_in = (uInt)from->len;
	stream->next_out = to;
	stream->avail_out = ROOM;
	if ((is_deflate ? deflate(stream, Z_FINISH) : inflate(stream, Z_FINISH)) != Z_STREAM_END)
		exit(1);
	return ROOM - stream->avail_out;
}

static double run_zlib(bool is_deflate, uint64_t num, bool has_sums)
{
	uint64_t begin = cpu_ns();

	for (uint64_t i = num; i-- > 0;) {
		const struct stream *from = stream_of(i);
		size_t len = zlib_once(is_deflate, from, bench.out);

		if (has_sums)
			sum(is_deflate ? from->at : bench.out, is_deflate ? from->len : len);
	}
	return (double)(cpu_ns() - begin) / (double)num;
}

/* ---- both ---- */

/* Generates text with frequencies like real text: zlib compresses it to a third. */
static void fill(uint8_t *bytes, size_t len)
{
	static const char *const words[] = {"memory ",	   "the ",  "buffer ", "of ",	"engine ",     "progress ",
					    "and ",	   "task ", "a ",      "to ",	"descriptor ", "is ",
					    "completion ", "in ",   "queue ",  "1024, "};
	uint32_t state = 1;

	for (size_t at = 0; at < len;) {
		state = state * 1664525 + 1013904223;

		const char *word = words[state >> 28];

		for (size_t i = 0; word[i] != '\0' && at < len; i++)
			bytes[at++] = (uint8_t)word[i];
		if ((state >> 20) % 4 == 0 && at < len)
			bytes[at++] = (uint8_t)('a' + (state >> 8) % 26);
	}
}

/* Creates streams of so many bytes each: plain, or deflated. */
static void give_streams(bool is_deflate, size_t len, uint64_t num)
{
	uint8_t *at = bench.packed;

	bench.num_streams = num;
	for (uint64_t i = 0; i < num; i++) {
		struct stream *stream = &bench.streams[i];

		*stream = (struct stream){.at = bench.plain + i * len, .len = len};
		if (!is_deflate) {
			stream->len = zlib_once(true, stream, bench.out);
			stream->at = memcpy(at, bench.out, stream->len);
			at += stream->len;
		}
		check(doca_buf_inventory_buf_get_by_data(bench.inventory, bench.mmap, stream->at, stream->len, &stream->buf),
		      "source");
	}
}

static void take_streams(void)
{
	for (uint64_t i = 0; i < bench.num_streams; i++)
		check(doca_buf_dec_refcount(bench.streams[i].buf, NULL), "release");
}

static int measure(bool is_deflate, size_t len)
{
	double task[RUNS], zlib[RUNS], bare[RUNS];
	uint64_t num = BYTES_A_RUN / len * (is_deflate ? 1 : 4);

	give_streams(is_deflate, len, LEN_MAX / len);
	for (int i = 0; i < RUNS; i++) {
		task[i] = run_tasks(is_deflate, num);
		zlib[i] = run_zlib(is_deflate, num, true);
		bare[i] = run_zlib(is_deflate, num, false);
	}
	take_streams();

	double task_ns = median(task, RUNS), zlib_ns = median(zlib, RUNS), bare_ns = median(bare, RUNS);
	double ratio = zlib_ns / task_ns, bytes = (double)len * 1e3;

	printf("%s %zu KiB: %.1f MB/s; zlib with checksums %.1f MB/s, ratio %.3f (limit %.2f); without %.1f MB/s, ratio %.3f\n",
	       is_deflate ? "compress" : "decompress", len >> 10, bytes / task_ns, bytes / zlib_ns, ratio, LIMIT, bytes / bare_ns,
	       bare_ns / task_ns);
	return ratio < LIMIT;
}

static int measure_small(void)
{
	double task[RUNS], zlib[RUNS];

	give_streams(false, 1, 1);
	for (int i = 0; i < RUNS; i++) {
		task[i] = run_tasks(false, SMALL_TASKS);
		zlib[i] = run_zlib(false, SMALL_TASKS, true);
	}
	take_streams();

	double task_ns = median(task, RUNS), zlib_ns = median(zlib, RUNS);

	printf("decompress 1 B: %.1f ns; zlib with checksums %.1f ns, the task itself %.1f ns (limit %d)\n", task_ns, zlib_ns,
	       task_ns - zlib_ns, LIMIT_NS);
	return task_ns - zlib_ns > LIMIT_NS;
}

static void open_side(struct doca_dev *dev)
{
	bench.plain = malloc(3 * (size_t)ROOM);
	bench.packed = bench.plain + ROOM;
	bench.out = bench.packed + ROOM;
	memset(bench.plain, 0, 3 * (size_t)ROOM);
	fill(bench.plain, LEN_MAX);
	if (deflateInit2(&bench.deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK ||
	    inflateInit2(&bench.inflate, -15) != Z_OK)
		exit(1);
	check(doca_mmap_create(&bench.mmap), "mmap");
	check(doca_mmap_add_dev(bench.mmap, dev), "add the device");
	check(doca_mmap_set_memrange(bench.mmap, bench.plain, 3 * (size_t)ROOM), "set the range");
	check(doca_mmap_start(bench.mmap), "start the mmap");
	check(doca_buf_inventory_create(1 + STREAMS_MAX, &bench.inventory), "inventory");
	check(doca_buf_inventory_start(bench.inventory), "start the inventory");
	check(doca_pe_create(&bench.pe), "progress engine");
	check(doca_compress_create(dev, &bench.compress), "compress");
	check(doca_pe_connect_ctx(bench.pe, doca_compress_as_ctx(bench.compress)), "connect");
	check(doca_compress_task_compress_deflate_set_conf(bench.compress, compress_deflate_done, compress_deflate_done, 1),
	      "configure");
	check(doca_compress_task_decompress_deflate_set_conf(bench.compress, decompress_deflate_done, decompress_deflate_done, 1),
	      "configure");
	check(doca_ctx_start(doca_compress_as_ctx(bench.compress)), "start");
}

static void close_side(void)
{
	check(doca_ctx_stop(doca_compress_as_ctx(bench.compress)), "stop");
	check(doca_compress_destroy(bench.compress), "destroy compress");
	check(doca_pe_destroy(bench.pe), "destroy the progress engine");
	check(doca_buf_inventory_destroy(bench.inventory), "destroy the inventory");
	check(doca_mmap_destroy(bench.mmap), "destroy the mmap");
	(void)deflateEnd(&bench.deflate);
	(void)inflateEnd(&bench.inflate);
	free(bench.plain);
}

int main(void)
{
	struct doca_dev *dev = test_dev_open(0);
	int missed = 0;

	open_side(dev);
	for (int is_deflate = 1; is_deflate >= 0; is_deflate--) {
		missed += measure(is_deflate != 0, 64 << 10);
		missed += measure(is_deflate != 0, LEN_MAX);
	}
	missed += measure_small();
	close_side();
	check(doca_dev_close(dev), "close");
	return missed != 0;
}
