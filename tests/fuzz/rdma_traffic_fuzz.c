/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RDMA with a peer that writes anything into shared memory: rings of records in both directions, the reader's progress, posted
 * receives, their states, the hint, the doorbell. The input is a script: tasks of every verb, receives, progress, and words
 * written anywhere in what two instances of this process share. Whatever it does, nothing outside the memory maps is touched,
 * every task ends, and both instances stop.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "fuzz_folder.h"
#include "support/check.h"
#include "support/rdma_pair.h"

#define SPANS_MAX 16
#define BUFS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct span {
	uint8_t *bytes;
	size_t len;
};

static struct span spans[SPANS_MAX];
static uint32_t num_spans;
static bool spans_may_differ; /* a connection that ended is unmapped by progress */

/* Endpoint and connection segments: shared memory that a peer may map writable, except memory maps. */
static void find_spans(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512];

	CHECK(file != NULL);
	num_spans = 0;
	spans_may_differ = false;
	while (num_spans < SPANS_MAX && fgets(line, sizeof(line), file) != NULL) {
		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && strstr(line, "rw-s") != NULL &&
		    (strstr(line, "softfield-endpoint") != NULL || strstr(line, "softfield-connection") != NULL))
			spans[num_spans++] = (struct span){(uint8_t *)start, end - start};
	}
	fclose(file);
}

static void scribble(const uint8_t *step)
{
	if (spans_may_differ)
		find_spans();
	if (num_spans == 0)
		return;
	const struct span *span = &spans[step[1] % num_spans];
	/* The important words are near the beginnings of lines. */
	size_t lines = span->len / 64, at = ((size_t)step[2] | (size_t)step[3] << 8) % lines * 64 + step[4] % 8 * 4;
	uint64_t value;

	memcpy(&value, step + 5, sizeof(value));
	if (step[4] & 0x80)
		memcpy(span->bytes + at, &value, at + 8 <= span->len ? 8 : 4);
	else if (step[4] & 0x40)
		span->bytes[at] = step[5];
	else
		*(uint32_t *)(void *)(span->bytes + at) = (uint32_t)value;
}

#define STEP 13 /* bytes of one step of the script */

struct script {
	struct pair pair;
	struct doca_buf *bufs[BUFS_MAX];
	uint32_t num_bufs;
};

static struct doca_buf *keep(struct script *script, struct doca_buf *buf)
{
	script->bufs[script->num_bufs++] = buf;
	return buf;
}

static void submit(struct script *script, const uint8_t *step)
{
	static const size_t lens[] = {0, 8, 40, 100, 300, 3000, 9000, 20000};
	struct pair *pair = &script->pair;
	enum verb verb = (enum verb)(step[1] % VERBS);
	size_t len = verb == VERB_CAS || verb == VERB_ADD ? 8 : lens[step[2] % 8];
	struct doca_buf *here, *there = NULL;

	if (script->num_bufs + 2 > BUFS_MAX || pair->a.state != DOCA_CTX_STATE_RUNNING)
		return;
	here = keep(script, verb_here(verb, &pair->a, (size_t)step[3] * 8, len));
	if (verb_is_one_sided(verb))
		there = keep(script, verb_there(verb, &pair->a, (size_t)step[4] * 8, len));
	(void)verb_submit(verb, &pair->a, pair->ab[0], here, there, 0);
}

static void receive(struct script *script, const uint8_t *step)
{
	struct pair *pair = &script->pair;

	if (script->num_bufs + 1 > BUFS_MAX || pair->b.state != DOCA_CTX_STATE_RUNNING)
		return;
	(void)rig_receive(&pair->b,
			  step[1] % 4 == 0 ? NULL : keep(script, rig_room(&pair->b, (size_t)step[2] * 64, (size_t)step[3] * 80)),
			  0);
}

static void run_step(struct script *script, const uint8_t *step)
{
	switch (step[0] % 5) {
	case 0:
		submit(script, step);
		break;
	case 1:
		receive(script, step);
		break;
	case 2:
	case 3:
		scribble(step);
		break;
	default:
		(void)doca_pe_progress(script->pair.a.pe);
		(void)doca_pe_progress(script->pair.b.pe);
		spans_may_differ = true;
	}
}

static void stop_both(struct pair *pair)
{
	(void)doca_ctx_stop(pair->a.ctx);
	(void)doca_ctx_stop(pair->b.ctx);
	RDMA_RIG_WAIT(&pair->a, &pair->b, pair->a.state == DOCA_CTX_STATE_IDLE && pair->b.state == DOCA_CTX_STATE_IDLE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct script script;
	static bool ready;

	if (!ready) {
		(void)fuzz_folder_make();
		CHECK(setenv("SOFTFIELD_FABRIC", "shm", 1) == 0);
		doca_log_level_set_global_sdk_limit(DOCA_LOG_LEVEL_DISABLE);
	}
	ready = true;
	memset(&script, 0, sizeof(script));
	pair_prepare(&script.pair, RIG_ALL, RIG_ALL, RIG_ALL);
	pair_start(&script.pair, 1);
	/* Both connections are established, and the memory is known. */
	CHECK_OK(rig_receive(&script.pair.b, NULL, 0));
	CHECK_OK(rig_receive(&script.pair.a, NULL, 0));
	CHECK_OK(rig_send(&script.pair.a, script.pair.ab[0], NULL, 0));
	CHECK_OK(rig_send(&script.pair.b, script.pair.ba[0], NULL, 0));
	PAIR_WAIT(&script.pair, script.pair.a.num_ended == 2 && script.pair.b.num_ended == 2);
	find_spans();
	CHECK(num_spans >= 4);
	for (size_t at = 0; at + STEP <= size && at < 100 * STEP; at += STEP)
		run_step(&script, data + at);
	stop_both(&script.pair);
	for (uint32_t i = 0; i < script.num_bufs; i++)
		rig_put(script.bufs[i]);
	pair_fini(&script.pair);
	return 0;
}
