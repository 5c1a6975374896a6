/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections begin and end. */
#include "conformance.h"
#include "support/descriptors.h"
#include "support/wait.h"

static void two_ends(struct pair *pair, uint32_t flags)
{
	end_open(&pair->a, "host0/0000:d8:00.0", 16);
	end_open(&pair->b, "dpu0/0000:03:00.0", 16);
	end_listen(&pair->b, flags);
}

static void ends_close(struct pair *pair)
{
	end_close(&pair->a);
	end_close(&pair->b);
}

static void accept_passes_private_data_both_ways(void)
{
	char question[SF_PRIVATE_MAX], answer[SF_PRIVATE_MAX];
	int cookie;
	struct pair pair;

	two_ends(&pair, 0);
	fill(question, sizeof(question), 1);
	fill(answer, sizeof(answer), 2);
	CHECK_OK(sf_conn_connect(pair.a.ep, pair.b.name, NULL, question, sizeof(question), &cookie, &pair.ab));
	CHECK(pair.ab->user == &cookie);
	WAIT(pair.b.requests == 1);
	CHECK(pair.b.data_len == sizeof(question) && filled(pair.b.data, sizeof(question), 1));
	CHECK(pair.a.connects == 0 && pair.ab->state == SF_CONN_CONNECTING);
	CHECK_OK(sf_conn_accept(pair.b.listener, pair.b.request, answer, sizeof(answer), &pair, &pair.ba));
	CHECK(pair.ba->state == SF_CONN_READY && pair.ba->user == &pair && pair.ba->ep == pair.b.ep);
	WAIT(pair.a.connects == 1);
	CHECK_OK(pair.a.connect_status);
	CHECK(pair.a.connected == pair.ab);
	CHECK(pair.a.data_len == sizeof(answer) && filled(pair.a.data, sizeof(answer), 2));
	pair_close(&pair);
}

static void reject_passes_a_reason(void)
{
	struct pair pair;

	two_ends(&pair, 0);
	pair.ab = end_connect(&pair.a, pair.b.name);
	WAIT(pair.b.requests == 1);
	sf_conn_reject(pair.b.listener, pair.b.request, "because", 8);
	WAIT(pair.a.connects == 1);
	CHECK_RESULT(pair.a.connect_status, DOCA_ERROR_CONNECTION_ABORTED);
	CHECK(pair.a.data_len == 8 && memcmp(pair.a.data, "because", 8) == 0);
	CHECK(pair.ab->state == SF_CONN_CLOSED);
	sf_conn_close(pair.ab);
	ends_close(&pair);
	CHECK(pair.a.closes == 0);
}

static void reject_now(struct end *end)
{
	sf_conn_reject(end->listener, end->request, "no", 2);
}

static void accept_now(struct end *end)
{
	CHECK_OK(sf_conn_accept(end->listener, end->request, NULL, 0, NULL, &end->accepted[end->accepts++]));
}

static void requests_are_answered_inside_the_callback(void)
{
	struct pair pair;

	two_ends(&pair, 0);
	pair.b.on_request = reject_now;
	pair.ab = end_connect(&pair.a, pair.b.name);
	WAIT(pair.a.connects == 1);
	CHECK_RESULT(pair.a.connect_status, DOCA_ERROR_CONNECTION_ABORTED);
	sf_conn_close(pair.ab);
	pair.b.on_request = accept_now;
	pair.ab = end_connect(&pair.a, pair.b.name);
	WAIT(pair.a.connects == 2);
	CHECK_OK(pair.a.connect_status);
	pair.ba = pair.b.accepted[0];
	pair_close(&pair);
}

static void auto_accept_needs_no_poll_of_the_listener(void)
{
	struct pair pair;
	struct send send;
	struct slot slot;

	two_ends(&pair, SF_LISTEN_AUTO);
	CHECK_OK(slot_post(&pair.b, &slot, 0, 64));
	CHECK_OK(sf_conn_connect(pair.a.ep, pair.b.name, NULL, "hello", 6, NULL, &pair.ab));
	for (uint64_t end = sf_now_ms() + WAIT_MS; pair.a.connects == 0; CHECK(sf_now_ms() < end))
		end_poll(&pair.a, 1);
	CHECK_OK(pair.a.connect_status);
	send_set(&send, "first", 6);
	for (uint64_t end = sf_now_ms() + WAIT_MS; submit(pair.ab, &send) != DOCA_SUCCESS; CHECK(sf_now_ms() < end))
		end_poll(&pair.a, 1);
	for (uint64_t end = sf_now_ms() + WAIT_MS; send.done == 0; CHECK(sf_now_ms() < end))
		end_poll(&pair.a, 1);
	CHECK(pair.b.accepts == 0 && slot.done == 0);
	/* The accepted callback comes before the first receive. */
	for (uint64_t end = sf_now_ms() + WAIT_MS; pair.b.accepts == 0; CHECK(sf_now_ms() < end)) {
		CHECK(slot.done == 0);
		end_poll(&pair.b, 1);
	}
	CHECK(pair.b.data_len == 6 && memcmp(pair.b.data, "hello", 6) == 0);
	WAIT(slot.done == 1);
	CHECK(slot.recv.conn == pair.b.accepted[0]);
	pair.ba = pair.b.accepted[0];
	pair_close(&pair);
}

