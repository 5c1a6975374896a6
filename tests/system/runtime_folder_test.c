/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In which folder processes of one user find each other if another user created the name in /tmp first, and if a privileged
 * program gets an environment. Each test starts this program again, in a mount namespace in which /tmp, /run/user and the user's
 * home are empty.
 */
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <doca_dev.h>
#include <doca_mmap.h>

#include "base/runtime_folder.h"
#include "support/child.h"
#include "support/program.h"
#include "support/test_dev.h"

#define SKIPPED 77
#define SOMEBODY 12345 /* another user */
#define NAME "/tmp/softfield-0"

static char self[PATH_MAX];

/* ---- in the namespace, as its root ---- */

static void mount_empty(const char *path)
{
	if (access(path, F_OK) == 0)
		CHECK(mount("none", path, "tmpfs", 0, "mode=755") == 0);
}

static void begin(void)
{
	const struct passwd *root = getpwuid(0);

	CHECK(root != NULL);
	mount_empty("/run/user");
	mount_empty(root->pw_dir);
	CHECK(mount("none", "/tmp", "tmpfs", 0, "mode=1777") == 0);
	unsetenv("SOFTFIELD_RUNTIME");
	unsetenv("XDG_RUNTIME_DIR");
}

/* Checks the folder that another process of this user opens. */
static void expect_folder(const char *beginning)
{
	const char *argv[] = {self, "path", NULL};
	struct program program;

	CHECK(program_start(&program, argv));
	CHECK(program_wait(&program) == 0);
	if (strncmp(program.output, beginning, strlen(beginning)) == 0)
		return;
	dprintf(STDERR_FILENO, "the folder is %s, not %s\n", program.output, beginning);
	_exit(1);
}

static void expect_home(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/.softfield-", getpwuid(0)->pw_dir);
	expect_folder(path);
}

/* Gives the folder to another user. A user namespace does not permit that; there a mount replaces it whose owner is the
 * machine's root. In one that the machine's root made there is nobody else. */
static void give_away(const char *path)
{
	struct stat owned;

	CHECK(chown(path, SOMEBODY, SOMEBODY) == 0 || mount("/usr", path, NULL, MS_BIND, NULL) == 0);
	CHECK(stat(path, &owned) == 0);
	if (owned.st_uid == geteuid())
		exit(SKIPPED);
}

static void take_back(const char *path)
{
	(void)umount(path);
	CHECK(rmdir(path) == 0);
}

static void role_first(void)
{
	expect_folder(NAME);
	CHECK(setenv("SOFTFIELD_RUNTIME", "/tmp/own", 1) == 0);
	expect_folder("/tmp/own");
}

static void role_squatted(void)
{
	CHECK(mkdir(NAME, 0700) == 0);
	give_away(NAME);
	expect_home();
	CHECK(setenv("HOME", "/tmp", 1) ==
	      0); /* the home folder comes from the list of users, which is the same for all processes */
	expect_home();
}

static void role_squatted_and_given_up(void)
{
	CHECK(mkdir(NAME, 0700) == 0);
	give_away(NAME);
	expect_home();
	take_back(NAME);
	expect_home();
}

/* Another folder of the user, to which somebody made a link. */
static void role_linked(void)
{
	CHECK(mkdir("/tmp/keys", 0700) == 0 && symlink("/tmp/keys", NAME) == 0);
	expect_home();
	CHECK(access("/tmp/keys/lock", F_OK) != 0);
}

static void role_run_user(void)
{
	if (access("/run/user", F_OK) != 0)
		return;
	CHECK(mkdir("/run/user/0", 0700) == 0);
	expect_folder("/run/user/0/softfield");
	CHECK(setenv("XDG_RUNTIME_DIR", "/run/user/0", 1) == 0);
	expect_folder("/run/user/0/softfield");
	CHECK(unsetenv("XDG_RUNTIME_DIR") == 0);
	CHECK(rmdir("/run/user/0/softfield") == 0);
	give_away("/run/user/0");
	expect_folder(NAME);
}

/* A user runs a program with root's set-user-ID bit, and sets its environment. */
static void role_privileged(void)
{
	static char copy[] = "cp \"$0\" /tmp/privileged && chmod 4755 /tmp/privileged";
	static char run[] = "exec setpriv --reuid=12345 --regid=12345 --clear-groups /tmp/privileged secure";

	if (chown("/tmp", SOMEBODY, 0) != 0)
		exit(SKIPPED); /* in a user namespace there are no other users */
	CHECK(chown("/tmp", 0, 0) == 0);
	for (int i = 0; i < 2; i++) {
		const char *argv[] = {"/bin/sh", "-c", i == 0 ? copy : run, self, NULL};
		struct program program;

		CHECK(setenv("SOFTFIELD_RUNTIME", "/tmp/evil", 1) == 0 && setenv("XDG_RUNTIME_DIR", "/tmp/evil", 1) == 0);
		CHECK(setenv("SOFTFIELD_TOPOLOGY", "/tmp/evil.json", 1) == 0 && setenv("SOFTFIELD_NODE", "evil", 1) == 0);
		CHECK(program_start(&program, argv));

		int status = program_wait(&program);

		if (status != 0)
			dprintf(STDERR_FILENO, "%s\n", program.output);
		CHECK(status == 0);
	}
}

