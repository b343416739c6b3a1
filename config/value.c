/*
 * config/value.c - values from text: durations, addresses, numbers, words. Pure.
 *
 * Strict on purpose: each value has one way to be written, so that a typing error is an error and
 * not another value. The texts are those of YAML scalars: neither trimmed nor lowered here.
 */
#include "value.h"

#include <arpa/inet.h>
#include <string.h>

#include "ascii.h"
#include "obj.h"
#include "utf8.h"

struct value_text {
	const char	*p, *end;
};

enum digits { DIGITS_OK, DIGITS_NONE, DIGITS_OVERFLOW };

typedef enum value_fault parser(const struct value_rule *, struct value_text, int64_t *);

static parser parse_str, parse_path, parse_addr, parse_domain, parse_label, parse_url, parse_int, parse_word,
    parse_duration;

static parser *const parsers[VALUE_TYPE_MAX] = {
	[VALUE_STR] = parse_str,
	[VALUE_PATH] = parse_path,
	[VALUE_CREDENTIAL] = parse_path,
	[VALUE_FILE] = parse_path,
	[VALUE_ADDR] = parse_addr,
	[VALUE_DOMAIN] = parse_domain,
	[VALUE_LABEL] = parse_label,
	[VALUE_URL] = parse_url,
	[VALUE_INT] = parse_int,
	[VALUE_BOOL] = parse_word,
	[VALUE_DURATION] = parse_duration,
	[VALUE_LEVEL] = parse_word,
	[VALUE_FORMAT] = parse_word,
	[VALUE_CHOICE] = parse_word,
};

static const char *const type_words[VALUE_TYPE_MAX] = {
#define TYPE_ROW(ID, words) [VALUE_##ID] = (words),
	VALUE_TYPES(TYPE_ROW)
};

const struct value_unit value_units[VALUE_UNITS] = {
	{ .name = "h", .ms = 3600000 },
	{ .name = "m", .ms = 60000 },
	{ .name = "s", .ms = 1000 },
	{ .name = "ms", .ms = 1 },
};

static const char *const faults[VALUE_FAULT_MAX] = {
#define FAULT_ROW(ID, text) [VALUE_FAULT_##ID] = (text),
	VALUE_FAULTS(FAULT_ROW)
};

static enum digits take_digits(struct value_text *t, int64_t *out);
static size_t take_unit(struct value_text *t, size_t first);
static bool is_host(struct value_text host);
static bool is_port(struct value_text port);
static bool is_name(struct value_text host);
static bool is_loopback(struct value_text host);
static bool is_off(struct value_text addr);
static bool is_ip(int family, struct value_text host);

enum value_fault
value_parse(const struct value_rule *rule, const char *text, size_t len, int64_t *num)
{
	int64_t found = 0;

	if (utf8_span(text, len, value_control) < len)
		return VALUE_FAULT_TEXT;
	const enum value_fault f =
	    parsers[rule->type](rule, (struct value_text){ text, text + len }, &found);
	if (f == VALUE_FAULT_NONE)
		*num = found;
	return f;
}

const char *
value_words(const struct value_rule *rule)
{
	return rule->words != NULL ? rule->words : type_words[rule->type];
}

const char *
value_fault_text(enum value_fault f)
{
	return faults[f];
}

bool
value_control(uint32_t code)
{
	return utf8_control(code)
	    || code == 0x2028 || code == 0x2029			/* line and paragraph separator */
	    || code == 0xfeff || code == 0xfffe || code == 0xffff;
}

static enum value_fault
parse_str(const struct value_rule *rule, struct value_text t, int64_t *num)
{
	const int64_t len = t.end - t.p;

	(void)num;
	return len < rule->min || len > rule->max ? VALUE_FAULT_LENGTH : VALUE_FAULT_NONE;
}

static enum value_fault
parse_path(const struct value_rule *rule, struct value_text t, int64_t *num)
{
	if (t.p < t.end && *t.p != '/')
		return VALUE_FAULT_RELATIVE;
	return parse_str(rule, t, num);
}

