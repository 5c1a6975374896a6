/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sockets on which the verbs provider listens, on a network and in the runtime folder, without an RDMA device. It prints its
 * TCP port and, in hexadecimal, a valid caller's request for memory that does not exist and the answer to it. It exits at the end
 * of the input.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/control/agent.h"
#include "fabric/verbs/device.h"
#include "fabric/control/net.h"

static void no_addresses(const char *name, struct sf_addresses *addresses)
{
	(void)name;
	addresses->num = 0;
}

static const struct sf_net_device device = {.name = "none0", .addresses = no_addresses};

static void print_hex(const char *what, const void *bytes, size_t len)
{
	printf("%s ", what);
	for (size_t i = 0; i < len; i++)
		printf("%02x", ((const uint8_t *)bytes)[i]);
	printf("\n");
}

int main(void)
{
	struct sf_msg_handshake handshake = {.head = sf_msg_head(SF_MSG_HANDSHAKE, sizeof(handshake), 0)};
	struct vb_msg_attach attach = {.head = sf_msg_head(VB_MSG_ATTACH, sizeof(attach), 0), .end.mtu = 3, .region = 77};
	struct vb_msg_attached attached = {.head = sf_msg_head(VB_MSG_ATTACHED, sizeof(attached), DOCA_ERROR_NOT_FOUND)};
	char text[SF_ADDRESS_MAX], line[16];
	struct sf_addresses addresses;
	uint32_t generation;
	doca_error_t result;

	setenv("SOFTFIELD_LISTEN", "127.0.0.1", 1);
	if (sf_control_hold(&generation) != DOCA_SUCCESS)
		return 1;
	pthread_mutex_lock(&sf_control_lock);
	result = sf_net_address(&device, text);
	pthread_mutex_unlock(&sf_control_lock);
	if (result != DOCA_SUCCESS || !sf_addresses_parse(text, &addresses))
		return 1;
	handshake.token = addresses.token;
	print_hex("handshake", &handshake, sizeof(handshake));
	print_hex("question", &attach, sizeof(attach));
	print_hex("answer", &attached, sizeof(attached.head));
	printf("port %u\n", addresses.at[0].port);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL)
		;
	sf_control_release(generation);
	return 0;
}
