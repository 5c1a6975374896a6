/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process with an RDMA instance on a GPU, and a peer process that obeys commands on a socket: an instance with tasks on a CPU,
 * or one on a GPU as well. The peer is the test program again. For one test program to include, after cmocka.
 */
#ifndef TEST_GPU_RDMA_PAIR_H
#define TEST_GPU_RDMA_PAIR_H

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <softfield/gpu_rdma.h>

#include "rig.h"

#include "support/rdma_rig.h"

#define SIZE (8u << 20)
#define LARGE (3u << 20)
#define DETAILS_MAX 2048
#define MANY_THREADS 144 /* four warps and a half */
#define READ_WRITE (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE)

struct introduction {
	size_t details_len, descriptor_len;
	uint8_t details[DETAILS_MAX], descriptor[DETAILS_MAX];
};

enum order { RECEIVE, AWAIT_RECEIVES, VERIFY, WATCH, FILL, SEND, WRITE, AWAIT_ENDS, LAUNCH, AWAIT_KERNEL, QUIT };

struct command {
	enum order order;
	uint32_t num, seed, imm, has_imm;
	uint64_t offset, len;
	uint64_t
		pattern; /* VERIFY: the pattern's byte at offset; WATCH: the round that the last of num messages of len bytes gets
			  */
};

struct answer {
	uint32_t ok, len, opcode, imm, good, failed, status;
};

/* The kind of peer, from its command line. */
struct peer_kind {
	bool gpu;
	bool ragged; /* its memory does not begin on a page */
	uint32_t permissions, mmap_permissions;
	bool twice; /* on a CPU: there are two connections */
};

struct pair {
	struct gpu_rig rig;
	struct introduction theirs;
	int socket;
	pid_t peer;
};

static inline void send_all(int socket, const void *bytes, size_t len)
{
	CHECK(send(socket, bytes, len, MSG_NOSIGNAL) == (ssize_t)len);
}

static inline void receive_all(int socket, void *bytes, size_t len)
{
	CHECK(recv(socket, bytes, len, MSG_WAITALL) == (ssize_t)len);
}

static inline void introduce(int socket, struct doca_rdma *rdma, struct doca_mmap *mmap, struct doca_dev *dev,
			     struct doca_rdma_connection **connection, struct introduction *theirs)
{
	struct introduction mine;
	const void *details, *descriptor;

	CHECK_OK(doca_rdma_export(rdma, &details, &mine.details_len, connection));
	CHECK_OK(doca_mmap_export_rdma(mmap, dev, &descriptor, &mine.descriptor_len));
	CHECK(mine.details_len <= DETAILS_MAX && mine.descriptor_len <= DETAILS_MAX);
	memcpy(mine.details, details, mine.details_len);
	memcpy(mine.descriptor, descriptor, mine.descriptor_len);
	send_all(socket, &mine, sizeof(mine));
	receive_all(socket, theirs, sizeof(*theirs));
	CHECK_OK(doca_rdma_connect(rdma, theirs->details, theirs->details_len, *connection));
}

/* ---- the peer on a CPU ---- */

static inline void replace_memory(struct rdma_rig *rig, bool ragged, uint32_t permissions)
{
	void *block = NULL;

	CHECK_OK(doca_mmap_destroy(rig->mmap));
	free(rig->memory);
	CHECK(posix_memalign(&block, 4096, SIZE + 8192) == 0);
	memset(block, 0, SIZE + 8192);
	rig->memory = (uint8_t *)block + (ragged ? 640 : 0);
	CHECK_OK(doca_mmap_create(&rig->mmap));
	CHECK_OK(doca_mmap_set_memrange(rig->mmap, rig->memory, SIZE));
	CHECK_OK(doca_mmap_set_permissions(rig->mmap, permissions));
	CHECK_OK(doca_mmap_add_dev(rig->mmap, rig->dev));
	CHECK_OK(doca_mmap_start(rig->mmap));
}

/* The round of the word at an offset; UINT64_MAX: it is none. */
static inline uint64_t round_of(const struct rdma_rig *rig, uint64_t offset, uint32_t len)
{
	const uint8_t *at = rig->memory + offset;
	uint64_t word = len == 4 ? __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE)
				 : __atomic_load_n((const uint64_t *)(const void *)at, __ATOMIC_ACQUIRE);
	uint32_t round = word & 0xffff;

	return word == (len == 4 ? (uint32_t)step_word(round) : step_word(round)) ? round : UINT64_MAX;
}

