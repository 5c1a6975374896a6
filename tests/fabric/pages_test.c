/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory is moved into a memfd in place, and back: which pages move, which stay, and what other mappings see. */
#include "pages.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int num = 0;

	while (readdir(dir) != NULL)
		num++;
	closedir(dir);
	return num;
}

static int mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	int num = 0, c;

	while ((c = getc(file)) != EOF)
		num += c == '\n';
	fclose(file);
	return num;
}

static void contents_are_kept_both_ways(void **state)
{
	const size_t len = 300 * PAGE;
	char *addr = anon(len);
	struct sf_pages *pages;

	pattern(addr, len, 1);
	pages = move(addr, len);
	assert_int_equal(moved_bytes(pages), len);
	assert_true(pattern_holds(addr, len, 1));
	pattern(addr, len, 2);
	sf_pages_restore(pages);
	assert_true(pattern_holds(addr, len, 2));
	munmap(addr, len);
}

static void another_mapping_sees_and_changes_the_bytes(void **state)
{
	const size_t len = 16 * PAGE;
	char *addr = anon(len), *view;
	struct sf_pages *pages;
	uint32_t num;

	pattern(addr, len, 3);
	pages = move(addr, len);
	view = map_run(sf_pages_runs(pages, &num), PROT_READ | PROT_WRITE);
	assert_int_equal(num, 1);
	assert_true(pattern_holds(view, len, 3));
	view[5 * PAGE + 7] = 'x';
	assert_int_equal(addr[5 * PAGE + 7], 'x');
	addr[0] = 'y';
	assert_int_equal(view[0], 'y');
	sf_pages_restore(pages);
	view[1] = 'z'; /* has no effect on the memory any more */
	assert_int_not_equal(addr[1], 'z');
	assert_int_equal(addr[5 * PAGE + 7], 'x');
	munmap(view, len);
	munmap(addr, len);
}

static void edges_of_a_ragged_range_stay(void **state)
{
	char *addr = anon(8 * PAGE);
	struct sf_pages *pages = move(addr + 100, 6 * PAGE);
	uint32_t num;
	const struct sf_pages_run *runs = sf_pages_runs(pages, &num);

	assert_int_equal(num, 1);
	assert_ptr_equal(runs[0].addr, addr + PAGE);
	assert_int_equal(runs[0].len, 5 * PAGE);
	sf_pages_restore(pages);
	pages = move(addr + 100, PAGE);
	assert_int_equal(moved_bytes(pages), 0);
	sf_pages_restore(pages);
	munmap(addr, 8 * PAGE);
}

static void shared_and_file_memory_is_not_moved(void **state)
{
	const size_t len = 4 * PAGE;
	char *shared = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char *readonly = anon(len), *file;
	int fd = open("/proc/self/exe", O_RDONLY);
	struct sf_pages *pages;

	file = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(file, MAP_FAILED);
	mprotect(readonly, len, PROT_READ);
	char *const ranges[] = {shared, readonly, file};
	for (int i = 0; i < 3; i++) {
		pages = move(ranges[i], len);
		assert_int_equal(moved_bytes(pages), 0);
		sf_pages_restore(pages);
		munmap(ranges[i], len);
	}
	close(fd);
}

static void own_stack_is_not_moved(void **state)
{
	char buffer[8 * PAGE];
	struct sf_pages *pages;

	pattern(buffer, sizeof(buffer), 5);
	pages = move(buffer, sizeof(buffer));
	assert_int_equal(moved_bytes(pages), 0);
	sf_pages_restore(pages);
	assert_true(pattern_holds(buffer, sizeof(buffer), 5));
}

static void *thread_stack_is_not_moved(void *arg)
{
	own_stack_is_not_moved(NULL);
	return arg;
}

static void own_stack_of_a_thread_is_not_moved(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, thread_stack_is_not_moved, NULL), 0);
	pthread_join(thread, NULL);
}

static void holes_in_the_range_are_left_out(void **state)
{
	char *addr = anon(9 * PAGE);
	struct sf_pages *pages;
	uint32_t num;
	const struct sf_pages_run *runs;

	pattern(addr, 9 * PAGE, 0);
	munmap(addr + 3 * PAGE, PAGE);
	mprotect(addr + 6 * PAGE, PAGE, PROT_READ);
	pages = move(addr, 9 * PAGE);
	runs = sf_pages_runs(pages, &num);
	assert_int_equal(num, 3);
	assert_ptr_equal(runs[1].addr, addr + 4 * PAGE);
	assert_int_equal(runs[1].len, 2 * PAGE);
	assert_ptr_equal(runs[2].addr, addr + 7 * PAGE);
	sf_pages_restore(pages);
	assert_true(pattern_holds(addr, 3 * PAGE, 0));
	munmap(addr, 9 * PAGE);
}

