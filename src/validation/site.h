/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds where the program called a library. */
#ifndef SF_VALIDATION_SITE_H
#define SF_VALIDATION_SITE_H

#include <stddef.h>

#define SF_SITE_TEXT_MAX 160

/* The call from the program into the libraries on this thread's stack. */
struct sf_site {
	const void *caller; /* the return address in the program; NULL: unknown */
	const char *call;   /* the public function, or NULL: unknown */
};

/* Walks the stack, which takes microseconds. */
struct sf_site sf_site_find(void);

/* Formats "program+0x11f3 (main)", for addr2line. Returns text. */
const char *sf_site_text(const void *caller, char *text, size_t size);

#endif
