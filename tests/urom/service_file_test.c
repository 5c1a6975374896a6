/* SPDX-License-Identifier: BSD-3-Clause */
/* The service file: how its lines are parsed, which one applies, and how bad lines are reported. */
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

#include "support/log_lines.h"
#include "urom/net_devices.h"
#include "urom/service_file.h"

#define PCI "0000:d8:00.0"

static bool is_host1(const char *hostname)
{
	return strcmp(hostname, "host1") == 0 || strcmp(hostname, "10.0.0.1") == 0;
}

static doca_error_t find(const char *text, struct urom_service_entry *entry)
{
	memset(entry, 0, sizeof(*entry));
	log_lines_forget();
	return urom_service_file_find(text, strlen(text), "services", PCI, is_host1, entry);
}

/* ---- lines ---- */

static void comments_blank_lines_and_other_hosts(void **state)
{
	(void)state;
	struct urom_service_entry entry;
	assert_int_equal(find("# host1 dpu no 0000:d8:00.0 lo\n\n \t\r\n"
			      "host2 dpu bf2 d8:00.0 eth0\n"
			      "host1 dpu bf9 d8:00.1 eth0   # another device\n"
			      "\thost1\tDPU bf1 d8:00.0 eth1,eth2 # this\r\n"
			      "host1 dpu bf3 d8:00.0 eth3\n",
			      &entry),
			 DOCA_SUCCESS);
	assert_string_equal(entry.host, "bf1");
	assert_string_equal(entry.net_devices, "eth1,eth2");
	assert_int_equal(entry.port, 18650);
	assert_int_equal(log_lines_count(), 0);
	assert_int_equal(find("\xef\xbb\xbfhost1 dpu bf4 d8:00.0 lo", &entry), DOCA_SUCCESS);
	assert_string_equal(entry.host, "bf4");
	assert_int_equal(find("\xef\xbb\xbf", &entry), DOCA_ERROR_NOT_FOUND);
}

static void addresses_and_ports(void **state)
{
	static const struct {
		const char *field, *host;
		uint16_t port;
	} cases[] = {
		{"10.0.0.2", "10.0.0.2", 18650}, {"10.0.0.2:77", "10.0.0.2", 77}, {"bf.example:1", "bf.example", 1},
		{"fe80::1", "fe80::1", 18650},	 {"[fe80::1]:99", "fe80::1", 99}, {"[fe80::1]", "fe80::1", 18650},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct urom_service_entry entry;
		char line[128];

		snprintf(line, sizeof(line), "10.0.0.1 dpu %s %s eth0", cases[i].field, PCI); /* no newline at the end */
		assert_int_equal(find(line, &entry), DOCA_SUCCESS);
		assert_string_equal(entry.host, cases[i].host);
		assert_int_equal(entry.port, cases[i].port);
	}
}

