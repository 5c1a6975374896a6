/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment variables SOFTFIELD_*: which there are. docs/environment.md says what each does. */
#ifndef SF_BASE_ENVIRONMENT_H
#define SF_BASE_ENVIRONMENT_H

#include <stdbool.h>

#include "base/visibility.h"

/* Whether a variable of this name is ours, or belongs to the tests of this repository. */
SF_API bool sf_environment_is_known(const char *name);

/* The known variable that was probably meant by this name, which begins with SOFTFIELD_; or NULL: none is near. */
SF_API const char *sf_environment_nearest(const char *name);

/* Warns about each variable SOFTFIELD_* that is set and that no part of Softfield reads. A privileged program reads none, and is
 * not warned. Runs when the library is loaded, after SOFTFIELD_LOG is read. */
void sf_environment_check(void);

#endif
