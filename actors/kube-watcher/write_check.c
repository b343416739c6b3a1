/* actors/kube-watcher/write_check.c - the fields of a WRITE, one rule each. Pure. */
#include "write_check.h"

#include <string.h>

#include "ascii.h"
#include "obj.h"
#include "utf8.h"
#include "writes.h"

/* What an operation needs and excludes. */
enum shape {
	NAMED	 = 1 << 0,	/* one object */
	MANY	 = 1 << 1,	/* a collection: no name; selectors are possible */
	WITH_UID = 1 << 2,	/* the object of that uid, and no other of the same name */
	WITH_RV	 = 1 << 3,	/* the object as it was when it was read */
	NEW	 = 1 << 4,	/* no object yet, hence no precondition */
	WHOLE	 = 1 << 5,	/* no subresource: none exists, or the operation implies its own */
};

static const unsigned shapes[OP_MAX] = {
	[OP_CREATE]    = NAMED | NEW | WHOLE,
	[OP_UPDATE]    = NAMED | WITH_RV,
	[OP_MERGE]     = NAMED,
	[OP_JSON]      = NAMED,
	[OP_STRATEGIC] = NAMED,
	[OP_APPLY]     = NAMED,
	[OP_DELETE]    = NAMED | WITH_UID,
	[OP_EVICT]     = NAMED | WITH_UID | WHOLE,
	[OP_GET]       = NAMED,
	[OP_LIST]      = MANY | WHOLE,
	[OP_EVENT]     = NAMED | WHOLE,
};

typedef bool field_rule(struct wire_str);
static field_rule is_label, is_subdomain, is_segment, is_token, is_selector;

static bool is_alnum(char);
static bool is_ascii_control(uint32_t);
static struct write_fault check_shape(const struct body_write *);

#define LABEL	"not a DNS label of at most 63 characters (a-z, 0-9, -)"
#define TOKEN	"more than 64 characters, or one that is not printable ASCII"

struct write_fault
write_check(const struct body_write *w)
{
	const struct {
		const char	*field;
		struct wire_str	 text;
		field_rule	*rule;
		const char	*why;
	} fields[] = {
		{ "group", w->group, is_subdomain, "not a DNS name of at most 253 characters" },
		{ "version", w->version, is_label, LABEL },
		{ "resource", w->resource, is_label, LABEL },
		{ "namespace", w->ns, is_label, LABEL },
		{ "name", w->name, is_segment,
		    "not an object's name: at most 253 printable ASCII characters without / and %" },
		{ "subresource", w->subresource, is_label, LABEL },
		{ "uid", w->uid, is_token, TOKEN },
		{ "rv", w->rv, is_token, TOKEN },
		{ "labels", w->labels, is_selector, "more than 2048 bytes, or not UTF-8 text" },
		{ "fields", w->fields, is_selector, "more than 2048 bytes, or not UTF-8 text" },
	};

	if (w->op >= OP_MAX)
		return (struct write_fault){ "op", "no such operation" };
	for (size_t i = 0; i < NITEMS(fields); i++) {
		if (fields[i].text.len > 0 && !fields[i].rule(fields[i].text))
			return (struct write_fault){ fields[i].field, fields[i].why };
	}
	return check_shape(w);
}

static struct write_fault
check_shape(const struct body_write *w)
{
	const unsigned shape = shapes[w->op];
	const struct {
		const char	*field;
		bool		 wrong;
		const char	*why;
	} rules[] = {
		{ "resource", w->resource.len == 0, "missing" },
		{ "name", (shape & NAMED) != 0 && w->name.len == 0, "missing" },
		{ "name", (shape & MANY) != 0 && w->name.len > 0, "a list has none: use get" },
		{ "subresource", (shape & WHOLE) != 0 && w->subresource.len > 0,
		    "a create, a list, an eviction and an Event have none" },
		{ "uid", (shape & WITH_UID) != 0 && w->uid.len == 0,
		    "missing: another object of the same name could be hit" },
		{ "rv", (shape & WITH_RV) != 0 && w->rv.len == 0,
		    "missing: changes by others could be lost" },
		{ "uid", (shape & NEW) != 0 && w->uid.len > 0, "an object to be created has none" },
		{ "rv", (shape & NEW) != 0 && w->rv.len > 0, "an object to be created has none" },
		{ "labels", (shape & MANY) == 0 && w->labels.len > 0, "only a list has selectors" },
		{ "fields", (shape & MANY) == 0 && w->fields.len > 0, "only a list has selectors" },
	};

	for (size_t i = 0; i < NITEMS(rules); i++) {
		if (rules[i].wrong)
			return (struct write_fault){ rules[i].field, rules[i].why };
	}
	return (struct write_fault){ .field = NULL };
}

/* ---- Rules: the text is not empty ---- */

/* RFC 1123, as Kubernetes has it. */
static bool
is_label(struct wire_str s)
{
	return memchr(s.p, '.', s.len) == NULL && s.len <= WRITE_LABEL_MAX && is_subdomain(s);
}

static bool
is_subdomain(struct wire_str s)
{
	for (uint32_t i = 0; i < s.len; i++) {
		const bool inside = i > 0 && i + 1 < s.len && is_alnum(s.p[i - 1]);

		if (is_alnum(s.p[i]) || (s.p[i] == '.' && inside && is_alnum(s.p[i + 1])))
			continue;
		/* A run of hyphens is fine between two alphanumerics. */
		if (s.p[i] != '-' || i == 0 || i + 1 == s.len || s.p[i - 1] == '.' || s.p[i + 1] == '.')
			return false;
	}
	return s.len <= WRITE_NAME_MAX;
}

static bool
is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || ascii_digit(c);
}

/* What Kubernetes calls a path segment name, of ASCII alone: no kind of ours has any other. */
static bool
is_segment(struct wire_str s)
{
	const bool dots = (s.len == 1 || (s.len == 2 && s.p[1] == '.')) && s.p[0] == '.';

	for (uint32_t i = 0; i < s.len; i++) {
		if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '/' || s.p[i] == '%')
			return false;
	}
	return s.len <= WRITE_NAME_MAX && !dots;
}

static bool
is_token(struct wire_str s)
{
	for (uint32_t i = 0; i < s.len; i++) {
		if (s.p[i] <= ' ' || s.p[i] > '~')
			return false;
	}
	return s.len <= WRITE_TOKEN_MAX;
}

static bool
is_ascii_control(uint32_t code)
{
	return code < ' ' || code == 0x7f;
}

static bool
is_selector(struct wire_str s)
{
	return s.len <= WRITE_SELECTOR_MAX && utf8_span(s.p, s.len, is_ascii_control) == s.len;
}
