/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA between this process and another, which starts with the first line on standard input: one connection by exchanged details,
 * with the other's memory, and for each further line one connection by address. They write, read, send and receive; the bytes
 * that arrive are compared, and "exchanged" is printed. Both exit at the end of the input.
 */
#include <stdio.h>

#include "support/rdma_peer.h"

#include "support/rdma_cm_side.h"

#define EXCHANGES 12 /* for each line */
#define SIZE 5000
#define PORT 18515 /* in this runtime folder */

enum { PEER_DEVICE = 0, OWN_DEVICE = 2 };

/* ---- the other process ---- */

static void peer_run(int socket)
{
	static struct cm_side side;
	struct doca_rdma_connection *connection;
	char address[64], word = 0;
	uint16_t port;

	cm_side_prepare(&side, PEER_DEVICE, 4);
	rdma_rig_start(&side.rig);
	peer_meet(socket, &side.rig, &connection);
	peer_hear(socket, address, sizeof(address));
	peer_hear(socket, &port, sizeof(port));
	for (uint32_t calls = 1;; calls++) {
		peer_hear(socket, &word, 1);
		if (word != 'c')
			break;
		CHECK_OK(cm_call(&side, DOCA_RDMA_ADDR_TYPE_IPv6, address, port, 0));
		RDMA_RIG_WAIT(&side.rig, NULL, side.num_established == calls);
		for (uint32_t i = 0; i < EXCHANGES; i++) {
			memset(side.rig.memory, (int)(calls + i), SIZE);
			uint32_t good = side.rig.num_good;
			struct doca_buf *source = rig_source(&side.rig, 0, SIZE - i);

			CHECK_OK(rig_send(&side.rig, side.established, source, i));
			RDMA_RIG_WAIT(&side.rig, NULL, side.rig.num_good == good + 1);
			rig_put(source);
		}
		CHECK_OK(doca_rdma_connection_disconnect(side.established));
		RDMA_RIG_WAIT(&side.rig, NULL, side.num_ended == calls);
	}
	CHECK(side.num_failed == 0 && side.rig.num_failed == 0);
	rdma_rig_fini(&side.rig);
}

/* ---- this process ---- */

static void called(struct cm_side *side, int socket, uint32_t calls)
{
	struct doca_buf *rooms[EXCHANGES];
	uint32_t received = side->rig.num_received;

	for (uint32_t i = 0; i < EXCHANGES; i++) {
		rooms[i] = rig_room(&side->rig, i * SIZE, SIZE);
		CHECK_OK(rig_receive(&side->rig, rooms[i], i));
	}
	peer_notify(socket, 'c');
	RDMA_RIG_WAIT(&side->rig, NULL, side->rig.num_received == received + EXCHANGES && side->num_ended == calls);
	for (uint32_t i = 0; i < EXCHANGES; i++) {
		const uint8_t *bytes = side->rig.memory + i * SIZE;

		for (uint32_t at = 0; at < SIZE - i; at++)
			CHECK(bytes[at] == (uint8_t)(calls + i));
		rig_put(rooms[i]);
	}
}

static void one_sided(struct rdma_rig *rig, struct doca_rdma_connection *connection, uint32_t calls)
{
	uint8_t *sent = rig->memory, *back = rig->memory + SIZE;
	uint32_t good = rig->num_good;
	struct doca_buf *bufs[] = {rig_source(rig, 0, SIZE), rig_remote_room(rig, SIZE, SIZE), rig_remote_source(rig, SIZE, SIZE),
				   rig_room(rig, SIZE, SIZE)};

	memset(sent, (int)calls, SIZE);
	memset(back, 0, SIZE);
	CHECK_OK(rig_write(rig, connection, bufs[0], bufs[1], 0));
	RDMA_RIG_WAIT(rig, NULL, rig->num_good == good + 1);
	CHECK_OK(rig_read(rig, connection, bufs[2], bufs[3], 1));
	RDMA_RIG_WAIT(rig, NULL, rig->num_good == good + 2);
	CHECK(memcmp(sent, back, SIZE) == 0);
	for (int i = 0; i < 4; i++)
		rig_put(bufs[i]);
}

static void talk(void)
{
	static struct cm_side side;
	struct doca_rdma_connection *connection;
	struct peer peer;
	char line[16], address[64];
	uint16_t port = PORT;

	cm_side_prepare(&side, OWN_DEVICE, 4);
	rdma_rig_start(&side.rig);
	CHECK_OK(doca_rdma_start_listen_to_port(side.rig.rdma, port));
	printf("listening\n");
	fflush(stdout);
	CHECK(fgets(line, sizeof(line), stdin) != NULL);
	peer_spawn(&peer, "peer");
	peer_meet(peer.socket, &side.rig, &connection);
	cm_text(side.rig.dev, DOCA_RDMA_ADDR_TYPE_IPv6, address);
	peer_say(peer.socket, address, sizeof(address));
	peer_say(peer.socket, &port, sizeof(port));
	printf("connected to %d\n", (int)peer.pid);
	fflush(stdout);
	for (uint32_t calls = 1; fgets(line, sizeof(line), stdin) != NULL; calls++) {
		called(&side, peer.socket, calls);
		one_sided(&side.rig, connection, calls);
		CHECK(side.rig.num_failed == 0 && side.rig.state == DOCA_CTX_STATE_RUNNING);
		printf("exchanged\n");
		fflush(stdout);
	}
	peer_notify(peer.socket, 'q');
	peer_wait(&peer);
	rdma_rig_fini(&side.rig);
}

int main(int argc, char **argv)
{
	if (argc == 3)
		peer_run(atoi(argv[2]));
	else
		talk();
	return 0;
}
