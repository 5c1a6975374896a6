/* SPDX-License-Identifier: BSD-3-Clause */
/* Folders that are full, read-only or another user's; names with spaces and other special characters. "urom_places_test host"
 * runs a program that uses the service that its environment names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/urom_rig.h"

#define GRAPH "worker_graph"
#define ODD "a b\"c$d&(e)*\\f:\xc3\xa9"

static struct urom_rig rig;
static char self[4096], graph[4096];

/* ---- a program that uses a service ---- */

static int host(void)
{
	struct doca_urom_worker *worker;
	doca_error_t result = DOCA_ERROR_UNKNOWN;

	rig.service = urom_rig_service(&rig);
	if (rig.service != NULL)
		result = doca_ctx_start(doca_urom_service_as_ctx(rig.service));
	if (result == DOCA_SUCCESS) {
		worker = urom_rig_worker(&rig, DOCA_UROM_WORKER_ID_ANY, GRAPH);
		result = worker != NULL && urom_rig_start_worker(&rig, worker) ? urom_rig_loopback(&rig, worker, 5)
									       : DOCA_ERROR_UNKNOWN;
		if (worker != NULL)
			(void)urom_rig_stop_worker(&rig, worker);
	}
	urom_rig_close(&rig);
	printf("host: %s\n", doca_error_get_name(result));
	return result == DOCA_SUCCESS ? 0 : 1;
}

/* ---- folders that cannot be written ---- */

/* Runs the shell script in its own mount namespace, where $dir is a file system of one page. Returns false if such namespaces
 * cannot be created. */
static bool run_in_namespace(struct program *program, const char *script)
{
	static char whole[8192];
	const char *const probe = geteuid() == 0 ? "unshare -m true 2>/dev/null" : "unshare -Urm true 2>/dev/null";
	const char *const args[] = {"/usr/bin/unshare", geteuid() == 0 ? "-m" : "-Urm", "/bin/sh", "-c", whole, NULL};

	if (system(probe) != 0) {
		print_message("no mount namespace can be made here\n");
		return false;
	}
	snprintf(whole, sizeof(whole),
		 "dir='%s'; daemon='%s'; self='%s'; export SOFTFIELD_RUNTIME=\"$dir\" UROM_PLUGIN_PATH=\n"
		 "mount -t tmpfs -o size=4k,mode=700 none \"$dir\" || exit 99\n"
		 "%s",
		 rig.folder, getenv("UROM_DAEMON"), self, script);
	assert_true(program_start(program, args));
	return true;
}

static int make_folder(void **state)
{
	(void)state;
	memset(&rig, 0, sizeof(rig));
	strcpy(rig.folder, "/tmp/urom-test-XXXXXX");
	return mkdtemp(rig.folder) != NULL ? 0 : -1;
}

static int close_rig(void **state)
{
	(void)state;
	urom_rig_close(&rig);
	return 0;
}

/* The script's daemon exits with 1 after a single error, which says what is wrong and what to do. $dir then holds only what it
 * held before. */
static void assert_daemon_refuses(const char *script, const char *what, const char *advice, const char *left)
{
	struct program program;
	char listed[64];

	if (!run_in_namespace(&program, script))
		skip();
	int status = program_wait(&program);
	if (status == 99) {
		print_message("nothing can be mounted here\n");
		skip();
	}
	assert_int_equal(status, 1);
	assert_non_null(strstr(program.output, what));
	assert_non_null(strstr(program.output, advice));
	const char *error = strstr(program.output, "[ERR]");
	assert_non_null(error);
	assert_null(strstr(error + 1, "[ERR]"));
	snprintf(listed, sizeof(listed), "left:%s.\n", left);
	assert_non_null(strstr(program.output, listed));
}

#define RUN "\"$daemon\" --port 0; status=$?; echo \"left:$(ls -A \"$dir\").\"; exit $status\n"

static void a_full_folder(void **state)
{
	(void)state;
	assert_daemon_refuses("head -c 4096 /dev/zero > \"$dir/other\"\n" RUN, "No space left on device",
			      "make room there, or set SOFTFIELD_RUNTIME to another folder", "other");
}

static void a_folder_with_room_for_one_file(void **state)
{
	(void)state;
	assert_daemon_refuses(RUN, "cannot create a secret in the runtime folder: No space left on device",
			      "give one by --secret-file", "");
}

static void a_folder_that_takes_no_file(void **state)
{
	(void)state;
	assert_daemon_refuses("mount -o remount,nr_inodes=1 none \"$dir\"\n" RUN, "No space left on device",
			      "set SOFTFIELD_RUNTIME to a writable folder", "");
}

static void a_read_only_folder(void **state)
{
	(void)state;
	assert_daemon_refuses("mount -o remount,ro none \"$dir\"\n" RUN, "Read-only file system",
			      "set SOFTFIELD_RUNTIME to a writable folder", "");
}

