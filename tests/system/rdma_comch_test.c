/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Comch carries what two RDMA instances must exchange, as between the programs of a host and its DPU: connection details and
 * memory map in one message each way. The DPU's program is this one again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "support/comch_side.h"
#include "support/rdma_peer.h"

#define SIZE (64 << 10)
#define NAME "rdma details"
#define PAYLOAD "carried by Comch"

struct carried {
	uint32_t details_len, descriptor_len;
	uint8_t bytes[2040]; /* the details, followed by the memory map's descriptor */
};

struct end {
	struct comch_side comch;
	struct rdma_rig rdma;
	struct doca_rdma_connection *connection;
};

#define END_WAIT(end, condition) SIDE_WAIT(condition, (end)->comch.pe, (end)->rdma.pe, NULL, NULL)

static void say_mine(struct end *end)
{
	static struct carried mine;
	const void *details, *descriptor;
	size_t details_len, descriptor_len;

	CHECK_OK(doca_rdma_export(end->rdma.rdma, &details, &details_len, &end->connection));
	CHECK_OK(doca_mmap_export_rdma(end->rdma.mmap, end->rdma.dev, &descriptor, &descriptor_len));
	CHECK(details_len + descriptor_len <= sizeof(mine.bytes));
	mine.details_len = (uint32_t)details_len;
	mine.descriptor_len = (uint32_t)descriptor_len;
	memcpy(mine.bytes, details, details_len);
	memcpy(mine.bytes + details_len, descriptor, descriptor_len);
	CHECK_OK(side_send(&end->comch, &mine, (uint32_t)(offsetof(struct carried, bytes) + details_len + descriptor_len)));
}

static void hear_theirs(struct end *end)
{
	const struct carried *theirs = (const struct carried *)(const void *)end->comch.msg;

	END_WAIT(end, end->comch.num_msgs == 1);
	CHECK(end->comch.msg_len == offsetof(struct carried, bytes) + theirs->details_len + theirs->descriptor_len);
	CHECK_OK(doca_rdma_connect(end->rdma.rdma, theirs->bytes, theirs->details_len, end->connection));
	rdma_rig_import(&end->rdma, theirs->bytes + theirs->details_len, theirs->descriptor_len);
}

static void end_close(struct end *end)
{
	rdma_rig_fini(&end->rdma);
	side_fini(&end->comch, NULL);
}

static void dpu(int socket)
{
	static struct end end;

	side_init_server(&end.comch, NAME);
	rdma_rig_prepare(&end.rdma, 1, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&end.rdma);
	CHECK_OK(doca_ctx_start(end.comch.ctx));
	peer_notify(socket, 'r');		 /* a client may connect */
	END_WAIT(&end, end.comch.num_msgs == 1); /* before that no client is known */
	say_mine(&end);
	hear_theirs(&end);
	struct doca_buf *into = rig_room(&end.rdma, 0, 64), *word = rig_remote_source(&end.rdma, 4096, 8),
			*here = rig_room(&end.rdma, 512, 8), *there = rig_remote_room(&end.rdma, 8192, 8);
	CHECK_OK(rig_receive(&end.rdma, into, 0));
	END_WAIT(&end, end.rdma.num_received == 1);
	CHECK(end.rdma.len == sizeof(PAYLOAD) && memcmp(end.rdma.memory, PAYLOAD, sizeof(PAYLOAD)) == 0);
	CHECK(end.rdma.from == end.connection);
	/* The host's word is read, and written back next to it. */
	CHECK_OK(rig_read(&end.rdma, end.connection, word, here, 1));
	END_WAIT(&end, end.rdma.num_good == 2);
	CHECK_OK(rig_write(&end.rdma, end.connection, here, there, 2));
	END_WAIT(&end, end.rdma.num_good == 3);
	CHECK(end.rdma.num_failed == 0);
	peer_notify(socket, 'w');
	peer_expect(socket, 'q');
	rig_put(into);
	rig_put(word);
	rig_put(here);
	rig_put(there);
	end_close(&end);
}

static void details_and_memory_map_in_one_message_each_way(void **state)
{
	static struct end end;
	static const uint64_t word = UINT64_C(0x1122334455667788);
	struct peer peer;

	(void)state;
	peer_folder_make();
	peer_spawn(&peer, "dpu");
	peer_expect(peer.socket, 'r');
	side_init_client(&end.comch, NAME);
	rdma_rig_prepare(&end.rdma, 0, SIZE, RIG_ALL, RIG_ALL);
	rdma_rig_start(&end.rdma);
	memcpy(end.rdma.memory, PAYLOAD, sizeof(PAYLOAD));
	memcpy(end.rdma.memory + 4096, &word, sizeof(word));
	CHECK_OK(doca_ctx_start(end.comch.ctx) == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED);
	END_WAIT(&end, side_state(end.comch.ctx) == DOCA_CTX_STATE_RUNNING);
	say_mine(&end);
	hear_theirs(&end);
	struct doca_buf *payload = rig_source(&end.rdma, 0, sizeof(PAYLOAD));
	CHECK_OK(rig_send(&end.rdma, end.connection, payload, 0));
	END_WAIT(&end, end.rdma.num_good == 1);
	char done = 0;
	END_WAIT(&end, peer_has_said(peer.socket, &done));
	CHECK(done == 'w' && memcmp(end.rdma.memory + 8192, &word, sizeof(word)) == 0);
	rig_put(payload);
	end_close(&end);
	peer_notify(peer.socket, 'q');
	peer_wait(&peer);
	peer_folder_remove();
}

int main(int argc, char **argv)
{
	if (argc == 3) {
		dpu(atoi(argv[2]));
		return 0;
	}
	const struct CMUnitTest tests[] = {cmocka_unit_test(details_and_memory_map_in_one_message_each_way)};

	return cmocka_run_group_tests_name("rdma by comch", tests, NULL, NULL);
}
