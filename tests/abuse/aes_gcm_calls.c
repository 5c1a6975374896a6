/* SPDX-License-Identifier: BSD-3-Clause */
/* AES-GCM. A key's `of` is its context. */
#include <doca_aes_gcm.h>

#include "task_calls.h"

#define IV_MAX 12

static bool is_free(const struct doca_aes_gcm *aes_gcm)
{
	return object_count_of(AES_GCM_KEY, object_find(AES_GCM, aes_gcm)->id) == 0;
}

LIBRARY(doca_aes_gcm, AES_GCM, is_free)
CALL_GETTER(max_num_tasks, doca_aes_gcm_cap_get_max_num_tasks, AES_GCM, struct doca_aes_gcm, uint32_t, true)

static enum doca_aes_gcm_key_type any_key_type(void)
{
	uint32_t type = DOCA_AES_GCM_KEY_128 + random_below(3);

	refuse_if(type > DOCA_AES_GCM_KEY_256);
	return (enum doca_aes_gcm_key_type)type;
}

/* ---- keys ---- */

static void key_create(void)
{
	struct doca_aes_gcm_key *key;

	if (!has_room(AES_GCM_KEY))
		return;
	struct doca_aes_gcm *aes_gcm = pick(AES_GCM);
	const void *raw = or_null(memory);
	enum doca_aes_gcm_key_type type = any_key_type();
	struct doca_aes_gcm_key **place = or_null(&key);

	expect_if(true);
	if (CALL(doca_aes_gcm_key_create, aes_gcm, raw, type, place) == DOCA_SUCCESS)
		object_add(AES_GCM_KEY, key)->of = object_find(AES_GCM, aes_gcm)->id;
}

/* *_uses: is a task of the key's context in flight with the key? *_forgets: all tasks that name the key name none from then
 * on. */
