/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stand-in for the parts of UCX that UROM's plugins use: an operation completes immediately, fails immediately, or waits until
 * the fuzz target ends it. As with the real one, callbacks run only for operations that waited, never inside the call that began
 * them.
 */
#ifndef UROM_FAKE_UCX_H
#define UROM_FAKE_UCX_H

#include <stdbool.h>

#include "urom_fake_comm.h"

/* Decides the results of operations, and the data that they bring. */
extern struct fake_input *fake_ucx_input;

/* Ends one of the waiting operations. False: there is none. */
bool fake_ucx_progress(void);
/* An active message of a plugin's network, to its handler if one is set. */
void fake_ucx_am(const void *head, size_t head_len, const void *data, size_t len);
/* Returns true if nothing waits, and every object is freed. */
bool fake_ucx_is_empty(void);

#endif
