/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of objects, for the files of src/validation. */
#ifndef SF_VALIDATION_OBJECT_H
#define SF_VALIDATION_OBJECT_H

#include "validation/validation.h"

#define SF_OBJECT_NAME_MAX 48

struct sf_object {
	const void *address;
	const char *type; /* a constant; NULL: only named */
	char name[SF_OBJECT_NAME_MAX];
	sf_object_describe *describe; /* or NULL */
	const void *created_at;	      /* in the program; NULL: unknown */
	int thread;		      /* that created it */
	uint64_t number;	      /* in the order of creation */
	bool is_given_up;	      /* no leak */
	struct sf_object *next;
};

/* A copy of what is known of it; false: nothing. */
bool sf_object_get(const void *address, struct sf_object *copy);

/* Those that are left, the oldest first, as far as there is room. Returns how many there are. At the end of the process: they are
 * not guarded. */
size_t sf_object_leaks(struct sf_object *leaks[], size_t max);

#endif
