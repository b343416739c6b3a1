/* tests/actors/dump.c - sorted lines, written by rename. */
#include "dump.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"

struct dump {
	char	**lines;
	size_t	  n, cap;
};

static int
compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

struct dump *
dump_new(void)
{
	return obj_alloc(sizeof(struct dump));
}

void
dump_line(struct dump *d, const char *fmt, ...)
{
	char line[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (d->n == d->cap) {
		d->cap = d->cap == 0 ? 64 : d->cap * 2;
		d->lines = obj_realloc(d->lines, d->cap * sizeof(*d->lines));
	}
	d->lines[d->n++] = obj_strdup(line);
}

bool
dump_write(struct dump **dp, const char *path)
{
	struct dump *d = *dp;
	char temporary[1024];
	bool ok = true;

	*dp = NULL;
	if (d->n > 0)
		qsort(d->lines, d->n, sizeof(*d->lines), compare);
	snprintf(temporary, sizeof(temporary), "%s.new", path);
	FILE *f = fopen(temporary, "we");
	for (size_t i = 0; i < d->n; i++) {
		ok = ok && f != NULL && fprintf(f, "%s\n", d->lines[i]) > 0;
		free(d->lines[i]);
	}
	free(d->lines);
	free(d);
	if (f == NULL)
		return false;
	return fclose(f) == 0 && ok && rename(temporary, path) == 0;
}