static void a_folder_that_cannot_be_made(void **state)
{
	(void)state;
	assert_daemon_refuses("mount -o remount,ro none \"$dir\"; export SOFTFIELD_RUNTIME=\"$dir/new\"\n" RUN,
			      "cannot make the runtime folder", "set SOFTFIELD_RUNTIME to a folder of your own", "");
}

/* A daemon that has started needs no more room, and a program that sees the folder read-only needs none. */
static void a_folder_that_fills_up_later(void **state)
{
	struct program program;
	char script[1024];

	(void)state;
	snprintf(script, sizeof(script),
		 "mount -o remount,size=64k none \"$dir\"; export UROM_PLUGIN_PATH='%.*s'\n"
		 "mkfifo \"$dir/said\"; \"$daemon\" --port 0 >\"$dir/said\" & daemon=$!\n"
		 "while read -r line; do case $line in *listening*) break;; esac; done <\"$dir/said\"\n"
		 "port=${line#*port }; echo \"localhost dpu 127.0.0.1:${port%%%%,*} d8:00.0 lo\" >\"$dir/services\"\n"
		 "mkdir \"$dir/view\"; cat /dev/zero >\"$dir/rest\" 2>/dev/null\n"
		 "mount --bind \"$dir\" \"$dir/view\" && mount -o remount,bind,ro \"$dir/view\" && ! echo >\"$dir/view/x\" || "
		 "exit 99\n"
		 "DOCA_UROM_SERVICE_FILE=\"$dir/services\" SOFTFIELD_RUNTIME=\"$dir/view\" \"$self\" host; status=$?\n"
		 "kill $daemon; wait $daemon || exit 98; exit $status\n",
		 (int)(strrchr(graph, '/') - graph), graph);
	if (!run_in_namespace(&program, script))
		skip();
	int status = program_wait(&program);
	if (status == 99)
		skip();
	assert_non_null(strstr(program.output, "host: DOCA_SUCCESS"));
	assert_int_equal(status, 0);
}

static void a_program_without_a_secret_on_a_read_only_folder(void **state)
{
	struct program program;

	(void)state;
	if (!run_in_namespace(&program, "echo 'localhost dpu 127.0.0.1:1 d8:00.0 lo' >\"$dir/services\"\n"
					"mount -o remount,ro none \"$dir\"; export DOCA_UROM_SERVICE_FILE=\"$dir/services\"\n"
					"unset UROM_SECRET_FILE; exec \"$self\" host\n"))
		skip();
	int status = program_wait(&program);
	if (status == 99)
		skip();
	assert_int_equal(status, 1);
	assert_null(strstr(program.output, "DOCA_SUCCESS"));
	assert_non_null(strstr(program.output, "host: DOCA_ERROR_"));
}

#define AS_NOBODY "setpriv --reuid=65534 --regid=65534 --clear-groups"

static void a_folder_of_somebody_else(void **state)
{
	char command[8192];
	struct program program;
	const char *const args[] = {"/bin/sh", "-c", command, NULL};

	(void)state;
	snprintf(command, sizeof(command), AS_NOBODY " test -x '%s'", getenv("UROM_DAEMON"));
	if (geteuid() == 0 && system(command) != 0) {
		print_message("user nobody cannot run %s\n", getenv("UROM_DAEMON"));
		skip();
	}
	assert_int_equal(chmod(rig.folder, 0555), 0);
	snprintf(command, sizeof(command), "SOFTFIELD_RUNTIME='%s/new' exec %s '%s' --port 0", rig.folder,
		 geteuid() == 0 ? AS_NOBODY : "", getenv("UROM_DAEMON"));
	assert_true(program_start(&program, args));
	assert_int_equal(program_wait(&program), 1);
	assert_non_null(strstr(program.output, "Permission denied; set SOFTFIELD_RUNTIME to a folder of your own"));
	assert_int_equal(chmod(rig.folder, 0700), 0);
	assert_int_equal(rmdir(rig.folder), 0); /* the daemon left nothing in it */
}

/* ---- names ---- */

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	assert_int_equal(chmod(path, 0600), 0);
}

static bool holds(const char *path, const char *text)
{
	static char content[65536];
	FILE *file = fopen(path, "r");

	assert_non_null(file);
	size_t len = fread(content, 1, sizeof(content), file);
	fclose(file);
	return memmem(content, len, text, strlen(text) + 1) != NULL;
}

