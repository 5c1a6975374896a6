/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that are left at the end of a program, and which rules are checked. Each case runs in a program of its own, which is
 * this one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_buf_inventory.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <softfield/validation.h>

static char self[4096];
static char text[8192];
static char reports[] = "/tmp/softfield-reports-XXXXXX";

/* ---- the programs ---- */

static int leave_a_mmap(void)
{
	static struct doca_mmap *mmap; /* LeakSanitizer reports what nothing points to */

	if (doca_mmap_create(&mmap) != DOCA_SUCCESS)
		return 1;
	return softfield_validation_set_name(mmap, "forgotten") != DOCA_SUCCESS;
}

static int leave_nothing(void)
{
	struct doca_mmap *mmap;

	if (doca_mmap_create(&mmap) != DOCA_SUCCESS)
		return 1;
	return doca_mmap_destroy(mmap) != DOCA_SUCCESS;
}

static int leave_one_of_two(void)
{
	return leave_a_mmap() != 0 || leave_nothing() != 0;
}

/* The child of a fork leaves objects that its parent created. */
static int leave_it_to_the_parent(void)
{
	struct doca_mmap *mmap;
	int status;
	pid_t child;

	if (doca_mmap_create(&mmap) != DOCA_SUCCESS)
		return 1;
	child = fork();
	if (child == 0)
		exit(0);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		return 1;
	return doca_mmap_destroy(mmap) != DOCA_SUCCESS;
}

/* Returns the number of reports. */
static int break_two_rules(void)
{
	struct doca_buf_inventory *inventory;
	struct doca_mmap *mmap;
	struct doca_buf *buf;

	if (doca_mmap_create(&mmap) != DOCA_SUCCESS || doca_buf_inventory_create(1, &inventory) != DOCA_SUCCESS ||
	    doca_buf_inventory_start(inventory) != DOCA_SUCCESS)
		return 99;
	(void)doca_mmap_start(mmap);								    /* SF-MMAP-001 */
	(void)doca_buf_inventory_buf_get_by_addr(inventory, mmap, (void *)(uintptr_t)64, 64, &buf); /* SF-MMAP-003 */
	if (doca_buf_inventory_destroy(inventory) != DOCA_SUCCESS || doca_mmap_destroy(mmap) != DOCA_SUCCESS)
		return 99;
	return (int)softfield_validation_num_reports();
}

/* The log leaves lines out, but all are counted. */
static int break_one_often(void)
{
	struct doca_mmap *mmap;

	if (doca_mmap_create(&mmap) != DOCA_SUCCESS)
		return 99;
	for (int i = 0; i < 30; i++)
		(void)doca_mmap_start(mmap);
	if (doca_mmap_destroy(mmap) != DOCA_SUCCESS)
		return 99;
	return (int)softfield_validation_num_reports();
}

static const struct {
	const char *name;
	int (*run)(void);
} programs[] = {
	{"leave_a_mmap", leave_a_mmap},		{"leave_nothing", leave_nothing},
	{"leave_one_of_two", leave_one_of_two}, {"leave_it_to_the_parent", leave_it_to_the_parent},
	{"break_two_rules", break_two_rules},	{"break_one_often", break_one_often},
};

/* ---- the tests ---- */

/* Replaces text by the content of the file of reports, and empties that. */
static void reports_read(void)
{
	FILE *file = fopen(reports, "r");

	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_int_equal(truncate(reports, 0), 0);
}

static void child_run(const char *program, const char *validate, int fd)
{
	if (validate != NULL)
		setenv("SOFTFIELD_VALIDATE", validate, 1);
	else
		unsetenv("SOFTFIELD_VALIDATE");
	unsetenv("SOFTFIELD_LOG");
	dup2(fd, STDERR_FILENO);
	execl(self, self, program, (char *)NULL);
	_exit(127);
}

