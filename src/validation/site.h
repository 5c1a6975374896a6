/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in the program a call comes from. */
#ifndef SF_VALIDATION_SITE_H
#define SF_VALIDATION_SITE_H

#include <stddef.h>

#define SF_SITE_TEXT_MAX 160

/* The calls of this thread's stack from the program's into the libraries. */
struct sf_site {
	const void *caller; /* the address in the program, behind its call; NULL: unknown */
	const char *call;   /* the public function, or NULL: unknown */
};

/* Looks at the stack: microseconds. */
struct sf_site sf_site_find(void);

/* "program+0x11f3 (main)": what addr2line takes. Returns text. */
const char *sf_site_text(const void *caller, char *text, size_t size);

#endif
