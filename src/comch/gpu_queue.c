/* SPDX-License-Identifier: BSD-3-Clause */
#include "comch/gpu_queue.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "base/log_rate.h"
#include "base/thread_safety.h"

/* ---- barriers ---- */

static bool registered;

static void register_once(void)
{
	registered = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

bool comch_gpu_barriers_enabled(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_once);
	return registered;
}

void comch_gpu_barrier_run(const struct gpu_queue *gpu_queue)
{
	if (gpu_queue->registered)
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
}

/* ---- memory ---- */

/* What this process has mapped for GPU queues of its own. */
struct own_memory {
	void *addr;
	size_t len;
	uint32_t users;
	struct own_memory *next;
};

static pthread_mutex_t own_lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_TABLE, &own_lock, NULL);
static struct own_memory *own_memories GUARDED_BY(own_lock);

static void *own_map(size_t len)
{
	struct own_memory *own = calloc(1, sizeof(*own));
	void *addr = own != NULL ? mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;

	if (addr == MAP_FAILED) {
		free(own);
		return NULL;
	}
	pthread_mutex_lock(&own_lock);
	*own = (struct own_memory){.addr = addr, .len = len, .users = 1, .next = own_memories};
	own_memories = own;
	pthread_mutex_unlock(&own_lock);
	return addr;
}

static REQUIRES(own_lock) struct own_memory **own_find(const void *addr)
{
	struct own_memory **at = &own_memories;

	while (*at != NULL && (*at)->addr != addr)
		at = &(*at)->next;
	return at;
}

bool comch_gpu_memory_hold(const void *addr)
{
	struct own_memory *own;

	pthread_mutex_lock(&own_lock);
	own = *own_find(addr);
	if (own != NULL)
		own->users++;
	pthread_mutex_unlock(&own_lock);
	return own != NULL;
}

void comch_gpu_memory_release(const void *addr)
{
	struct own_memory **at, *own;

	pthread_mutex_lock(&own_lock);
	at = own_find(addr);
	own = *at;
	assert(own != NULL && own->users > 0);
	if (--own->users == 0) {
		*at = own->next;
		munmap(own->addr, own->len);
		free(own);
	}
	pthread_mutex_unlock(&own_lock);
}

static doca_error_t memory_share(struct gpu_memory *memory, struct sf_domain *domain)
{
	size_t descriptor_len = sizeof(memory->descriptor);
	doca_error_t result;

	result = sf_region_register(domain, memory->addr, memory->len, SF_RIGHT_READ | SF_RIGHT_WRITE, &memory->region);
	if (result == DOCA_SUCCESS)
		result = sf_region_export(memory->region, memory->descriptor, &descriptor_len);
	if (result != DOCA_SUCCESS) {
		SF_LOG_ERR_LIMITED("%zu bytes of GPU queues cannot be shared with the peer: %s", memory->len,
				   doca_error_get_name(result));
		return result;
	}
	memory->descriptor_len = (uint32_t)descriptor_len;
	return DOCA_SUCCESS;
}

static doca_error_t map_for_kernels(struct gpu_memory *memory)
{
	void *gpu_addr;
	doca_error_t result = memory->gpu->ops->host_map(memory->gpu, memory->addr, memory->len, &gpu_addr);

	if (result == DOCA_SUCCESS)
		memory->gpu_addr = gpu_addr;
	return result;
}

doca_error_t comch_gpu_memory_create(struct gpu_memory *memory, struct doca_gpu *gpu, struct sf_domain *domain, size_t len)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	doca_error_t result;
	void *addr;

	memset(memory, 0, sizeof(*memory));
	memory->gpu = gpu;
	__atomic_add_fetch(&gpu->users, 1, __ATOMIC_RELAXED);
	len = (len + page - 1) / page * page;
	addr = own_map(len);
	if (addr == NULL) {
		SF_LOG_ERR_LIMITED("no memory for %zu bytes of GPU queues: %s", len, strerror(errno));
		comch_gpu_memory_destroy(memory);
		return DOCA_ERROR_NO_MEMORY;
	}
	memory->addr = addr;
	memory->len = len;
	result = domain != NULL ? memory_share(memory, domain) : DOCA_SUCCESS;
	if (result == DOCA_SUCCESS) /* not before: the fabric moves the pages that it exports, and the GPU pins them */
		result = map_for_kernels(memory);
	if (result != DOCA_SUCCESS)
		comch_gpu_memory_destroy(memory);
	return result;
}

void comch_gpu_memory_destroy(struct gpu_memory *memory)
{
	if (memory->gpu_addr != NULL)
		memory->gpu->ops->host_unmap(memory->gpu, memory->addr);
	if (memory->region != NULL)
		sf_region_close(memory->region);
	if (memory->addr != NULL)
		comch_gpu_memory_release(memory->addr);
	if (memory->gpu != NULL)
		__atomic_sub_fetch(&memory->gpu->users, 1, __ATOMIC_RELEASE);
	memset(memory, 0, sizeof(*memory));
}

