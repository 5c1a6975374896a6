/* SPDX-License-Identifier: BSD-3-Clause */
#include "rdma/guest.h"

#include <assert.h>
#include <stdlib.h>

#include "rdma/connection.h"
#include "rdma/rdma.h"

/* With DC any peer that has the details may connect. */
bool rdma_guest_add(struct doca_rdma_connection *connection, struct sf_conn *conn)
{
	struct doca_rdma *rdma = connection->rdma;
	struct rdma_guest *guest;

	if (rdma->transport != DOCA_RDMA_TRANSPORT_TYPE_DC || rdma->num_guests == RDMA_GUESTS_MAX)
		return false;
	guest = malloc(sizeof(*guest));
	if (guest == NULL)
		return false;
	guest->conn = conn;
	guest->next = rdma->guests;
	rdma->guests = guest;
	assert(rdma->num_guests < RDMA_GUESTS_MAX);
	rdma->num_guests++;
	return true;
}

static void drop_guest(struct doca_rdma *rdma, struct rdma_guest **at)
{
	struct rdma_guest *guest = *at;

	*at = guest->next;
	assert(rdma->num_guests > 0);
	rdma->num_guests--;
	free(guest);
}

void rdma_guest_forget(struct doca_rdma *rdma, const struct sf_conn *conn)
{
	for (struct rdma_guest **at = &rdma->guests; *at != NULL; at = &(*at)->next) {
		if ((*at)->conn != conn)
			continue;
		drop_guest(rdma, at);
		return;
	}
}

void rdma_guests_close(struct doca_rdma *rdma, const struct doca_rdma_connection *connection)
{
	struct rdma_guest **at = &rdma->guests;

	while (*at != NULL) {
		if ((*at)->conn->user != connection) {
			at = &(*at)->next;
			continue;
		}
		sf_conn_close((*at)->conn);
		drop_guest(rdma, at);
	}
}
