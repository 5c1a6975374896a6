/* SPDX-License-Identifier: BSD-3-Clause */
/* HAS_ASAN is defined in a build with AddressSanitizer. */
#ifndef TESTS_SUPPORT_ASAN_H
#define TESTS_SUPPORT_ASAN_H

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#endif
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif

#endif
