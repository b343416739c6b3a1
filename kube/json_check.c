/* kube/json_check.c - checks JSON in one pass: a stack of one bit per bracket. */
#include "json_check.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "ascii.h"
#include "utf8.h"

struct check {
	const char	*start, *p, *end;
	uint64_t	 objects;	/* bit n: bracket n is a '{' */
	unsigned	 depth;
	const char	*wrong;		/* the first error */
};

enum opened { OPENED_NONE, OPENED, OPENED_EMPTY };	/* OPENED: a value is to follow inside */

#define ENDS_EARLY	"the JSON ends too early"

static void check_value(struct check *);
static enum opened open_bracket(struct check *);
static bool after_value(struct check *);
static void check_name(struct check *);
static void check_string(struct check *);
static void check_escape(struct check *);
static void check_number(struct check *);
static void check_word(struct check *);
static bool digits(struct check *);
static bool take(struct check *, char);
static void blanks(struct check *);
static void fail(struct check *, const char *);

_Static_assert(JSON_CHECK_DEPTH_MAX <= 64, "one bit per bracket");

const char *
json_check(const char *p, size_t len, size_t *at)
{
	struct check c = { .start = p, .p = p, .end = p + len };

	do {
		check_value(&c);
	} while (c.wrong == NULL && after_value(&c));
	if (c.wrong == NULL && c.p < c.end)
		fail(&c, "text behind the JSON value");
	*at = (size_t)(c.p - c.start);
	return c.wrong;
}

/* All brackets that open here, and the first value that has none, or is empty. */
static void
check_value(struct check *c)
{
	enum opened opened;

	do {
		blanks(c);
		opened = open_bracket(c);
	} while (opened == OPENED);
	if (opened == OPENED_EMPTY || c->wrong != NULL)
		return;
	if (c->p == c->end)
		fail(c, ENDS_EARLY);
	else if (*c->p == '"')
		check_string(c);
	else if (*c->p == '-' || ascii_digit(*c->p))
		check_number(c);
	else
		check_word(c);
}

static enum opened
open_bracket(struct check *c)
{
	const bool object = take(c, '{');

	if (!object && !take(c, '['))
		return OPENED_NONE;
	blanks(c);
	if (c->depth == JSON_CHECK_DEPTH_MAX) {
		fail(c, "more than 64 brackets deep");
		return OPENED_NONE;
	}
	if (take(c, object ? '}' : ']'))
		return OPENED_EMPTY;
	c->objects = (c->objects & ~(UINT64_C(1) << c->depth)) | (uint64_t)object << c->depth;
	c->depth++;
	if (object)
		check_name(c);
	return c->wrong == NULL ? OPENED : OPENED_NONE;
}

/* True: another value is to follow. */
static bool
after_value(struct check *c)
{
	for (;;) {
		blanks(c);
		if (c->depth == 0)
			return false;
		const bool object = c->objects >> (c->depth - 1) & 1;
		if (take(c, ',')) {
			blanks(c);
			if (object)
				check_name(c);
			return c->wrong == NULL;
		}
		if (!take(c, object ? '}' : ']')) {
			fail(c, c->p == c->end ? ENDS_EARLY : "neither a comma nor the closing bracket");
			return false;
		}
		c->depth--;
	}
}

static void
check_name(struct check *c)
{
	if (c->p == c->end || *c->p != '"') {
		fail(c, "not the name of a member");
		return;
	}
	check_string(c);
	blanks(c);
	if (c->wrong == NULL && !take(c, ':'))
		fail(c, "no colon behind the name of a member");
}

static void
check_string(struct check *c)
{
	c->p++;
	while (c->wrong == NULL) {
		if (c->p == c->end) {
			fail(c, "a text without its closing quote");
		} else if (*c->p == '"') {
			c->p++;
			return;
		} else if (*c->p == '\\') {
			check_escape(c);
		} else if ((unsigned char)*c->p < 0x20) {
			fail(c, "a control character in a text");
		} else {
			const size_t n = utf8_length(c->p, (size_t)(c->end - c->p));

			if (n == 0)
				fail(c, "not UTF-8");
			c->p += n;
		}
	}
}

static void
check_escape(struct check *c)
{
	unsigned code = 0;

	if (++c->p == c->end || memchr("\"\\/bfnrtu", *c->p, 9) == NULL) {
		fail(c, "an unknown escape");
		return;
	}
	if (*c->p++ != 'u')
		return;
	for (int i = 0; i < 4; i++, c->p++) {
		if (c->p == c->end
		    || !(ascii_digit(*c->p) || (ascii_letter(*c->p) && (*c->p | 0x20) <= 'f'))) {
			fail(c, "an escape without four digits");
			return;
		}
		code = code << 4 | ((unsigned)(*c->p & 0xf) + (ascii_digit(*c->p) ? 0 : 9));
	}
	if (code == 0)
		fail(c, "NUL in a text");
}

static void
check_number(struct check *c)
{
	take(c, '-');
	bool good = take(c, '0') || digits(c);
	if (good && take(c, '.'))
		good = digits(c);
	if (good && (take(c, 'e') || take(c, 'E'))) {
		if (!take(c, '+'))
			take(c, '-');
		good = digits(c);
	}
	if (!good)
		fail(c, "not a number");
}

static void
check_word(struct check *c)
{
	static const char *const words[] = { "true", "false", "null" };

	for (unsigned i = 0; i < 3; i++) {
		const size_t n = strlen(words[i]);

		if ((size_t)(c->end - c->p) >= n && memcmp(c->p, words[i], n) == 0) {
			c->p += n;
			return;
		}
	}
	fail(c, "not a JSON value");
}

static bool
digits(struct check *c)
{
	const char *const first = c->p;

	while (c->p < c->end && ascii_digit(*c->p))
		c->p++;
	return c->p > first;
}

static bool
take(struct check *c, char sign)
{
	if (c->p == c->end || *c->p != sign)
		return false;
	c->p++;
	return true;
}

static void
blanks(struct check *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\n' || *c->p == '\r'))
		c->p++;
}

static void
fail(struct check *c, const char *wrong)
{
	if (c->wrong == NULL)
		c->wrong = wrong;
}
