/*
 * include/utf8.h - is this text? Asked of whatever comes from outside and goes into a line, a label
 * or a page.
 */
#ifndef MUSTER_UTF8_H
#define MUSTER_UTF8_H

#include <stddef.h>

/* Bytes of the well-formed character at s (1 to 4; len > 0 bytes are there), 0 when it is not one. */
size_t utf8_length(const char *s, size_t len);

#endif
