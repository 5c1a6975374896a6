/* SPDX-License-Identifier: BSD-3-Clause */
/* How the two sides of the benchmark talk besides RDMA: a stream socket, blocking. What breaks ends the program
 * with a message. */
#ifndef BENCH_RDMA_CHANNEL_H
#define BENCH_RDMA_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_BLOB_MAX 4096

/* Waits for one client on the loopback interface. Port 0 is a free one; the port is told on stderr. */
int bench_channel_serve(const char *port);
int bench_channel_connect(const char *host, const char *port);

void bench_channel_send(int channel, const void *data, size_t len);
void bench_channel_receive(int channel, void *data, size_t len);

/* With their length, which is checked. */
void bench_channel_send_blob(int channel, const void *data, size_t len);
size_t bench_channel_receive_blob(int channel, uint8_t data[BENCH_BLOB_MAX]);

/* Both sides are here. */
void bench_channel_meet(int channel);

/* Ends the program if the other side has ended: for whoever spins. */
void bench_channel_check(int channel);

/* The command, for messages. */
extern const char *bench_label;

/* A line on stderr, and the end. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
