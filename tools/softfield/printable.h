/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TOOL_PRINTABLE_H
#define TOOL_PRINTABLE_H

/* Replaces each control character and each byte that is no UTF-8 by '?', so that foreign text can go to a terminal. */
void make_printable(char *text);

#endif
