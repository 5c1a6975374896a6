/* SPDX-License-Identifier: BSD-3-Clause */
/* The channel between both processes of a measurement: a blocking stream socket. An error ends the program with a
 * message. */
#ifndef BENCH_RDMA_CHANNEL_H
#define BENCH_RDMA_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BENCH_BLOB_MAX 4096

/* Waits for one client on the loopback interface. Port 0: any free one. Prints the port to stderr. */
int bench_channel_serve(const char *port);
int bench_channel_connect(const char *host, const char *port);

void bench_channel_send(int channel, const void *data, size_t len);
void bench_channel_receive(int channel, void *data, size_t len);

/* Sends the length first, which the receiver checks. */
void bench_channel_send_blob(int channel, const void *data, size_t len);
size_t bench_channel_receive_blob(int channel, uint8_t data[BENCH_BLOB_MAX]);

/* Both sides send version, and end the program if the other's differs: it is another release. Then the side that owns plan, of
 * len bytes, sends it. */
void bench_channel_agree(int channel, uint64_t version, void *plan, size_t len, bool is_ours);

/* Waits until both sides have called it. */
void bench_channel_meet(int channel);

/* Ends the program if the other side has ended; for loops that poll. */
void bench_channel_check(int channel);

/* Prints a line to stderr and ends the program. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