static void a_bad_line_is_passed_over_with_its_number(void **state)
{
	static const struct {
		const char *line, *said;
	} cases[] = {
		{"host1 dpu bf1 d8:00.0", "five fields"},
		{"host1 dpu bf1 d8:00.0 eth0 more", "five fields"},
		{"host1 gpu bf1 d8:00.0 eth0", "service type is not dpu"},
		{"host1 dpu bf1 d8.00.0 eth0", "not a PCI address"},
		{"host1 dpu bf1:70000 d8:00.0 eth0", "neither a host nor a host and a port"},
		{"host1 dpu :5 d8:00.0 eth0", "neither a host nor a host and a port"},
		{"host1 dpu bf1: d8:00.0 eth0", "neither a host nor a host and a port"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct urom_service_entry entry;
		char text[256];

		snprintf(text, sizeof(text), "# first\n\n%s\nhost1 dpu good d8:00.0 lo\n", cases[i].line);
		assert_int_equal(find(text, &entry), DOCA_SUCCESS);
		assert_string_equal(entry.host, "good");
		assert_int_equal(log_lines_count(), 1);
		assert_non_null(strstr(log_lines_last, "line 3 of services"));
		assert_non_null(strstr(log_lines_last, cases[i].said));
	}
}

static void the_first_of_many_bad_lines_are_reported(void **state)
{
	enum { LINES = 10000 };
	static const char bad[] = "host1 dpu\n", good[] = "host1 dpu good d8:00.0 lo";
	static char text[LINES * (sizeof(bad) - 1) + sizeof(good)];
	struct urom_service_entry entry;
	(void)state;
	for (size_t i = 0; i < LINES; i++)
		memcpy(text + i * (sizeof(bad) - 1), bad, sizeof(bad) - 1);
	strcpy(text + LINES * (sizeof(bad) - 1), good);
	assert_int_equal(find(text, &entry), DOCA_SUCCESS);
	assert_string_equal(entry.host, "good");
	assert_int_equal(log_lines_count(), 16);
	assert_non_null(strstr(log_lines_last, "line 16 of services"));
	assert_non_null(strstr(log_lines_last, "further lines are not reported"));
}

static void a_field_of_256_bytes(void **state)
{
	struct urom_service_entry entry;
	char name[257], text[400];

	(void)state;
	memset(name, 'b', sizeof(name) - 1);
	name[256] = '\0';
	snprintf(text, sizeof(text), "host1 dpu %s d8:00.0 lo\n", name);
	assert_int_equal(find(text, &entry), DOCA_ERROR_NOT_FOUND);
	assert_non_null(strstr(log_lines_last, "line 1 of services"));
	snprintf(text, sizeof(text), "host1 dpu %s d8:00.0 lo\n", name + 1);
	assert_int_equal(find(text, &entry), DOCA_SUCCESS);
	assert_string_equal(entry.host, name + 1);
}

/* ---- the look-up ---- */

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static doca_error_t look_up(const char *path, struct urom_service_entry *entry)
{
	if (path != NULL)
		assert_int_equal(setenv("DOCA_UROM_SERVICE_FILE", path, 1), 0);
	else
		unsetenv("DOCA_UROM_SERVICE_FILE");
	log_lines_forget();
	return urom_service_look_up(PCI, entry);
}

static void by_name_address_and_node(void **state)
{
	struct urom_service_entry entry;
	char own[256] = "", text[512], path[] = "/tmp/urom-services-XXXXXX";

	(void)state;
	close(mkstemp(path));
	assert_int_equal(gethostname(own, sizeof(own) - 1), 0);
	assert_int_equal(setenv("SOFTFIELD_NODE", "a-node", 1), 0);
	const char *const names[] = {own, "127.0.0.1", "localhost", "a-node"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(text, sizeof(text), "192.0.2.1 dpu far d8:00.0 lo\n%s dpu near d8:00.0 lo\n", names[i]);
		write_file(path, text);
		assert_int_equal(look_up(path, &entry), DOCA_SUCCESS);
		assert_string_equal(entry.host, "near");
	}
	unsetenv("SOFTFIELD_NODE");
	unlink(path);
}

static void nowhere_to_look(void **state)
{
	struct urom_service_entry entry;
	char path[] = "/tmp/urom-services-XXXXXX";

	(void)state;
	assert_int_equal(look_up(NULL, &entry), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(log_lines_count(), 1);
	assert_non_null(strstr(log_lines_last, "DOCA_UROM_SERVICE_FILE is not set"));
	assert_int_equal(look_up("/nowhere/services", &entry), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(log_lines_count(), 1);
	assert_non_null(strstr(log_lines_last, "/nowhere/services, which DOCA_UROM_SERVICE_FILE names: No such file"));
	assert_int_equal(look_up("/", &entry), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(log_lines_count(), 1);
	assert_non_null(
		strstr(log_lines_last, "cannot read the service file /, which DOCA_UROM_SERVICE_FILE names: Is a directory"));
	close(mkstemp(path));
	write_file(path, "somebody-else dpu far d8:00.0 lo\n");
	assert_int_equal(look_up(path, &entry), DOCA_ERROR_NOT_FOUND);
	assert_int_equal(log_lines_count(), 1);
	assert_non_null(strstr(log_lines_last, "has no line for this host and the device " PCI));
	unlink(path);
}

/* ---- network devices ---- */

static void make_folder(const char *sys, const char *below)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", sys, below);
	assert_int_equal(mkdir(path, 0700), 0);
}

static void an_rdma_device_becomes_its_interfaces(void **state)
{
	static const char *const folders[] = {"class",
					      "class/infiniband",
					      "class/infiniband/mlx5_9",
					      "class/infiniband/mlx5_9/device",
					      "class/infiniband/mlx5_9/device/net",
					      "class/infiniband/mlx5_9/device/net/ens1f0"};
	static const struct {
		const char *list, *out;
	} cases[] = {
		{"lo", "lo"},
		{"eth5,lo", "eth5,lo"}, /* UCX reports a name that does not exist */
		{"mlx5_9:1", "ens1f0"},
		{"mlx5_9:1,lo", "ens1f0,lo"},
		{"mlx5_9:1,ens1f0,lo,lo", "ens1f0,lo"},
		{"mlx5_8:1,lo", "lo"},
		{"mlx5_8:1,mlx5_7:1", "all"},
		{"../mlx5_9:1", "all"},
		{"all", "all"},
		{",,lo,", "lo"},
		{",", "all"},
	};
	char sys[] = "/tmp/urom-sys-XXXXXX", path[256], out[UROM_NET_DEVICES_MAX];

	(void)state;
	assert_non_null(mkdtemp(sys));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		make_folder(sys, folders[i]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		urom_net_devices_for_tcp(cases[i].list, sys, out, sizeof(out));
		assert_string_equal(out, cases[i].out);
	}
	for (size_t i = sizeof(folders) / sizeof(folders[0]); i-- != 0;) {
		snprintf(path, sizeof(path), "%s/%s", sys, folders[i]);
		rmdir(path);
	}
	rmdir(sys);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comments_blank_lines_and_other_hosts),
		cmocka_unit_test(addresses_and_ports),
		cmocka_unit_test(a_bad_line_is_passed_over_with_its_number),
		cmocka_unit_test(the_first_of_many_bad_lines_are_reported),
		cmocka_unit_test(a_field_of_256_bytes),
		cmocka_unit_test(by_name_address_and_node),
		cmocka_unit_test(nowhere_to_look),
		cmocka_unit_test(an_rdma_device_becomes_its_interfaces),
	};

	log_lines_open();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
