/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include <doca_argp.h>

#include "common.h"
#include "rdma_options.h"

#define PORT_DEFAULT 13579

static doca_error_t take_text(const char *text, char *place, size_t room)
{
	if (strlen(text) >= room) {
		fprintf(stderr, "\"%.16s...\" is longer than %zu bytes\n", text, room - 1);
		return DOCA_ERROR_INVALID_VALUE;
	}
	strcpy(place, text);
	return DOCA_SUCCESS;
}

#define TAKE_TEXT(field)                                                                                                         \
	static doca_error_t take_##field(void *value, void *config)                                                              \
	{                                                                                                                        \
		struct options *options = config;                                                                                \
		return take_text(value, options->field, sizeof(options->field));                                                 \
	}
TAKE_TEXT(device)
TAKE_TEXT(local_path)
TAKE_TEXT(remote_path)
TAKE_TEXT(resource_path)
TAKE_TEXT(peer)
TAKE_TEXT(string)
TAKE_TEXT(server)
TAKE_TEXT(server_type)

static doca_error_t take_gid_index(void *value, void *config)
{
	struct options *options = config;

	if (*(int *)value < 0)
		return sample_failed("GID index", DOCA_ERROR_INVALID_VALUE);
	options->has_gid_index = true;
	options->gid_index = (uint32_t) * (int *)value;
	return DOCA_SUCCESS;
}

static doca_error_t take_by_address(void *value, void *config)
{
	((struct options *)config)->by_address = *(bool *)value;
	return DOCA_SUCCESS;
}

static doca_error_t take_port(void *value, void *config)
{
	int port = *(int *)value;

	if (port < 1 || port > UINT16_MAX)
		return sample_failed("port", DOCA_ERROR_INVALID_VALUE);
	((struct options *)config)->port = (uint16_t)port;
	return DOCA_SUCCESS;
}

static doca_error_t take_num_connections(void *value, void *config)
{
	int num = *(int *)value;

	if (num < 1 || num > CONNECTIONS_MAX)
		return sample_failed("number of connections", DOCA_ERROR_INVALID_VALUE);
	((struct options *)config)->num_connections = (uint32_t)num;
	return DOCA_SUCCESS;
}

struct option {
	const char *short_name, *long_name, *description;
	enum doca_argp_type type;
	doca_argp_param_cb_t take;
	uint32_t set; /* option sets that have it; 0: all */
};

static const struct option table[] = {
	{"d", "device", "IB device (default: any that fits)", DOCA_ARGP_TYPE_STRING, take_device, 0},
	{"ld", "local-descriptor-path", "file for our connection's descriptor, to be copied to the peer", DOCA_ARGP_TYPE_STRING,
	 take_local_path, 0},
	{"re", "remote-descriptor-path", "file with the peer's, copied from there", DOCA_ARGP_TYPE_STRING, take_remote_path, 0},
	{"m", "mmap-descriptor-path", "file with the descriptor of the responder's memory or event", DOCA_ARGP_TYPE_STRING,
	 take_resource_path, OPTION_RESOURCE},
	{"g", "gid-index", "GID index", DOCA_ARGP_TYPE_INT, take_gid_index, 0},
	{NULL, "peer", "HOST:PORT, the same on both sides: exchange the files by TCP (HOST: 127.0.0.1)", DOCA_ARGP_TYPE_STRING,
	 take_peer, 0},
	{"cm", "use-rdma-cm", "connect by address", DOCA_ARGP_TYPE_BOOLEAN, take_by_address, 0},
	{"lp", "listen-port", "port that the responder listens to (default: 13579)", DOCA_ARGP_TYPE_INT, take_port, 0},
	{"sa", "server-addr", "address of the responder's device", DOCA_ARGP_TYPE_STRING, take_server, OPTION_SERVER},
	{"sat", "server-addr-type", "ipv4, ipv6 or gid (default: ipv4 or ipv6, by its form)", DOCA_ARGP_TYPE_STRING,
	 take_server_type, OPTION_SERVER},
	{"r", "read-string", "text to be read (default: Hi DOCA RDMA!)", DOCA_ARGP_TYPE_STRING, take_string, OPTION_READ_STRING},
	{"s", "send-string", "text to send (default: Hi DOCA RDMA!)", DOCA_ARGP_TYPE_STRING, take_string, OPTION_SEND_STRING},
	{"w", "write-string", "text to write (default: Hi DOCA RDMA!)", DOCA_ARGP_TYPE_STRING, take_string, OPTION_WRITE_STRING},
	{"nc", "num-connections", "connections, 1 to 8 (default: 2)", DOCA_ARGP_TYPE_INT, take_num_connections,
	 OPTION_CONNECTIONS},
};

static doca_error_t option_add(const struct option *option)
{
	struct doca_argp_param *param;
	doca_error_t status = doca_argp_param_create(&param);

	if (status != DOCA_SUCCESS)
		return status;
	if (option->short_name != NULL)
		doca_argp_param_set_short_name(param, option->short_name);
	doca_argp_param_set_long_name(param, option->long_name);
	doca_argp_param_set_description(param, option->description);
	doca_argp_param_set_type(param, option->type);
	doca_argp_param_set_callback(param, option->take);
	return doca_argp_register_param(param);
}

/* Checks that the options contain an address, --peer or files. */
static doca_error_t check(const struct options *options, uint32_t set)
{
	bool has_files = options->local_path[0] != '\0' && options->remote_path[0] != '\0' &&
			 (options->resource_path[0] != '\0' || (set & OPTION_RESOURCE) == 0);

	if (options->by_address && (set & OPTION_SERVER) != 0 && options->server[0] == '\0') {
		fprintf(stderr, "no address: give that of the responder's device by -sa\n");
		return DOCA_ERROR_INVALID_VALUE;
	}
	if (options->by_address || options->peer[0] != '\0' || has_files)
		return DOCA_SUCCESS;
	fprintf(stderr, "how to find the peer? give -ld and -re%s, or --peer, or -cm\n", set & OPTION_RESOURCE ? " and -m" : "");
	return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t options_read(int argc, char **argv, const char *name, uint32_t set, struct options *options)
{
	doca_error_t status = doca_argp_init(name, options);

	*options = (struct options){
		.string = "Hi DOCA RDMA!", .port = PORT_DEFAULT, .num_connections = set & OPTION_CONNECTIONS ? 2 : 1};
	for (size_t i = 0; status == DOCA_SUCCESS && i < sizeof(table) / sizeof(table[0]); i++)
		if (table[i].set == 0 || (table[i].set & set) != 0)
			status = option_add(&table[i]);
	if (status == DOCA_SUCCESS)
		status = doca_argp_start(argc, argv);
	doca_argp_destroy();
	return status == DOCA_SUCCESS ? check(options, set) : status;
}