/* What the first and the last word of a message show. UINT64_MAX and 0: neither shows a round. */
struct sight {
	uint64_t oldest, newest;
	bool is_whole; /* both show one */
};

/* A word of a longer message may be in the middle of its arrival. A message of one word always shows a round, or is wrong. */
static inline struct sight look(const struct rdma_rig *rig, const struct command *command, uint32_t number)
{
	const uint32_t word = command->len < 8 ? (uint32_t)command->len : 8;
	const uint64_t begin = command->offset + number * command->len, at[] = {begin, begin + command->len - word};
	struct sight sight = {.oldest = UINT64_MAX, .is_whole = true};

	for (uint32_t i = 0; i < 2; i++) {
		const uint64_t round = round_of(rig, at[i], word);

		if (round == UINT64_MAX && word < command->len) {
			sight.is_whole = false;
			continue;
		}
		sight.oldest = round < sight.oldest ? round : sight.oldest;
		sight.newest = round > sight.newest ? round : sight.newest;
	}
	return sight;
}

/* Has every word of a message this round? */
static inline bool is_complete(const struct rdma_rig *rig, const struct command *command, uint32_t number, uint64_t round)
{
	const uint32_t word = command->len < 8 ? (uint32_t)command->len : 8;

	for (uint64_t at = 0; at < command->len; at += word) {
		if (round_of(rig, command->offset + number * command->len + at, word) != round)
			return false;
	}
	return true;
}

/* Messages are written in their order, in rounds: so all words of one that is read later, and lies before, have at least the same
 * round. Returns whether this was so until the last message had its last round, and the others were complete then. */
static inline bool watch(const struct rdma_rig *rig, const struct command *command)
{
	uint64_t last = 0;

	while (last < command->pattern) {
		uint64_t seen = 0;

		for (uint32_t i = command->num; i-- > 0;) {
			const struct sight sight = look(rig, command, i);

			if (sight.oldest < seen || sight.newest > command->pattern)
				return false;
			seen = sight.newest > seen ? sight.newest : seen;
			if (i == command->num - 1)
				last = sight.is_whole ? sight.oldest : 0;
		}
	}
	for (uint32_t i = 0; i < command->num - 1; i++) {
		if (!is_complete(rig, command, i, command->pattern))
			return false;
	}
	return true;
}

static inline void cpu_obey(struct rdma_rig *rig, struct doca_rdma_connection *connection, const struct command *command,
			    int socket)
{
	struct answer answer = {.ok = 1};
	struct doca_buf *buf = NULL;

	switch (command->order) {
	case RECEIVE:
		for (uint32_t i = 0; i < command->num; i++)
			CHECK_OK(rig_receive(
				rig, command->len != 0 ? rig_room(rig, command->offset + i * command->len, command->len) : NULL,
				0));
		break;
	case AWAIT_RECEIVES:
		RDMA_RIG_WAIT(rig, NULL, rig->num_received >= command->num);
		break;
	case VERIFY:
		for (uint64_t i = 0; i < command->len; i++)
			answer.ok &= rig->memory[command->offset + i] == step_byte(command->seed, command->pattern + i);
		break;
	case WATCH:
		answer.ok = watch(rig, command);
		break;
	case FILL:
		for (uint64_t i = 0; i < command->len; i++)
			rig->memory[command->offset + i] = step_byte(command->seed, i);
		break;
	case SEND:
		if (command->len != 0)
			buf = rig_source(rig, command->offset, command->len);
		for (uint32_t i = 0; i < command->num; i++)
			CHECK_OK(command->has_imm ? rig_send_imm(rig, connection, buf, command->imm + i, 0)
						  : rig_send(rig, connection, buf, 0));
		break;
	case WRITE:
		CHECK_OK(command->has_imm ? rig_write_imm(rig, connection, rig_source(rig, command->offset, command->len),
							  rig_remote_room(rig, command->offset, command->len), command->imm, 0)
					  : rig_write(rig, connection, rig_source(rig, command->offset, command->len),
						      rig_remote_room(rig, command->offset, command->len), 0));
		break;
	case AWAIT_ENDS:
		RDMA_RIG_WAIT(rig, NULL, rig->num_ended >= command->num);
		break;
	default:
		CHECK(!"a command");
	}
	answer.len = rig->len;
	answer.opcode = rig->opcode;
	answer.imm = rig->immediate;
	answer.good = rig->num_good;
	answer.failed = rig->num_failed;
	answer.status = rig->status;
	send_all(socket, &answer, sizeof(answer));
}