uint32_t comch_gpu_pow2(uint64_t value, uint32_t min, uint32_t max)
{
	uint32_t p = min;

	while (p < value && p < max)
		p *= 2;
	return p;
}

/* ---- one GPU queue ---- */

void comch_gpu_queue_init(uint8_t *base, size_t offset, size_t arena_offset, uint32_t arena_size, uint32_t depth, uint32_t flags,
			  uint32_t number, struct gpu_queue *gpu_queue)
{
	struct softfield_gpu_queue *head = (struct softfield_gpu_queue *)(base + offset);

	head->version = SOFTFIELD_GPU_QUEUE_VERSION;
	head->flags = flags;
	head->depth = depth;
	head->lines_offset = offset + sizeof(*head);
	head->arena_offset = arena_offset;
	head->arena_size = arena_size;
	head->number = number;
	if (getrandom(&head->trace_salt, sizeof(head->trace_salt), GRND_NONBLOCK) != sizeof(head->trace_salt))
		head->trace_salt = (uintptr_t)head; /* it only tells queues apart */
	if ((flags & SOFTFIELD_GPU_QUEUE_TO_KERNEL) != 0 && (flags & SOFTFIELD_GPU_QUEUE_HARDWARE) == 0)
		head->barriers = comch_gpu_barriers_enabled();
	head->magic = SOFTFIELD_GPU_QUEUE_MAGIC;
	*gpu_queue = (struct gpu_queue){.head = head,
					.lines = (struct softfield_line *)(base + head->lines_offset),
					.arena = base + arena_offset,
					.depth = depth,
					.shift = (uint32_t)__builtin_ctz(depth),
					.arena_size = arena_size,
					.flags = flags,
					.trace_salt = head->trace_salt};
}

static bool power_of_two(uint32_t value, uint32_t min, uint32_t max)
{
	return value >= min && value <= max && (value & (value - 1)) == 0;
}

static bool range_is_inside(uint64_t offset, uint64_t size, size_t len, size_t align)
{
	return offset % align == 0 && offset <= len && size <= len - offset;
}

doca_error_t comch_gpu_queue_view(uint8_t *base, size_t len, size_t offset, bool to_kernel, struct gpu_queue *gpu_queue)
{
	struct softfield_gpu_queue head;

	if (!range_is_inside(offset, sizeof(head), len, 64) || (uintptr_t)base % 64 != 0)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(&head, base + offset, offsetof(struct softfield_gpu_queue, credits)); /* once: the owner may change it */
	if (head.magic != SOFTFIELD_GPU_QUEUE_MAGIC)
		return DOCA_ERROR_INVALID_VALUE;
	if (head.version != SOFTFIELD_GPU_QUEUE_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	if (!power_of_two(head.depth, SOFTFIELD_GPU_QUEUE_DEPTH_MIN, SOFTFIELD_GPU_QUEUE_DEPTH_MAX) ||
	    !power_of_two(head.arena_size, SOFTFIELD_ARENA_ALIGN, SOFTFIELD_GPU_QUEUE_ARENA_MAX) ||
	    !range_is_inside(head.lines_offset, gpu_queue_size(head.depth) - sizeof(head), len, 64) ||
	    !range_is_inside(head.arena_offset, head.arena_size, len, SOFTFIELD_ARENA_ALIGN) ||
	    ((head.flags & SOFTFIELD_GPU_QUEUE_TO_KERNEL) != 0) != to_kernel)
		return DOCA_ERROR_INVALID_VALUE;
	*gpu_queue = (struct gpu_queue){.head = (struct softfield_gpu_queue *)(base + offset),
					.lines = (struct softfield_line *)(base + head.lines_offset),
					.arena = base + head.arena_offset,
					.depth = head.depth,
					.shift = (uint32_t)__builtin_ctz(head.depth),
					.arena_size = head.arena_size,
					.flags = head.flags,
					.trace_salt = head.trace_salt,
					.registered = comch_gpu_barriers_enabled()};
	return DOCA_SUCCESS;
}

void comch_gpu_queue_wake_now(struct softfield_gpu_queue *head)
{
	if (__atomic_exchange_n(&head->sleeping, 0, __ATOMIC_ACQ_REL) != 0)
		syscall(SYS_futex, &head->sleeping, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void comch_gpu_queue_close(struct softfield_gpu_queue *head, enum softfield_gpu_queue_closed why)
{
	struct softfield_slot16 control = {{(uint32_t)why, 0, 0, 0}};

	softfield_store_slot16(&head->control, control);
	softfield_fence_system();
	comch_gpu_queue_wake_now(head);
}