static enum value_fault
parse_int(const struct value_rule *rule, struct value_text t, int64_t *num)
{
	const bool negative = t.p < t.end && *t.p == '-';
	int64_t n = 0;

	if (negative)
		t.p++;
	/* 010 is eight to a YAML 1.1 reader and ten to a person: neither here. Nor is "-0". */
	if (t.p < t.end && *t.p == '0' && (negative || t.end - t.p > 1))
		return VALUE_FAULT_NUMBER;
	const enum digits d = take_digits(&t, &n);
	if (d == DIGITS_NONE || t.p != t.end)
		return VALUE_FAULT_NUMBER;
	n = negative ? -n : n;
	if (d == DIGITS_OVERFLOW || n < rule->min || n > rule->max)
		return VALUE_FAULT_RANGE;
	*num = n;
	return VALUE_FAULT_NONE;
}

static enum value_fault
parse_word(const struct value_rule *rule, struct value_text t, int64_t *num)
{
	const size_t len = (size_t)(t.end - t.p);

	for (const char *w = value_words(rule); *w != '\0'; (*num)++) {
		const size_t n = strcspn(w, "|");

		if (n == len && memcmp(w, t.p, n) == 0)
			return VALUE_FAULT_NONE;
		w += n + (w[n] == '|');
	}
	return VALUE_FAULT_WORD;
}

static enum value_fault
parse_duration(const struct value_rule *rule, struct value_text t, int64_t *num)
{
	const bool zero = t.end - t.p == 1 && *t.p == '0';
	int64_t total = 0;
	size_t unit = 0;

	if (t.p == t.end)
		return VALUE_FAULT_DURATION;
	while (!zero && t.p < t.end) {
		int64_t n;
		const enum digits d = take_digits(&t, &n);

		if (d == DIGITS_NONE)
			return VALUE_FAULT_DURATION;
		if (t.p == t.end)
			return VALUE_FAULT_UNIT;
		if (*t.p == '.')
			return VALUE_FAULT_FRACTION;
		unit = take_unit(&t, unit);
		if (unit == VALUE_UNITS)
			return VALUE_FAULT_DURATION;
		if (d == DIGITS_OVERFLOW || __builtin_mul_overflow(n, value_units[unit].ms, &n)
		    || __builtin_add_overflow(total, n, &total))
			return VALUE_FAULT_RANGE;
		unit++;
	}
	if (total < rule->min || total > rule->max)
		return VALUE_FAULT_RANGE;
	*num = total;
	return VALUE_FAULT_NONE;
}

static enum value_fault
parse_addr(const struct value_rule *rule, struct value_text t, int64_t *num)
{
	(void)num;
	if (rule->min == 0 && is_off(t))
		return VALUE_FAULT_NONE;
	const char *colon = t.p == t.end ? NULL : memrchr(t.p, ':', (size_t)(t.end - t.p));
	if (colon == NULL)
		return VALUE_FAULT_NO_PORT;
	if (!is_host((struct value_text){ t.p, colon }))
		return VALUE_FAULT_HOST;
	return is_port((struct value_text){ colon + 1, t.end }) ? VALUE_FAULT_NONE : VALUE_FAULT_PORT;
}

/* What an API group may be: a name in lower case, with a dot in it (apiextensions requires one). */
static enum value_fault
parse_domain(const struct value_rule *rule, struct value_text t, int64_t *num)
{
	bool dotted = false, lower = true;

	for (const char *p = t.p; p < t.end; p++) {
		dotted = dotted || *p == '.';
		lower = lower && !(*p >= 'A' && *p <= 'Z');
	}
	return dotted && lower && is_name(t) ? parse_str(rule, t, num) : VALUE_FAULT_DOMAIN;
}

static enum value_fault
parse_label(const struct value_rule *rule, struct value_text t, int64_t *num)
{
	for (const char *p = t.p; p < t.end; p++) {
		if (*p == '.' || (*p >= 'A' && *p <= 'Z'))
			return VALUE_FAULT_LABEL;
	}
	return is_name(t) ? parse_str(rule, t, num) : VALUE_FAULT_LABEL;
}

