/* SPDX-License-Identifier: BSD-3-Clause */
#include "argp_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

struct seen seen;
char message[1024];

static void see(const char *format, ...)
{
	size_t len = strlen(seen.text);
	va_list args;

	va_start(args, format);
	vsnprintf(seen.text + len, sizeof(seen.text) - len, format, args);
	va_end(args);
}

static doca_error_t on_text(void *value, void *config)
{
	assert_ptr_equal(config, &seen);
	see("text=%s;", (char *)value);
	return seen.answer;
}

doca_error_t on_number(void *value, void *config)
{
	see("number=%d;", *(int *)value);
	return seen.answer;
}

static doca_error_t on_yes(void *value, void *config)
{
	see("yes=%d;", *(bool *)value);
	return seen.answer;
}

static doca_error_t on_object(void *value, void *config)
{
	see("object=%s;", json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN));
	return seen.answer;
}

static doca_error_t on_double(void *value, void *config)
{
	see("double=%g;", *(double *)value);
	return seen.answer;
}

/* Keeps the program's devices, which it closes. */
static doca_error_t on_device(void *value, void *config)
{
	const struct doca_argp_device_ctx *device = value;
	char address[DOCA_DEVINFO_PCI_ADDR_SIZE];

	assert_int_equal(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(device->dev), address), DOCA_SUCCESS);
	see("dev=%s(%s);", address, device->devargs != NULL ? device->devargs : "NULL");
	seen.devs[seen.num_devs++] = device->dev;
	if (seen.answer == DOCA_SUCCESS && !seen.keeps)
		assert_int_equal(doca_dev_close(device->dev), DOCA_SUCCESS);
	return seen.answer;
}

static doca_error_t on_device_rep(void *value, void *config)
{
	struct doca_argp_device_rep_ctx *device = value;
	char iface[DOCA_DEVINFO_IFACE_NAME_SIZE];

	assert_int_equal(doca_devinfo_rep_get_iface_name(doca_dev_rep_as_devinfo(device->dev_rep), iface, sizeof(iface)),
			 DOCA_SUCCESS);
	see("rep=%s;", iface);
	if (seen.answer == DOCA_SUCCESS)
		assert_int_equal(doca_dev_rep_close(device->dev_rep), DOCA_SUCCESS);
	return on_device(&device->dev_ctx, config);
}

static doca_error_t on_cmd(void *config)
{
	assert_ptr_equal(config, &seen);
	see("cmd;");
	return seen.answer;
}

doca_error_t on_validation(void *config)
{
	assert_ptr_equal(config, &seen);
	see("valid;");
	return seen.validity;
}

doca_error_t on_dpdk(int argc, char **argv)
{
	see("dpdk");
	for (int i = 0; i < argc; i++)
		see(" %s", argv[i]);
	assert_null(argv[argc]);
	see(";");
	return DOCA_SUCCESS;
}

doca_error_t on_message(enum doca_log_level level, const char *format, va_list args)
{
	assert_int_equal(level, DOCA_LOG_LEVEL_ERROR);
	vsnprintf(message, sizeof(message), format, args);
	return DOCA_SUCCESS;
}

struct doca_argp_param *flag_make(const char *short_name, const char *long_name, enum doca_argp_type type, unsigned int options)
{
	static const doca_argp_param_cb_t callbacks[] = {
		[DOCA_ARGP_TYPE_STRING] = on_text,	     [DOCA_ARGP_TYPE_INT] = on_number,
		[DOCA_ARGP_TYPE_BOOLEAN] = on_yes,	     [DOCA_ARGP_TYPE_DEVICE] = on_device,
		[DOCA_ARGP_TYPE_DEVICE_REP] = on_device_rep, [DOCA_ARGP_TYPE_DOUBLE] = on_double,
		[DOCA_ARGP_TYPE_JSON_OBJ] = on_object,
	};
	struct doca_argp_param *param;

