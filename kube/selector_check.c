/*
 * kube/selector_check.c - is this a label key, is this a label value? With the words of apimachinery, which
 * people see in kubectl and search for.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ascii.h"
#include "obj.h"
#include "selector_private.h"
#include "utf8.h"

enum { NAME_MAX_LEN = 63, PREFIX_MAX_LEN = 253 };

#define NAME_REGEX	"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define ALPHANUMERIC	"alphanumeric characters, '-', '_' or '.', "			\
			"and must start and end with an alphanumeric character"
#define KEY_WORDS	"must consist of " ALPHANUMERIC					\
			" (e.g. 'MyName',  or 'my.name',  or '123-abc', "		\
			"regex used for validation is '" NAME_REGEX "')"
#define VALUE_WORDS	"a valid label must be an empty string or consist of " ALPHANUMERIC \
			" (e.g. 'MyValue',  or 'my_value',  or '12345', "		\
			"regex used for validation is '(" NAME_REGEX ")?')"
#define DNS_LABEL	"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define PREFIX_WORDS	"a lowercase RFC 1123 subdomain must consist of "		\
			"lower case alphanumeric characters, '-' or '.', "		\
			"and must start and end with an alphanumeric character "	\
			"(e.g. 'example.com', regex used for validation is "		\
			"'" DNS_LABEL "(\\." DNS_LABEL ")*')"

/* Complaints, joined; cut where the buffer ends. */
struct check_text {
	char	*buf;
	size_t	 size, used;
	int	 count;
};

static int key_faults(struct check_text *, const char *);
static int value_faults(struct check_text *, const char *);
static bool is_name(const char *, size_t);
static bool is_subdomain(const char *, size_t);
static bool is_alphanumeric(char);
static void begin(struct check_text *);
static void head(struct check_text *, const char *, const char *);
static void fault(struct check_text *, const char *);
static void put(struct check_text *, const char *, ...) __attribute__((format(printf, 2, 3)));
static void put_quoted(struct check_text *, const char *);
static void put_list(struct check_text *, const struct requirement *);

bool
selector_wrong_key(const char *path, const char *key, char *err, size_t size)
{
	struct check_text none = { .size = 0 }, o = { .buf = err, .size = size };

	if (key_faults(&none, key) == 0)
		return false;
	head(&o, path, key);
	return key_faults(&o, key) > 0;
}

/* Several complaints stand in brackets, as an aggregate of errors prints. */
bool
selector_wrong_requirement(const struct requirement *r, char *err, size_t size)
{
	const bool set = r->op == OP_IN || r->op == OP_NOT_IN,
		   unary = r->op == OP_EXISTS || r->op == OP_ABSENT;
	const bool number = r->op == OP_GREATER || r->op == OP_LESS;
	struct check_text none = { .size = 0 }, o = { .buf = err, .size = size, .used = 1 };
	char path[NAME_MAX_LEN + PREFIX_MAX_LEN + 64];
	int count = 0;
	int64_t n;

	if (size < 2)
		o = (struct check_text){ .buf = NULL };
	if (key_faults(&none, r->key) > 0) {
		head(&o, "key", r->key);
		key_faults(&o, r->key);
		count++;
	}
	if (set && r->nvalues == 0) {
		put(&o,
		    "%svalues: Invalid value: null: for 'in', 'notin' operators, values set can't be empty",
		    count++ > 0 ? ", " : "");
	} else if (unary && r->nvalues > 0) {
		put(&o, "%svalues: Invalid value: ", count++ > 0 ? ", " : "");
		put_list(&o, r);
		put(&o, ": values set must be empty for exists and does not exist");
	}
	for (size_t i = 0; number && i < r->nvalues; i++) {
		if (!selector_integer(r->values[i], &n)) {
			put(&o, "%svalues[%zu]: Invalid value: ", count++ > 0 ? ", " : "", i);
			put_quoted(&o, r->values[i]);
			put(&o, ": for 'Gt', 'Lt' operators, the value must be an integer");
		}
	}
	for (size_t i = 0; i < r->nvalues; i++) {
		if (value_faults(&none, r->values[i]) > 0) {
			snprintf(path, sizeof(path), "values[%zu][%s]", i, r->key);
			put(&o, "%s", count++ > 0 ? ", " : "");
			head(&o, path, r->values[i]);
			value_faults(&o, r->values[i]);
		}
	}
	if (count == 0 || o.buf == NULL)
		return count > 0;
	if (count == 1) {
		memmove(err, err + 1, strlen(err + 1) + 1);
	} else {
		err[0] = '[';
		put(&o, "]");
	}
	return true;
}

