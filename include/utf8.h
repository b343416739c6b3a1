/*
 * include/utf8.h - well-formed UTF-8, and how to show it. For what comes from outside and goes into
 * a line, a label or a page.
 */
#ifndef MUSTER_UTF8_H
#define MUSTER_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the well-formed character at s (1 to 4; len > 0 bytes are there), 0 when it is not one. */
size_t utf8_length(const char *s, size_t len);
/* The code point of the well-formed character of `bytes` bytes at s. */
uint32_t utf8_code(const char *s, size_t bytes);
/*
 * Bytes of the longest start of s that is well-formed and has no character that `refused` refuses (NULL: it
 * refuses none). len: all of s is good.
 */
size_t utf8_span(const char *s, size_t len, bool (*refused)(uint32_t code));
/* C0, DEL and C1: what steers a terminal, or ends a line. */
bool utf8_control(uint32_t code);
/*
 * Bytes of the longest start of s that has at most that many bytes and code points, and ends between
 * characters. A byte that is no UTF-8 counts as a character.
 */
size_t utf8_cut(const char *s, size_t len, size_t max_bytes, size_t max_points);

enum { UTF8_SHOWN_MAX = 8 };	/* bytes that show one character */

/*
 * The first character of s (len > 0) as it may stand between quotes on a terminal: itself, or an
 * escape for quotes, backslashes and control characters. Returns the bytes taken from s. A byte
 * that is no UTF-8 becomes \ufffd in JSON, and \x9b for people, who search for the cause.
 */
typedef size_t utf8_show(const char *s, size_t len, char out[UTF8_SHOWN_MAX], size_t *out_len);
utf8_show utf8_show_json, utf8_show_text;

#endif
