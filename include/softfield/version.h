/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file softfield/version.h
 * The version of Softfield that these headers belong to. The release of the API that they describe is another number: see
 * doca_version.h.
 *
 *     #if defined(__has_include)
 *     #if __has_include(<softfield/version.h>)
 *     #include <softfield/version.h>  // built with Softfield, not with NVIDIA's DOCA
 *     #endif
 *     #endif
 */
#ifndef SOFTFIELD_VERSION_H_
#define SOFTFIELD_VERSION_H_

/** The version as text. `softfield --version` and the variable softfield_version of the pkg-config files give the same. */
#define SOFTFIELD_VERSION "1.0.0"

#endif /* SOFTFIELD_VERSION_H_ */