static int
key_faults(struct check_text *o, const char *key)
{
	const char *const slash = strchr(key, '/');
	const char *const name = slash == NULL ? key : slash + 1;
	const size_t len = strlen(name), prefix = slash == NULL ? 0 : (size_t)(slash - key);

	begin(o);
	if (strchr(name, '/') != NULL) {
		fault(o, "a valid label key " KEY_WORDS
		    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
		return o->count;
	}
	if (slash != NULL && prefix == 0)
		fault(o, "prefix part must be non-empty");
	if (prefix > PREFIX_MAX_LEN)
		fault(o, "prefix part must be no more than 253 bytes");
	if (prefix > 0 && !is_subdomain(key, prefix))
		fault(o, "prefix part " PREFIX_WORDS);
	if (len == 0)
		fault(o, "name part must be non-empty");
	else if (len > NAME_MAX_LEN)
		fault(o, "name part must be no more than 63 bytes");
	if (!is_name(name, len))
		fault(o, "name part " KEY_WORDS);
	return o->count;
}

static int
value_faults(struct check_text *o, const char *value)
{
	const size_t len = strlen(value);

	begin(o);
	if (len > NAME_MAX_LEN)
		fault(o, "must be no more than 63 bytes");
	if (len > 0 && !is_name(value, len))
		fault(o, VALUE_WORDS);
	return o->count;
}

static bool
is_name(const char *s, size_t len)
{
	if (len == 0 || !is_alphanumeric(s[0]) || !is_alphanumeric(s[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!is_alphanumeric(s[i]) && memchr("-_.", s[i], 3) == NULL)
			return false;
	}
	return true;
}

/* Labels of lower case letters, digits and inner dashes, between dots. */
static bool
is_subdomain(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const bool edge = i == 0 || i + 1 == len || s[i - 1] == '.' || s[i + 1] == '.';
		const bool upper = s[i] >= 'A' && s[i] <= 'Z';

		if (is_alphanumeric(s[i]) && !upper)
			continue;
		if (edge || (s[i] != '-' && s[i] != '.'))
			return false;
	}
	return true;
}

static bool
is_alphanumeric(char c)
{
	return ascii_digit(c) || ascii_letter(c);
}

static void
begin(struct check_text *o)
{
	o->count = 0;
}

static void
head(struct check_text *o, const char *path, const char *value)
{
	put(o, "%s: Invalid value: ", path);
	put_quoted(o, value);
	put(o, ": ");
}

static void
fault(struct check_text *o, const char *words)
{
	put(o, "%s%s", o->count++ > 0 ? "; " : "", words);
}

static void
put(struct check_text *o, const char *fmt, ...)
{
	va_list ap;

	if (o->used >= o->size)
		return;
	va_start(ap, fmt);
	const int n = vsnprintf(o->buf + o->used, o->size - o->used, fmt, ap);
	va_end(ap);
	o->used += n > 0 ? (size_t)n : 0;
	if (o->used > o->size)
		o->used = o->size;
}

/* As %q: what is not text is escaped. */
static void
put_quoted(struct check_text *o, const char *s)
{
	static const char letters[] = "a\ab\bf\fn\nr\rt\tv\v\"\"\\\\";

	put(o, "\"");
	for (size_t len = strlen(s), n; len > 0; s += n, len -= n) {
		const char *letter = letters + 1;

		n = utf8_length(s, len);
		while (letter < letters + sizeof(letters) - 1 && *letter != *s)
			letter += 2;
		if (letter < letters + sizeof(letters) - 1)
			put(o, "\\%c", letter[-1]);
		else if (n == 0 || (unsigned char)*s < ' ' || *s == '\x7f')
			put(o, "\\x%02x", (unsigned char)*s);
		else
			put(o, "%.*s", (int)n, s);
		n = n == 0 ? 1 : n;
	}
	put(o, "\"");
}

static void
put_list(struct check_text *o, const struct requirement *r)
{
	for (size_t i = 0; i < r->nvalues; i++) {
		put(o, i == 0 ? "[" : ",");
		put_quoted(o, r->values[i]);
	}
	put(o, "]");
}