static void an_answered_connection_accepts_operations_before_a_poll(void)
{
	struct pair pair;
	struct send send;
	struct slot slot;

	two_ends(&pair, SF_LISTEN_AUTO);
	CHECK_OK(slot_post(&pair.b, &slot, 0, 64));
	CHECK_OK(sf_conn_connect(pair.a.ep, pair.b.name, NULL, NULL, 0, NULL, &pair.ab));
	send_set(&send, "early", 6);
	for (uint64_t end = sf_now_ms() + WAIT_MS; submit(pair.ab, &send) == DOCA_ERROR_AGAIN;)
		CHECK(sf_now_ms() < end);
	CHECK(send.done == 0 && pair.ab->state == SF_CONN_CONNECTING);
	for (uint64_t end = sf_now_ms() + WAIT_MS; pair.a.connects == 0; CHECK(sf_now_ms() < end)) {
		CHECK(send.done == 0); /* connected is reported before what was completed on the connection */
		end_poll(&pair.a, 1);
	}
	WAIT(slot.done == 1 && send.done == 1);
	pair.ba = pair.b.accepted[0];
	pair_close(&pair);
}

static void an_answered_connection_ends_before_a_poll(void)
{
	struct pair pair;
	struct send send;
	struct slot slot;

	two_ends(&pair, SF_LISTEN_AUTO);
	CHECK_OK(slot_post(&pair.b, &slot, 0, 64));
	CHECK_OK(sf_conn_connect(pair.a.ep, pair.b.name, NULL, NULL, 0, NULL, &pair.ab));
	send_set(&send, "short", 6);
	for (uint64_t end = sf_now_ms() + WAIT_MS; submit(pair.ab, &send) == DOCA_ERROR_AGAIN;)
		CHECK(sf_now_ms() < end);
	sf_conn_disconnect(pair.ab);
	WAIT(pair.a.connects == 1 && send.done == 1 && pair.b.closes == 1);
	CHECK_RESULT(pair.a.connect_status, DOCA_ERROR_CONNECTION_ABORTED);
	CHECK_RESULT(pair.b.close_reason, DOCA_ERROR_CONNECTION_RESET);
	CHECK(slot.done == 1 && memcmp(pair.b.memory, "short", 6) == 0);
	CHECK_OK(slot.recv.status);
	pair.ba = pair.b.accepted[0];
	pair_close(&pair);
}

static void an_endpoint_closes_with_a_connection_that_no_poll_reported(void)
{
	struct pair pair;

	two_ends(&pair, SF_LISTEN_AUTO);
	pair.ab = end_connect(&pair.a, pair.b.name);
	for (uint64_t end = sf_now_ms() + WAIT_MS; pair.a.connects == 0; CHECK(sf_now_ms() < end))
		end_poll(&pair.a, 1);
	CHECK_OK(pair.a.connect_status);
	CHECK(pair.b.accepts == 0);
	end_close(&pair.b);
	WAIT(pair.a.closes == 1);
	sf_conn_close(pair.ab);
	end_close(&pair.a);
}

static void unknown_name_is_not_found(void)
{
	struct pair pair;

	two_ends(&pair, 0);
	pair.ab = end_connect(&pair.a, "conformance/nobody");
	WAIT(pair.a.connects == 1);
	CHECK_RESULT(pair.a.connect_status, DOCA_ERROR_NOT_FOUND);
	CHECK(pair.ab->state == SF_CONN_CLOSED);
	sf_conn_close(pair.ab);
	ends_close(&pair);
}

