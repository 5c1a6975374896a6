/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table {
	char **cells; /* rows, the headings first */
	int columns, rows;
	bool is_right[TABLE_COLUMNS_MAX]; /* the columns whose cells are aligned */
};

/* Ends the tool if it is out of memory. */
static void *memory_check(void *memory)
{
	if (!memory)
		abort();
	return memory;
}

static char **new_row(struct table *table)
{
	size_t columns = (size_t)table->columns;

	table->cells = memory_check(realloc(table->cells, (size_t)++table->rows * columns * sizeof(*table->cells)));
	return table->cells + (size_t)(table->rows - 1) * columns;
}

struct table *table_create(const char *const *headings)
{
	struct table *table = memory_check(calloc(1, sizeof(*table)));

	while (headings[table->columns])
		table->columns++;
	assert(table->columns <= TABLE_COLUMNS_MAX);

	char **row = new_row(table);

	for (int i = 0; i < table->columns; i++) {
		table->is_right[i] = *headings[i] == '>';
		row[i] = memory_check(strdup(headings[i] + table->is_right[i]));
	}
	return table;
}

void table_row(struct table *table, ...)
{
	char **row = new_row(table);
	va_list cells;

	va_start(cells, table);
	for (int i = 0; i < table->columns; i++) {
		const char *cell = va_arg(cells, const char *);

		row[i] = memory_check(strdup(cell && *cell ? cell : "-"));
	}
	va_end(cells);
}

void table_format(struct table *table, const char *format, ...)
{
	char **row = new_row(table), *line, *rest;
	va_list args;

	va_start(args, format);
	if (vasprintf(&line, format, args) < 0)
		abort();
	va_end(args);
	rest = line;
	for (int i = 0; i < table->columns; i++) {
		const char *cell = strsep(&rest, "\t");

		row[i] = memory_check(strdup(cell && *cell ? cell : "-"));
	}
	free(line);
}

static void print_row(const struct table *table, int row, const int *widths)
{
	for (int i = 0; i < table->columns; i++) {
		const char *cell = table->cells[row * table->columns + i];
		bool last = i == table->columns - 1;

		printf("  %*s", table->is_right[i] ? widths[i] : last ? 0 : -widths[i], cell);
	}
	putchar('\n');
}

void table_print(struct table *table, const char *title)
{
	int widths[TABLE_COLUMNS_MAX] = {0};
	int count = table->rows * table->columns;

	for (int i = 0; i < count; i++) {
		int width = (int)strlen(table->cells[i]);

		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
	if (table->rows > 1)
		printf("%s\n", title);
	for (int row = 0; table->rows > 1 && row < table->rows; row++)
		print_row(table, row, widths);
	for (int i = 0; i < count; i++)
		free(table->cells[i]);
	free(table->cells);
	free(table);
}
