/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel launched with CUDA's <<<>>> on a machine without a GPU does nothing, and CUDA reports it only to programs
 * that ask for its error. The library cannot see the launch, but it sees the section of kernels that nvcc puts into the
 * executable.
 */
#include "gpu/soft/cuda_code.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

#define KERNELS_SECTION ".nvFatBinSegment" /* what nvcc's start-up code registers */

static bool is_within(size_t offset, size_t len, size_t size)
{
	return offset <= size && len <= size - offset;
}

/* A file may be anything, so every offset in it is checked. */
static bool has_section(const uint8_t *file, size_t size, const char *name)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)file;
	const size_t name_size = strlen(name) + 1;

	if (size < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_shentsize != sizeof(ElfW(Shdr)) ||
	    head->e_shoff % _Alignof(ElfW(Shdr)) != 0 ||
	    !is_within(head->e_shoff, (size_t)head->e_shnum * sizeof(ElfW(Shdr)), size) || head->e_shstrndx >= head->e_shnum)
		return false;

	const ElfW(Shdr) *sections = (const ElfW(Shdr) *)(file + head->e_shoff), *names = &sections[head->e_shstrndx];

	if (!is_within(names->sh_offset, names->sh_size, size))
		return false;
	for (size_t i = 0; i < head->e_shnum; i++) {
		if (is_within(sections[i].sh_name, name_size, names->sh_size) &&
		    memcmp(file + names->sh_offset + sections[i].sh_name, name, name_size) == 0)
			return true;
	}
	return false;
}

/* Returns false for a file that is not ELF, too. */
static bool has_cuda_code(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	bool has = false;

	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && status.st_size > 0) {
		size_t size = (size_t)status.st_size;
		uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

		if (file != MAP_FAILED) {
			has = has_section(file, size, KERNELS_SECTION);
			munmap(file, size);
		}
	}
	close(fd);
	return has;
}

void soft_warn_of_cuda_code(void)
{
	static atomic_flag looked = ATOMIC_FLAG_INIT;

	if (!atomic_flag_test_and_set(&looked) && has_cuda_code("/proc/self/exe"))
		SF_LOG_WARN("this is a software GPU, and the program has CUDA kernels: one that it launches with <<<>>> "
			    "does not "
			    "run here; launch it by softfield_gpu_launch (docs/gpu.md), or set SOFTFIELD_GPU=cuda where there is "
			    "a GPU");
}
