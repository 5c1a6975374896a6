/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of text in columns as wide as their widest cell. */
#ifndef TOOL_TABLE_H
#define TOOL_TABLE_H

#define TABLE_COLUMNS_MAX 12

struct table;

/* The columns' headings end with NULL. */
struct table *table_create(const char *const *headings);

/* As many strings as there are headings. NULL is shown as '-'. */
void table_row(struct table *table, ...);

/* Prints the title and the table, or nothing if it has no rows, and frees it. */
void table_print(struct table *table, const char *title);

#endif
