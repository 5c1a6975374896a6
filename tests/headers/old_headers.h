/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Included before each source that check.py compiles for older headers: hides what the headers of Ubuntu 20.04 and 22.04 lack, so
 * that only src/compat can supply it.
 */
#define futex_waitv a_later_futex_waitv
#define uffdio_writeprotect a_later_uffdio_writeprotect
#define close_range a_later_close_range
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#undef futex_waitv
#undef uffdio_writeprotect
#undef close_range

#undef CLOSE_RANGE_CLOEXEC
#undef CLOSE_RANGE_UNSHARE
#undef FUTEX_32
#undef F_SEAL_FUTURE_WRITE
#undef MADV_POPULATE_READ
#undef MADV_POPULATE_WRITE
#undef SYS_close_range
#undef SYS_futex_waitv
#undef SYS_process_madvise
#undef SYS_process_mrelease
#undef UFFDIO_WRITEPROTECT
#undef UFFDIO_WRITEPROTECT_MODE_WP
#undef UFFD_FEATURE_PAGEFAULT_FLAG_WP
#undef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#undef UFFD_USER_MODE_ONLY
