/* SPDX-License-Identifier: BSD-3-Clause */
/* softfield ps --json. */
#include <stdio.h>

#include "json_writer.h"
#include "ps.h"

/* Omitted if it never happened. */
static void add_age(struct json_object *object, const char *key, const struct ps_list *list, uint64_t since_ns)
{
	if (since_ns != 0)
		json_add_number(object, key, ps_age_ms(list, since_ns));
}

static struct json_object *json_engines(const struct ps_list *list, const struct sf_status_page *page)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < page->head.num_engines; i++) {
		struct json_object *object = json_add_object(array);

		json_add_number(object, "thread", page->engines[i].thread);
		json_add_number(object, "calls", page->engines[i].num_calls);
		add_age(object, "last_call_ms", list, page->engines[i].last_call_ns);
		add_age(object, "inside_ms", list, page->engines[i].inside_since_ns);
		json_add_bool(object, "armed", page->engines[i].is_armed != 0);
	}
	return array;
}

static struct json_object *json_connections(const struct ps_list *list, const struct sf_status_page *page, uint32_t context)
{
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < page->head.num_connections; i++) {
		const struct sf_status_connection *it = &page->connections[i];
		char program[SF_STATUS_TEXT_MAX];
		struct json_object *object;

		if (it->context != context)
			continue;
		object = json_add_object(array);
		json_add_text_if_any(object, "state", it->is_ready ? "connected" : "connecting");
		add_age(object, "age_ms", list, it->since_ns);
		if (it->pid != 0)
			json_add_number(object, "peer", it->pid);
		json_add_text_if_any(object, "program", ps_program(list, (pid_t)it->pid, program));
	}
	return array;
}

static struct json_object *json_contexts(const struct ps_list *list, const struct ps_process *process)
{
	const struct sf_status_page *page = process->page;
	struct json_object *array = json_object_new_array();

	for (uint32_t i = 0; i < page->head.num_contexts; i++) {
		const struct sf_status_context *it = &page->contexts[i];
		struct json_object *object = json_add_object(array);

		json_add_text_if_any(object, "kind", it->kind);
		json_add_text_if_any(object, "name", it->name);
		json_add_text_if_any(object, "device", it->device);
		json_add_text_if_any(object, "state", sf_status_state_name(it->state));
		add_age(object, "age_ms", list, it->since_ns);
		json_add_number(object, "engine", it->engine);
		json_add_number(object, "in_flight", it->num_inflight);
		add_age(object, "oldest_task_ms", list, ps_oldest_ns(process, it));
		json_add_number(object, "allocated", it->num_allocated);
		json_add_number(object, "configured", it->num_configured);
		json_add_number(object, "submitted", it->num_submitted);
		json_add_number(object, "again", it->num_again);
		add_age(object, "again_ms", list, it->again_since_ns);
		json_object_object_add(object, "connections", json_connections(list, page, i));
	}
	return array;
}

static struct json_object *json_process(const struct ps_list *list, const struct ps_process *process)
{
	const struct sf_status_head *head = &process->page->head;
	struct json_object *object = json_object_new_object();
	char user[PS_TEXT_MAX];

	if (process->pid != 0)
		json_add_number(object, "pid", (uint64_t)process->pid);
	json_add_number(object, "own_pid", head->pid);
	json_add_text_if_any(object, "program", head->program);
	json_add_text_if_any(object, "user", ps_user(head->user, user));
	json_add_text_if_any(object, "node", head->node);
	add_age(object, "age_ms", list, head->started_ns);
	add_age(object, "seen_ms", list, head->sampled_ns);
	json_add_number(object, "left_out", head->num_left_out);
	json_object_object_add(object, "engines", json_engines(list, process->page));
	json_object_object_add(object, "contexts", json_contexts(list, process));
	return object;
}

void ps_print_json(const struct ps_list *list, bool one_line)
{
	struct json_object *root = json_object_new_object(), *array = json_object_new_array();

	for (size_t i = 0; i < list->num; i++)
		json_object_array_add(array, json_process(list, &list->all[i]));
	json_object_object_add(root, "processes", array);
	json_print(root, !one_line, stdout);
}
