/* SPDX-License-Identifier: BSD-3-Clause */
/* A text table with columns as wide as their widest cell. */
#ifndef TOOL_TABLE_H
#define TOOL_TABLE_H

#define TABLE_COLUMNS_MAX 12

struct table;

/* The headings of the columns, ended by NULL. A heading with the prefix '>' is of a column of numbers, which are
 * right-aligned. */
struct table *table_create(const char *const *headings);

/* Takes one string for each heading. NULL is printed as '-'. */
void table_row(struct table *table, ...);

/* The same, as a line with a tab between cells. */
void table_format(struct table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the title and the table, or nothing if it has no rows, and frees it. */
void table_print(struct table *table, const char *title);

#endif