/* Exports memory, which needs the folder. */
static void role_export(void)
{
	static uint8_t memory[8192];
	struct doca_dev *dev = test_dev_open(0);
	struct doca_mmap *mmap;
	const void *bytes;
	size_t len;
	doca_error_t result;

	CHECK(dev != NULL);
	CHECK_OK(doca_mmap_create(&mmap));
	CHECK_OK(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
	CHECK_OK(doca_mmap_add_dev(mmap, dev));
	CHECK_OK(doca_mmap_set_permissions(mmap, DOCA_ACCESS_FLAG_PCI_READ_WRITE));
	CHECK_OK(doca_mmap_start(mmap));
	result = doca_mmap_export_pci(mmap, dev, &bytes, &len);
	puts(doca_error_get_name(result));
	CHECK_OK(doca_mmap_destroy(mmap));
	CHECK_OK(doca_dev_close(dev));
}

/* On a file system with room for few files, each file fails in turn: first the folder, then the lock, then the socket. */
static void role_full(void)
{
	CHECK(mkdir("/tmp/small", 0700) == 0 && setenv("SOFTFIELD_RUNTIME", "/tmp/small/folder", 1) == 0);
	CHECK(setenv("SOFTFIELD_LOG", "error", 1) == 0);
	for (int room = 1; room <= 4; room++) {
		const char *argv[] = {self, "export", NULL};
		struct program program;
		char options[32];

		snprintf(options, sizeof(options), "nr_inodes=%d,mode=700", room);
		CHECK(mount("none", "/tmp/small", "tmpfs", 0, options) == 0);
		CHECK(program_start(&program, argv));

		int status = program_wait(&program);

		if (status != 0)
			dprintf(STDERR_FILENO, "room for %d files: %s\n", room, program.output);
		CHECK(status == 0);
		if (room < 4)
			CHECK(strstr(program.output, "No space left on device; make room there") != NULL &&
			      strstr(program.output, "TIME_OUT") == NULL);
		else
			CHECK(strcmp(program.output, "DOCA_SUCCESS\n") == 0);
		CHECK(umount("/tmp/small") == 0);
	}
}

/* ---- as another process ---- */

static void role_path(void)
{
	char path[PATH_MAX];
	int folder;

	CHECK_OK(sf_runtime_folder_open(&folder));
	sf_runtime_folder_path(path);
	puts(path);
}

static void role_secure(void)
{
	struct doca_devinfo **list;
	uint32_t num;
	char path[PATH_MAX];

	CHECK(getauxval(AT_SECURE) != 0);
	sf_runtime_folder_path(path);
	CHECK(strstr(path, "evil") == NULL);
	CHECK_OK(doca_devinfo_create_list(&list, &num));
	CHECK(num != 0); /* the topology that the environment names does not exist */
	CHECK_OK(doca_devinfo_destroy_list(list));
}

static const struct {
	const char *name;
	void (*body)(void);
	bool contained;
} roles[] = {
	{"path", role_path, false},	   {"secure", role_secure, false},
	{"first", role_first, true},	   {"squatted", role_squatted, true},
	{"linked", role_linked, true},	   {"squatted and given up", role_squatted_and_given_up, true},
	{"export", role_export, false},	   {"full", role_full, true},
	{"run user", role_run_user, true}, {"privileged", role_privileged, true},
};

static int run_role(const char *name)
{
	for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strcmp(roles[i].name, name) != 0)
			continue;
		alarm(CHILD_SECONDS_MAX);
		if (roles[i].contained)
			begin();
		roles[i].body();
		return 0;
	}
	return strcmp(name, "none") == 0 ? 3 : 2;
}

/* ---- outside ---- */

static int run_contained(const char *role)
{
	const char *argv[] = {"/usr/bin/env", "unshare", "--mount", geteuid() == 0 ? "--" : "--map-root-user", self, role, NULL};
	struct program program;

	assert_true(program_start(&program, argv));

	int status = program_wait(&program);

	if (program.output_len != 0)
		print_message("%s\n", program.output);
	return status;
}

static void test_role(void **state)
{
	int status = run_contained(*state);

	if (status == SKIPPED)
		skip();
	assert_int_equal(status, 0);
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

int main(int argc, char **argv)
{
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (len < 0 || argc > 2)
		return 2;
	if (argc == 2)
		return run_role(argv[1]);
	if (is_below(self, "/tmp") || is_below(self, getpwuid(0)->pw_dir)) {
		fprintf(stderr, "skipped: the tests hide /tmp and root's home, but the build is there: build elsewhere\n");
		return SKIPPED;
	}
	if (run_contained("none") != 3)
		return SKIPPED;

	const struct CMUnitTest tests[] = {
		{"the first process takes the name in /tmp", test_role, NULL, NULL, "first"},
		{"a name that another user took locks no process out", test_role, NULL, NULL, "squatted"},
		{"processes in the home folder stay there", test_role, NULL, NULL, "squatted and given up"},
		{"a link in /tmp is not followed", test_role, NULL, NULL, "linked"},
		{"with XDG_RUNTIME_DIR and without it is the same folder", test_role, NULL, NULL, "run user"},
		{"a full file system is reported", test_role, NULL, NULL, "full"},
		{"a privileged program reads no variable", test_role, NULL, NULL, "privileged"},
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
