/* actors/metrics/exposition.c - series -> exposition format. Pure: same series, same bytes. */
#include "exposition.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_MAX	9007199254740992.0	/* 2^53: up to here a double counts without holes */

static const char *const kind_names[] = {
	[STAT_COUNTER] = "counter", [STAT_GAUGE] = "gauge", [STAT_HISTOGRAM] = "histogram",
};

static void sample(struct text *, const char *, const char *, const struct exposition_series *, const char *,
    double);
static void histogram(struct text *, const char *, const struct exposition_series *);
static void number(char *, size_t, double);

/* Help texts escape \ and newline; label values also the quote. */
static const char *const help_escapes[128] = { ['\n'] = "\\n", ['\\'] = "\\\\" };
static const char *const label_escapes[128] = { ['\n'] = "\\n", ['\\'] = "\\\\", ['"'] = "\\\"" };

void
text_put(struct text *t, const char *bytes, size_t len)
{
	if (t->len < t->size) {
		const size_t room = t->size - t->len;

		memcpy(t->buf + t->len, bytes, len < room ? len : room);
	}
	t->len += len;
}

void
text_puts(struct text *t, const char *s)
{
	text_put(t, s, strlen(s));
}

void
text_printf(struct text *t, const char *fmt, ...)
{
	const bool room = t->len < t->size;
	va_list ap;

	va_start(ap, fmt);
	const int n = vsnprintf(room ? t->buf + t->len : NULL, room ? t->size - t->len : 0, fmt, ap);
	va_end(ap);
	t->len += n > 0 ? (size_t)n : 0;
}

void
text_escape(struct text *t, const char *s, const char *const escapes[128])
{
	for (; *s != '\0'; s++) {
		const unsigned char c = (unsigned char)*s;
		const char *escape = c < 128 ? escapes[c] : NULL;

		text_put(t, escape != NULL ? escape : s, escape != NULL ? strlen(escape) : 1);
	}
}

const char *
exposition_kind_name(enum stat_kind kind)
{
	return kind_names[kind];
}

void
exposition_head(struct text *t, const char *family, enum stat_kind kind, const char *help)
{
	text_printf(t, "# HELP %s ", family);
	text_escape(t, help, help_escapes);
	text_printf(t, "\n# TYPE %s %s\n", family, kind_names[kind]);
}

void
exposition_series(struct text *t, const char *family, enum stat_kind kind, const struct exposition_series *s)
{
	if (kind == STAT_HISTOGRAM)
		histogram(t, family, s);
	else
		sample(t, family, "", s, NULL, s->value);
}

static void
histogram(struct text *t, const char *family, const struct exposition_series *s)
{
	char bound[32];

	for (size_t i = 0; i + 1 < s->nbuckets; i += 2) {
		number(bound, sizeof(bound), s->buckets[i]);
		sample(t, family, "_bucket", s, bound, s->buckets[i + 1]);
	}
	sample(t, family, "_bucket", s, "+Inf", (double)s->count);
	sample(t, family, "_sum", s, NULL, s->value);
	sample(t, family, "_count", s, NULL, (double)s->count);
}

/* One line. */
static void
sample(struct text *t, const char *family, const char *suffix, const struct exposition_series *s,
    const char *le, double value)
{
	const char *between = "{";
	char digits[32];

	text_puts(t, family);
	text_puts(t, suffix);
	if (s->actor != NULL) {
		text_printf(t, "%sactor=\"", between);
		text_escape(t, s->actor, label_escapes);
		text_puts(t, "\"");
		between = ",";
	}
	if (s->labels[0] != '\0') {
		text_printf(t, "%s%s", between, s->labels);
		between = ",";
	}
	if (le != NULL) {
		text_printf(t, "%sle=\"%s\"", between, le);
		between = ",";
	}
	number(digits, sizeof(digits), value);
	text_printf(t, "%s %s\n", between[0] == ',' ? "}" : "", digits);
}

/* The shortest text that reads back as the same number. */
static void
number(char *buf, size_t size, double v)
{
	if (isnan(v)) {
		snprintf(buf, size, "NaN");
	} else if (isinf(v)) {
		snprintf(buf, size, v > 0 ? "+Inf" : "-Inf");
	} else if (fabs(v) <= EXACT_MAX && v == floor(v)) {
		snprintf(buf, size, "%" PRId64, (int64_t)v);
	} else {
		for (int digits = 15; digits <= 17; digits++) {
			snprintf(buf, size, "%.*g", digits, v);
			if (strtod(buf, NULL) == v)
				return;
		}
	}
}
