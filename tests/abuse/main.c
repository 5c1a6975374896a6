/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Thousands of sequences of random calls; see core.h. After each one everything is destroyed, in random order, and nothing may be
 * left. At the end every public function of the headers must have been called, and must have succeeded where it can.
 *
 * SOFTFIELD_TEST_SEED repeats a run. A failure prints the seed and the sequence, and SOFTFIELD_TEST_SEQUENCE runs that sequence
 * alone. SOFTFIELD_TEST_VERBOSE prints how often each function was called and has succeeded.
 */
#include <dirent.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "core.h"
#include "run.h"

#define CALLS 250	    /* calls in one sequence */
#define PATIENCE 100000	    /* calls within which everything must be released, */
#define PATIENCE_SECONDS 60 /* or seconds: what waits for a peer's thread waits by the clock */
#define HANG_SECONDS 120    /* a sequence must take less time */
#define MORE_TURNS 4
#define WARM_UP 100 /* after so many sequences, the process has opened all of its own descriptors */
#define DEPTH_MAX 2 /* nesting of calls inside callbacks */

struct tally *tallies;
static uint64_t seed;
static uint32_t sequence;
static bool ending;
static int depth;

bool is_ending(void)
{
	return ending;
}

void abuse_fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\nsequence %u: repeat with SOFTFIELD_TEST_SEED=%llu SOFTFIELD_TEST_SEQUENCE=%u\n", sequence,
		(unsigned long long)seed, sequence);
	abort();
}

void abuse_complain(struct tally *tally, const char *format, ...)
{
	va_list args;

	if (tally->complaints++ > 0)
		return;
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, " (SOFTFIELD_TEST_SEED=%llu SOFTFIELD_TEST_SEQUENCE=%u)\n", (unsigned long long)seed, sequence);
}

static void hung(int signal)
{
	static const char text[] = "a call does not return\n";

	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	abuse_fail("no end after %d seconds", HANG_SECONDS);
}

/* ---- running ---- */

/* Every call of some groups, as often as its weight. */
struct deck {
	const struct call **calls;
	uint32_t num;
};

static struct deck all, endings, of_group[GROUPS_MAX], *focus;

static void deck_add(struct deck *deck, const struct call *call)
{
	unsigned weight = call->weight != 0 ? call->weight : 1;

	deck->calls = realloc(deck->calls, (deck->num + weight) * sizeof(*deck->calls));
	for (unsigned i = 0; i < weight; i++)
		deck->calls[deck->num++] = call;
}

static void decks_fill(void)
{
	for (size_t g = 0; g < suite.num_groups; g++) {
		for (size_t i = 0; i < suite.groups[g]->num_calls; i++) {
			const struct call *call = &suite.groups[g]->calls[i];

			deck_add(&all, call);
			deck_add(&of_group[g], call);
			if (call->ends)
				deck_add(&endings, call);
		}
	}
}

static void decks_free(void)
{
	free(all.calls);
	free(endings.calls);
	for (size_t g = 0; g < suite.num_groups; g++)
		free(of_group[g].calls);
}

static void run_one(void)
{
	const struct deck *deck = ending ? &endings : chance(2) ? focus : &all;

	verdict_take();
	deck->calls[random_below(deck->num)]->run();
	verdict_take(); /* of a call that was skipped */
}

/* Most sequences begin with objects of most groups, so that the other calls have something to work on. */
static void prepare(void)
{
	focus = &of_group[random_below(suite.num_groups)];
	for (size_t g = 0; g < suite.num_groups; g++) {
		if (suite.groups[g]->prepare != NULL && !chance(6))
			suite.groups[g]->prepare();
	}
}

void act(void)
{
	if (depth >= DEPTH_MAX)
		return;
	depth++;
	for (uint32_t i = random_below(4); i > 0; i--)
		run_one();
	depth--;
}

static uint32_t num_objects(void)
{
	uint32_t num = 0;

	for (enum kind kind = 0; kind < KINDS; kind++)
		num += object_count(kind);
	return num;
}

static void clear_up(void)
{
	time_t begin = time(NULL);

	ending = true;
	for (uint32_t i = 0; num_objects() > 0; i++) {
		if (i >= PATIENCE && time(NULL) - begin > PATIENCE_SECONDS) {
			for (enum kind kind = 0; kind < KINDS; kind++)
				fprintf(stderr, "%u of kind %d\n", object_count(kind), kind);
			abuse_fail("not everything could be released");
		}
		run_one();
	}
	ending = false;
}

static uint32_t num_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	uint32_t num = 0;

	if (dir == NULL)
		return 0;
	while (readdir(dir) != NULL)
		num++;
	closedir(dir);
	return num;
}

