// SPDX-License-Identifier: BSD-3-Clause
// The headers of the host's halves, and their libraries, from C++.
#include <urom_allreduce.h>
#include <urom_graph.h>
#include <urom_rdmo.h>
#include <urom_sandbox.h>

int main()
{
	const uint64_t no_version = ~UINT64_C(0);
	return urom_graph_init(1, no_version) == DOCA_ERROR_UNSUPPORTED_VERSION &&
			       urom_sandbox_init(2, no_version) == DOCA_ERROR_UNSUPPORTED_VERSION &&
			       urom_rdmo_init(4, no_version) == DOCA_ERROR_UNSUPPORTED_VERSION &&
			       urom_allreduce_init(8, no_version) == DOCA_ERROR_UNSUPPORTED_VERSION
		       ? 0
		       : 1;
}