static inline void cpu_peer(const struct peer_kind *kind, int socket)
{
	static struct rdma_rig rig;
	static struct introduction theirs;
	struct doca_rdma_connection *connection;
	struct command command;

	rdma_rig_prepare(&rig, 1, 4096, kind->permissions, RIG_ALL);
	replace_memory(&rig, kind->ragged, kind->mmap_permissions);
	CHECK_OK(doca_rdma_set_max_num_connections(rig.rdma, kind->twice ? 2 : 1));
	rdma_rig_start(&rig);
	if (kind->twice)
		introduce(socket, rig.rdma, rig.mmap, rig.dev, &connection, &theirs);
	introduce(socket, rig.rdma, rig.mmap, rig.dev, &connection, &theirs);
	if (getenv("SOFTFIELD_GPU") == NULL || strcmp(getenv("SOFTFIELD_GPU"), "cuda") != 0)
		rdma_rig_import(&rig, theirs.descriptor, theirs.descriptor_len);
	while (recv(socket, &command, sizeof(command), MSG_WAITALL) == sizeof(command) && command.order != QUIT)
		cpu_obey(&rig, connection, &command, socket);
	rdma_rig_stop(&rig);
}

/* ---- the peer on a GPU ---- */

static inline void gpu_peer(const struct peer_kind *kind, int socket)
{
	static struct gpu_rig rig;
	static struct introduction theirs;
	static struct step steps[STEPS_MAX];
	struct command command;

	gpu_rig_prepare(&rig, SIZE, kind->permissions);
	gpu_rig_start(&rig);
	introduce(socket, rig.rdma, rig.mmaps[STEP_GPU_MEMORY], rig.dev, &rig.connection, &theirs);
	gpu_rig_import(&rig, STEP_REMOTE, theirs.descriptor, theirs.descriptor_len);
	while (recv(socket, &command, sizeof(command), MSG_WAITALL) == sizeof(command) && command.order != QUIT) {
		if (command.order == LAUNCH) {
			receive_all(socket, steps, command.num * sizeof(*steps));
			gpu_rig_launch(&rig, steps, command.num, 1);
		} else {
			send_all(socket, gpu_rig_wait(&rig), command.num * sizeof(struct step_result));
		}
	}
	gpu_rig_fini(&rig);
}

/* ---- this side ---- */

static inline void spawn_peer(struct pair *pair, const struct peer_kind *kind)
{
	char words[6][16];
	int sockets[2];

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	snprintf(words[0], sizeof(words[0]), "%d", sockets[1]);
	snprintf(words[1], sizeof(words[1]), "%d", kind->gpu);
	snprintf(words[2], sizeof(words[2]), "%d", kind->ragged);
	snprintf(words[3], sizeof(words[3]), "%u", kind->permissions);
	snprintf(words[4], sizeof(words[4]), "%u", kind->mmap_permissions);
	snprintf(words[5], sizeof(words[5]), "%d", kind->twice);
	fflush(NULL);
	pair->peer = fork();
	CHECK(pair->peer >= 0);
	if (pair->peer == 0) {
		close(sockets[0]);
		execl("/proc/self/exe", "peer", words[0], words[1], words[2], words[3], words[4], words[5], (char *)NULL);
		_exit(1);
	}
	close(sockets[1]);
	pair->socket = sockets[0];
}

static inline void finish_opening(struct pair *pair, const struct peer_kind *kind)
{
	struct introduction *theirs = &pair->theirs;

	gpu_rig_start(&pair->rig);
	spawn_peer(pair, kind);
	if (kind->twice)
		introduce(pair->socket, pair->rig.rdma, pair->rig.mmaps[STEP_GPU_MEMORY], pair->rig.dev, &pair->rig.connection,
			  theirs);
	introduce(pair->socket, pair->rig.rdma, pair->rig.mmaps[STEP_GPU_MEMORY], pair->rig.dev, &pair->rig.connection, theirs);
	gpu_rig_import(&pair->rig, STEP_REMOTE, theirs->descriptor, theirs->descriptor_len);
}