static void a_name_is_in_use_until_its_listener_closes(void)
{
	struct pair pair;
	struct sf_listener *second;

	two_ends(&pair, 0);
	CHECK_RESULT(sf_listener_open(pair.a.ep, pair.b.name, 0, NULL, &second), DOCA_ERROR_ALREADY_EXIST);
	CHECK_RESULT(sf_listener_open(pair.b.ep, pair.b.name, 0, NULL, &second), DOCA_ERROR_ALREADY_EXIST);
	sf_listener_close(pair.b.listener);
	pair.b.listener = NULL;
	CHECK_OK(sf_listener_open(pair.a.ep, pair.b.name, 0, NULL, &second));
	sf_listener_close(second);
	ends_close(&pair);
}

/* The suites of several providers run in parallel, so they take turns at names that are not unique to a process. */
static struct sf_listener *name_listen(struct end *end, const char *name)
{
	struct sf_listener *listener;
	doca_error_t result;

	CHECK(WAIT_UNTIL((result = sf_listener_open(end->ep, name, SF_LISTEN_AUTO, NULL, &listener)) !=
			 DOCA_ERROR_ALREADY_EXIST));
	CHECK_OK(result);
	return listener;
}

static void names_and_private_data_have_bounds(void)
{
	char name[SF_NAME_MAX + 1], data[SF_PRIVATE_MAX + 1] = {0};
	struct sf_listener *listener;
	struct pair pair;

	two_ends(&pair, 0);
	memset(name, 'n', sizeof(name));
	name[SF_NAME_MAX] = '\0';
	CHECK_RESULT(sf_listener_open(pair.b.ep, name, 0, NULL, &listener), DOCA_ERROR_INVALID_VALUE);
	CHECK_RESULT(sf_listener_open(pair.b.ep, "", 0, NULL, &listener), DOCA_ERROR_INVALID_VALUE);
	if ((fabric->caps & SF_CAP_OTHER_MACHINE) == 0)
		CHECK_RESULT(sf_listener_open(pair.b.ep, "endpoint", SF_LISTEN_AT(4711), NULL, &listener),
			     DOCA_ERROR_NOT_SUPPORTED);
	CHECK_RESULT(sf_conn_connect(pair.a.ep, name, NULL, NULL, 0, NULL, &pair.ab), DOCA_ERROR_INVALID_VALUE);
	CHECK_RESULT(sf_conn_connect(pair.a.ep, pair.b.name, NULL, data, sizeof(data), NULL, &pair.ab), DOCA_ERROR_INVALID_VALUE);
	name[SF_NAME_MAX - 1] = '\0';
	listener = name_listen(&pair.b, name);
	pair.ab = end_connect(&pair.a, name);
	WAIT(pair.a.connects == 1 && pair.b.accepts == 1);
	CHECK_OK(pair.a.connect_status);
	sf_listener_close(listener);
	pair.ba = pair.b.accepted[0];
	pair_close(&pair);
}

static void names_may_hold_any_character(void)
{
	static const char *const names[] = {"a/b", "..", "../../x", "with space", "\x01\x7f", "ünïcode", "%s%n", "."};
	struct sf_listener *listeners[8];
	struct pair pair;

	two_ends(&pair, 0);
	for (int i = 0; i < 8; i++)
		listeners[i] = name_listen(&pair.b, names[i]);
	for (uint32_t i = 0; i < 8; i++) {
		pair.ab = end_connect(&pair.a, names[i]);
		WAIT(pair.a.connects == i + 1 && pair.b.accepts == i + 1);
		CHECK_OK(pair.a.connect_status);
		sf_conn_close(pair.ab);
		WAIT(pair.b.closes == i + 1);
		sf_conn_close(pair.b.accepted[i]);
	}
	for (int i = 0; i < 8; i++)
		sf_listener_close(listeners[i]);
	ends_close(&pair);
}

static void listener_close_rejects_pending_requests(void)
{
	struct pair pair;

	two_ends(&pair, 0);
	pair.ab = end_connect(&pair.a, pair.b.name);
	WAIT(pair.b.requests == 1);
	sf_listener_close(pair.b.listener);
	pair.b.listener = NULL;
	WAIT(pair.a.connects == 1);
	CHECK_RESULT(pair.a.connect_status, DOCA_ERROR_CONNECTION_ABORTED);
	sf_conn_close(pair.ab);
	ends_close(&pair);
}