/* Runtime folder, plugin folder, secret and service file lie in a folder with an odd name, passed by flags or by a JSON file. */
static void use_odd_folder(bool by_file)
{
	char plugins[128], link[160], path[128], flags[256], none[256];
	const char *const by_flags[] = {"--plugin-path", none, "--secret-file", path, NULL};
	const char *const by_json[] = {"--json", flags, NULL};

	strcpy(rig.folder, "/tmp/" ODD "-XXXXXX");
	assert_non_null(mkdtemp(rig.folder));
	snprintf(plugins, sizeof(plugins), "%s/pl ug", rig.folder);
	snprintf(link, sizeof(link), "%s/worker_graph.so", plugins);
	assert_int_equal(mkdir(plugins, 0700), 0);
	assert_int_equal(symlink(graph, link), 0);
	snprintf(path, sizeof(path), "%s/se cret", rig.folder);
	write_file(path, "nobody else knows this secret");
	snprintf(none, sizeof(none), "/not there;;%s;", plugins);
	snprintf(flags, sizeof(flags), "%s/fl ags", rig.folder);
	if (by_file) {
		char json[1280], odd[512] = "";

		for (const char *at = rig.folder; *at != '\0'; at++)
			snprintf(odd + strlen(odd), sizeof(odd) - strlen(odd), *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
		snprintf(json, sizeof(json),
			 "{\"doca_program_flags\": {\"plugin-path\": \"%s/pl ug\", \"secret-file\": \"%s/se cret\"}}", odd, odd);
		write_file(flags, json);
	}
	setenv("UROM_SECRET_FILE", path, 1);
	assert_true(urom_rig_open(&rig, by_file ? by_json : by_flags));
	unsetenv("UROM_SECRET_FILE");
}

static void assert_odd_folder_serves(void)
{
	char *env[] = {"UROM_ODD='\"$HOME;\xc3\xa9\\=", "UROM_EMPTY=", "PATH=/no/such"};
	struct doca_urom_worker *worker = urom_rig_worker(&rig, 77, GRAPH);
	char path[64];
	int pid = 0;

	assert_non_null(worker);
	assert_int_equal(doca_urom_worker_set_env(worker, env, 3), DOCA_SUCCESS);
	assert_true(urom_rig_start_worker(&rig, worker));
	assert_int_equal(urom_rig_loopback(&rig, worker, 6), DOCA_SUCCESS);
	assert_true(program_await(&rig.daemon, "worker 77 runs, process "));
	assert_true(program_await(&rig.daemon, "\n"));
	assert_int_equal(sscanf(strstr(rig.daemon.output, "77 runs, process "), "77 runs, process %d", &pid), 1);
	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	for (int i = 0; i < 3; i++)
		assert_true(holds(path, env[i]));
	assert_true(urom_rig_stop_worker(&rig, worker));
}

static void odd_names_by_flags(void **state)
{
	(void)state;
	use_odd_folder(false);
	assert_odd_folder_serves();
	assert_non_null(strstr(rig.daemon.output, "cannot read the plugin folder /not there"));
}

static void odd_names_by_json(void **state)
{
	(void)state;
	use_odd_folder(true);
	assert_odd_folder_serves();
}

static void variables_that_are_none(void **state)
{
	static char long_one[40000];
	char *bad[] = {"NAME", "=value", "A=with space", "A B=1", "A=tab\t", "A=line\n", ""};
	struct doca_urom_worker *worker;

	(void)state;
	assert_int_equal(doca_urom_worker_create(&worker), DOCA_SUCCESS);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(doca_urom_worker_set_env(worker, &bad[i], 1), DOCA_ERROR_INVALID_VALUE);
	memset(long_one, 'x', sizeof(long_one) - 1);
	long_one[1] = '=';
	bad[0] = long_one;
	assert_int_equal(doca_urom_worker_set_env(worker, bad, 1), DOCA_ERROR_INVALID_VALUE);
	assert_int_equal(doca_urom_worker_destroy(worker), DOCA_SUCCESS);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, close_rig)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		IN_FOLDER(a_full_folder),
		IN_FOLDER(a_folder_with_room_for_one_file),
		IN_FOLDER(a_folder_that_takes_no_file),
		IN_FOLDER(a_read_only_folder),
		IN_FOLDER(a_folder_that_cannot_be_made),
		IN_FOLDER(a_folder_that_fills_up_later),
		IN_FOLDER(a_program_without_a_secret_on_a_read_only_folder),
		IN_FOLDER(a_folder_of_somebody_else),
		cmocka_unit_test_teardown(odd_names_by_flags, close_rig),
		cmocka_unit_test_teardown(odd_names_by_json, close_rig),
		cmocka_unit_test(variables_that_are_none),
	};

	if (argc == 2 && strcmp(argv[1], "host") == 0)
		return host();
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) <= 0)
		return 1;
	const char *folders = getenv("UROM_PLUGIN_PATH");
	snprintf(graph, sizeof(graph), "%.*s/worker_graph.so", (int)strcspn(folders, ";"), folders);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
