/* SPDX-License-Identifier: BSD-3-Clause */
/* The verbs provider as between machines: a listener and exported memory that are reached over TCP, at an address that the
 * user provides. Skips without an RDMA device. */
#include "fabric/conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "topology/sysfs.h"

#define PORT_FIRST 20000
#define PORTS 20000

static char where[64]; /* the listening process's name, by its parent's process id */

/* Listens, receives one message, exports memory, and exits when the connection ends. */
static void listening_script(int sock)
{
	char descriptor[SF_DESCRIPTOR_MAX] = {0};
	size_t len = sizeof(descriptor);
	char address[SF_ADDRESS_MAX];
	char folder[] = "/tmp/softfield-far-XXXXXX", lock[sizeof(folder) + 8];
	struct slot slot;
	struct end end;

	CHECK(mkdtemp(folder) != NULL); /* the two processes share no folder */
	setenv("SOFTFIELD_RUNTIME", folder, 1);
	setenv("SOFTFIELD_LISTEN", where, 1);
	end_open(&end, "dpu0/0000:03:00.0", 4);
	end_listen(&end, SF_LISTEN_AUTO);
	CHECK_OK(slot_post(&end, &slot, 0, 4096));
	CHECK_OK(sf_region_export(end.region, descriptor, &len));
	CHECK_OK(sf_listener_address(end.listener, address));
	CHECK(strncmp(address, where, strlen(where)) == 0 && address[strlen(where)] == '#');
	say(sock, end.name, sizeof(end.name));
	say(sock, address, sizeof(address));
	say(sock, &len, sizeof(len));
	say(sock, descriptor, sizeof(descriptor));
	WAIT(slot.done == 1);
	CHECK_OK(slot.recv.status);
	CHECK(slot.recv.len == 100 && filled(end.memory, 100, 1));
	WAIT(end.closes == 1);
	CHECK_RESULT(end.close_reason, DOCA_ERROR_CONNECTION_RESET);
	CHECK(filled(end.memory + 8192, 5000, 2));
	sf_conn_close(end.accepted[0]);
	end_close(&end);
	(void)snprintf(lock, sizeof(lock), "%s/lock", folder);
	CHECK(unlink(lock) == 0 && rmdir(folder) == 0); /* the folder holds nothing else */
}

static void a_name_with_an_address_is_reached(void)
{
	char name[SF_NAME_MAX], address[SF_ADDRESS_MAX], descriptor[SF_DESCRIPTOR_MAX];
	struct sf_region *import;
	struct sf_conn *conn;
	struct send send;
	struct peer peer;
	struct end end;
	size_t len;

	(void)snprintf(where, sizeof(where), "127.0.0.1:%d", PORT_FIRST + (int)getpid() % PORTS);
	peer_fork(&peer, listening_script);
	hear(peer.sock, name, sizeof(name));
	hear(peer.sock, address, sizeof(address));
	hear(peer.sock, &len, sizeof(len));
	hear(peer.sock, descriptor, sizeof(descriptor));
	end_open(&end, "host0/0000:d8:00.0", 4);
	CHECK_OK(sf_conn_connect(end.ep, name, address, NULL, 0, NULL, &conn));
	WAIT(end.connects == 1);
	CHECK_OK(end.connect_status);
	fill(end.memory, 100, 1);
	send_wait(conn, end.memory, 100);
	CHECK_OK(sf_region_import(end.domain, descriptor, len, &import));
	fill(end.memory, 5000, 2);
	one_sided_set(&send, SF_OP_WRITE, import, import->addr + 8192, end.memory, 5000);
	CHECK_OK(submit_wait(conn, &send));
	sf_region_close(import);
	sf_conn_close(conn);
	peer_end(&peer);
	/* nothing listens there now */
	CHECK_OK(sf_conn_connect(end.ep, name, address, NULL, 0, NULL, &conn));
	WAIT(end.connects == 2);
	CHECK(end.connect_status != DOCA_SUCCESS);
	sf_conn_close(conn);
	end_close(&end);
}

int main(void)
{
	struct sf_real_device devices[SF_REAL_DEVICES_MAX];

	fabric = sf_fabric_find("verbs");
	if (fabric == NULL || sf_sysfs_rdma("", devices) == 0)
		return 77;
	a_name_with_an_address_is_reached();
	return 0;
}
