/* sim/base/sim_buf.h - bytes that grow, for building JSON by hand. Zeroed is empty. */
#ifndef MUSTER_SIM_BUF_H
#define MUSTER_SIM_BUF_H

#include <jansson.h>
#include <stddef.h>

struct buf {
	char	*bytes;		/* NUL-terminated where anything was added */
	size_t	 len, size;
};

void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A JSON value, compact; a text as a JSON string. */
void buf_json(struct buf *b, const json_t *value);
void buf_quote(struct buf *b, const char *s);
void buf_free(struct buf *b);

#endif
