/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric/shm/barrier.h"
#include "fabric/shm/region.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/log.h"
#include "compat/linux.h"
#include "fabric/shm/descriptor.h"
#include "fabric/shm/fds.h"
#include "fabric/shm/lend.h"
#include "fabric/shm/ring.h"
#include "fabric/shm/serve.h"

_Atomic uint32_t sf_shm_region_users[SHM_REGIONS_MAX];

/* Guarded by sf_control_lock; a thread that has entered a region may use it without the lock. */
static struct {
	struct shm_region *_Atomic region[SHM_REGIONS_MAX];
	uint64_t uses[SHM_REGIONS_MAX];
	uint32_t last;
} table;

static struct shm_region lent; /* placeholder in a region's place: its id is 0, which nobody requests */

static int generations_fd = -1;
static _Atomic uint64_t *generations; /* written once, under sf_control_lock */

int sf_shm_region_generations_fd(void)
{
	return generations_fd;
}
const _Atomic uint64_t *sf_shm_region_generations(void)
{
	return generations;
}

/* Peers get the descriptor: after this nobody can map the table writable. */
static doca_error_t generations_make(void)
{
	size_t size = SHM_REGIONS_MAX * sizeof(uint64_t);
	int fd;
	doca_error_t error;

	if (generations != NULL)
		return DOCA_SUCCESS;
	error = sf_shm_memfd_create("softfield-generations", size, &fd);
	if (error != DOCA_SUCCESS)
		return error;

	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED || fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE) != 0) {
		SF_LOG_ERR("cannot create the table of regions for peers: %s; Linux 5.1 or newer is needed", strerror(errno));
		if (map != MAP_FAILED)
			munmap(map, size);
		close(fd);
		return DOCA_ERROR_OPERATING_SYSTEM;
	}
	generations = map;
	generations_fd = fd;
	for (uint32_t i = 0; i < SHM_REGIONS_MAX; i++) {
		if (table.region[i] != NULL) /* in a child: from before the fork */
			atomic_store(&generations[i], table.region[i]->id);
	}
	return DOCA_SUCCESS;
}

/* The table is shared memory of the parent. Regions that were registered before the fork are registered in both. */
void sf_shm_regions_after_fork(void)
{
	if (generations == NULL)
		return;
	close(generations_fd);
	generations = NULL; /* the mapping is kept: inherited, dead objects still refer to it */
	generations_fd = -1;
	for (uint32_t i = 0; i < SHM_REGIONS_MAX; i++) {
		if (atomic_load_explicit(&sf_shm_region_users[i], memory_order_relaxed) != 0)
			atomic_store(&sf_shm_region_users[i], 0); /* by threads of the parent */
	}
	(void)generations_make(); /* the next registration tries it again */
}

struct shm_region *sf_shm_region_find(uint64_t id)
{
	struct shm_region *region = table.region[id % SHM_REGIONS_MAX];

	return region != NULL && region->id == id ? region : NULL;
}

/* Assigns a free place of the table to this region. Returns the id, or 0. */
static uint64_t table_take(struct shm_region *region)
{
	uint64_t id;

	for (uint32_t i = 1; i <= SHM_REGIONS_MAX; i++) {
		uint32_t at = (table.last + i) % SHM_REGIONS_MAX;

		if (table.region[at] != NULL)
			continue;
		table.last = at;
		id = ++table.uses[at] * SHM_REGIONS_MAX + at;
		if (region != &lent)
			region->id = id;
		table.region[at] = region;
		atomic_store(&generations[at], id);
		return id;
	}
	SF_LOG_ERR("%u memory regions are registered: limit reached", SHM_REGIONS_MAX);
	return 0;
}

static doca_error_t table_add(struct shm_region *region)
{
	return table_take(region) != 0 ? DOCA_SUCCESS : DOCA_ERROR_NO_MEMORY;
}

uint64_t sf_shm_region_id_alloc(void)
{
	return table_take(&lent);
}

void sf_shm_region_id_free(uint64_t id)
{
	table.region[id % SHM_REGIONS_MAX] = NULL;
	atomic_store(&generations[id % SHM_REGIONS_MAX], 0);
}