static void listener_close_keeps_connections(void)
{
	struct slot slot;
	struct pair pair;

	pair_open(&pair, 4);
	sf_listener_close(pair.b.listener);
	pair.b.listener = NULL;
	CHECK_OK(slot_post(&pair.b, &slot, 0, 64));
	send_wait(pair.ab, "still here", 11);
	WAIT(slot.done == 1);
	CHECK(memcmp(pair.b.memory, "still here", 11) == 0);
	pair_close(&pair);
}

static void connection_closed_while_connecting_reports_nothing(void)
{
	struct pair pair;

	two_ends(&pair, 0);
	pair.ab = end_connect(&pair.a, pair.b.name);
	WAIT(pair.b.requests == 1);
	sf_conn_close(pair.ab);
	/* The end of the connection may not have arrived yet: then accept succeeds, and closed reports it. */
	if (sf_conn_accept(pair.b.listener, pair.b.request, NULL, 0, NULL, &pair.ba) == DOCA_SUCCESS) {
		WAIT(pair.b.closes == 1);
		sf_conn_close(pair.ba);
	}
	CHECK(pair.a.connects == 0 && pair.a.closes == 0);
	ends_close(&pair);
}

static void disconnect_while_connecting_is_reported_by_connected(void)
{
	struct pair pair;

	two_ends(&pair, 0);
	pair.ab = end_connect(&pair.a, pair.b.name);
	WAIT(pair.b.requests == 1);
	sf_conn_disconnect(pair.ab);
	sf_conn_disconnect(pair.ab);
	WAIT(pair.a.connects == 1);
	CHECK_RESULT(pair.a.connect_status, DOCA_ERROR_CONNECTION_ABORTED);
	if (sf_conn_accept(pair.b.listener, pair.b.request, NULL, 0, NULL, &pair.ba) == DOCA_SUCCESS) {
		WAIT(pair.b.closes == 1);
		sf_conn_close(pair.ba);
	}
	CHECK(pair.a.connects == 1 && pair.a.closes == 0);
	sf_conn_close(pair.ab);
	ends_close(&pair);
}

static void submit_needs_a_ready_connection(void)
{
	struct pair pair;
	struct send send;
	struct slot slot;

	two_ends(&pair, 0);
	CHECK_OK(slot_post(&pair.b, &slot, 0, 64));
	pair.ab = end_connect(&pair.a, pair.b.name);
	send_set(&send, "x", 1);
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_AGAIN);
	WAIT(pair.b.requests == 1);
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_AGAIN);
	CHECK_OK(sf_conn_accept(pair.b.listener, pair.b.request, NULL, 0, NULL, &pair.ba));
	WAIT(pair.a.connects == 1);
	CHECK_OK(submit_wait(pair.ab, &send));
	sf_conn_disconnect(pair.ab);
	CHECK_RESULT(submit(pair.ab, &send), DOCA_ERROR_NOT_CONNECTED);
	WAIT(pair.b.closes == 1);
	CHECK_RESULT(submit(pair.ba, &send), DOCA_ERROR_NOT_CONNECTED);
	CHECK(send.done == 0);
	pair_close(&pair);
}

static void accepter_sends_first(void)
{
	struct pair pair;
	struct slot slot;
	struct send send;

	two_ends(&pair, 0);
	CHECK_OK(slot_post(&pair.a, &slot, 0, 64));
	pair.ab = end_connect(&pair.a, pair.b.name);
	WAIT(pair.b.requests == 1);
	CHECK_OK(sf_conn_accept(pair.b.listener, pair.b.request, NULL, 0, NULL, &pair.ba));
	send_set(&send, "welcome", 8);
	for (uint64_t end = sf_now_ms() + WAIT_MS; submit(pair.ba, &send) == DOCA_ERROR_AGAIN; CHECK(sf_now_ms() < end))
		end_poll(&pair.b, 1);
	for (uint64_t end = sf_now_ms() + WAIT_MS; pair.a.connects == 0; CHECK(sf_now_ms() < end)) {
		CHECK(slot.done == 0); /* connected is reported before what arrives on the connection */
		end_poll(&pair.a, 1);
	}
	WAIT(slot.done == 1 && send.done == 1);
	CHECK(slot.recv.conn == pair.ab);
	pair_close(&pair);
}