static void untouched_memory_costs_nothing(void **state)
{
	const size_t len = (size_t)256 << 20;
	char *addr = anon(len);
	struct sf_pages *pages;
	uint32_t num;
	struct stat stat;

	addr[PAGE] = 1;
	pages = move(addr, len);
	assert_int_equal(moved_bytes(pages), len);
	assert_int_equal(fstat(sf_pages_runs(pages, &num)->fd, &stat), 0);
	assert_true(stat.st_blocks * 512 <= 4 * (off_t)PAGE);
	sf_pages_restore(pages);
	assert_int_equal(addr[PAGE], 1);
	assert_int_equal(addr[len - 1], 0);
	munmap(addr, len);
}

static void overlapping_ranges_share_pages(void **state)
{
	const size_t len = 12 * PAGE;
	char *addr = anon(len), *view;
	struct sf_pages *a, *b;
	uint32_t num;
	const struct sf_pages_run *runs;

	pattern(addr, len, 7);
	a = move(addr, 8 * PAGE);
	b = move(addr + 4 * PAGE, 8 * PAGE);
	assert_int_equal(moved_bytes(b), 8 * PAGE);
	runs = sf_pages_runs(b, &num);
	assert_int_equal(num, 2);
	assert_int_equal(runs[0].fd, sf_pages_runs(a, &num)->fd);
	assert_int_equal(runs[0].offset, 4 * PAGE);
	assert_true(pattern_holds(addr, len, 7));
	sf_pages_restore(a); /* the shared half stays moved */
	view = map_run(&runs[0], PROT_READ | PROT_WRITE);
	view[1] = 'q';
	assert_int_equal(addr[4 * PAGE + 1], 'q');
	addr[0] = 'p';
	sf_pages_restore(b);
	view[2] = '!';
	assert_int_not_equal(addr[4 * PAGE + 2], '!');
	assert_int_equal(addr[4 * PAGE + 1], 'q');
	assert_int_equal(addr[0], 'p');
	munmap(view, 4 * PAGE);
	munmap(addr, len);
}

static void equal_and_inner_ranges_end_in_any_order(void **state)
{
	const size_t len = 16 * PAGE;
	char *addr = anon(len);

	pattern(addr, len, 9);
	for (int order = 0; order < 6; order++) {
		static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
		struct sf_pages *pages[3] = {move(addr, len), move(addr + 3 * PAGE, 5 * PAGE), move(addr, len)};

		for (int i = 0; i < 3; i++)
			assert_int_equal(moved_bytes(pages[i]), i == 1 ? 5 * PAGE : len);
		for (int i = 0; i < 3; i++) {
			sf_pages_restore(pages[orders[order][i]]);
			assert_true(pattern_holds(addr, len, 9));
		}
	}
	munmap(addr, len);
}

static void unmapped_while_moved_is_left_alone(void **state)
{
	const size_t len = 8 * PAGE;
	char *addr = anon(len), *again;
	struct sf_pages *pages = move(addr, len), *second;

	pattern(addr, len, 1);
	munmap(addr + 2 * PAGE, 3 * PAGE);
	again = mmap(addr + 3 * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(again, 0x5a, PAGE);
	second = move(again, PAGE);
	assert_int_equal(moved_bytes(second), PAGE);
	sf_pages_restore(pages);
	again[1] = 0x5b;
	for (size_t i = 0; i < PAGE; i++)
		assert_int_equal(again[i], i == 1 ? 0x5b : 0x5a);
	sf_pages_restore(second);
	assert_int_equal(again[1], 0x5b);
	assert_true(pattern_holds(addr, 2 * PAGE, 1));
	munmap(addr, len);
}

static void a_protection_set_meanwhile_is_kept(void **state)
{
	const size_t len = 4 * PAGE;
	char *addr = anon(len);
	struct sf_pages *pages = move(addr, len);
	int pipefd[2];

	addr[PAGE] = 'k';
	mprotect(addr, len, PROT_READ);
	sf_pages_restore(pages);
	assert_int_equal(pipe(pipefd), 0);
	assert_int_equal(write(pipefd[1], addr + PAGE, 1), 1);
	assert_int_equal(read(pipefd[0], addr + PAGE, 1), -1); /* EFAULT: still read-only */
	close(pipefd[0]);
	close(pipefd[1]);
	munmap(addr, len);
}

static void heap_stays_a_heap(void **state)
{
	enum { BLOCKS = 400 };
	char *blocks[BLOCKS];
	struct sf_pages *pages[BLOCKS];

	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc(3 * PAGE + (size_t)i * 97);
		pattern(blocks[i], 3 * PAGE, (unsigned int)i);
		pages[i] = move(blocks[i], 3 * PAGE + (size_t)i * 97);
	}
	for (int i = 0; i < BLOCKS; i += 2) { /* freed while moved: a mistake of the program, but nothing breaks */
		free(blocks[i]);
		free(malloc(1000 * PAGE));
	}
	for (int i = 0; i < BLOCKS; i++) {
		sf_pages_restore(pages[i]);
		if (i % 2 == 1)
			assert_true(pattern_holds(blocks[i], 3 * PAGE, (unsigned int)i));
	}
	for (int i = 1; i < BLOCKS; i += 2) {
		blocks[i] = realloc(blocks[i], 40 * PAGE);
		assert_true(pattern_holds(blocks[i], 3 * PAGE, (unsigned int)i));
		free(blocks[i]);
	}
}

