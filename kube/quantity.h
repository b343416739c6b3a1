/*
 * kube/quantity.h - resource.Quantity: "100m", "1.5Gi", "12e6", with Go's acceptance, rounding and
 * canonical form.
 *
 * A number is kept as decimal digits and a power of ten: exact, of any magnitude, never a float.
 * Like Go, anything below one nano is rounded away from zero to it, and a number with a binary
 * suffix is capped at 2^63-1. Unlike Go, which has no limit, a text longer than QUANTITY_TEXT_MAX
 * is refused. Pure.
 */
#ifndef MUSTER_QUANTITY_H
#define MUSTER_QUANTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	QUANTITY_TEXT_MAX  = 64,
	QUANTITY_PRINT_MAX = QUANTITY_TEXT_MAX + 16,	/* room for any canonical form, with the NUL */
};

enum quantity_format { QUANTITY_DECIMAL, QUANTITY_BINARY, QUANTITY_EXPONENT };

struct quantity {
	int64_t			exponent;	/* value = digits * 10^exponent */
	uint8_t			ndigits;	/* 0: zero. First and last digit are never '0' */
	uint8_t			text_len;	/* > 0: Go prints the text as it was written */
	bool			negative;
	enum quantity_format	format;
	char			digits[QUANTITY_TEXT_MAX + 20];	/* 20: times 2^60 */
	char			text[QUANTITY_TEXT_MAX];
};

/* NULL, or why not, in Go's words. */
const char *quantity_parse(struct quantity *q, const char *text, size_t len);
/* The canonical form, NUL-terminated; its length. size is at least QUANTITY_PRINT_MAX. */
size_t quantity_print(const struct quantity *q, char *buf, size_t size);
/* In units of 10^scale, rounded away from zero; the nearest int64_t when that does not fit. */
int64_t quantity_scaled(const struct quantity *q, int64_t scale);

#endif