	assert_int_equal(doca_argp_param_create(&param), DOCA_SUCCESS);
	doca_argp_param_set_short_name(param, short_name);
	doca_argp_param_set_long_name(param, long_name);
	doca_argp_param_set_description(param, "what it is for");
	doca_argp_param_set_type(param, type);
	doca_argp_param_set_callback(param, callbacks[type]);
	if (options & MANDATORY)
		doca_argp_param_set_mandatory(param);
	if (options & MULTIPLE)
		doca_argp_param_set_multiplicity(param);
	if (options & SINGULAR)
		doca_argp_param_set_singular(param);
	if (options & INHERITED)
		doca_argp_param_set_inherited(param);
	if (options & HIDDEN)
		doca_argp_param_set_hidden(param);
	if (options & CLI_ONLY)
		doca_argp_param_set_cli_only(param);
	return param;
}

void flag_add(const char *short_name, const char *long_name, enum doca_argp_type type, unsigned int options)
{
	assert_int_equal(doca_argp_register_param(flag_make(short_name, long_name, type, options)), DOCA_SUCCESS);
}

struct doca_argp_cmd *cmd_make(const char *name)
{
	struct doca_argp_cmd *cmd;

	assert_int_equal(doca_argp_cmd_create(&cmd), DOCA_SUCCESS);
	doca_argp_cmd_set_name(cmd, name);
	doca_argp_cmd_set_description(cmd, "what it does");
	doca_argp_cmd_set_callback(cmd, on_cmd);
	return cmd;
}

/* Splits a line at spaces and parses it. */
doca_error_t parse(const char *line)
{
	char *argv[64] = {strdup("./some/where/prog")};
	char *words = strdup(line), *rest = words, *word;
	doca_error_t result;
	int argc = 1;

	while ((word = strsep(&rest, " ")) != NULL) {
		if (*word != '\0')
			argv[argc++] = word;
	}
	result = doca_argp_start(argc, argv);
	free(argv[0]);
	free(words);
	return result;
}

static void setup_bare(void)
{
	memset(&seen, 0, sizeof(seen));
	message[0] = '\0';
	assert_int_equal(doca_argp_init(NULL, &seen), DOCA_SUCCESS);
	assert_int_equal(doca_argp_register_logger_callback(on_message), DOCA_SUCCESS);
}

int setup(void **state)
{
	setup_bare();
	flag_add("t", "text", DOCA_ARGP_TYPE_STRING, 0);
	flag_add("num", "number", DOCA_ARGP_TYPE_INT, MULTIPLE);
	flag_add("y", "yes", DOCA_ARGP_TYPE_BOOLEAN, 0);
	flag_add(NULL, "object", DOCA_ARGP_TYPE_JSON_OBJ, 0);
	flag_add("o", NULL, DOCA_ARGP_TYPE_STRING, 0);
	flag_add("c", "cli", DOCA_ARGP_TYPE_INT, CLI_ONLY);
	assert_int_equal(doca_argp_register_validation_callback(on_validation), DOCA_SUCCESS);
	return 0;
}

int teardown(void **state)
{
	return doca_argp_destroy() == DOCA_SUCCESS ? 0 : -1;
}

/* Runs the line in a child, which ends with exit; returns its status and what it printed. */
int parse_in_child(const char *line, char *output, size_t output_size)
{
	size_t len = 0;
	int fds[2], status;
	ssize_t got;
	pid_t pid;

	fflush(NULL);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		dup2(fds[1], STDERR_FILENO);
		close(fds[0]);
		close(fds[1]);
		_exit(parse(line) == DOCA_SUCCESS ? 98 : 99); /* not reached by help and version */
	}
	close(fds[1]);
	while ((got = read(fds[0], output + len, output_size - 1 - len)) > 0)
		len += (size_t)got;
	output[len] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Parses a parameter file with this text, passed with -j, and further words. */
doca_error_t parse_file(const char *text, const char *more)
{
	char path[] = "/tmp/argp_testXXXXXX";
	int fd = mkstemp(path);
	char line[256];
	doca_error_t result;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	snprintf(line, sizeof(line), "-j %s %s", path, more);
	result = parse(line);
	unlink(path);
	return result;
}
