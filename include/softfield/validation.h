/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/validation.h
 * The validation layer: names for a program's objects, and the reports of the layer, for tests.
 *
 *     doca_mmap_create(&mmap);
 *     softfield_validation_set_name(mmap, "pool");
 *     ...
 *     assert(softfield_validation_num_reports() == 0);
 *
 * The layer is on if the environment variable SOFTFIELD_VALIDATE is set (docs/validation.md): it checks the program against a
 * table of rules, and reports violations in the SDK's log or on standard error:
 *
 *     SF-MMAP-003: mmap "pool" (0x55d0c8): doca_mmap_export_pci: it is not started; fix: call doca_mmap_start first ...
 *
 * While it is off these functions do nothing, and cost nothing. All of them may be called from any thread, at any time.
 *
 * This is not part of DOCA: a program that also compiles with NVIDIA's headers includes it only if it exists (__has_include).
 */
#ifndef SOFTFIELD_VALIDATION_H_
#define SOFTFIELD_VALIDATION_H_

#include <stdint.h>
#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A violation. An unknown text is empty; a text that is too long is truncated. */
struct softfield_validation_report {
	uint64_t number;      /**< of this process's reports, from 1 on */
	char rule[24];	      /**< its id: "SF-MMAP-003" */
	char object[128];     /**< type, name and address of the object: mmap "pool" (0x55d0c8) */
	char call[64];	      /**< the public function that the program called, or should call */
	char cause[512];      /**< what is wrong, with the values */
	char fix[256];	      /**< what to do */
	char created_at[160]; /**< where the object was created: "program+0x11f3 (main)"; empty if the layer does not know */
	char message[1200];   /**< the line as it is logged */
};

/**
 * Called with each report, on the thread that found the violation, before the line is logged. It must not call DOCA on the
 * object. The report is valid until it returns.
 */
typedef void (*softfield_validation_cb_t)(const struct softfield_validation_report *report, void *user_data);

/**
 * Names an object, for reports. It may be of any kind: a device, mmap, inventory, buf, progress engine, context (by the pointer
 * of its library, such as struct doca_dma, or by its struct doca_ctx), task or sync event. The name lasts as long as the object:
 * that of a buf as long as its inventory or pool, that of a task until its context stops. A second name replaces the first.
 * @param object its address
 * @param name text that is copied; the first 47 bytes count
 * @retval DOCA_ERROR_INVALID_VALUE an argument is NULL
 * @retval DOCA_ERROR_NO_MEMORY the name could not be kept
 */
DOCA_EXPERIMENTAL
doca_error_t softfield_validation_set_name(const void *object, const char *name);

/** The number of violations since the process began, including those that the log omitted. 0 while the layer is off. */
DOCA_EXPERIMENTAL
uint64_t softfield_validation_num_reports(void);

/**
 * Sets a function that is called with each report; NULL removes it. It is not called for reports at the end of the process, when
 * the program's functions may be unloaded.
 */
DOCA_EXPERIMENTAL
void softfield_validation_set_callback(softfield_validation_cb_t callback, void *user_data);

#ifdef __cplusplus
}
#endif

#endif /* SOFTFIELD_VALIDATION_H_ */
