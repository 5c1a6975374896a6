/* SPDX-License-Identifier: BSD-3-Clause */
#include "conformance.h"

int main(void)
{
	return conformance_run("tcp");
}