static const __attribute__((unused)) struct peer_kind cpu_kind = {.permissions = READ_WRITE, .mmap_permissions = READ_WRITE};
static const __attribute__((unused)) struct peer_kind ragged_kind = {
	.ragged = true, .permissions = READ_WRITE, .mmap_permissions = READ_WRITE};
static const __attribute__((unused)) struct peer_kind two_connections_kind = {
	.permissions = READ_WRITE, .mmap_permissions = READ_WRITE, .twice = true};
static const __attribute__((unused)) struct peer_kind gpu_kind = {
	.gpu = true, .permissions = READ_WRITE, .mmap_permissions = READ_WRITE};

static inline void open_pair(struct pair *pair, const struct peer_kind *kind)
{
	gpu_rig_prepare(&pair->rig, SIZE, READ_WRITE);
	finish_opening(pair, kind);
}

static inline bool is_software(const struct pair *pair)
{
	return strcmp(softfield_gpu_backend(pair->rig.gpu), "soft") == 0;
}

static inline struct doca_gpu_dev_rdma *handle_of(struct pair *pair)
{
	struct doca_gpu_dev_rdma *handle;

	CHECK_OK(doca_rdma_get_gpu_handle(pair->rig.rdma, &handle));
	return handle;
}

/* A software GPU leaves writes to the thread only behind other operations of it, unless it is told that the thread polls. A real
 * one is told so by the thread, after the first writes. */
static inline void leave_writes_to_the_thread(struct pair *pair)
{
	if (is_software(pair))
		handle_of(pair)->state.w[SOFTFIELD_RDMA_POLLS] = 1;
}

static inline struct answer ask(struct pair *pair, struct command command)
{
	struct answer answer;

	send_all(pair->socket, &command, sizeof(command));
	receive_all(pair->socket, &answer, sizeof(answer));
	return answer;
}

static inline void verify_peer(struct pair *pair, uint64_t offset, uint64_t len, uint32_t seed)
{
	assert_true(ask(pair, (struct command){.order = VERIFY, .offset = offset, .len = len, .seed = seed}).ok);
}

static inline void reap(struct pair *pair, bool orderly)
{
	int status;

	assert_int_equal(waitpid(pair->peer, &status, 0), pair->peer);
	if (orderly)
		assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	close(pair->socket);
}

static inline void close_pair(struct pair *pair)
{
	const struct command quit = {.order = QUIT};

	send_all(pair->socket, &quit, sizeof(quit));
	reap(pair, true);
	gpu_rig_fini(&pair->rig);
}

/* Runs the steps and expects these results; last is the result of the last step. */
static inline void run(struct pair *pair, const struct step *steps, uint32_t num, doca_error_t last)
{
	const struct step_result *results = gpu_rig_run(&pair->rig, steps, num);

	for (uint32_t i = 0; i < num; i++) {
		if (results[i].status != (uint32_t)(i + 1 == num ? last : DOCA_SUCCESS))
			print_error("step %u of kind %u: %s\n", i, steps[i].what, doca_error_get_name(results[i].status));
		assert_int_equal(results[i].status, i + 1 == num ? last : DOCA_SUCCESS);
	}
}
#define RUN(pair, steps, last) run(pair, steps, sizeof(steps) / sizeof((steps)[0]), last)
#define COMMIT                                                                                                                   \
	{                                                                                                                        \
		.what = STEP_COMMIT                                                                                              \
	}
#define WAIT                                                                                                                     \
	{                                                                                                                        \
		.what = STEP_WAIT                                                                                                \
	}

/* The first call of main: if this process is the peer, it runs the peer and does not return. */
static inline void be_peer_if_asked(int argc, char **argv)
{
	if (argc != 7 || strcmp(argv[0], "peer") != 0)
		return;
	const struct peer_kind kind = {.gpu = atoi(argv[2]) != 0,
				       .ragged = atoi(argv[3]) != 0,
				       .permissions = (uint32_t)atoi(argv[4]),
				       .mmap_permissions = (uint32_t)atoi(argv[5]),
				       .twice = atoi(argv[6]) != 0};
	alarm(180);
	if (kind.gpu)
		gpu_peer(&kind, atoi(argv[1]));
	else
		cpu_peer(&kind, atoi(argv[1]));
	_exit(0);
}

#endif
