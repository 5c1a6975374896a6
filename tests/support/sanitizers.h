/* SPDX-License-Identifier: BSD-3-Clause */
/* HAS_ASAN and HAS_TSAN: 1 in a build with AddressSanitizer or ThreadSanitizer, else 0. HAS_SANITIZER: either of them. */
#ifndef TESTS_SUPPORT_SANITIZERS_H
#define TESTS_SUPPORT_SANITIZERS_H

#if defined(__SANITIZE_ADDRESS__)
#define HAS_ASAN 1
#elif defined(__SANITIZE_THREAD__)
#define HAS_TSAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_ASAN 1
#elif __has_feature(thread_sanitizer)
#define HAS_TSAN 1
#endif
#endif
#ifndef HAS_ASAN
#define HAS_ASAN 0
#endif
#ifndef HAS_TSAN
#define HAS_TSAN 0
#endif
#define HAS_SANITIZER (HAS_ASAN || HAS_TSAN)

#endif