static void one_listener_accepts_many_connections(void)
{
	struct sf_conn *conns[CONNS_MAX];
	struct pair pair;

	two_ends(&pair, SF_LISTEN_AUTO);
	for (int i = 0; i < CONNS_MAX; i++)
		conns[i] = end_connect(&pair.a, pair.b.name);
	WAIT(pair.a.connects == CONNS_MAX && pair.b.accepts == CONNS_MAX);
	for (int i = 0; i < CONNS_MAX; i++)
		CHECK(conns[i]->state == SF_CONN_READY);
	for (int i = 0; i < CONNS_MAX; i += 2)
		sf_conn_close(conns[i]);
	WAIT(pair.b.closes == CONNS_MAX / 2);
	CHECK_RESULT(pair.b.close_reason, DOCA_ERROR_CONNECTION_RESET);
	for (int i = 1; i < CONNS_MAX; i += 2)
		sf_conn_close(conns[i]);
	WAIT(pair.b.closes == CONNS_MAX);
	for (int i = 0; i < CONNS_MAX; i++)
		sf_conn_close(pair.b.accepted[i]);
	ends_close(&pair);
	CHECK(pair.a.closes == 0);
}

static void an_endpoint_connects_to_itself(void)
{
	struct sf_conn *conn;
	struct slot slot;
	struct end end;

	end_open(&end, "host0/0000:d8:00.0", 4);
	end_listen(&end, SF_LISTEN_AUTO);
	CHECK_OK(slot_post(&end, &slot, 0, 16));
	conn = end_connect(&end, end.name);
	WAIT(end.connects == 1 && end.accepts == 1);
	send_wait(conn, "self", 5);
	WAIT(slot.done == 1);
	CHECK(slot.recv.conn == end.accepted[0]);
	sf_conn_close(conn);
	WAIT(end.closes == 1);
	sf_conn_close(end.accepted[0]);
	end_close(&end);
}

static void conn_close(struct end *end, struct sf_conn *conn)
{
	sf_conn_close(conn);
}

static void connections_may_be_closed_in_their_callbacks(void)
{
	struct pair pair;

	two_ends(&pair, SF_LISTEN_AUTO);
	pair.b.on_closed = conn_close;
	pair.a.on_connected = conn_close; /* SUCCESS: the accepter sees the connection close */
	end_connect(&pair.a, pair.b.name);
	WAIT(pair.a.connects == 1 && pair.b.closes == 1);
	end_connect(&pair.a, "conformance/nobody"); /* an error */
	WAIT(pair.a.connects == 2);
	pair.a.on_connected = NULL;
	pair.a.on_closed = conn_close;
	pair.b.on_accepted = conn_close;
	end_connect(&pair.a, pair.b.name);
	WAIT(pair.b.accepts == 2 && pair.a.closes == 1);
	CHECK(pair.a.connects == 3); /* connected, then closed, in this order */
	CHECK_OK(pair.a.connect_status);
	ends_close(&pair);
}

static void resources_are_released(void)
{
	uint32_t fds = 0;
	int mappings = 0;
	struct pair pair;

	for (int i = 0; i < 30; i++) {
		struct sf_region *import;

		pair_open(&pair, 64);
		import = region_pass(pair.b.region, pair.a.domain);
		sf_region_close(import);
		pair_close(&pair);
		if (i == 4) {
			fds = num_descriptors();
			mappings = mappings_num();
		}
	}
	CHECK(num_descriptors() <= fds);
	CHECK(slow_build() || mappings_num() <= mappings + 4); /* the allocator may map some */
}

const struct conformance_case connect_cases[] = {
	CASE(accept_passes_private_data_both_ways, 0),
	CASE(reject_passes_a_reason, 0),
	CASE(requests_are_answered_inside_the_callback, 0),
	CASE(auto_accept_needs_no_poll_of_the_listener, 0),
	CASE(an_answered_connection_accepts_operations_before_a_poll, 0),
	CASE(an_answered_connection_ends_before_a_poll, 0),
	CASE(an_endpoint_closes_with_a_connection_that_no_poll_reported, 0),
	CASE(unknown_name_is_not_found, 0),
	CASE(a_name_is_in_use_until_its_listener_closes, 0),
	CASE(names_and_private_data_have_bounds, 0),
	CASE(names_may_hold_any_character, 0),
	CASE(listener_close_rejects_pending_requests, 0),
	CASE(listener_close_keeps_connections, 0),
	CASE(connection_closed_while_connecting_reports_nothing, 0),
	CASE(disconnect_while_connecting_is_reported_by_connected, 0),
	CASE(submit_needs_a_ready_connection, 0),
	CASE(accepter_sends_first, 0),
	CASE(one_listener_accepts_many_connections, 0),
	CASE(an_endpoint_connects_to_itself, 0),
	CASE(connections_may_be_closed_in_their_callbacks, 0),
	CASE(resources_are_released, 0),
	{0},
};