/* Returns the exit status of the program; text is its standard error. */
static int run(const char *program, const char *validate)
{
	int fds[2], status;
	size_t len = 0;
	ssize_t got;

	assert_int_equal(pipe(fds), 0);
	pid_t child = fork();
	if (child == 0)
		child_run(program, validate, fds[1]);
	close(fds[1]);
	while (len < sizeof(text) - 1 && (got = read(fds[0], text + len, sizeof(text) - 1 - len)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void what_is_left_is_reported_with_its_place(void **state)
{
	(void)state;
	assert_int_equal(run("leave_a_mmap", "1"), 0);
	assert_non_null(strstr(text, "softfield: SF-EXIT-001: mmap \"forgotten\" (0x"));
	assert_non_null(strstr(text, "): end of the program: it was not destroyed; created at validation_exit_test+0x"));
	assert_non_null(strstr(text, "; fix: destroy it, contexts before engines and devices\n"));
	assert_ptr_equal(strstr(strstr(text, "SF-EXIT-001") + 1, "SF-EXIT-001"), NULL);
}

static void only_what_is_left_is_reported(void **state)
{
	(void)state;
	assert_int_equal(run("leave_nothing", "1"), 0);
	assert_string_equal(text, "");
	assert_int_equal(run("leave_one_of_two", "1"), 0);
	const char *first = strstr(text, "SF-EXIT-001");
	assert_non_null(first);
	assert_null(strstr(first + 1, "SF-EXIT-001"));
}

static void a_child_leaves_nothing_of_its_parents(void **state)
{
	(void)state;
	assert_int_equal(run("leave_it_to_the_parent", "1"), 0);
	assert_string_equal(text, "");
}

static void unset_is_off(void **state)
{
	(void)state;
	assert_int_equal(run("leave_a_mmap", NULL), 0);
	assert_string_equal(text, "");
	assert_int_equal(run("break_two_rules", NULL), 0);
	assert_string_equal(text, "");
	assert_int_equal(run("break_two_rules", "0"), 0);
	assert_string_equal(text, "");
}

static void rules_are_chosen(void **state)
{
	(void)state;
	assert_int_equal(run("break_two_rules", "all"), 2);
	assert_int_equal(run("break_two_rules", "SF-MMAP-003"), 1);
	assert_non_null(strstr(text, "softfield: SF-MMAP-003: mmap (0x"));
	assert_int_equal(run("break_two_rules", "SF-MMAP-003,sf-mmap-001"), 2);
	assert_int_equal(run("break_two_rules", "SF-MMAP"), 2);
	assert_int_equal(run("break_two_rules", "SF-PE"), 0);
	assert_int_equal(run("break_two_rules", "-SF-MMAP-003"), 1);
	assert_int_equal(run("break_two_rules", "1,-SF-MMAP"), 0);
	assert_int_equal(run("leave_a_mmap", "-SF-EXIT-001"), 0);
	assert_string_equal(text, "");
}

static void a_wrong_choice_is_reported(void **state)
{
	(void)state;
	assert_int_equal(run("break_two_rules", "SF-MMAP-001,SF-MMAP-0,yes"), 1);
	assert_non_null(strstr(text, "SOFTFIELD_VALIDATE has \"SF-MMAP-0\": set it to 1, or to a list of rules"));
}

static void lines_are_limited_and_counted(void **state)
{
	int num = 0;

	(void)state;
	assert_int_equal(run("break_one_often", "1"), 30);
	for (const char *at = text; (at = strstr(at, "SF-MMAP-001: ")) != NULL; at++)
		num++;
	assert_int_equal(num, 10);
}

static void a_file_gets_the_reports(void **state)
{
	char validate[64];

	(void)state;
	snprintf(validate, sizeof(validate), "SF-MMAP,file=%s", reports);
	assert_int_equal(run("break_two_rules", validate), 2);
	assert_string_equal(text, "");
	reports_read();
	assert_ptr_equal(strstr(text, "validation_exit_test["), text);
	assert_non_null(strstr(text, "]: SF-MMAP-001: mmap (0x"));
	assert_non_null(strstr(text, "]: SF-MMAP-003: mmap (0x"));
}

static void a_file_alone_chooses_all_rules(void **state)
{
	char validate[64];

	(void)state;
	snprintf(validate, sizeof(validate), "file=%s", reports);
	assert_int_equal(run("leave_a_mmap", validate), 0);
	assert_string_equal(text, "");
	reports_read();
	assert_non_null(strstr(text, "]: SF-EXIT-001: mmap \"forgotten\" (0x"));
	snprintf(validate, sizeof(validate), "file=%s,-SF-EXIT", reports);
	assert_int_equal(run("leave_a_mmap", validate), 0);
	reports_read();
	assert_string_equal(text, "");
}

static void without_its_file_the_log_gets_the_reports(void **state)
{
	(void)state;
	assert_int_equal(run("break_two_rules", "1,file=/no/such/folder/reports"), 2);
	assert_non_null(strstr(text,
			       "softfield: SOFTFIELD_VALIDATE names the file /no/such/folder/reports, which cannot be opened: "
			       "No such file or directory; reports go to the log\n"));
	assert_non_null(strstr(text, "softfield: SF-MMAP-001: "));
}

/* This process has no SOFTFIELD_VALIDATE. */
static void names_need_an_object_and_a_text(void **state)
{
	int object;

	(void)state;
	assert_int_equal(softfield_validation_set_name(NULL, "name"), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_validation_set_name(&object, NULL), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(softfield_validation_set_name(&object, "name"), DOCA_SUCCESS);
	assert_int_equal(softfield_validation_num_reports(), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_left_is_reported_with_its_place),
		cmocka_unit_test(only_what_is_left_is_reported),
		cmocka_unit_test(a_child_leaves_nothing_of_its_parents),
		cmocka_unit_test(unset_is_off),
		cmocka_unit_test(lines_are_limited_and_counted),
		cmocka_unit_test(names_need_an_object_and_a_text),
		cmocka_unit_test(rules_are_chosen),
		cmocka_unit_test(a_wrong_choice_is_reported),
		cmocka_unit_test(a_file_gets_the_reports),
		cmocka_unit_test(a_file_alone_chooses_all_rules),
		cmocka_unit_test(without_its_file_the_log_gets_the_reports),
	};

	for (size_t i = 0; argc == 2 && i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(argv[1], programs[i].name) == 0)
			return programs[i].run();
	}
	if (argc > 1 || readlink("/proc/self/exe", self, sizeof(self) - 1) < 0)
		return 1;
	(void)argv;

	int fd = mkstemp(reports), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(reports);
	return failed;
}
