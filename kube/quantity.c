/*
 * kube/quantity.c - reading and printing quantities. Pure.
 *
 * Go keeps a quantity as an int64 with a scale where that fits and as a big decimal where not. The
 * two differ only in when the text is printed as it was written, and in whether a number without
 * any digit ("m", ".") is zero or refused; is_small() decides which of them Go would accept.
 */
#include "quantity.h"

#include <string.h>

#include "ascii.h"
#include "obj.h"

enum { NANO = -9, INT64_DIGITS = 18, INT64_DIGITS_MAX = 19 };

static const char wrong_format[] =
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
static const char wrong_number[] = "unable to parse numeric part of quantity";
static const char wrong_suffix[] = "unable to parse quantity's suffix";
static const char too_long[] = "quantity is longer than 64 characters";

static const struct suffix {
	const char		*name;
	enum quantity_format	 format;
	int			 exponent;	/* of 10, or of 2 */
} suffixes[] = {
	{ "n",  QUANTITY_DECIMAL, -9 }, { "u",  QUANTITY_DECIMAL, -6 }, { "m",  QUANTITY_DECIMAL, -3 },
	{ "",   QUANTITY_DECIMAL,  0 }, { "k",  QUANTITY_DECIMAL,  3 }, { "M",  QUANTITY_DECIMAL,  6 },
	{ "G",  QUANTITY_DECIMAL,  9 }, { "T",  QUANTITY_DECIMAL, 12 }, { "P",  QUANTITY_DECIMAL, 15 },
	{ "E",  QUANTITY_DECIMAL, 18 }, { "Ki", QUANTITY_BINARY,  10 }, { "Mi", QUANTITY_BINARY,  20 },
	{ "Gi", QUANTITY_BINARY,  30 }, { "Ti", QUANTITY_BINARY,  40 }, { "Pi", QUANTITY_BINARY,  50 },
	{ "Ei", QUANTITY_BINARY,  60 },
};

/* The text, cut: [sign] zeros, whole digits, '.' fraction, suffix. */
struct parts {
	bool		 negative, any_digit;
	const char	*whole, *fraction, *suffix;
	size_t		 whole_len, fraction_len, suffix_len;
	struct suffix	 unit;
};

static bool cut(struct parts *, const char *, const char *);
static bool read_suffix(struct parts *);
static bool read_exponent(const char *, size_t, int *);
static bool is_small(const struct parts *);
static bool is_canonical(const struct parts *);
static void set_digits(struct quantity *, const struct parts *);
static void multiply(struct quantity *, unsigned);
static void round_to(struct quantity *, int64_t);
static void add_one(struct quantity *);
static void cap(struct quantity *);
static void trim(struct quantity *);
static int compare_size(const struct quantity *, const struct quantity *);
static size_t print_decimal(const struct quantity *, enum quantity_format, char *);
static size_t print_binary(const struct quantity *, char *);
static size_t print_unit(enum quantity_format, int64_t, char *);
static size_t print_number(char *, uint64_t);

const char *
quantity_parse(struct quantity *q, const char *text, size_t len)
{
	struct parts p;

	*q = (struct quantity){ .format = QUANTITY_DECIMAL };
	if (len == 0)
		return wrong_format;
	if (len > QUANTITY_TEXT_MAX)
		return too_long;
	if (!cut(&p, text, text + len))
		return wrong_format;
	if (!read_suffix(&p))
		return wrong_suffix;
	q->format = p.unit.format;
	q->negative = p.negative;
	set_digits(q, &p);
	for (int e = 0; p.unit.format == QUANTITY_BINARY && e < p.unit.exponent; e += 10)
		multiply(q, 1024);
	trim(q);
	if (is_small(&p)) {
		q->text_len = is_canonical(&p) ? (uint8_t)len : 0;
		memcpy(q->text, text, q->text_len);
		return NULL;
	}
	if (!p.any_digit)
		return wrong_number;
	round_to(q, NANO);
	cap(q);
	return NULL;
}

/*
 * Go shows a binary number below 1024, or with a fraction, with decimal suffixes. Where no suffix
 * is large enough (10^21) it prints the digits alone, which is another number; we print what it
 * prints.
 */
size_t
quantity_print(const struct quantity *q, char *buf, size_t size)
{
	static const struct quantity kibi = { .digits = "1024", .ndigits = 4 };
	size_t n = 0;

	MUST(size >= QUANTITY_PRINT_MAX);
	if (q->text_len > 0) {
		memcpy(buf, q->text, q->text_len);
		n = q->text_len;
	} else if (q->ndigits == 0) {
		buf[n++] = '0';
	} else {
		if (q->negative)
			buf[n++] = '-';
		if (q->format != QUANTITY_BINARY)
			n += print_decimal(q, q->format, buf + n);
		else if (q->exponent < 0 || compare_size(q, &kibi) < 0)
			n += print_decimal(q, QUANTITY_DECIMAL, buf + n);
		else
			n += print_binary(q, buf + n);
	}
	buf[n] = '\0';
	return n;
}

