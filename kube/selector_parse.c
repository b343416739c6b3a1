/*
 * kube/selector_parse.c - selectors from text: the label grammar of apimachinery's labels.Parse (with its
 * words for what is wrong), and field selectors.
 */
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "selector_private.h"

enum token { T_END, T_WORD, T_IN, T_NOT_IN, T_EQUALS, T_DOUBLE_EQUALS, T_NOT_EQUALS, T_GREATER, T_LESS,
	T_NOT, T_COMMA, T_OPEN, T_CLOSE, T_MAX };

/* Longest first where one begins another. */
static const struct {
	const char	*text;
	enum token	 token;
} symbols[] = {
	{ "==", T_DOUBLE_EQUALS }, { "!=", T_NOT_EQUALS }, { "=", T_EQUALS }, { "!", T_NOT }, { ">", T_GREATER },
	{ "<", T_LESS }, { ",", T_COMMA }, { "(", T_OPEN }, { ")", T_CLOSE },
};

/* OP_MAX: not an operator between key and values. */
static const enum selector_op ops[T_MAX] = {
	[T_END] = OP_MAX, [T_WORD] = OP_MAX, [T_IN] = OP_IN, [T_NOT_IN] = OP_NOT_IN,
	[T_EQUALS] = OP_EQUALS, [T_DOUBLE_EQUALS] = OP_DOUBLE_EQUALS, [T_NOT_EQUALS] = OP_NOT_EQUALS,
	[T_GREATER] = OP_GREATER, [T_LESS] = OP_LESS,
	[T_NOT] = OP_MAX, [T_COMMA] = OP_MAX, [T_OPEN] = OP_MAX, [T_CLOSE] = OP_MAX,
};

/* One token ahead; `in` and `notin` are words except where an operator is expected. */
struct parser {
	struct selector	*s;
	const char	*at;		/* behind the token */
	const char	*text;		/* of the token */
	int		 len;
	enum token	 token;
	char		*err;
	size_t		 size;
};

/* One `field=value` of a field selector. */
struct term {
	const char	*text;
	size_t		 len;
};

static void next(struct parser *);
static bool is_word(const struct parser *);
static bool parse_requirement(struct parser *);
static bool parse_operator(struct parser *, struct requirement *);
static bool parse_set(struct parser *, struct requirement *);
static bool parse_list(struct parser *, struct requirement *);
static bool parse_exact(struct parser *, struct requirement *);
static bool complain(const struct parser *, const char *);
static size_t split_terms(struct term *, const char *);
static int by_text(const void *, const void *);
static bool add_field(struct selector *, const char *, const struct term *, char *, size_t);
static bool unescape(char *, const char *, size_t, char *, size_t);

struct selector *
selector_parse_labels(const char *text, char *err, size_t size)
{
	struct parser p = { .s = selector_new(false), .at = text, .err = err, .size = size };
	bool ok = true;

	next(&p);
	if (!is_word(&p) && p.token != T_NOT && p.token != T_END)
		ok = complain(&p, ", expected: !, identifier, or 'end of string'");
	while (ok && p.token != T_END) {
		ok = parse_requirement(&p);
		if (!ok || p.token == T_END)
			break;
		if (p.token != T_COMMA) {
			ok = complain(&p, ", expected: ',' or 'end of string'");
			break;
		}
		next(&p);
		if (!is_word(&p) && p.token != T_NOT)
			ok = complain(&p, ", expected: identifier after ','");
	}
	if (!ok)
		selector_free(&p.s);
	else
		selector_sort(p.s);
	return p.s;
}

struct selector *
selector_parse_fields(const char *text, char *err, size_t size)
{
	struct selector *s = selector_new(true);
	struct term *const terms = obj_alloc((strlen(text) / 2 + 1) * sizeof(*terms));
	const size_t count = split_terms(terms, text);

	qsort(terms, count, sizeof(*terms), by_text);
	for (size_t i = 0; i < count && s != NULL; i++) {
		if (!add_field(s, text, &terms[i], err, size))
			selector_free(&s);
	}
	free(terms);
	return s;
}

static void
next(struct parser *p)
{
	const char *at = p->at + strspn(p->at, " \t\r\n");

	p->text = at;
	p->token = T_END;
	p->len = (int)strcspn(at, "=!(),>< \t\r\n");
	if (p->len == 0) {
		for (size_t i = 0; i < NITEMS(symbols) && p->len == 0; i++) {
			if (strncmp(at, symbols[i].text, strlen(symbols[i].text)) == 0) {
				p->token = symbols[i].token;
				p->len = (int)strlen(symbols[i].text);
			}
		}
	} else if (p->len == 2 && strncmp(at, "in", 2) == 0) {
		p->token = T_IN;
	} else if (p->len == 5 && strncmp(at, "notin", 5) == 0) {
		p->token = T_NOT_IN;
	} else {
		p->token = T_WORD;
	}
	p->at = at + p->len;
}

static bool
is_word(const struct parser *p)
{
	return p->token == T_WORD || p->token == T_IN || p->token == T_NOT_IN;
}

