/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that try capabilities. Include it after cmocka. */
#ifndef CAPS_ATTEMPTS_H
#define CAPS_ATTEMPTS_H

#include <stdbool.h>

#include <doca_dev.h>

/* A capability that was queried, and its answer. */
struct attempt {
	struct doca_devinfo *info;
	struct doca_dev *dev, *partner; /* the device at the other end of its PCI bus, or NULL */
	char pci[DOCA_DEVINFO_PCI_ADDR_SIZE];
	const char *function;
	int argument;
	uint64_t value;
};

struct attempt_entry {
	const char *function;
	void (*attempt)(const struct attempt *a); /* fails the test unless the answer is true */
};

extern const struct attempt_entry comch_attempts[], compress_attempts[], event_attempts[];
extern const size_t num_comch_attempts, num_compress_attempts, num_event_attempts;
#ifdef HAVE_ISAL
extern const struct attempt_entry erasure_coding_attempts[];
extern const size_t num_erasure_coding_attempts;
#endif

/* A value above 0 promises that the attempt works: result must be SUCCESS or IN_PROGRESS. Otherwise it must be an error. */
static inline void expect_agreed(const struct attempt *a, doca_error_t result)
{
	bool works = result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS;

	if (works != (a->value > 0))
		fail_msg("%s of %s says %llu, but the attempt gave %s", a->function, a->pci, (unsigned long long)a->value,
			 doca_error_get_name(result));
}

/* Opens a port's representor of the function, or returns NULL. */
struct doca_dev_rep *caps_rep(struct doca_dev *port, const struct doca_devinfo *function);

#endif