int64_t
quantity_scaled(const struct quantity *q, int64_t scale)
{
	struct quantity rounded = *q;
	uint64_t n = 0;

	if (q->ndigits == 0)
		return 0;
	round_to(&rounded, scale);
	const int64_t zeros = rounded.exponent - scale;
	if (zeros + rounded.ndigits > INT64_DIGITS_MAX)
		return q->negative ? INT64_MIN : INT64_MAX;
	for (size_t i = 0; i < rounded.ndigits; i++)
		n = n * 10 + (uint64_t)(rounded.digits[i] - '0');
	for (int64_t i = 0; i < zeros; i++)
		n *= 10;
	if (n > INT64_MAX)
		return q->negative ? INT64_MIN : INT64_MAX;
	return q->negative ? -(int64_t)n : (int64_t)n;
}

static bool
cut(struct parts *p, const char *at, const char *end)
{
	*p = (struct parts){ .negative = *at == '-' };
	if (*at == '-' || *at == '+')
		at++;
	for (; at < end && *at == '0'; at++)
		p->any_digit = true;
	p->whole = at;
	for (; at < end && ascii_digit(*at); at++)
		p->any_digit = true;
	p->whole_len = (size_t)(at - p->whole);
	const bool point = at < end && *at == '.';
	at += point;
	p->fraction = at;
	for (; point && at < end && ascii_digit(*at); at++)
		p->any_digit = true;
	p->fraction_len = (size_t)(at - p->fraction);
	p->suffix = at;
	p->suffix_len = (size_t)(end - at);
	while (at < end && memchr("eEinumkKMGTP", *at, 12) != NULL)
		at++;
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	while (at < end && ascii_digit(*at))
		at++;
	return at == end;
}

static bool
read_suffix(struct parts *p)
{
	for (size_t i = 0; i < NITEMS(suffixes); i++) {
		if (strlen(suffixes[i].name) == p->suffix_len
		    && memcmp(suffixes[i].name, p->suffix, p->suffix_len) == 0) {
			p->unit = suffixes[i];
			return true;
		}
	}
	p->unit = (struct suffix){ .format = QUANTITY_EXPONENT };
	return p->suffix_len > 1 && (p->suffix[0] == 'e' || p->suffix[0] == 'E')
	    && read_exponent(p->suffix + 1, p->suffix_len - 1, &p->unit.exponent);
}

/* Go reads 64 bits and keeps 32 of them. */
static bool
read_exponent(const char *s, size_t len, int *out)
{
	const size_t signs = *s == '-' || *s == '+';
	uint64_t n = 0;

	if (len == signs)
		return false;
	for (size_t i = signs; i < len; i++) {
		if (!ascii_digit(s[i]) || n > UINT64_MAX / 10 - 1)
			return false;
		n = n * 10 + (uint64_t)(s[i] - '0');
	}
	if (n > (uint64_t)INT64_MAX + (*s == '-'))
		return false;
	*out = (int32_t)(uint32_t)(*s == '-' ? -n : n);
	return true;
}

/* Digits as Go counts them: no digit before the point is one "0". */
static int
digits_in(const struct parts *p)
{
	return (int)((p->whole_len == 0 ? 1 : p->whole_len) + p->fraction_len);
}

static bool
is_small(const struct parts *p)
{
	if (p->unit.format == QUANTITY_BINARY)
		return p->fraction_len == 0 && 14 - digits_in(p) - p->unit.exponent * 3 / 10 >= 0;
	return digits_in(p) <= INT64_DIGITS && p->unit.exponent - (int64_t)p->fraction_len >= NANO;
}

/* As lenient as Go: "1.500" and "+5" pass. */
static bool
is_canonical(const struct parts *p)
{
	if (p->unit.format == QUANTITY_BINARY) {
		unsigned low = 0;	/* of the whole number: three bits depend on three digits */

		for (size_t i = p->whole_len > 3 ? p->whole_len - 3 : 0; i < p->whole_len; i++)
			low = low * 10 + (unsigned)(p->whole[i] - '0');
		return low % 8 != 0;
	}
	if ((p->unit.exponent - (int64_t)p->fraction_len) % 3 != 0 || p->whole_len == 0)
		return false;
	size_t zeros = 0;
	while (zeros < p->fraction_len && p->fraction[p->fraction_len - 1 - zeros] == '0')
		zeros++;
	if (zeros < p->fraction_len)
		return zeros < 3;
	for (size_t i = p->whole_len; i > 0 && p->whole[i - 1] == '0'; i--)
		zeros++;
	return zeros < 3;
}

static void
set_digits(struct quantity *q, const struct parts *p)
{
	memcpy(q->digits, p->whole, p->whole_len);
	memcpy(q->digits + p->whole_len, p->fraction, p->fraction_len);
	q->ndigits = (uint8_t)(p->whole_len + p->fraction_len);
	q->exponent = (p->unit.format == QUANTITY_BINARY ? 0 : p->unit.exponent)
	    - (int64_t)p->fraction_len;
}

