/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOL_PRINTABLE_H
#define TOOL_PRINTABLE_H

/* Puts a question mark for each byte that is a control character or no UTF-8: what others chose may go to a terminal. */
void make_printable(char *text);

#endif
