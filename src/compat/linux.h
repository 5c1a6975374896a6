/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Definitions that older kernel headers and C libraries lack: those of Ubuntu 20.04 and 22.04, and musl. The numbers are part of
 * the kernel's ABI. A kernel without the feature returns ENOSYS or EINVAL, which each caller handles. Include this after all
 * system headers.
 */
#ifndef SF_COMPAT_LINUX_H
#define SF_COMPAT_LINUX_H

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range /* Linux 5.9 */
#define SYS_close_range 436
#endif
#ifndef SYS_futex_waitv /* Linux 5.16 */
#define SYS_futex_waitv 449
#endif

#ifndef F_SEAL_FUTURE_WRITE /* Linux 5.1 */
#define F_SEAL_FUTURE_WRITE 0x0010
#endif
#ifndef CLOSE_RANGE_CLOEXEC /* Linux 5.11 */
#define CLOSE_RANGE_CLOEXEC (1U << 2)
#endif
#ifndef MADV_POPULATE_READ /* Linux 5.14 */
#define MADV_POPULATE_READ 22
#endif

#ifndef FUTEX_32 /* Linux 5.16 */
#define FUTEX_32 2
struct futex_waitv {
	uint64_t val, uaddr;
	uint32_t flags, __reserved;
};
#endif

#ifndef UFFDIO_WRITEPROTECT /* Linux 5.7 */
#define UFFDIO_WRITEPROTECT_MODE_WP ((uint64_t)1 << 0)
#define UFFDIO_WRITEPROTECT _IOWR(UFFDIO, 0x06, struct uffdio_writeprotect)
struct uffdio_writeprotect {
	struct uffdio_range range;
	uint64_t mode;
};
#endif
#ifndef UFFD_FEATURE_PAGEFAULT_FLAG_WP /* Linux 5.7 */
#define UFFD_FEATURE_PAGEFAULT_FLAG_WP (1 << 0)
#endif
#ifndef UFFD_USER_MODE_ONLY /* Linux 5.11 */
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM /* Linux 5.19 */
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif

/* close_range(2), which musl and glibc before 2.34 do not have. */
static inline int sf_close_range(unsigned first, unsigned last, unsigned flags)
{
	return (int)syscall(SYS_close_range, first, last, flags);
}

#endif
