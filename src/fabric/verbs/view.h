/* SPDX-License-Identifier: BSD-3-Clause */
/* The view of its receives that an endpoint writes to each of its peers. */
#ifndef SF_FABRIC_VERBS_VIEW_H
#define SF_FABRIC_VERBS_VIEW_H

#include "fabric/verbs/conn.h"

/* Writes the view, or marks it as owed. With the endpoint's lock. */
void sf_verbs_conn_send_view(struct vb_conn *conn, bool for_flush);

#endif