static void run_sequence(void)
{
	static uint32_t most_descriptors;

	alarm(HANG_SECONDS);
	random_seed(seed + sequence);
	prepare();
	for (int i = 0; i < CALLS; i++)
		run_one();
	clear_up();
	const char *wrong = suite.check != NULL ? suite.check() : NULL;
	if (wrong != NULL)
		abuse_fail("%s", wrong);
	uint32_t num = num_descriptors();

	/* A library's thread may learn of a connection's end a moment later. */
	for (time_t begin = time(NULL); sequence >= WARM_UP && num > most_descriptors && time(NULL) - begin < PATIENCE_SECONDS;)
		num = num_descriptors();
	if (num > most_descriptors && most_descriptors > 0 && sequence >= WARM_UP)
		abuse_fail("%u descriptors are open, never more than %u were after a sequence", num, most_descriptors);
	if (num > most_descriptors)
		most_descriptors = num;
}

/* ---- was everything called? ---- */

static bool is_listed(const char *function, const struct reason *list, size_t num)
{
	for (size_t i = 0; i < num; i++) {
		size_t len = strlen(list[i].function) - 1;

		if (list[i].function[len] == '*' ? strncmp(function, list[i].function, len) == 0
						 : strcmp(function, list[i].function) == 0)
			return true;
	}
	return false;
}

/* Returns what more sequences might still achieve, or NULL. */
static const char *missing(size_t i)
{
	const char *function = documented[i].function;

	if (!documented[i].is_wanted)
		return NULL;
	if (tallies[i].calls == 0)
		return is_listed(function, suite.excluded, suite.num_excluded) ? NULL : "was never called";
	if (tallies[i].successes == 0 && !is_listed(function, suite.never_succeeds, suite.num_never))
		return "never succeeded";
	return NULL;
}

static bool is_any_missing(void)
{
	for (size_t i = 0; i < num_documented; i++) {
		if (missing(i) != NULL)
			return true;
	}
	return false;
}

static bool is_any_wrong(void)
{
	for (size_t i = 0; i < num_documented; i++) {
		if (tallies[i].complaints > 0)
			return true;
	}
	return false;
}

/* With faults, fewer sequences are enough, and not every function must succeed, because it does without faults. */
static bool has_faults(void)
{
	return getenv("SOFTFIELD_FAULTS") != NULL;
}

static int report(void)
{
	uint64_t calls = 0;
	uint32_t wrong = 0, called = 0;

	for (size_t i = 0; i < num_documented; i++) {
		const char *function = documented[i].function, *problem = tallies[i].complaints > 0 ? "answered wrong" : NULL;
		bool is_never = is_listed(function, suite.never_succeeds, suite.num_never);

		calls += tallies[i].calls;
		if (getenv("SOFTFIELD_TEST_VERBOSE") != NULL)
			printf("%8llu calls, %8llu successes: %s\n", (unsigned long long)tallies[i].calls,
			       (unsigned long long)tallies[i].successes, function);
		called += tallies[i].calls > 0;
		if (problem == NULL && !has_faults())
			problem = missing(i);
		if (problem == NULL && tallies[i].successes > 0 && is_never)
			problem = "succeeded though it is listed as never doing so";
		if (problem != NULL)
			fprintf(stderr, "%s (%s) %s\n", function, documented[i].header, problem);
		wrong += problem != NULL;
	}
	printf("%llu calls of %u functions in %u sequences, seed %llu\n", (unsigned long long)calls, called, sequence,
	       (unsigned long long)seed);
	return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static void run_all(void)
{
	const uint32_t num = has_faults() ? suite.num_sequences / 3 : suite.num_sequences;

	/* If chance has left something out, more sequences run. */
	for (sequence = 0; sequence < num || (sequence < MORE_TURNS * num && !has_faults() && is_any_missing()); sequence++)
		run_sequence();
}

int main(void)
{
	const char *given = getenv("SOFTFIELD_TEST_SEED"), *alone = getenv("SOFTFIELD_TEST_SEQUENCE");

	if (given != NULL)
		seed = strtoull(given, NULL, 0);
	else if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		return EXIT_FAILURE;
	seed %= 1000000000;
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	signal(SIGALRM, hung);
	tallies = calloc(num_documented, sizeof(*tallies));
	decks_fill();
	if (suite.open != NULL && !suite.open())
		return EXIT_FAILURE;
	int code = EXIT_SUCCESS;
	if (alone != NULL) {
		sequence = (uint32_t)strtoul(alone, NULL, 0);
		run_sequence();
		code = is_any_wrong() ? EXIT_FAILURE : EXIT_SUCCESS;
	} else {
		run_all();
		code = report();
	}
	alarm(0);
	if (suite.close != NULL)
		suite.close();
	free(tallies);
	decks_free();
	return code;
}
