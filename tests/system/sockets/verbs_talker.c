/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the verbs provider listens to on a network and in the runtime folder, without an RDMA device. It prints its TCP port, and
 * in hexadecimal what a good caller says and the answer that it gets, for memory that is not there. The end of the input ends it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "fabric/verbs/agent.h"
#include "fabric/verbs/device.h"
#include "fabric/verbs/net.h"

static struct vb_device device = {.name = "none0"};
static struct vb_domain domain = {.device = &device};

static void print_hex(const char *what, const void *bytes, size_t len)
{
	printf("%s ", what);
	for (size_t i = 0; i < len; i++)
		printf("%02x", ((const uint8_t *)bytes)[i]);
	printf("\n");
}

int main(void)
{
	struct vb_msg_hello hello = {.head = vb_msg_head(VB_MSG_HELLO, sizeof(hello), 0)};
	struct vb_msg_attach attach = {.head = vb_msg_head(VB_MSG_ATTACH, sizeof(attach), 0), .end.mtu = 3, .region = 77};
	struct vb_msg_attached attached = {.head = vb_msg_head(VB_MSG_ATTACHED, sizeof(attached), DOCA_ERROR_NOT_FOUND)};
	char text[SF_REACH_MAX], line[16];
	struct vb_reach reach;
	uint32_t generation;
	doca_error_t result;

	setenv("SOFTFIELD_VERBS_LISTEN", "127.0.0.1", 1);
	if (sf_verbs_agent_hold(&generation) != DOCA_SUCCESS)
		return 1;
	pthread_mutex_lock(&sf_verbs_lock);
	result = sf_verbs_net_reach(&domain, text);
	pthread_mutex_unlock(&sf_verbs_lock);
	if (result != DOCA_SUCCESS || !sf_verbs_reach_parse(text, &reach))
		return 1;
	hello.token = reach.token;
	print_hex("hello", &hello, sizeof(hello));
	print_hex("question", &attach, sizeof(attach));
	print_hex("answer", &attached, sizeof(attached.head));
	printf("port %u\n", reach.at[0].port);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL)
		;
	sf_verbs_agent_release(generation);
	return 0;
}
