/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An exchange in which one participant is a domain context and all others are simulated: their entries are made up, of sizes that
 * the caller chooses. One process can thus be in a domain of thousands.
 */
#ifndef TEST_UROM_PLAYERS_H
#define TEST_UROM_PLAYERS_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <doca_urom.h>

#include "base/clock.h"
#include "urom/directory.h"

#define UROM_PLAYER_IDS UINT64_C(1000000) /* the first of their workers' ids in the domain */

struct urom_players {
	uint32_t num; /* participants; the real one is the last */
	uint8_t **entries;
	size_t *lens;
	/* state of the exchange */
	uint32_t round; /* gatherings done */
	uint32_t num_freed;
	size_t offset;	   /* of each entry, gathered so far */
	size_t bytes_most; /* of one gathering */
	uint64_t bytes;	   /* of all gatherings */
	uint64_t ns;	   /* time that the simulation took */
	uint8_t *out;
	uint8_t *own;
	size_t len;
	/* Failures in a round, counted from 1; 0: none. */
	uint32_t fails_to_start, fails, never_ends;
	uint32_t other_index; /* index that the first player sends; 0: its own */
};

/* Adds a player with workers and buffers; sets the sizes of the workers' addresses and of the buffers' handles and keys. */
static inline void urom_player_set(struct urom_players *players, uint32_t index, uint32_t num_workers, size_t address_len,
				   uint32_t num_buffers, size_t key_len)
{
	struct urom_entry_worker *workers = (struct urom_entry_worker *)calloc(num_workers, sizeof(*workers));
	struct urom_entry_buffer *buffers = (struct urom_entry_buffer *)calloc(num_buffers + 1, sizeof(*buffers));
	uint8_t *bytes = (uint8_t *)malloc(address_len + key_len + 64), addresses[65536];

	memset(bytes, (int)index + 1, address_len + key_len + 64);
	size_t addresses_len = urom_addresses_append(addresses, sizeof(addresses), 0, 1, bytes, address_len);
	for (uint32_t i = 0; i < num_workers; i++)
		workers[i] = (struct urom_entry_worker){UROM_PLAYER_IDS + (uint64_t)index * num_workers + i,
							{addresses, addresses_len}};
	for (uint32_t i = 0; i < num_buffers; i++)
		buffers[i] = (struct urom_entry_buffer){(uint64_t)(i + 1) << 32, 1 << 20, {bytes, key_len}, {bytes, key_len}};
	free(players->entries[index]);
	players->lens[index] = urom_entry_pack(workers, num_workers, buffers, num_buffers, NULL, 0);
	players->entries[index] = (uint8_t *)malloc(players->lens[index]);
	(void)urom_entry_pack(workers, num_workers, buffers, num_buffers, players->entries[index], players->lens[index]);
	free(workers);
	free(buffers);
	free(bytes);
}

static inline void urom_players_open(struct urom_players *players, uint32_t num)
{
	memset(players, 0, sizeof(*players));
	players->num = num;
	players->entries = (uint8_t **)calloc(num, sizeof(players->entries[0]));
	players->lens = (size_t *)calloc(num, sizeof(players->lens[0]));
}

static inline void urom_players_close(struct urom_players *players)
{
	for (uint32_t i = 0; i < players->num; i++)
		free(players->entries[i]);
	free(players->entries);
	free(players->lens);
	free(players->own);
}

static inline void urom_players_play(struct urom_players *players)
{
	const size_t len = players->len;

	for (uint32_t i = 0; i + 1 < players->num; i++) {
		const uint64_t size[2] = {i == 0 ? players->other_index : i, players->lens[i]};
		const uint8_t *from = players->round == 0 ? (const uint8_t *)size : players->entries[i] + players->offset;
		size_t has = players->round == 0		  ? sizeof(size)
			     : players->offset < players->lens[i] ? players->lens[i] - players->offset
								  : 0;

		has = has < len ? has : len;
		memcpy(players->out + i * len, from, has);
		memset(players->out + i * len + has, 0, len - has);
	}
	memcpy(players->out + (players->num - 1) * len, players->own, len);
	players->offset += players->round == 0 ? 0 : len;
}

static inline doca_error_t urom_players_gather(void *sbuf, void *rbuf, size_t msglen, void *coll_info, void **req)
{
	struct urom_players *players = (struct urom_players *)coll_info;

	if (players->round + 1 == players->fails_to_start)
		return DOCA_ERROR_IO_FAILED;
	players->out = (uint8_t *)rbuf;
	players->len = msglen;
	players->own = (uint8_t *)realloc(players->own, msglen);
	memcpy(players->own, sbuf, msglen);
	players->bytes += msglen * players->num;
	if (msglen * players->num > players->bytes_most)
		players->bytes_most = msglen * players->num;
	*req = players;
	return DOCA_SUCCESS;
}

static inline doca_error_t urom_players_test(void *req)
{
	struct urom_players *players = (struct urom_players *)req;
	uint64_t from = sf_now_ns();

	if (players->round + 1 == players->never_ends)
		return DOCA_ERROR_IN_PROGRESS;
	if (players->round + 1 == players->fails)
		return DOCA_ERROR_IO_FAILED;
	urom_players_play(players);
	players->round++;
	players->ns += sf_now_ns() - from;
	return DOCA_SUCCESS;
}

static inline doca_error_t urom_players_free(void *req)
{
	((struct urom_players *)req)->num_freed++;
	return DOCA_SUCCESS;
}

static inline struct doca_urom_domain_oob_coll urom_players_oob(struct urom_players *players)
{
	players->round = players->num_freed = 0;
	players->offset = 0;
	return (struct doca_urom_domain_oob_coll){urom_players_gather, urom_players_test, urom_players_free, players,
						  players->num,	       players->num - 1};
}

#endif
