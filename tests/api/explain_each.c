/* SPDX-License-Identifier: BSD-3-Clause */
/* For explain_lines_test.py: explains each line of standard input, FILE<tab>MESSAGE, as FILE<tab>MESSAGE<tab>RULE<tab>FIX. */
#include <stdio.h>
#include <string.h>

#include "base/explain.h"

int main(void)
{
	static char line[4096];
	struct softfield_error error;

	while (fgets(line, sizeof(line), stdin) != NULL) {
		char *message = strchr(line, '\t');

		if (message == NULL)
			return 1;
		*message++ = '\0';
		message[strcspn(message, "\n")] = '\0';
		sf_explain(line, 1, "f", message, &error);
		printf("%s\t%s\t%s\t%s\n", line, message, error.rule, error.fix);
	}
	return 0;
}