static void readonly_descriptor_cannot_be_mapped_writable(void **state)
{
	char *addr = anon(2 * PAGE), *view;
	struct sf_pages *pages = move(addr, 2 * PAGE);
	struct sf_pages_run run;
	uint32_t num;
	int fd;

	run = *sf_pages_runs(pages, &num);
	assert_int_equal(sf_pages_open_readonly(&run, &fd), DOCA_SUCCESS);
	assert_ptr_equal(mmap(NULL, run.len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), MAP_FAILED);
	view = mmap(NULL, run.len, PROT_READ, MAP_SHARED, fd, (off_t)run.offset);
	assert_ptr_not_equal(view, MAP_FAILED);
	assert_int_equal(mprotect(view, run.len, PROT_READ | PROT_WRITE), -1);
	addr[9] = 'r';
	assert_int_equal(view[9], 'r');
	close(fd);
	munmap(view, run.len);
	sf_pages_restore(pages);
	munmap(addr, 2 * PAGE);
}

static void file_cannot_be_resized(void **state)
{
	char *addr = anon(2 * PAGE);
	struct sf_pages *pages = move(addr, 2 * PAGE);
	uint32_t num;
	const struct sf_pages_run *run = sf_pages_runs(pages, &num);

	assert_int_equal(ftruncate(run->fd, 0), -1);
	assert_int_equal(ftruncate(run->fd, 64 * PAGE), -1);
	sf_pages_restore(pages);
	munmap(addr, 2 * PAGE);
}

static void resources_are_released(void **state)
{
	char *addr = anon(64 * PAGE);
	int fds, maps;

	sf_pages_restore(move(addr, 64 * PAGE));
	fds = open_fds();
	maps = mappings();
	for (int i = 0; i < 50; i++) {
		struct sf_pages *a = move(addr + (size_t)(i % 7) * PAGE, 30 * PAGE), *b = move(addr + 20 * PAGE, 44 * PAGE);

		sf_pages_restore(a);
		sf_pages_restore(b);
	}
	assert_int_equal(open_fds(), fds);
	assert_in_range(mappings(), 1, maps + 64); /* restored pieces need not merge, but do not multiply */
	munmap(addr, 64 * PAGE);
}

static void invalid_ranges_are_rejected(void **state)
{
	struct sf_pages *pages;

	assert_int_equal(sf_pages_move(NULL, PAGE, &pages), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(sf_pages_move(&pages, 0, &pages), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(sf_pages_move(&pages, SIZE_MAX, &pages), DOCA_ERROR_INVALID_VALUE);
	sf_pages_restore(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(contents_are_kept_both_ways),
		cmocka_unit_test(another_mapping_sees_and_changes_the_bytes),
		cmocka_unit_test(edges_of_a_ragged_range_stay),
		cmocka_unit_test(shared_and_file_memory_is_not_moved),
		cmocka_unit_test(own_stack_is_not_moved),
		cmocka_unit_test(own_stack_of_a_thread_is_not_moved),
		cmocka_unit_test(holes_in_the_range_are_left_out),
		cmocka_unit_test(untouched_memory_costs_nothing),
		cmocka_unit_test(overlapping_ranges_share_pages),
		cmocka_unit_test(equal_and_inner_ranges_end_in_any_order),
		cmocka_unit_test(unmapped_while_moved_is_left_alone),
		cmocka_unit_test(a_protection_set_meanwhile_is_kept),
		cmocka_unit_test(heap_stays_a_heap),
		cmocka_unit_test(readonly_descriptor_cannot_be_mapped_writable),
		cmocka_unit_test(file_cannot_be_resized),
		cmocka_unit_test(resources_are_released),
		cmocka_unit_test(invalid_ranges_are_rejected),
	};

	return cmocka_run_group_tests_name("pages", tests, NULL, NULL);
}