static void
multiply(struct quantity *q, unsigned by)
{
	unsigned carry = 0;

	for (size_t i = q->ndigits; i > 0; i--) {
		carry += (unsigned)(q->digits[i - 1] - '0') * by;
		q->digits[i - 1] = (char)('0' + carry % 10);
		carry /= 10;
	}
	for (; carry > 0; carry /= 10) {
		MUST(q->ndigits < sizeof(q->digits));
		memmove(q->digits + 1, q->digits, q->ndigits++);
		q->digits[0] = (char)('0' + carry % 10);
	}
}

/* Away from zero to a multiple of 10^exponent. */
static void
round_to(struct quantity *q, int64_t exponent)
{
	if (q->ndigits == 0 || q->exponent >= exponent)
		return;
	/* The last digit is not zero: something is always lost. */
	const int64_t drop = exponent - q->exponent;
	q->ndigits = drop < q->ndigits ? (uint8_t)(q->ndigits - drop) : 0;
	q->exponent = exponent;
	add_one(q);
	trim(q);
}

static void
add_one(struct quantity *q)
{
	size_t i = q->ndigits;

	for (; i > 0; i--) {
		if (q->digits[i - 1] != '9') {
			q->digits[i - 1]++;
			return;
		}
		q->digits[i - 1] = '0';
	}
	memmove(q->digits + 1, q->digits, q->ndigits++);
	q->digits[0] = '1';
}

static void
cap(struct quantity *q)
{
	static const struct quantity
	    most = { .digits = "9223372036854775807", .ndigits = INT64_DIGITS_MAX },
	    one = { .digits = "1", .ndigits = 1 };

	if (q->format != QUANTITY_BINARY || q->ndigits == 0)
		return;
	if (compare_size(q, &most) > 0) {
		memcpy(q->digits, most.digits, most.ndigits);
		q->ndigits = most.ndigits;
		q->exponent = 0;
	} else if (compare_size(q, &one) < 0) {
		q->format = QUANTITY_DECIMAL;
	}
}

static void
trim(struct quantity *q)
{
	size_t zeros = 0;

	while (q->ndigits > 0 && q->digits[q->ndigits - 1] == '0') {
		q->ndigits--;
		q->exponent++;
	}
	while (zeros < q->ndigits && q->digits[zeros] == '0')
		zeros++;
	memmove(q->digits, q->digits + zeros, q->ndigits - zeros);
	q->ndigits = (uint8_t)(q->ndigits - zeros);
}

/* Of the magnitudes; neither is zero. */
static int
compare_size(const struct quantity *a, const struct quantity *b)
{
	const int64_t top_a = a->ndigits + a->exponent, top_b = b->ndigits + b->exponent;
	const size_t both = a->ndigits < b->ndigits ? a->ndigits : b->ndigits;

	if (top_a != top_b)
		return top_a < top_b ? -1 : 1;
	const int order = memcmp(a->digits, b->digits, both);
	if (order != 0)
		return order < 0 ? -1 : 1;
	return (a->ndigits > b->ndigits) - (a->ndigits < b->ndigits);
}

static size_t
print_decimal(const struct quantity *q, enum quantity_format format, char *buf)
{
	size_t n = q->ndigits;
	int64_t exponent = q->exponent;

	memcpy(buf, q->digits, n);
	for (; exponent % 3 != 0; exponent--)
		buf[n++] = '0';
	return n + print_unit(format, exponent, buf + n);
}

static size_t
print_binary(const struct quantity *q, char *buf)
{
	uint64_t n = 0;
	int exponent = 0;

	for (size_t i = 0; i < q->ndigits; i++)
		n = n * 10 + (uint64_t)(q->digits[i] - '0');
	for (int64_t i = 0; i < q->exponent; i++)
		n *= 10;
	for (; n % 1024 == 0; n /= 1024)
		exponent += 10;
	const size_t len = print_number(buf, n);
	return len + print_unit(QUANTITY_BINARY, exponent, buf + len);
}

static size_t
print_unit(enum quantity_format format, int64_t exponent, char *buf)
{
	size_t n = 0;

	if (format == QUANTITY_EXPONENT && exponent != 0) {
		buf[n++] = 'e';
		if (exponent < 0)
			buf[n++] = '-';
		return n + print_number(buf + n, (uint64_t)(exponent < 0 ? -exponent : exponent));
	}
	for (size_t i = 0; i < NITEMS(suffixes); i++) {
		if (suffixes[i].format == format && suffixes[i].exponent == exponent) {
			n = strlen(suffixes[i].name);
			memcpy(buf, suffixes[i].name, n);
		}
	}
	return n;
}

static size_t
print_number(char *buf, uint64_t number)
{
	char reversed[24];
	size_t n = 0, used = 0;

	do
		reversed[n++] = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	while (n > 0)
		buf[used++] = reversed[--n];
	return used;
}
