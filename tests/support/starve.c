/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/starve.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

static _Atomic int64_t left; /* allocations until the one that fails; 0 or less: none */
static pthread_t starver;    /* the thread that called starve_begin */
static _Atomic bool was_elsewhere;

static bool is_to_fail(void)
{
	if (atomic_load(&left) <= 0 || atomic_fetch_sub(&left, 1) != 1)
		return false;
	atomic_store(&was_elsewhere, !pthread_equal(pthread_self(), starver));
	errno = ENOMEM;
	return true;
}

void starve_begin(uint64_t n)
{
	starver = pthread_self();
	atomic_store(&was_elsewhere, false);
	atomic_store(&left, (int64_t)n);
}

bool starve_end(void)
{
	return atomic_exchange(&left, 0) <= 0;
}

bool starve_was_elsewhere(void)
{
	return atomic_load(&was_elsewhere);
}

/* ---- the replacements ---- */

static void *failing_malloc(size_t size)
{
	return is_to_fail() ? NULL : malloc(size);
}

static void *failing_calloc(size_t num, size_t size)
{
	return is_to_fail() ? NULL : calloc(num, size);
}

static void *failing_realloc(void *memory, size_t size)
{
	return is_to_fail() ? NULL : realloc(memory, size);
}

static void *failing_aligned_alloc(size_t alignment, size_t size)
{
	return is_to_fail() ? NULL : aligned_alloc(alignment, size);
}

static char *failing_strdup(const char *text)
{
	return is_to_fail() ? NULL : strdup(text);
}

static void *failing_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	return is_to_fail() ? MAP_FAILED : mmap(addr, len, prot, flags, fd, offset);
}

static const struct {
	const char *name;
	void *function;
} replacements[] = {
	{"malloc", (void *)failing_malloc},   {"calloc", (void *)failing_calloc},
	{"realloc", (void *)failing_realloc}, {"aligned_alloc", (void *)failing_aligned_alloc},
	{"strdup", (void *)failing_strdup},   {"mmap", (void *)failing_mmap},
	{"mmap64", (void *)failing_mmap},
};

/* ---- installing them ---- */

struct imports { /* of one shared object */
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * tables[2]; /* called functions, and addresses of functions */
	size_t bytes[2];
};

static void imports_read(const ElfW(Dyn) * entry, struct imports *imports)
{
	for (; entry->d_tag != DT_NULL; entry++) {
		if (entry->d_tag == DT_SYMTAB)
			imports->symbols = (const ElfW(Sym) *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_STRTAB)
			imports->names = (const char *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_JMPREL)
			imports->tables[0] = (const ElfW(Rela) *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_PLTRELSZ)
			imports->bytes[0] = entry->d_un.d_val;
		else if (entry->d_tag == DT_RELA)
			imports->tables[1] = (const ElfW(Rela) *)entry->d_un.d_ptr;
		else if (entry->d_tag == DT_RELASZ)
			imports->bytes[1] = entry->d_un.d_val;
	}
}

/* The table may have become read-only after the start of the program. */
static void store(void **slot, void *function)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *from = (void *)((uintptr_t)slot & ~(page - 1));

	if (mprotect(from, page, PROT_READ | PROT_WRITE) == 0)
		*slot = function;
}

static uint32_t replace(const struct imports *imports, ElfW(Addr) base, const ElfW(Rela) * entry)
{
	const char *name = imports->names + imports->symbols[ELF64_R_SYM(entry->r_info)].st_name;

	for (size_t i = 0; i < sizeof(replacements) / sizeof(replacements[0]); i++) {
		if (strcmp(name, replacements[i].name) == 0) {
			store((void **)(base + entry->r_offset), replacements[i].function);
			return 1;
		}
	}
	return 0;
}

static int install_in(struct dl_phdr_info *object, size_t size, void *count)
{
	struct imports imports = {0};
	const char *file = strrchr(object->dlpi_name, '/');

	if (file == NULL || strncmp(file + 1, "libdoca_", 8) != 0)
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			imports_read((const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr), &imports);
	}
	for (int table = 0; table < 2; table++) {
		for (size_t i = 0; i < imports.bytes[table] / sizeof(ElfW(Rela)); i++)
			*(uint32_t *)count += replace(&imports, object->dlpi_addr, &imports.tables[table][i]);
	}
	return 0;
}

uint32_t starve_install(void)
{
	uint32_t count = 0;

	dl_iterate_phdr(install_in, &count);
	return count;
}
