/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield ps --json. */
#include <stdio.h>

#include <json-c/json.h>

#include "ps.h"

static void add_text(struct json_object *object, const char *key, const char *text)
{
	if (text != NULL && text[0] != '\0')
		json_object_object_add(object, key, json_object_new_string(text));
}

static void add_number(struct json_object *object, const char *key, uint64_t number)
{
	json_object_object_add(object, key, json_object_new_int64(number < INT64_MAX ? (int64_t)number : INT64_MAX));
}

/* Left out when it never was. */
static void add_age(struct json_object *object, const char *key, const struct ps_list *list, uint64_t since_ns)
{
	if (since_ns != 0)
		add_number(object, key, ps_age_ms(list, since_ns));
}

static struct json_object *json_engines(const struct ps_list *list, const struct sf_status_page *page)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < page->head.num_engines; i++) {
		struct json_object *object = json_object_new_object();

		add_number(object, "thread", page->engines[i].thread);
		add_number(object, "calls", page->engines[i].num_calls);
		add_age(object, "last_call_ms", list, page->engines[i].last_call_ns);
		json_object_object_add(object, "armed", json_object_new_boolean(page->engines[i].is_armed != 0));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_connections(const struct ps_list *list, const struct sf_status_page *page, uint32_t context)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < page->head.num_connections; i++) {
		const struct sf_status_connection *it = &page->connections[i];
		const struct ps_process *peer = ps_find(list, (pid_t)it->pid);
		struct json_object *object;

		if (it->context != context)
			continue;
		object = json_object_new_object();
		add_text(object, "state", it->is_ready ? "connected" : "connecting");
		add_age(object, "age_ms", list, it->since_ns);
		if (it->pid != 0)
			add_number(object, "peer", it->pid);
		add_text(object, "program", peer != NULL ? peer->page->head.program : NULL);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_contexts(const struct ps_list *list, const struct sf_status_page *page)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < page->head.num_contexts; i++) {
		const struct sf_status_context *it = &page->contexts[i];
		struct json_object *object = json_object_new_object();

		add_text(object, "kind", it->kind);
		add_text(object, "name", it->name);
		add_text(object, "device", it->device);
		add_text(object, "state", sf_status_state_name(it->state));
		add_age(object, "age_ms", list, it->since_ns);
		add_number(object, "engine", it->engine);
		add_number(object, "in_flight", it->num_inflight);
		add_number(object, "allocated", it->num_allocated);
		add_number(object, "configured", it->num_configured);
		add_number(object, "submitted", it->num_submitted);
		add_number(object, "again", it->num_again);
		add_age(object, "again_ms", list, it->again_since_ns);
		json_object_object_add(object, "connections", json_connections(list, page, i));
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *json_process(const struct ps_list *list, const struct ps_process *process)
{
	const struct sf_status_head *head = &process->page->head;
	struct json_object *object = json_object_new_object();
	char user[PS_TEXT_MAX];

	if (process->pid != 0)
		add_number(object, "pid", (uint64_t)process->pid);
	add_number(object, "own_pid", head->pid);
	add_text(object, "program", head->program);
	add_text(object, "user", ps_user(head->user, user));
	add_text(object, "node", head->node);
	add_age(object, "age_ms", list, head->started_ns);
	add_age(object, "seen_ms", list, head->sampled_ns);
	add_number(object, "left_out", head->num_left_out);
	json_object_object_add(object, "engines", json_engines(list, process->page));
	json_object_object_add(object, "contexts", json_contexts(list, process->page));
	return object;
}

void ps_print_json(const struct ps_list *list, bool one_line)
{
	const int pretty = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	struct json_object *root = json_object_new_object(), *array = json_object_new_array();

	for (size_t i = 0; i < list->num; i++)
		json_object_array_add(array, json_process(list, &list->all[i]));
	json_object_object_add(root, "processes", array);
	puts(json_object_to_json_string_ext(root, (one_line ? JSON_C_TO_STRING_PLAIN : pretty) | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(root);
}
