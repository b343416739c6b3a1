/*
 * kube/selector_check.c - is this a label key, is this a label value? With the words of apimachinery, which
 * people see in kubectl and search for.
 */
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

/* Complaints, joined. */
struct complaints {
	FILE	*out;		/* NULL: none yet */
	char	*text;
	size_t	 len;
	int	 count;
};

static void check_key(struct complaints *, const char *, const char *);
static int key_faults(FILE *, const char *);
static int value_faults(FILE *, const char *);
static void fault(FILE *, int *, const char *);
static FILE *complain(struct complaints *, const char *);
static FILE *complain_of(struct complaints *, const char *, const char *);
static bool end(struct complaints *, char *, size_t);
static bool is_name(const char *, size_t);
static bool is_subdomain(const char *, size_t);
static bool is_alphanumeric(char);
static void put_quoted(FILE *, const char *);

bool
selector_wrong_key(const char *path, const char *key, char *err, size_t size)
{
	struct complaints c = { .out = NULL };

	check_key(&c, path, key);
	return end(&c, err, size);
}

bool
selector_wrong_requirement(const struct requirement *r, char *err, size_t size)
{
	const bool set = r->op == OP_IN || r->op == OP_NOT_IN,
		   unary = r->op == OP_EXISTS || r->op == OP_ABSENT;
	const bool number = r->op == OP_GREATER || r->op == OP_LESS;
	struct complaints c = { .out = NULL };
	char path[NAME_MAX_LEN + PREFIX_MAX_LEN + 64];
	int64_t n;

	check_key(&c, "key", r->key);
	if (set && r->nvalues == 0) {
		fputs("null: for 'in', 'notin' operators, values set can't be empty", complain(&c, "values"));
	} else if (unary && r->nvalues > 0) {
		FILE *const out = complain(&c, "values");

		for (size_t i = 0; i < r->nvalues; i++) {
			fputc(i == 0 ? '[' : ',', out);
			put_quoted(out, r->values[i]);
		}
		fputs("]: values set must be empty for exists and does not exist", out);
	}
	for (size_t i = 0; number && i < r->nvalues; i++) {
		if (selector_integer(r->values[i], &n))
			continue;
		snprintf(path, sizeof(path), "values[%zu]", i);
		fputs("for 'Gt', 'Lt' operators, the value must be an integer",
		    complain_of(&c, path, r->values[i]));
	}
	for (size_t i = 0; i < r->nvalues; i++) {
		if (value_faults(NULL, r->values[i]) == 0)
			continue;
		snprintf(path, sizeof(path), "values[%zu][%s]", i, r->key);
		value_faults(complain_of(&c, path, r->values[i]), r->values[i]);
	}
	return end(&c, err, size);
}

static void
check_key(struct complaints *c, const char *path, const char *key)
{
	if (key_faults(NULL, key) > 0)
		key_faults(complain_of(c, path, key), key);
}

/* How many, written to out unless that is NULL. */
static int
key_faults(FILE *out, const char *key)
{
	const char *const slash = strchr(key, '/');
	const char *const name = slash == NULL ? key : slash + 1;
	const size_t len = strlen(name), prefix = slash == NULL ? 0 : (size_t)(slash - key);
	int count = 0;

	if (strchr(name, '/') != NULL) {
		fault(out, &count, "a valid label key " KEY_WORDS
		    " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
		return count;
	}
	if (slash != NULL && prefix == 0)
		fault(out, &count, "prefix part must be non-empty");
	if (prefix > PREFIX_MAX_LEN)
		fault(out, &count, "prefix part must be no more than 253 bytes");
	if (prefix > 0 && !is_subdomain(key, prefix))
		fault(out, &count, "prefix part " PREFIX_WORDS);
	if (len == 0)
		fault(out, &count, "name part must be non-empty");
	else if (len > NAME_MAX_LEN)
		fault(out, &count, "name part must be no more than 63 bytes");
	if (!is_name(name, len))
		fault(out, &count, "name part " KEY_WORDS);
	return count;
}

static int
value_faults(FILE *out, const char *value)
{
	const size_t len = strlen(value);
	int count = 0;

	if (len > NAME_MAX_LEN)
		fault(out, &count, "must be no more than 63 bytes");
	if (len > 0 && !is_name(value, len))
		fault(out, &count, VALUE_WORDS);
	return count;
}

static void
fault(FILE *out, int *count, const char *words)
{
	if (out != NULL)
		fprintf(out, "%s%s", *count > 0 ? "; " : "", words);
	++*count;
}

/* "<path>: Invalid value: ": the value and what is wrong with it follow. */
static FILE *
complain(struct complaints *c, const char *path)
{
	if (c->out == NULL)
		c->out = open_memstream(&c->text, &c->len);
	MUST(c->out != NULL);
	fprintf(c->out, "%s%s: Invalid value: ", c->count++ > 0 ? ", " : "", path);
	return c->out;
}

static FILE *
complain_of(struct complaints *c, const char *path, const char *value)
{
	put_quoted(complain(c, path), value);
	fputs(": ", c->out);
	return c->out;
}

/* Several complaints stand in brackets, as an aggregate of errors prints. */
static bool
end(struct complaints *c, char *err, size_t size)
{
	if (c->out == NULL)
		return false;
	MUST(fclose(c->out) == 0);
	snprintf(err, size, c->count > 1 ? "[%s]" : "%s", c->text);
	free(c->text);
	return true;
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

/* As %q: what is not text is escaped. */
static void
put_quoted(FILE *out, const char *s)
{
	static const char letters[] = "a\ab\bf\fn\nr\rt\tv\v\"\"\\\\";

	fputc('"', out);
	for (size_t len = strlen(s), n; len > 0; s += n, len -= n) {
		const char *letter = letters + 1;

		n = utf8_length(s, len);
		while (letter < letters + sizeof(letters) - 1 && *letter != *s)
			letter += 2;
		if (letter < letters + sizeof(letters) - 1)
			fprintf(out, "\\%c", letter[-1]);
		else if (n == 0 || (unsigned char)*s < ' ' || *s == '\x7f')
			fprintf(out, "\\x%02x", (unsigned char)*s);
		else
			fprintf(out, "%.*s", (int)n, s);
		n = n == 0 ? 1 : n;
	}
	fputc('"', out);
}
