/* SPDX-License-Identifier: BSD-3-Clause */
/* Submitting operations to a connection. */
#ifndef SF_FABRIC_VERBS_SUBMIT_H
#define SF_FABRIC_VERBS_SUBMIT_H

#include "fabric/verbs/conn.h"

doca_error_t sf_verbs_conn_submit(struct sf_conn *conn, struct sf_op *op);
uint32_t sf_verbs_conn_credits(struct sf_conn *conn, uint32_t *len);

#endif
