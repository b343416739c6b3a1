/* sim/kube/schema/sim_schema_format.c - the formats and patterns of a schema. */
#include <arpa/inet.h>
#include <ctype.h>
#include <limits.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/time.h"
#include "obj.h"
#include "sim/base/sim_buf.h"
#include "sim_schema_format.h"

/* One character class, as the set of its bytes. */
struct character_class {
	bool	has[UCHAR_MAX + 1];
};

typedef bool fits(const char *text);

static fits is_date_time, is_date, is_ipv4, is_ipv6, is_cidr, is_uuid, is_byte, is_duration, is_mac;
static char *translated(const char *pattern, int *flags);
static const char *copy_escape(struct sim_buf *out, const char *p, bool *ok);
static const char *copy_class(struct sim_buf *out, const char *p, bool *ok);
static const char *read_class_item(struct character_class *c, const char *p, int *last, bool *ok);
static void add_letters(struct character_class *c, char which);
static void write_class(struct sim_buf *out, const struct character_class *c, bool negated);

static const struct {
	const char	*name;
	fits		*fits;
} formats[] = {
	{ "date-time",	is_date_time	},
	{ "datetime",	is_date_time	},
	{ "date",	is_date		},
	{ "ipv4",	is_ipv4		},
	{ "ipv6",	is_ipv6		},
	{ "cidr",	is_cidr		},
	{ "uuid",	is_uuid		},
	{ "byte",	is_byte		},
	{ "duration",	is_duration	},
	{ "mac",	is_mac		},
};

bool
sim_schema_format_fits(const char *format, const char *text)
{
	for (size_t i = 0; i < NITEMS(formats); i++)
		if (strcmp(formats[i].name, format) == 0)
			return formats[i].fits(text);
	return true;
}

