/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file doca_pe.h
 * Progress engines and tasks: today's, with a function that only Windows needs.
 */
#ifndef DOCA_2_5_PE_H_
#define DOCA_2_5_PE_H_

#include "../doca_pe.h"
#include <doca_ctx.h>
#include "doca_2_5.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Sets the program's own handle, which the progress engine signals. For Windows.
 * @param completion_key returned with the handle's signal
 * @retval DOCA_ERROR_NOT_SUPPORTED always
 */
DOCA_EXPERIMENTAL
doca_error_t doca_pe_set_notification_handle(struct doca_pe *pe, doca_notification_handle_t handle,
					     union doca_data completion_key) DOCA_2_5_SYMBOL(doca_2_5_pe_set_notification_handle);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_2_5_PE_H_ */