#define KEY_USERS(type, kind)                                                                                                    \
	static bool type##_uses(const struct object *key)                                                                        \
	{                                                                                                                        \
		struct doca_ctx *ctx = doca_aes_gcm_as_ctx(object_by_id(AES_GCM, key->of)->pointer);                             \
		for (uint32_t i = 0; i < object_count(kind); i++) {                                                              \
			struct doca_aes_gcm_task_##type *task = object_at(kind, i)->pointer;                                     \
			struct doca_task *base = doca_aes_gcm_task_##type##_as_task(task);                                       \
			if (doca_aes_gcm_task_##type##_get_key(task) == key->pointer && task_is_inflight(base) &&                \
			    doca_task_get_ctx(base) == ctx)                                                                      \
				return true;                                                                                     \
		}                                                                                                                \
		return false;                                                                                                    \
	}                                                                                                                        \
	static void type##_forgets(const struct doca_aes_gcm_key *key)                                                           \
	{                                                                                                                        \
		for (uint32_t i = 0; i < object_count(kind); i++) {                                                              \
			struct doca_aes_gcm_task_##type *task = object_at(kind, i)->pointer;                                     \
			if (doca_aes_gcm_task_##type##_get_key(task) == key)                                                     \
				CALL_VALUE(doca_aes_gcm_task_##type##_set_key, task, NULL);                                      \
		}                                                                                                                \
	}
KEY_USERS(encrypt, ENCRYPT_TASK)
KEY_USERS(decrypt, DECRYPT_TASK)

/* Tasks that are not in flight may name the key; they get another one before they are submitted. */
static void key_destroy(void)
{
	struct doca_aes_gcm_key *key = pick(AES_GCM_KEY);

	const struct object *object = key != NULL ? object_find(AES_GCM_KEY, key) : NULL;

	refuse_if(object != NULL && (encrypt_uses(object) || decrypt_uses(object)));
	if (CALL(doca_aes_gcm_key_destroy, key) != DOCA_SUCCESS)
		return;
	encrypt_forgets(key);
	decrypt_forgets(key);
	object_drop(AES_GCM_KEY, key);
}

/* ---- tasks ---- */

#define AES_GCM_TASK(type, kind)                                                                                                 \
	TASK_TYPE(doca_aes_gcm_task_##type, kind)                                                                                \
	TASK_SET_CONF(doca_aes_gcm_task_##type, doca_aes_gcm, AES_GCM)                                                           \
	TASK_BUF(type##_src, doca_aes_gcm_task_##type, kind, doca_aes_gcm_task_##type##_set_src,                                 \
		 doca_aes_gcm_task_##type##_get_src, 0)                                                                          \
	TASK_BUF(type##_dst, doca_aes_gcm_task_##type, kind, doca_aes_gcm_task_##type##_set_dst,                                 \
		 doca_aes_gcm_task_##type##_get_dst, 1)                                                                          \
	CALL_SUPPORTED(type##_supported, doca_aes_gcm_cap_task_##type##_is_supported)                                            \
	CALL_SUPPORTED(type##_tag_96, doca_aes_gcm_cap_task_##type##_is_tag_96_supported)                                        \
	CALL_SUPPORTED(type##_tag_128, doca_aes_gcm_cap_task_##type##_is_tag_128_supported)                                      \
	CALL_LIMIT(type##_iv_len, doca_aes_gcm_cap_task_##type##_get_max_iv_len, uint32_t)                                       \
	CALL_LIMIT(type##_size, doca_aes_gcm_cap_task_##type##_get_max_buf_size, uint64_t)                                       \
	CALL_LIMIT(type##_list, doca_aes_gcm_cap_task_##type##_get_max_list_buf_num_elem, uint32_t)                              \
	static void type##_key_type(void)                                                                                        \
	{                                                                                                                        \
		struct doca_devinfo *info = pick(DEVINFO);                                                                       \
		enum doca_aes_gcm_key_type key_type = any_key_type();                                                            \
		expect_if(true);                                                                                                 \
		CALL(doca_aes_gcm_cap_task_##type##_is_key_type_supported, info, key_type);                                      \
	}                                                                                                                        \
	static void type##_alloc(void)                                                                                           \
	{                                                                                                                        \
		struct doca_aes_gcm_task_##type *task;                                                                           \
		if (!has_room(TASK))                                                                                             \
			return;                                                                                                  \
		struct doca_buf *src = chance(16) ? NULL : buf_to_read(1), *dst = chance(16) ? NULL : buf_to_write();            \
		struct doca_aes_gcm *aes_gcm = pick(AES_GCM);                                                                    \
		struct doca_aes_gcm_key *key = pick_or_none(AES_GCM_KEY);                                                        \
		uint32_t iv_len = random_below(IV_MAX + 2), tag_size = chance(8) ? random_below(20) : 12 + 4 * random_below(2);  \
		struct doca_aes_gcm_task_##type **place = or_null(&task);                                                        \
		refuse_alloc_unless_running(doca_aes_gcm_as_ctx(aes_gcm));                                                       \
		refuse_if(iv_len > IV_MAX || (tag_size != 12 && tag_size != 16));                                                \
		if (CALL(doca_aes_gcm_task_##type##_alloc_init, aes_gcm, src, dst, key, memory, iv_len, tag_size,                \
			 random_below(20), (union doca_data){.u64 = 1}, place) == DOCA_SUCCESS)                                  \
			task_made(doca_aes_gcm_task_##type##_as_task(task), kind, task, src, dst);                               \
	}                                                                                                                        \
	static void type##_key(void)                                                                                             \
	{                                                                                                                        \
		struct doca_aes_gcm_task_##type *task = pick(kind);                                                              \
		CALL_VALUE(doca_aes_gcm_task_##type##_set_key, task, pick_or_none(AES_GCM_KEY));                                 \
		(void)CALL_VALUE(doca_aes_gcm_task_##type##_get_key, task);                                                      \
	}                                                                                                                        \
	static void type##_iv(void)                                                                                              \
	{                                                                                                                        \
		struct doca_aes_gcm_task_##type *task = pick(kind);                                                              \
		uint32_t len;                                                                                                    \
		CALL_VALUE(doca_aes_gcm_task_##type##_set_iv, task, chance(8) ? NULL : memory, random_below(IV_MAX + 2));        \
		(void)CALL_VALUE(doca_aes_gcm_task_##type##_get_iv, task, chance(8) ? NULL : &len);                              \
	}                                                                                                                        \
	static void type##_tag_size(void)                                                                                        \
	{                                                                                                                        \
		struct doca_aes_gcm_task_##type *task = pick(kind);                                                              \
		CALL_VALUE(doca_aes_gcm_task_##type##_set_tag_size, task, chance(4) ? random_below(20) : 16);                    \
		(void)CALL_VALUE(doca_aes_gcm_task_##type##_get_tag_size, task);                                                 \
	}                                                                                                                        \
	static void type##_aad_size(void)                                                                                        \
	{                                                                                                                        \
		struct doca_aes_gcm_task_##type *task = pick(kind);                                                              \
		CALL_VALUE(doca_aes_gcm_task_##type##_set_aad_size, task, chance(8) ? UINT32_MAX : random_below(30));            \
		(void)CALL_VALUE(doca_aes_gcm_task_##type##_get_aad_size, task);                                                 \
	}
AES_GCM_TASK(encrypt, ENCRYPT_TASK)
AES_GCM_TASK(decrypt, DECRYPT_TASK)

static void prepare(void)
{
	struct object *dev = object_any(DEV);
	struct doca_aes_gcm_key *key;
	struct doca_aes_gcm *aes_gcm;

	if (dev == NULL || CALL(doca_aes_gcm_create, dev->pointer, &aes_gcm) != DOCA_SUCCESS)
		return;
	object_add(AES_GCM, aes_gcm);
	ctx_add(doca_aes_gcm_as_ctx(aes_gcm));
	CALL(doca_aes_gcm_task_encrypt_set_conf, aes_gcm, ended_doca_aes_gcm_task_encrypt, ended_doca_aes_gcm_task_encrypt, 3);
	CALL(doca_aes_gcm_task_decrypt_set_conf, aes_gcm, ended_doca_aes_gcm_task_decrypt, ended_doca_aes_gcm_task_decrypt, 3);
	if (CALL(doca_aes_gcm_key_create, aes_gcm, memory, DOCA_AES_GCM_KEY_256, &key) == DOCA_SUCCESS)
		object_add(AES_GCM_KEY, key)->of = object_find(AES_GCM, aes_gcm)->id;
	ctx_run(doca_aes_gcm_as_ctx(aes_gcm));
	encrypt_alloc();
	decrypt_alloc();
}

#define AES_GCM_TASK_CALLS(type)                                                                                                 \
	{"doca_aes_gcm_cap_task_" #type "_is_supported", type##_supported},                                                      \
		{"doca_aes_gcm_cap_task_" #type "_is_tag_96_supported", type##_tag_96},                                          \
		{"doca_aes_gcm_cap_task_" #type "_is_tag_128_supported", type##_tag_128},                                        \
		{"doca_aes_gcm_cap_task_" #type "_get_max_iv_len", type##_iv_len},                                               \
		{"doca_aes_gcm_cap_task_" #type "_get_max_buf_size", type##_size},                                               \
		{"doca_aes_gcm_cap_task_" #type "_get_max_list_buf_num_elem", type##_list},                                      \
		{"doca_aes_gcm_cap_task_" #type "_is_key_type_supported", type##_key_type},                                      \
		{"doca_aes_gcm_task_" #type "_set_conf", set_conf_doca_aes_gcm_task_##type},                                     \
		{"doca_aes_gcm_task_" #type "_alloc_init", type##_alloc, 5},                                                     \
		{"doca_aes_gcm_task_" #type "_as_task", as_task_doca_aes_gcm_task_##type},                                       \
		{"doca_aes_gcm_task_" #type "_set_src", type##_src}, {"doca_aes_gcm_task_" #type "_set_dst", type##_dst},        \
		{"doca_aes_gcm_task_" #type "_set_key", type##_key, 2}, {"doca_aes_gcm_task_" #type "_set_iv", type##_iv},       \
		{"doca_aes_gcm_task_" #type "_set_tag_size", type##_tag_size},                                                   \
	{                                                                                                                        \
		"doca_aes_gcm_task_" #type "_set_aad_size", type##_aad_size                                                      \
	}

static const struct call calls[] = {
	{"doca_aes_gcm_create", create_doca_aes_gcm, 2},
	{"doca_aes_gcm_destroy", destroy_doca_aes_gcm, 1, true},
	{"doca_aes_gcm_as_ctx", as_ctx_doca_aes_gcm},
	{"doca_aes_gcm_cap_get_max_num_tasks", max_num_tasks},
	{"doca_aes_gcm_key_create", key_create, 3},
	{"doca_aes_gcm_key_destroy", key_destroy, 2, true},
	AES_GCM_TASK_CALLS(encrypt),
	AES_GCM_TASK_CALLS(decrypt),
};
const struct group aes_gcm_group = GROUP(calls, prepare);
