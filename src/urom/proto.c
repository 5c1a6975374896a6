/* SPDX-License-Identifier: BSD-3-Clause */
/* Packing and parsing. */
#include "urom/proto.h"

#include "urom/pack.h"

_Static_assert(sizeof(struct urom_head) == UROM_HEAD_SIZE, "a head goes over the wire as it lies in memory");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "and little-endian");

doca_error_t urom_head_parse(const void *data, size_t len, struct urom_head *head)
{
	if (len != UROM_HEAD_SIZE)
		return DOCA_ERROR_INVALID_VALUE;
	memcpy(head, data, sizeof(*head));
	if (head->version != UROM_PROTO_VERSION)
		return DOCA_ERROR_UNSUPPORTED_VERSION;
	bool known = head->kind != 0 && head->kind < UROM_KINDS && head->status >= 0 && head->status <= UROM_STATUS_MAX;
	return known ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

/* ---- the bodies ---- */

size_t urom_handshake_pack(const struct urom_handshake *handshake, void *out, size_t room)
{
	struct urom_writer writer = {(uint8_t *)out, room, 0, false};

	urom_put(&writer, handshake->nonce, UROM_NONCE_SIZE);
	urom_put_u32(&writer, handshake->message_max);
	return urom_written(&writer);
}

doca_error_t urom_handshake_parse(const void *data, size_t len, struct urom_handshake *handshake)
{
	struct urom_reader reader = {(const uint8_t *)data, len, false};

	urom_get(&reader, handshake->nonce, UROM_NONCE_SIZE);
	handshake->message_max = urom_get_u32(&reader);
	if (handshake->message_max < UROM_MESSAGE_MIN || handshake->message_max > UROM_MESSAGE_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	return urom_finished(&reader);
}

size_t urom_challenge_pack(const struct urom_challenge *challenge, void *out, size_t room)
{
	struct urom_writer writer = {(uint8_t *)out, room, 0, false};

	urom_put(&writer, challenge->nonce, UROM_NONCE_SIZE);
	urom_put(&writer, challenge->proof, UROM_PROOF_SIZE);
	return urom_written(&writer);
}

doca_error_t urom_challenge_parse(const void *data, size_t len, struct urom_challenge *challenge)
{
	struct urom_reader reader = {(const uint8_t *)data, len, false};

	urom_get(&reader, challenge->nonce, UROM_NONCE_SIZE);
	urom_get(&reader, challenge->proof, UROM_PROOF_SIZE);
	return urom_finished(&reader);
}

size_t urom_welcome_pack(const struct urom_welcome *welcome, void *out, size_t room)
{
	struct urom_writer writer = {(uint8_t *)out, room, 0, false};

	urom_put_u32(&writer, welcome->message_max);
	urom_put(&writer, welcome->cpuset, UROM_CPUSET_SIZE);
	urom_put_u32(&writer, welcome->num_plugins);
	for (uint32_t i = 0; i < welcome->num_plugins; i++) {
		urom_put_u64(&writer, welcome->plugins[i].id);
		urom_put_u64(&writer, welcome->plugins[i].version);
		urom_put_string(&writer, welcome->plugins[i].name);
	}
	return urom_written(&writer);
}

doca_error_t urom_welcome_parse(const void *data, size_t len, struct urom_welcome *welcome)
{
	struct urom_reader reader = {(const uint8_t *)data, len, false};
	uint64_t ids = 0;

	welcome->message_max = urom_get_u32(&reader);
	urom_get(&reader, welcome->cpuset, UROM_CPUSET_SIZE);
	welcome->num_plugins = urom_get_u32(&reader);
	if (welcome->num_plugins > UROM_PLUGINS_MAX || welcome->message_max < UROM_MESSAGE_MIN ||
	    welcome->message_max > UROM_MESSAGE_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	for (uint32_t i = 0; i < welcome->num_plugins; i++) {
		struct urom_plugin *plugin = &welcome->plugins[i];

		plugin->id = urom_get_u64(&reader);
		plugin->version = urom_get_u64(&reader);
		urom_copy_string(&reader, plugin->name, UROM_PLUGIN_NAME_SIZE);
		if (__builtin_popcountll(plugin->id) != 1 || (ids & plugin->id) != 0 || plugin->name[0] == '\0')
			return DOCA_ERROR_INVALID_VALUE;
		ids |= plugin->id;
	}
	return urom_finished(&reader);
}

size_t urom_spawn_pack(const struct urom_spawn *spawn, void *out, size_t room)
{
	struct urom_writer writer = {(uint8_t *)out, room, 0, false};

	urom_put_u64(&writer, spawn->worker_id);
	urom_put_u64(&writer, spawn->plugins);
	urom_put_u32(&writer, spawn->gid);
	urom_put_u32(&writer, spawn->has_gid);
	urom_put_u32(&writer, spawn->has_cpuset);
	urom_put(&writer, spawn->cpuset, UROM_CPUSET_SIZE);
	urom_put_u32(&writer, spawn->num_env);
	for (uint32_t i = 0; i < spawn->num_env; i++)
		urom_put_string(&writer, spawn->env[i]);
	return urom_written(&writer);
}

doca_error_t urom_spawn_parse(const void *data, size_t len, struct urom_spawn *spawn)
{
	struct urom_reader reader = {(const uint8_t *)data, len, false};

	spawn->worker_id = urom_get_u64(&reader);
	spawn->plugins = urom_get_u64(&reader);
	spawn->gid = urom_get_u32(&reader);
	spawn->has_gid = urom_get_bool(&reader);
	spawn->has_cpuset = urom_get_bool(&reader);
	urom_get(&reader, spawn->cpuset, UROM_CPUSET_SIZE);
	spawn->num_env = urom_get_u32(&reader);
	if (spawn->num_env > UROM_ENV_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	for (uint32_t i = 0; i < spawn->num_env && !reader.failed; i++) {
		spawn->env[i] = urom_get_string(&reader, UROM_ENV_BYTES_MAX);
		if (spawn->env[i] != NULL && (spawn->env[i][0] == '=' || strchr(spawn->env[i], '=') == NULL))
			return DOCA_ERROR_INVALID_VALUE;
	}
	return urom_finished(&reader);
}

size_t urom_spawned_pack(const struct urom_spawned *spawned, void *out, size_t room)
{
	struct urom_writer writer = {(uint8_t *)out, room, 0, false};

	urom_put_u64(&writer, spawned->worker_id);
	urom_put_u32(&writer, spawned->gid);
	urom_put_u32(&writer, spawned->has_gid);
	urom_put_u64(&writer, spawned->service_process);
	urom_put_u64(&writer, spawned->process);
	urom_put(&writer, spawned->token, UROM_TOKEN_SIZE);
	urom_put(&writer, spawned->key, UROM_KEY_SIZE);
	return urom_written(&writer);
}

doca_error_t urom_spawned_parse(const void *data, size_t len, struct urom_spawned *spawned)
{
	struct urom_reader reader = {(const uint8_t *)data, len, false};

	spawned->worker_id = urom_get_u64(&reader);
	spawned->gid = urom_get_u32(&reader);
	spawned->has_gid = urom_get_bool(&reader);
	spawned->service_process = urom_get_u64(&reader);
	spawned->process = urom_get_u64(&reader);
	urom_get(&reader, spawned->token, UROM_TOKEN_SIZE);
	urom_get(&reader, spawned->key, UROM_KEY_SIZE);
	return urom_finished(&reader);
}

size_t urom_group_pack(const struct urom_group *group, void *out, size_t room)
{
	struct urom_writer writer = {(uint8_t *)out, room, 0, false};

	urom_put_u32(&writer, group->num);
	urom_put(&writer, group->ids, group->num * sizeof(group->ids[0]));
	return urom_written(&writer);
}

doca_error_t urom_group_parse(const void *data, size_t len, struct urom_group *group)
{
	struct urom_reader reader = {(const uint8_t *)data, len, false};

	group->num = urom_get_u32(&reader);
	if (group->num > UROM_GROUP_MAX)
		return DOCA_ERROR_INVALID_VALUE;
	urom_get(&reader, group->ids, group->num * sizeof(group->ids[0]));
	return urom_finished(&reader);
}

size_t urom_text_pack(const char *text, void *out, size_t room)
{
	size_t len = strnlen(text, room < UROM_TEXT_MAX ? room : UROM_TEXT_MAX - 1);

	memcpy(out, text, len);
	return len;
}

void urom_text_parse(const void *data, size_t len, char text[UROM_TEXT_MAX])
{
	size_t taken = len < UROM_TEXT_MAX ? len : UROM_TEXT_MAX - 1;

	for (size_t i = 0; i < taken; i++) {
		char byte = ((const char *)data)[i];

		text[i] = byte >= ' ' && byte <= '~' ? byte : '?';
	}
	text[taken] = '\0';
}
