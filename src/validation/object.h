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
	int thread;		      /* id of the thread that created it */
	uint64_t number;	      /* in the order of creation */
	bool is_given_up;	      /* no leak */
	struct sf_object *next;
};

/* Copies the entry of the object. False if there is none. */
bool sf_object_get(const void *address, struct sf_object *copy);

/* Lists the objects that are left, oldest first, at most max, and returns how many exist. For the end of the process only: takes
 * no lock. */
size_t sf_object_leaks(struct sf_object *leaks[], size_t max);

#endif