/* A credential goes along: it is never sent unencrypted beyond this machine. */
static enum value_fault
parse_url(const struct value_rule *rule, struct value_text t, int64_t *num)
{
	static const char https[] = "https://", http[] = "http://";
	const size_t len = (size_t)(t.end - t.p);
	const bool secure = len >= sizeof(https) - 1 && memcmp(t.p, https, sizeof(https) - 1) == 0;
	const bool plain = len >= sizeof(http) - 1 && memcmp(t.p, http, sizeof(http) - 1) == 0;

	if (t.p == t.end)
		return parse_str(rule, t, num);
	if (!secure && !plain)
		return VALUE_FAULT_URL;
	struct value_text host = { t.p + (secure ? sizeof(https) - 1 : sizeof(http) - 1), t.end };
	for (const char *p = host.p; p < t.end; p++) {
		if (*p <= ' ' || *p > '~' || memchr("?#@\\", *p, 4) != NULL)
			return VALUE_FAULT_URL;
	}
	const char *const slash = memchr(host.p, '/', (size_t)(host.end - host.p));
	host.end = slash != NULL ? slash : host.end;
	const char *const bracket = memrchr(host.p, ']', (size_t)(host.end - host.p));
	const char *const from = bracket != NULL ? bracket : host.p;
	const char *const colon = memrchr(from, ':', (size_t)(host.end - from));
	if (colon != NULL && !is_port((struct value_text){ colon + 1, host.end }))
		return VALUE_FAULT_URL;
	host.end = colon != NULL ? colon : host.end;
	if (host.p == host.end || !is_host(host))
		return VALUE_FAULT_URL;
	return plain && !is_loopback(host) ? VALUE_FAULT_PLAIN : parse_str(rule, t, num);
}

static bool
is_loopback(struct value_text host)
{
	static const struct value_rule words = { .type = VALUE_CHOICE, .words = "127.0.0.1|[::1]|localhost" };
	int64_t place = 0;

	return parse_word(&words, host, &place) == VALUE_FAULT_NONE;
}

static bool
is_off(struct value_text addr)
{
	static const struct value_rule words = { .type = VALUE_CHOICE, .words = VALUE_ADDR_OFF };
	int64_t place = 0;

	return parse_word(&words, addr, &place) == VALUE_FAULT_NONE;
}

static bool
is_host(struct value_text host)
{
	if (host.p == host.end)
		return true;	/* every address of the machine */
	if (*host.p == '[') {
		const struct value_text inner = { host.p + 1, host.end - 1 };

		return inner.p < inner.end && *inner.end == ']' && is_ip(AF_INET6, inner);
	}
	bool numeric = true;
	for (const char *p = host.p; p < host.end; p++)
		numeric = numeric && (ascii_digit(*p) || *p == '.');
	return numeric ? is_ip(AF_INET, host) : is_name(host);
}

static bool
is_port(struct value_text port)
{
	static const struct value_rule rule = { .type = VALUE_INT, .min = 0, .max = 65535 };
	int64_t n;

	return parse_int(&rule, port, &n) == VALUE_FAULT_NONE;
}

/* Labels of letters, digits and inner hyphens, joined by single dots. */
static bool
is_name(struct value_text host)
{
	char before = '.';

	if (host.end - host.p > 253)
		return false;
	for (const char *p = host.p; p < host.end; before = *p++) {
		const bool inner = before != '.' && p + 1 < host.end && p[1] != '.';

		if (!ascii_letter(*p) && !ascii_digit(*p) && !(*p == '-' && inner)
		    && !(*p == '.' && before != '.'))
			return false;
	}
	return before != '.';
}

static bool
is_ip(int family, struct value_text host)
{
	const size_t len = (size_t)(host.end - host.p);
	char copy[INET6_ADDRSTRLEN];
	struct in6_addr out;

	if (len >= sizeof(copy))
		return false;
	memcpy(copy, host.p, len);
	copy[len] = '\0';
	return inet_pton(family, copy, &out) == 1;
}

/* After an overflow the rest of the digits is taken too, so that what follows them is judged. */
static enum digits
take_digits(struct value_text *t, int64_t *out)
{
	const char *start = t->p;
	bool overflow = false;

	for (*out = 0; t->p < t->end && ascii_digit(*t->p); t->p++)
		overflow = overflow || __builtin_mul_overflow(*out, 10, out)
		    || __builtin_add_overflow(*out, *t->p - '0', out);
	if (t->p == start)
		return DIGITS_NONE;
	if (overflow)
		*out = 0;
	return overflow ? DIGITS_OVERFLOW : DIGITS_OK;
}

/* Its place in value_units, not before `first`; VALUE_UNITS when there is no such unit there. */
static size_t
take_unit(struct value_text *t, size_t first)
{
	const char *start = t->p;

	while (t->p < t->end && ascii_letter(*t->p))
		t->p++;
	const size_t len = (size_t)(t->p - start);
	while (first < VALUE_UNITS
	    && !(strlen(value_units[first].name) == len && memcmp(value_units[first].name, start, len) == 0))
		first++;
	return first;
}
