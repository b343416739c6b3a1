/*
 * kube/json_check.h - whether bytes are one JSON value (RFC 8259), and nothing behind it. Pure: no tree is
 * built, so bytes of an unknown sender cost no memory. Afterwards json_span.h reads them.
 */
#ifndef MUSTER_JSON_CHECK_H
#define MUSTER_JSON_CHECK_H

#include <stddef.h>

enum { JSON_CHECK_DEPTH_MAX = 64 };

/*
 * NULL: valid UTF-8 and JSON, at most JSON_CHECK_DEPTH_MAX brackets deep, without NUL in texts. Else what
 * is wrong, static, and *at where.
 */
const char *json_check(const char *p, size_t len, size_t *at);

#endif
