/* sim/base/sim_buf.h - bytes that grow, for building JSON by hand. Zeroed is empty. */
#ifndef MUSTER_SIM_BUF_H
#define MUSTER_SIM_BUF_H

#include <jansson.h>
#include <stddef.h>

struct sim_buf {
	char	*bytes;		/* NUL-terminated where anything was added */
	size_t	 len, size;
};

void sim_buf_add(struct sim_buf *b, const void *bytes, size_t len);
void sim_buf_puts(struct sim_buf *b, const char *s);
void sim_buf_printf(struct sim_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A JSON value, compact; a text as a JSON string. */
void sim_buf_json(struct sim_buf *b, const json_t *value);
void sim_buf_quote(struct sim_buf *b, const char *s);
void sim_buf_free(struct sim_buf *b);

struct evbuffer;
/* The same, at the end of a buffer of libevent. */
void sim_buf_json_into(struct evbuffer *out, const json_t *value);

#endif
