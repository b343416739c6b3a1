/*
 * actors/metrics/exposition.h - text into the caller's memory, and the exposition format (text 0.0.4) on
 * top of it.
 *
 * Pure. What does not fit is counted but not written, as snprintf does: when len >= size, call
 * again with len + 1 bytes.
 */
#ifndef MUSTER_METRICS_EXPOSITION_H
#define MUSTER_METRICS_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stat.h"

#define EXPOSITION_CONTENT_TYPE	"text/plain; version=0.0.4; charset=utf-8"

enum {
	EXPOSITION_NAME_MAX	 = 128,		/* bytes of a family's name */
	EXPOSITION_LABELS_MAX	 = 1024,	/* bytes of the rendered labels of a series */
	EXPOSITION_BUCKETS_MAX = 64,		/* of a histogram, +Inf not counted */
};

struct text {
	char	*buf;
	size_t	 size;
	size_t	 len;
};

void text_put(struct text *t, const char *bytes, size_t len);
void text_puts(struct text *t, const char *s);
/* escapes: what stands for an ASCII character; NULL: itself. */
void text_escape(struct text *t, const char *s, const char *const escapes[128]);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* One sample, or for a histogram all of its lines. */
struct exposition_series {
	const char	*actor;		/* the first label; NULL: none */
	const char	*labels;	/* rendered: `a="b",c="d"`, or "" */
	double		 value;		/* histogram: sum */
	uint64_t	 count;		/* histogram: observations */
	const double	*buckets;	/* bound, cumulative count, bound ...: as in stat.h */
	size_t		 nbuckets;
};

void exposition_head(struct text *t, const char *family, enum stat_kind kind, const char *help);
void exposition_series(struct text *t, const char *family, enum stat_kind kind,
    const struct exposition_series *s);
const char *exposition_kind_name(enum stat_kind kind);

/*
 * What other processes hand in is checked by these before it gets into the text: Prometheus refuses
 * a whole scrape for one bad line. Labels must be rendered, escaped, UTF-8, without a name twice,
 * and without the names that we add.
 */
bool exposition_name_ok(const char *name, size_t len);
bool exposition_labels_ok(const char *labels, size_t len);
bool exposition_utf8_ok(const char *s, size_t len);
bool exposition_buckets_ok(const double *buckets, size_t n, uint64_t count);

#endif
