/* config/events.c - libyaml with limits, and its complaints as errors with a line. */
#include "events.h"

#include <string.h>

#include "obj.h"
#include "private.h"
#include "utf8.h"

static bool check_text(const char *, size_t, struct config_errors *);
static void refuse_extras(struct events *);
static void tell_syntax(struct events *);
static bool tab_indents(const struct events *, size_t);

bool
events_open(struct events *e, const char *text, size_t len, struct config_errors *errs)
{
	/* Told the encoding, libyaml would take the byte order mark for a character. */
	static const char mark[] = "\xef\xbb\xbf";
	const size_t skipped = len >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;

	*e = (struct events){ .text = text + skipped, .end = text + len, .errs = errs };
	if (!check_text(e->text, len - skipped, errs))
		return false;
	MUST(yaml_parser_initialize(&e->yaml) == 1);
	yaml_parser_set_encoding(&e->yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&e->yaml, (const unsigned char *)e->text, len - skipped);
	return true;
}

void
events_close(struct events *e)
{
	yaml_event_delete(&e->now);
	yaml_parser_delete(&e->yaml);
}

bool
events_next(struct events *e)
{
	yaml_event_delete(&e->now);
	if (e->ended)
		return false;
	if (yaml_parser_parse(&e->yaml, &e->now) == 0) {
		tell_syntax(e);
		e->ended = true;
		return false;
	}
	const yaml_event_type_t t = e->now.type;
	e->depth += t == YAML_MAPPING_START_EVENT || t == YAML_SEQUENCE_START_EVENT;
	e->depth -= t == YAML_MAPPING_END_EVENT || t == YAML_SEQUENCE_END_EVENT;
	refuse_extras(e);
	if (e->depth > CONFIG_DEPTH_MAX) {
		errors_add(e->errs, events_line(e),
		    "nested deeper than %d levels; the settings need three", CONFIG_DEPTH_MAX);
		e->ended = true;
	}
	e->ended = e->ended || e->errs->more;
	return !e->ended;
}

void
events_skip(struct events *e)
{
	const bool nested =
	    e->now.type == YAML_MAPPING_START_EVENT || e->now.type == YAML_SEQUENCE_START_EVENT;
	const int outside = e->depth - 1;

	while (nested && e->depth > outside && events_next(e))
		;
}

int
events_line(const struct events *e)
{
	return (int)e->now.start_mark.line + 1;
}

const char *
events_kind(const struct events *e)
{
	return e->now.type == YAML_SEQUENCE_START_EVENT ? "a list"
	    : e->now.type == YAML_MAPPING_START_EVENT ? "a mapping" : "a single value";
}

bool
events_null(const struct events *e)
{
	static const char *const names[] = { "", "~", "null", "Null", "NULL" };

	if (e->now.type != YAML_SCALAR_EVENT || e->now.data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
		return false;
	for (size_t i = 0; i < NITEMS(names); i++) {
		if (strcmp((const char *)e->now.data.scalar.value, names[i]) == 0)
			return true;
	}
	return false;
}

/* What YAML has and a configuration does not need: it only lets two readers see two things. */
static void
refuse_extras(struct events *e)
{
	const yaml_char_t *anchor = NULL, *tag = NULL;

	switch (e->now.type) {
	case YAML_ALIAS_EVENT:
		errors_add(e->errs, events_line(e),
		    "an alias (*name) is not allowed; write the value out");
		break;
	case YAML_SCALAR_EVENT:
		anchor = e->now.data.scalar.anchor;
		tag = e->now.data.scalar.tag;
		break;
	case YAML_MAPPING_START_EVENT:
		anchor = e->now.data.mapping_start.anchor;
		tag = e->now.data.mapping_start.tag;
		break;
	case YAML_SEQUENCE_START_EVENT:
		anchor = e->now.data.sequence_start.anchor;
		tag = e->now.data.sequence_start.tag;
		break;
	default:
		break;
	}
	if (anchor != NULL)
		errors_add(e->errs, events_line(e),
		    "an anchor (&name) is not allowed; write the value where it is needed");
	if (tag != NULL)
		errors_add(e->errs, events_line(e),
		    "a tag (!name) is not allowed; every key knows its own type");
}

static void
tell_syntax(struct events *e)
{
	const size_t line = e->yaml.problem_mark.line;
	const char *context = e->yaml.context;

	if (tab_indents(e, line))
		errors_add(e->errs, (int)line + 1,
		    "a tab stands in the indentation; YAML takes only spaces there");
	else
		errors_add(e->errs, (int)line + 1, "not YAML: %s%s%s", e->yaml.problem,
		    context == NULL ? "" : " ", context == NULL ? "" : context);
}

/* libyaml's words for it, "found character that cannot start any token", help nobody. */
static bool
tab_indents(const struct events *e, size_t line)
{
	const char *p = e->text;

	for (; line > 0 && p != NULL; line--) {
		p = memchr(p, '\n', (size_t)(e->end - p));
		p = p == NULL ? NULL : p + 1;
	}
	while (p != NULL && p < e->end && *p == ' ')
		p++;
	return p != NULL && p < e->end && *p == '\t';
}

/* Only what YAML allows, so that libyaml's reader, which knows no lines, has nothing to say. */
static bool
check_text(const char *text, size_t len, struct config_errors *errs)
{
	int line = 1;

	if (len > CONFIG_FILE_MAX) {
		errors_add(errs, 0, "is larger than %d bytes, the limit of a configuration",
		    CONFIG_FILE_MAX);
		return false;
	}
	for (size_t i = 0, n; i < len; i += n) {
		n = utf8_length(text + i, len - i);
		if (n == 0) {
			errors_add(errs, line, "byte 0x%02x is not UTF-8; save the file as UTF-8",
			    (unsigned char)text[i]);
			return false;
		}
		const uint32_t code = utf8_code(text + i, n);
		const bool blank = code == '\t' || code == '\n' || code == '\r' || code == 0x85
		    || code == 0x2028 || code == 0x2029;
		if (value_control(code) && !blank) {
			errors_add(errs, line, "%s stands here (U+%04X); only text is allowed",
			    code == 0 ? "a NUL" : "a control character", code);
			return false;
		}
		line += code == '\n';
	}
	return true;
}
