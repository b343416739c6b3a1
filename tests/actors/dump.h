/*
 * tests/actors/dump.h - a store or a mirror as sorted lines in a file, so that a test can compare
 * them byte by byte.
 */
#ifndef MUSTER_TEST_DUMP_H
#define MUSTER_TEST_DUMP_H

#include <stdbool.h>

struct dump;

struct dump *dump_new(void);
void dump_line(struct dump *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Sorts, writes to `path` by rename (a reader sees all of it or none), frees. False with errno. */
bool dump_write(struct dump **dp, const char *path);

#endif