static bool
parse_requirement(struct parser *p)
{
	const bool absent = p->token == T_NOT;

	/* Go puts this before whatever goes wrong inside. */
	const int head = snprintf(p->err, p->size, "unable to parse requirement: ");
	const size_t skip = p->size > (size_t)head ? (size_t)head : 0;
	p->err += skip;
	p->size -= skip;
	if (absent)
		next(p);
	if (!is_word(p))
		return complain(p, ", expected: identifier");
	struct requirement *const r = selector_add(p->s, OP_EXISTS, p->text, (size_t)p->len);
	if (selector_wrong_key("<nil>", r->key, p->err, p->size))
		return false;
	next(p);
	if (absent)
		r->op = OP_ABSENT;
	else if (p->token != T_END && p->token != T_COMMA && !parse_operator(p, r))
		return false;
	if (selector_wrong_requirement(r, p->err, p->size))
		return false;
	p->err -= skip;
	p->size += skip;
	return true;
}

static bool
parse_operator(struct parser *p, struct requirement *r)
{
	if (ops[p->token] == OP_MAX)
		return complain(p, ", expected: in, notin, =, ==, !=, gt, lt");
	r->op = ops[p->token];
	next(p);
	if (r->op == OP_IN || r->op == OP_NOT_IN)
		return parse_set(p, r);
	return parse_exact(p, r);
}

static bool
parse_set(struct parser *p, struct requirement *r)
{
	if (p->token != T_OPEN)
		return complain(p, " expected: '('");
	next(p);
	if (p->token == T_CLOSE)
		selector_add_value(r, "", 0);
	else if (!is_word(p) && p->token != T_COMMA)
		return complain(p, ", expected: ',', ')' or identifier");
	else if (!parse_list(p, r))
		return false;
	next(p);
	selector_sort_values(r, true);
	return true;
}

/* Up to the closing parenthesis. Where a value is missing beside a comma it is "". */
static bool
parse_list(struct parser *p, struct requirement *r)
{
	for (;;) {
		if (is_word(p)) {
			selector_add_value(r, p->text, (size_t)p->len);
			next(p);
			if (p->token == T_CLOSE)
				return true;
			if (p->token != T_COMMA)
				return complain(p, ", expected: ',' or ')'");
		} else if (p->token == T_COMMA) {
			if (r->nvalues == 0)
				selector_add_value(r, "", 0);
			next(p);
			if (p->token == T_CLOSE || p->token == T_COMMA)
				selector_add_value(r, "", 0);
			if (p->token == T_CLOSE)
				return true;
		} else {
			return complain(p, ", expected: ',', or identifier");
		}
	}
}

static bool
parse_exact(struct parser *p, struct requirement *r)
{
	if (p->token == T_END || p->token == T_COMMA) {
		selector_add_value(r, "", 0);
		return true;
	}
	if (!is_word(p))
		return complain(p, ", expected: identifier");
	selector_add_value(r, p->text, (size_t)p->len);
	next(p);
	return true;
}

static bool
complain(const struct parser *p, const char *expected)
{
	snprintf(p->err, p->size, "found '%.*s'%s", p->len, p->text, expected);
	return false;
}

/* Between commas, except those behind a backslash; empty ones do not count. */
static size_t
split_terms(struct term *terms, const char *text)
{
	size_t count = 0;

	for (const char *at = text; *at != '\0';) {
		size_t len = 0;

		while (at[len] != '\0' && at[len] != ',')
			len += 1 + (at[len] == '\\' && at[len + 1] != '\0');
		if (len > 0)
			terms[count++] = (struct term){ at, len };
		at += len + (at[len] == ',');
	}
	return count;
}

static int
by_text(const void *a, const void *b)
{
	const struct term *x = a, *y = b;
	const int order = memcmp(x->text, y->text, x->len < y->len ? x->len : y->len);

	return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

static bool
add_field(struct selector *s, const char *whole, const struct term *t, char *err, size_t size)
{
	size_t op = 0;

	while (op < t->len && t->text[op] != '='
	    && !(t->text[op] == '!' && op + 1 < t->len && t->text[op + 1] == '='))
		op++;
	if (op == t->len) {
		snprintf(err, size, "invalid selector: '%s'; can't understand '%.*s'", whole,
		    (int)t->len, t->text);
		return false;
	}
	const bool differs = t->text[op] == '!';
	const size_t value = op + 1 + (op + 1 < t->len && t->text[op + 1] == '=');
	char *const text = obj_alloc(t->len - value + 1);
	const bool ok = unescape(text, t->text + value, t->len - value, err, size);
	/* Go drops an empty term. */
	if (ok && (op > 0 || text[0] != '\0')) {
		struct requirement *const r =
		    selector_add(s, differs ? OP_NOT_EQUALS : OP_EQUALS, t->text, op);

		selector_add_value(r, text, strlen(text));
	}
	free(text);
	return ok;
}

static bool
unescape(char *to, const char *from, size_t len, char *err, size_t size)
{
	static const char wrong[] = "invalid field selector: ";

	for (size_t i = 0; i < len; i++) {
		char c = from[i];

		if (c == '=' || c == ',') {
			snprintf(err, size, "%sunescaped character in value: %d", wrong, c);
			return false;
		}
		if (c == '\\') {
			c = ++i < len ? from[i] : '\0';
			if (c == '\0' || strchr("\\,=", c) == NULL) {
				snprintf(err, size, "%sinvalid escape sequence: \\%.*s", wrong,
				    c != '\0', from + i);
				return false;
			}
		}
		*to++ = c;
	}
	*to = '\0';
	return true;
}
