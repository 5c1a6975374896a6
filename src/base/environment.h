/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the environment variables SOFTFIELD_*. docs/environment.md says what each does. */
#ifndef SF_BASE_ENVIRONMENT_H
#define SF_BASE_ENVIRONMENT_H

#include <stdbool.h>

#include "base/visibility.h"

/* Returns true if the variable is ours, or belongs to the tests of this repository. */
SF_API bool sf_environment_is_known(const char *name);

/* The known variable closest to this name, which begins with SOFTFIELD_; NULL if none is close. */
SF_API const char *sf_environment_nearest(const char *name);

/*
 * Warns about each SOFTFIELD_* variable that is set but that no part of Softfield reads. A privileged program reads none and gets
 * no warning. Runs when the library is loaded, after SOFTFIELD_LOG is read.
 */
void sf_environment_check(void);

#endif
