/* SPDX-License-Identifier: BSD-3-Clause */
/* A small DOCA program: parses its flags, lists the devices, and starts a Comch client that finds no server. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <doca_argp.h>
#include <doca_comch.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_log.h>
#include <doca_pe.h>

DOCA_LOG_REGISTER(OUTSIDE::MAIN);

#ifdef DOCA_ARCH_DPU
static const char built_for[] = "dpu";
#else
static const char built_for[] = "host";
#endif

static doca_error_t set_flavour(void *value, void *config)
{
	snprintf(config, 16, "%s", (const char *)value);
	return DOCA_SUCCESS;
}

static doca_error_t parse_flags(int argc, char **argv, char *flavour)
{
	struct doca_argp_param *param;
	doca_error_t result = doca_argp_init("outside", flavour);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_argp_param_create(&param);
	if (result != DOCA_SUCCESS)
		return result;
	doca_argp_param_set_short_name(param, "f");
	doca_argp_param_set_long_name(param, "flavour");
	doca_argp_param_set_description(param, "For which side the program should have been built");
	doca_argp_param_set_callback(param, set_flavour);
	doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
	doca_argp_param_set_mandatory(param);
	result = doca_argp_register_param(param);
	return result == DOCA_SUCCESS ? doca_argp_start(argc, argv) : result;
}

static void send_done(struct doca_comch_task_send *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
	(void)task_user_data;
	(void)ctx_user_data;
	doca_task_free(doca_comch_task_send_as_task(task));
}

static void message_received(struct doca_comch_event_msg_recv *event, uint8_t *buffer, uint32_t len,
			     struct doca_comch_connection *connection)
{
	(void)event;
	(void)buffer;
	(void)connection;
	DOCA_LOG_INFO("%u bytes", len);
}

/* Connects to a server that does not exist: the client must become idle again, not hang. */
static doca_error_t try_client(struct doca_dev *dev)
{
	struct doca_comch_client *client;
	struct doca_pe *pe;
	enum doca_ctx_states state;
	doca_error_t result = doca_pe_create(&pe);

	if (result != DOCA_SUCCESS)
		return result;
	result = doca_comch_client_create(dev, "nobody listens here", &client);
	if (result != DOCA_SUCCESS)
		return result;
	if (doca_pe_connect_ctx(pe, doca_comch_client_as_ctx(client)) != DOCA_SUCCESS ||
	    doca_comch_client_task_send_set_conf(client, send_done, send_done, 4) != DOCA_SUCCESS ||
	    doca_comch_client_event_msg_recv_register(client, message_received) != DOCA_SUCCESS)
		return DOCA_ERROR_UNEXPECTED;
	result = doca_ctx_start(doca_comch_client_as_ctx(client));
	if (result != DOCA_ERROR_IN_PROGRESS)
		return DOCA_ERROR_UNEXPECTED;
	do {
		doca_pe_progress(pe);
		doca_ctx_get_state(doca_comch_client_as_ctx(client), &state);
	} while (state != DOCA_CTX_STATE_IDLE);
	result = doca_comch_client_destroy(client);
	return result == DOCA_SUCCESS ? doca_pe_destroy(pe) : result;
}

int main(int argc, char **argv)
{
	struct doca_devinfo **list;
	struct doca_dev *dev = NULL;
	char flavour[16] = "", pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
	uint32_t num = 0;
	doca_error_t result;

	if (doca_log_backend_create_standard() != DOCA_SUCCESS || parse_flags(argc, argv, flavour) != DOCA_SUCCESS)
		return 1;
	result = doca_devinfo_create_list(&list, &num);
	if (result != DOCA_SUCCESS || num == 0)
		return 1;
	for (uint32_t i = 0; i < num; i++) {
		doca_devinfo_get_pci_addr_str(list[i], pci_addr);
		DOCA_LOG_INFO("device %s", pci_addr);
		if (dev == NULL && doca_comch_cap_client_is_supported(list[i]) == DOCA_SUCCESS)
			doca_dev_open(list[i], &dev);
	}
	doca_devinfo_destroy_list(list);
	if (dev == NULL)
		return 1;
	result = try_client(dev);
	if (result == DOCA_SUCCESS)
		result = doca_dev_close(dev);
	doca_argp_destroy();
	printf("built for the %s with %s, running with %s: %s\n", built_for, doca_version(), doca_version_runtime(),
	       doca_error_get_descr(result));
	return result == DOCA_SUCCESS && strcmp(flavour, built_for) == 0 ? 0 : 1;
}
