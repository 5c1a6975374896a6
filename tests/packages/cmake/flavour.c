/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints which side the headers are for. */
#include <stdio.h>

#include <doca_error.h>

int main(void)
{
#ifdef DOCA_ARCH_DPU
	const char *side = "DPU";
#else
	const char *side = "host";
#endif
	printf("%s, %s\n", side, doca_error_get_name(DOCA_SUCCESS));
	return 0;
}