doca_error_t sf_shm_region_register(struct sf_domain *domain, void *addr, size_t len, uint32_t rights, struct sf_region **region)
{
	struct shm_region *r;
	doca_error_t error;

	if (addr == NULL || len == 0 || len > UINTPTR_MAX - (uintptr_t)addr) {
		SF_LOG_ERR("cannot register %zu bytes at %p: the range is empty or extends past the end of memory", len, addr);
		return DOCA_ERROR_INVALID_VALUE;
	}
	r = calloc(1, sizeof(*r));
	if (r == NULL)
		return DOCA_ERROR_NO_MEMORY;
	r->base = (struct sf_region){
		.ops = domain->ops, .domain = domain, .addr = (uintptr_t)addr, .len = len, .rights = rights, .mapped = addr};
	error = sf_key_random(&r->base.token);
	pthread_mutex_lock(&sf_control_lock);
	if (error == DOCA_SUCCESS)
		error = generations_make();
	if (error == DOCA_SUCCESS)
		error = table_add(r);
	pthread_mutex_unlock(&sf_control_lock);
	if (error != DOCA_SUCCESS) {
		free(r);
		return error;
	}
	*region = &r->base;
	return DOCA_SUCCESS;
}

static pthread_mutex_t move_lock = PTHREAD_MUTEX_INITIALIZER;
SF_FORK_LOCK(SF_FORK_MOVE, &move_lock, NULL);

/* Makes the whole pages mappable, once. The rest is accessed in other ways, so this does not fail. */
static void move_pages(struct shm_region *region)
{
	struct sf_pages *pages = NULL;

	if (atomic_load_explicit(&region->moved, memory_order_acquire))
		return;
	pthread_mutex_lock(&move_lock);
	if (!atomic_load_explicit(&region->moved, memory_order_relaxed)) {
		if (sf_pages_move((void *)(uintptr_t)region->base.addr, region->base.len, &pages) != DOCA_SUCCESS)
			SF_LOG_WARN("%lu bytes at 0x%lx stay private memory: access by peers is slower",
				    (unsigned long)region->base.len, (unsigned long)region->base.addr);
		pthread_mutex_lock(&sf_control_lock);
		region->pages = pages;
		pthread_mutex_unlock(&sf_control_lock);
		atomic_store_explicit(&region->moved, true, memory_order_release);
	}
	pthread_mutex_unlock(&move_lock);
}

void sf_shm_region_close(struct sf_region *base)
{
	struct shm_region *region = shm_region(base);

	if (base->imported) {
		sf_shm_import_close(shm_import(base));
		return;
	}

	uint32_t index = region->id % SHM_REGIONS_MAX;

	sf_shm_lends_forget(region->id);
	pthread_mutex_lock(&sf_control_lock);
	table.region[index] = NULL;
	if (generations != NULL)
		atomic_store(&generations[index], 0);
	if (region->pages != NULL || region->exported)
		sf_shm_agent_serve_gone(region->id);
	pthread_mutex_unlock(&sf_control_lock);
	while (atomic_load(&sf_shm_region_users[index]) != 0)
		sched_yield();
	sf_pages_restore(region->pages);
	if (region->exported)
		sf_control_release(region->hold);
	free(region);
}

doca_error_t sf_shm_region_serve(struct sf_region *base, bool mappable, struct sf_descriptor *descriptor)
{
	struct shm_region *region = shm_region(base);
	uint32_t hold;
	doca_error_t error;

	if (base->imported) {
		SF_LOG_ERR("cannot export: it is imported memory");
		return DOCA_ERROR_INVALID_VALUE;
	}
	error = sf_shm_barrier_join(&hold);
	if (error != DOCA_SUCCESS)
		return error;
	if (mappable)
		move_pages(region);
	pthread_mutex_lock(&sf_control_lock);

	bool again = region->exported;

	region->exported = true;
	if (!again)
		region->hold = hold;
	*descriptor = (struct sf_descriptor){.agent = *sf_control_id(),
					     .token = base->token,
					     .region = region->id,
					     .addr = base->addr,
					     .len = base->len,
					     .rights = base->rights};
	pthread_mutex_unlock(&sf_control_lock);
	if (again)
		sf_control_release(hold);
	return DOCA_SUCCESS;
}

