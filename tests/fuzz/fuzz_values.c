/*
 * tests/fuzz/fuzz_values.c - any bytes as resourceVersions, times, quantities and selectors.
 *
 * The first byte chooses the kind, a NUL separates the first text from the second. Rules: comparison is
 * a total order (that of versions also agrees with arithmetic); what is accepted is printed in a form that
 * is read as the same value again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kube/quantity.h"
#include "kube/rv.h"
#include "kube/time.h"
#include "obj.h"
#include "tests/unit/selector_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMBS = 512, TEXT_MAX = 4096 };

/* Two texts, NUL-terminated copies. */
struct input {
	const char	*a, *b;
	size_t		 alen, blen;
};

/* A number of any length, least first. */
static void
number(const char *text, size_t len, uint32_t *limbs)
{
	memset(limbs, 0, LIMBS * sizeof(*limbs));
	for (size_t i = 0; i < len; i++) {
		uint64_t carry = (uint64_t)(text[i] - '0');

		for (size_t l = 0; l < LIMBS; l++) {
			carry += (uint64_t)limbs[l] * 10;
			limbs[l] = (uint32_t)carry;
			carry >>= 32;
		}
	}
}

static void
check_rv(const struct input *in)
{
	static const enum rv_order opposite[] = {
		[RV_OLDER] = RV_NEWER, [RV_SAME] = RV_SAME, [RV_NEWER] = RV_OLDER, [RV_UNKNOWN] = RV_UNKNOWN,
	};
	static uint32_t a[LIMBS], b[LIMBS];
	const enum rv_order order = rv_compare(in->a, in->alen, in->b, in->blen);
	const bool known = rv_valid(in->a, in->alen) && rv_valid(in->b, in->blen);

	MUST(opposite[order] == rv_compare(in->b, in->blen, in->a, in->alen));
	MUST(known == (order != RV_UNKNOWN));
	if (!known || in->alen > 1000 || in->blen > 1000)
		return;
	number(in->a, in->alen, a);
	number(in->b, in->blen, b);
	size_t l = LIMBS;
	while (l > 0 && a[l - 1] == b[l - 1])
		l--;
	const enum rv_order want = l == 0 ? RV_SAME : a[l - 1] < b[l - 1] ? RV_OLDER : RV_NEWER;
	MUST(order == want);
}

static void
check_time(const struct input *in)
{
	char text[TIME_TEXT_MAX];
	int64_t us, again, any;

	if (time_parse(in->a, in->alen, &us) || time_parse_micro(in->a, in->alen, &us)) {
		const size_t len = time_format_micro(us, text, sizeof(text));

		/* an offset may lead out of the years that can be read */
		if (len == 27) {
			MUST(time_parse_micro(text, len, &again) && again == us);
			MUST(time_parse(text, len, &again) && again == us);
			MUST(time_parse(text, time_format(us, text, sizeof(text)), &again));
			MUST(again <= us && us - again < 1000000);
		}
	}
	if (time_parse_http(in->a, in->alen, &us))
		MUST(in->alen == 29 && us % 1000000 == 0);
	memcpy(&any, in->a, sizeof(any) < in->alen ? sizeof(any) : 0);
	if (in->alen > sizeof(any)) {
		MUST(time_format_micro(any, text, sizeof(text)) < sizeof(text));
		MUST(strlen(text) >= 27);
	}
}

static void
check_quantity(const struct input *in)
{
	char text[QUANTITY_PRINT_MAX], second[QUANTITY_PRINT_MAX];
	struct quantity a, again;

	if (quantity_parse(&a, in->a, in->alen) != NULL)
		return;
	const size_t len = quantity_print(&a, text, sizeof(text));
	MUST(len > 0 && len < sizeof(text) && strlen(text) == len);
	/* a text as long as this, or without a suffix that is large enough, is another number: Go's too */
	if (len <= QUANTITY_TEXT_MAX && (a.format == QUANTITY_EXPONENT || a.exponent < 21)) {
		MUST(quantity_parse(&again, text, len) == NULL);
		quantity_print(&again, second, sizeof(second));
		MUST(strcmp(text, second) == 0);
	}
}

/* Some labels and fields for the texts that the fuzzer finds. */
static const char *
value_of(const char *key, const void *arg)
{
	static const char *const values[] = { "", "b", "1", "-3", NULL };

	(void)arg;
	return values[(unsigned char)key[0] % NITEMS(values)];
}

static void
check_printed(struct selector *s, struct selector *(*parse)(const char *, char *, size_t))
{
	static char first[TEXT_MAX * 4], second[TEXT_MAX * 4];
	char err[256];

	if (s == NULL)
		return;
	MUST(selector_print(s, first, sizeof(first)) < sizeof(first));
	const bool match = selector_matches(s, value_of, NULL);
	/* a==b sorts elsewhere than the a=b it is printed as: from then on it is stable */
	for (int i = 0; i < 2; i++) {
		struct selector *again = parse(first, err, sizeof(err));

		MUST(again != NULL && selector_matches(again, value_of, NULL) == match);
		MUST(selector_empty(again) == selector_empty(s));
		selector_print(again, second, sizeof(second));
		selector_free(&again);
		if (i == 0)
			memcpy(first, second, sizeof(first));
	}
	MUST(strcmp(first, second) == 0);
	selector_free(&s);
}

static void
check_labels(const struct input *in)
{
	char err[256] = "";

	check_printed(selector_parse_labels(in->a, err, sizeof(err)), selector_parse_labels);
}

static void
check_fields(const struct input *in)
{
	char err[256] = "";

	check_printed(selector_parse_fields(in->a, err, sizeof(err)), selector_parse_fields);
}

static void
check_object(const struct input *in)
{
	json_t *const object = json_loadb(in->a, in->alen, JSON_REJECT_DUPLICATES, NULL);
	char err[256] = "";

	if (object != NULL)
		check_printed(selector_from_json(object, err, sizeof(err)), selector_parse_labels);
	json_decref(object);
}

static void (*const checks[])(const struct input *) = {
	check_rv, check_time, check_quantity, check_labels, check_fields, check_object,
};

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0 || size > TEXT_MAX)
		return 0;
	char *const text = obj_alloc(size);	/* the first byte is not copied: room for a NUL */
	memcpy(text, data + 1, size - 1);
	const size_t first = strlen(text);
	const bool two = first + 1 < size;
	const struct input in = {
		.a = text, .alen = first,
		.b = two ? text + first + 1 : "", .blen = two ? size - first - 2 : 0,
	};

	checks[data[0] % NITEMS(checks)](&in);
	free(text);
	return 0;
}
