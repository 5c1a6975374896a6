/* SPDX-License-Identifier: BSD-3-Clause */
/* With pauses as its only fault, a faulty provider keeps every promise of the provider that it wraps. */
#include "conformance.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	setenv("SOFTFIELD_FAULTS", "seed=1; poll.pause rate=0.2", 0);
	return conformance_run(argc > 1 ? argv[1] : "faulty:loop");
}