doca_error_t sf_shm_region_export(struct sf_region *base, void *bytes, size_t *len)
{
	struct sf_descriptor descriptor;
	doca_error_t error;

	if (bytes == NULL || len == NULL || *len < SHM_DESCRIPTOR_SIZE) {
		SF_LOG_ERR("cannot export: the descriptor's buffer has fewer than %d bytes", SHM_DESCRIPTOR_SIZE);
		return DOCA_ERROR_INVALID_VALUE;
	}
	error = sf_shm_region_serve(base, true, &descriptor);
	if (error != DOCA_SUCCESS)
		return error;
	sf_descriptor_pack(&sf_shm_descriptor, &descriptor, NULL, bytes);
	*len = SHM_DESCRIPTOR_SIZE;
	return DOCA_SUCCESS;
}

doca_error_t sf_shm_region_arm(struct sf_region *base, struct sf_region_doorbell *doorbell)
{
	pthread_mutex_lock(&sf_control_lock);
	if (base->imported) {
		struct shm_import *import = shm_import(base);

		if (import->doorbell == NULL)
			LIST_INSERT_HEAD(&import->attach->armed, import, armed);
		import->doorbell = doorbell;
	} else {
		shm_region(base)->doorbell = doorbell;
		atomic_store(&shm_region(base)->has_doorbell, true);
	}
	pthread_mutex_unlock(&sf_control_lock);
	return DOCA_SUCCESS;
}

/* The peers order their accesses between enter and leave with the program; ThreadSanitizer does not see mapped accesses
 * either. */
#ifdef SHM_TSAN
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#define UNSEEN_BEGIN() (AnnotateIgnoreReadsBegin(__FILE__, __LINE__), AnnotateIgnoreWritesBegin(__FILE__, __LINE__))
#define UNSEEN_END() (AnnotateIgnoreWritesEnd(__FILE__, __LINE__), AnnotateIgnoreReadsEnd(__FILE__, __LINE__))
#else
#define UNSEEN_BEGIN() ((void)0)
#define UNSEEN_END() ((void)0)
#endif

static struct shm_region *region_use(uint64_t id)
{
	const uint32_t at = id % SHM_REGIONS_MAX;

	atomic_fetch_add(&sf_shm_region_users[at], 1);
	if (generations != NULL && id != 0 && atomic_load(&generations[at]) == id && table.region[at]->id == id)
		return table.region[at];
	atomic_fetch_sub(&sf_shm_region_users[at], 1);
	return NULL;
}

static void region_unuse(uint64_t id)
{
	atomic_fetch_sub(&sf_shm_region_users[id % SHM_REGIONS_MAX], 1);
}

void *sf_shm_region_enter(uint64_t id, uint64_t addr, uint64_t len)
{
	const struct shm_region *region = region_use(id);

	if (region == NULL)
		return NULL;
	if (sf_range_inside(addr, len, region->base.addr, region->base.len)) {
		UNSEEN_BEGIN();
		return (void *)(uintptr_t)addr;
	}
	region_unuse(id);
	return NULL;
}

void sf_shm_region_leave(uint64_t id)
{
	UNSEEN_END();
	region_unuse(id);
}

bool sf_shm_region_permits(uint64_t id, const struct sf_key *token, uint64_t addr, uint64_t len, uint32_t right)
{
	const struct shm_region *region = region_use(id);
	bool permits;

	if (region == NULL)
		return false;
	permits = sf_key_equal(&region->base.token, token) && (region->base.rights & right) == right &&
		  sf_range_inside(addr, len, region->base.addr, region->base.len);
	region_unuse(id);
	return permits;
}

bool sf_shm_region_has_doorbell(uint64_t id)
{
	const struct shm_region *region = region_use(id);
	bool has;

	if (region == NULL)
		return false;
	has = atomic_load(&region->has_doorbell);
	region_unuse(id);
	return has;
}

void sf_shm_region_ring(uint64_t id)
{
	const struct shm_region *region = sf_shm_region_find(id);

	if (region != NULL && region->doorbell != NULL)
		region->doorbell->ring(region->doorbell);
}
