/* SPDX-License-Identifier: BSD-3-Clause */
/* Attempts that check AES-GCM's capabilities. Include it after cmocka. */
#ifndef CAPS_AES_GCM_H
#define CAPS_AES_GCM_H

#include "caps_attempts.h"

extern const struct attempt_entry aes_gcm_attempts[];
extern const size_t num_aes_gcm_attempts;

#endif