long long
sim_schema_format_length(const char *text)
{
	long long n = 0;

	for (; *text != '\0'; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

bool
sim_schema_pattern_fits(const char *pattern, const char *text)
{
	int flags = REG_EXTENDED | REG_NOSUB;
	char *posix = translated(pattern, &flags);
	regex_t re;
	bool fit = true;

	if (posix != NULL && regcomp(&re, posix, flags) == 0) {
		fit = regexec(&re, text, 0, NULL, 0) == 0;
		regfree(&re);
	}
	free(posix);
	return fit;
}

/* NULL: POSIX has no such pattern. */
static char *
translated(const char *pattern, int *flags)
{
	struct sim_buf posix = { 0 };
	bool ok = true;

	if (strncmp(pattern, "(?i)", 4) == 0) {
		*flags |= REG_ICASE;
		pattern += 4;
	}
	for (const char *p = pattern; ok && *p != '\0';) {
		if (*p == '\\') {
			p = copy_escape(&posix, p, &ok);
		} else if (*p == '[') {
			p = copy_class(&posix, p, &ok);
		} else if (strncmp(p, "(?:", 3) == 0) {
			sim_buf_puts(&posix, "(");
			p += 3;
		} else if (strncmp(p, "(?", 2) == 0) {
			ok = false;
		} else {
			sim_buf_add(&posix, p, 1);
			/* A lazy repetition finds the same texts. */
			p += strchr("*+?}", *p) != NULL && p[1] == '?' ? 2 : 1;
		}
	}
	sim_buf_puts(&posix, "");
	if (!ok)
		sim_buf_free(&posix);
	return posix.bytes;
}

static const char *
copy_escape(struct sim_buf *out, const char *p, bool *ok)
{
	struct character_class c = { 0 };

	p++;
	if (*p != '\0' && strchr("dwsDWS", *p) != NULL) {
		add_letters(&c, (char)tolower((unsigned char)*p));
		write_class(out, &c, isupper((unsigned char)*p) != 0);
	} else if (*p == 'A' || *p == 'z') {
		sim_buf_puts(out, *p == 'A' ? "^" : "$");
	} else if (*p == 'b' || *p == 'B') {
		sim_buf_printf(out, "\\%c", *p);
	} else if (*p == 'n' || *p == 't') {
		sim_buf_puts(out, *p == 'n' ? "\n" : "\t");
	} else if (*p == '\0' || isalnum((unsigned char)*p)) {
		*ok = false;
		return p;
	} else {
		sim_buf_printf(out, "%s%c", strchr(".[]{}()*+?^$|\\", *p) != NULL ? "\\" : "", *p);
	}
	return p + 1;
}

static const char *
copy_class(struct sim_buf *out, const char *p, bool *ok)
{
	struct character_class c = { 0 };
	const bool negated = p[1] == '^';
	int last = -1;

	p += negated ? 2 : 1;
	for (bool first = true; *ok && (*p != ']' || first); first = false) {
		if (*p == '\0') {
			*ok = false;
			return p;
		}
		if (*p == '-' && last >= 0 && p[1] != ']' && p[1] != '\0') {
			int from = last;

			p = read_class_item(&c, p + 1, &last, ok);
			for (; from >= 0 && from <= last; from++)
				c.has[from] = true;
			last = -1;
		} else {
			p = read_class_item(&c, p, &last, ok);
		}
	}
	write_class(out, &c, negated);
	return p + (*p == ']');
}

/* *last: the byte that was read, for a range; -1: none. */
static const char *
read_class_item(struct character_class *c, const char *p, int *last, bool *ok)
{
	static const struct {
		const char *name;
		int (*is)(int);
	} named[] = {
		{ "[:alnum:]", isalnum }, { "[:alpha:]", isalpha }, { "[:digit:]", isdigit }, { "[:lower:]", islower },
		{ "[:upper:]", isupper }, { "[:space:]", isspace }, { "[:punct:]", ispunct }, { "[:xdigit:]", isxdigit },
	};

	*last = -1;
	for (size_t i = 0; i < NITEMS(named); i++) {
		if (strncmp(p, named[i].name, strlen(named[i].name)) != 0)
			continue;
		for (int b = 0; b < 128; b++)
			c->has[b] = c->has[b] || named[i].is(b);
		return p + strlen(named[i].name);
	}
	if (*p == '\\') {
		p++;
		if (*p != '\0' && strchr("dws", *p) != NULL) {
			add_letters(c, *p);
			return p + 1;
		}
		if (*p == '\0' || (isalnum((unsigned char)*p) && strchr("nt", *p) == NULL)) {
			*ok = false;
			return p;
		}
		*last = *p == 'n' ? '\n' : *p == 't' ? '\t' : (unsigned char)*p;
	} else {
		*last = (unsigned char)*p;
	}
	c->has[*last] = true;
	return p + 1;
}

static void
add_letters(struct character_class *c, char which)
{
	for (int b = 0; b < 128; b++)
		c->has[b] = c->has[b] || (which == 'd' && isdigit(b))
		    || (which == 'w' && (isalnum(b) || b == '_'))
		    || (which == 's' && b != '\v' && isspace(b));
}

/* In an order in which POSIX takes every byte for itself: ] first, - last, ^ never first. */
static void
write_class(struct sim_buf *out, const struct character_class *c, bool negated)
{
	bool any = false;

	sim_buf_printf(out, "[%s%s", negated ? "^" : "", c->has[']'] ? "]" : "");
	for (int b = 1; b <= UCHAR_MAX; b++) {
		if (!c->has[b] || b == ']' || b == '-' || b == '^')
			continue;
		sim_buf_printf(out, "%c", b);
		any = true;
	}
	/* Right behind the bracket it would negate. */
	if (c->has['^'])
		sim_buf_puts(out, any || c->has[']'] ? "^" : "[.^.]");
	sim_buf_printf(out, "%s]", c->has['-'] ? "-" : "");
}

static bool
is_date_time(const char *text)
{
	int64_t us;

	return time_parse(text, strlen(text), &us);
}

static bool
is_date(const char *text)
{
	char whole[40];
	int64_t us;

	snprintf(whole, sizeof(whole), "%.20sT00:00:00Z", text);
	return strlen(text) == strlen("2006-01-02") && time_parse(whole, strlen(whole), &us);
}

static bool
is_ipv4(const char *text)
{
	struct in_addr address;

	return inet_pton(AF_INET, text, &address) == 1;
}

static bool
is_ipv6(const char *text)
{
	struct in6_addr address;

	return inet_pton(AF_INET6, text, &address) == 1;
}

static bool
is_cidr(const char *text)
{
	const char *slash = strchr(text, '/');
	char address[64];
	char *end;

	if (slash == NULL || !isdigit((unsigned char)slash[1]) || (size_t)(slash - text) >= sizeof(address))
		return false;
	snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);
	const long bits = strtol(slash + 1, &end, 10);

	return *end == '\0' && ((is_ipv4(address) && bits <= 32) || (is_ipv6(address) && bits <= 128));
}

static bool
is_uuid(const char *text)
{
	return sim_schema_pattern_fits(
	    "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$", text);
}

static bool
is_byte(const char *text)
{
	return sim_schema_pattern_fits("^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$", text);
}

static bool
is_duration(const char *text)
{
	return sim_schema_pattern_fits("^[-+]?([0-9]+(\\.[0-9]*)?(ns|us|µs|ms|s|m|h))+$", text)
	    || sim_schema_pattern_fits("(?i)^[0-9]+ *(n|ns|nanos?|nanoseconds?|us|µs|micros?|microseconds?|"
	    "ms|millis?|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hr|hours?|d|days?|w|wk|weeks?)$", text)
	    || strcmp(text, "0") == 0;
}

static bool
is_mac(const char *text)
{
	return sim_schema_pattern_fits("(?i)^[0-9a-f]{2}([:-][0-9a-f]{2}){5}$", text);
}
