/*
 * kube/splitter_json.c - JSON: lines of a watch; the items of a list.
 *
 * A list is an object with `items`. Without them it is not an empty list, it is not a list: every object
 * would be reported gone.
 */
#include <jansson.h>
#include <string.h>

#include "splitter_private.h"

/* What may come next, within {"key": value, ...}. */
enum json_state {
	AT_START,		/* { */
	AT_FIRST_KEY, AT_KEY,	/* a string; for the first also } */
	IN_KEY, AT_COLON, AT_VALUE,
	IN_STRING, IN_SCALAR, IN_BRACKETS, IN_META,
	AT_COMMA,		/* , or } */
	AT_FIRST_ITEM, AT_ITEM,	/* { ; for the first also ] */
	IN_ITEM,
	AFTER_ITEM,		/* , or ] */
	AT_END,			/* nothing */
};

static size_t start(struct splitter *, const char *, size_t);
static size_t key(struct splitter *, const char *, size_t);
static size_t in_key(struct splitter *, const char *, size_t);
static size_t colon(struct splitter *, const char *, size_t);
static size_t value(struct splitter *, const char *, size_t);
static size_t in_string(struct splitter *, const char *, size_t);
static size_t in_scalar(struct splitter *, const char *, size_t);
static size_t in_brackets(struct splitter *, const char *, size_t);
static size_t in_meta(struct splitter *, const char *, size_t);
static size_t comma(struct splitter *, const char *, size_t);
static size_t item(struct splitter *, const char *, size_t);
static size_t in_item(struct splitter *, const char *, size_t);
static size_t after_item(struct splitter *, const char *, size_t);
static size_t nothing(struct splitter *, const char *, size_t);
static bool read_meta(struct splitter *);
static void keep_text(char **, const json_t *, const char *);
static bool word_is(const struct splitter *, const char *);
static void add_to_word(struct splitter *, char);
static bool ends_string(struct splitter *, char);
static size_t advance_to(struct splitter *, enum json_state);
static size_t unexpected(struct splitter *, const char *);
static bool is_blank(char);

/* The AT_ states are entered with a byte that is not blank. */
static const struct {
	splitter_step *step;
	bool	  blanks;	/* may stand before it */
} steps[] = {
	[AT_START] = { start, true },
	[AT_FIRST_KEY] = { key, true },
	[AT_KEY] = { key, true },
	[IN_KEY] = { in_key, false },
	[AT_COLON] = { colon, true },
	[AT_VALUE] = { value, true },
	[IN_STRING] = { in_string, false },
	[IN_SCALAR] = { in_scalar, false },
	[IN_BRACKETS] = { in_brackets, false },
	[IN_META] = { in_meta, false },
	[AT_COMMA] = { comma, true },
	[AT_FIRST_ITEM] = { item, true },
	[AT_ITEM] = { item, true },
	[IN_ITEM] = { in_item, false },
	[AFTER_ITEM] = { after_item, true },
	[AT_END] = { nothing, true },
};

size_t
splitter_json_watch(struct splitter *c, const char *p, size_t len)
{
	const char *newline = memchr(p, '\n', len);

	if (newline == NULL)
		return splitter_buffer(c, p, len, SPLITTER_OBJECT_MAX) ? len : 0;
	const size_t n = (size_t)(newline - p), whole = c->held_len + n;
	if (whole == 0 || (whole == 1 && (n == 1 ? p[0] : c->held[0]) == '\r')) {
		splitter_drop(c);
		return n + 1;
	}
	return splitter_deliver(c, p, n, len - n) ? n + 1 : 0;
}

size_t
splitter_json_list(struct splitter *c, const char *p, size_t len)
{
	const unsigned state = c->json.state;
	size_t blanks = 0;

	while (steps[state].blanks && blanks < len && is_blank(p[blanks]))
		blanks++;
	if (blanks == len)
		return len;
	const size_t n = steps[state].step(c, p + blanks, len - blanks);
	return n == 0 ? 0 : blanks + n;
}

bool
splitter_json_list_complete(struct splitter *c)
{
	if (c->json.state != AT_END)
		return splitter_fail(c, "the list ended before its end, after %zu items", c->items);
	if (!c->json.items_seen)
		return splitter_fail(c, "the answer is not a list: it has no items");
	return splitter_list_has_rv(c);
}

static size_t
start(struct splitter *c, const char *p, size_t len)
{
	(void)len;
	return *p == '{' ? advance_to(c, AT_FIRST_KEY) : unexpected(c, "not a JSON object");
}

static size_t
key(struct splitter *c, const char *p, size_t len)
{
	(void)len;
	if (*p == '}' && c->json.state == AT_FIRST_KEY)
		return advance_to(c, AT_END);
	c->json.word_len = 0;
	return *p == '"' ? advance_to(c, IN_KEY) : unexpected(c, "no name where a member should begin");
}

static size_t
in_key(struct splitter *c, const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (ends_string(c, p[i])) {
			c->json.state = AT_COLON;
			return i + 1;
		}
		add_to_word(c, p[i]);
	}
	return len;
}

static size_t
colon(struct splitter *c, const char *p, size_t len)
{
	(void)len;
	return *p == ':' ? advance_to(c, AT_VALUE) : unexpected(c, "no colon behind a name");
}

static size_t
value(struct splitter *c, const char *p, size_t len)
{
	struct splitter_json *j = &c->json;
	const bool items = word_is(c, "items"), meta = word_is(c, "metadata") && !j->meta_seen && *p == '{';

	if (items && j->items_seen)
		return unexpected(c, "two members of the name items");
	if (items && *p != '[' && *p != 'n')
		return unexpected(c, "its items are not a list");
	j->items_seen |= items;
	j->meta_seen |= meta;
	j->null_wanted = items;
	j->word_len = 0;
	if (items && *p == '[')
		return advance_to(c, AT_FIRST_ITEM);
	if (*p == '"')
		return advance_to(c, IN_STRING);
	j->state = meta ? IN_META : *p == '{' || *p == '[' ? IN_BRACKETS : IN_SCALAR;
	return steps[j->state].step(c, p, len);
}

static size_t
in_string(struct splitter *c, const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (ends_string(c, p[i])) {
			c->json.state = AT_COMMA;
			return i + 1;
		}
	}
	return len;
}

static size_t
in_scalar(struct splitter *c, const char *p, size_t len)
{
	size_t n = 0;

	while (n < len && !is_blank(p[n]) && p[n] != ',' && p[n] != '}')
		add_to_word(c, p[n++]);
	if (n == len)
		return n;
	if (c->json.word_len == 0 || (c->json.null_wanted && !word_is(c, "null")))
		return unexpected(
		    c, c->json.null_wanted ? "its items are not a list" : "no value behind a name");
	c->json.state = AT_COMMA;
	return n > 0 ? n : is_blank(*p) ? 1 : comma(c, p, len);
}

static size_t
in_brackets(struct splitter *c, const char *p, size_t len)
{
	const size_t n = json_depth_run(&c->json.depth, p, len);

	if (c->json.depth.depth == 0)
		c->json.state = AT_COMMA;
	return n;
}

static size_t
in_meta(struct splitter *c, const char *p, size_t len)
{
	const size_t n = json_depth_run(&c->json.depth, p, len);

	if (!splitter_buffer(c, p, n, SPLITTER_META_MAX))
		return 0;
	if (c->json.depth.depth > 0)
		return n;
	if (!read_meta(c))
		return unexpected(c, "its metadata is not JSON");
	splitter_drop(c);
	c->json.state = AT_COMMA;
	return n;
}

static size_t
comma(struct splitter *c, const char *p, size_t len)
{
	(void)len;
	if (*p != ',' && *p != '}')
		return unexpected(c, "no comma behind a member");
	return advance_to(c, *p == ',' ? AT_KEY : AT_END);
}

static size_t
item(struct splitter *c, const char *p, size_t len)
{
	if (*p == ']' && c->json.state == AT_FIRST_ITEM)
		return advance_to(c, AT_COMMA);
	if (*p != '{')
		return unexpected(c, "an item is not an object");
	c->json.state = IN_ITEM;
	return in_item(c, p, len);
}

static size_t
in_item(struct splitter *c, const char *p, size_t len)
{
	const size_t n = json_depth_run(&c->json.depth, p, len);

	if (c->json.depth.depth > 0)
		return splitter_buffer(c, p, n, SPLITTER_OBJECT_MAX) ? n : 0;
	c->json.state = AFTER_ITEM;
	return splitter_deliver(c, p, n, len - n) ? n : 0;
}

static size_t
after_item(struct splitter *c, const char *p, size_t len)
{
	(void)len;
	if (*p != ',' && *p != ']')
		return unexpected(c, "no comma behind an item");
	return advance_to(c, *p == ',' ? AT_ITEM : AT_COMMA);
}

static size_t
nothing(struct splitter *c, const char *p, size_t len)
{
	(void)p, (void)len;
	return unexpected(c, "something follows its end");
}

static bool
read_meta(struct splitter *c)
{
	json_t *meta = json_loadb(c->held, c->held_len, 0, NULL);

	keep_text(&c->rv, meta, "resourceVersion");
	keep_text(&c->next, meta, "continue");
	json_decref(meta);
	return meta != NULL;
}

static void
keep_text(char **to, const json_t *object, const char *name)
{
	const json_t *text = json_object_get(object, name);

	if (json_is_string(text))
		splitter_copy_text(to, json_string_value(text), json_string_length(text));
}

static bool
word_is(const struct splitter *c, const char *word)
{
	return c->json.word_len == strlen(word) && memcmp(c->json.word, word, c->json.word_len) == 0;
}

/* One that is too long is cut to the buffer, and then equals none of ours. */
static void
add_to_word(struct splitter *c, char byte)
{
	if (c->json.word_len < sizeof(c->json.word))
		c->json.word[c->json.word_len++] = byte;
}

static bool
ends_string(struct splitter *c, char byte)
{
	if (byte == '"' && !c->json.escape)
		return true;
	c->json.escape = byte == '\\' && !c->json.escape;
	return false;
}

static size_t
advance_to(struct splitter *c, enum json_state next)
{
	c->json.state = next;
	return 1;
}

static size_t
unexpected(struct splitter *c, const char *what)
{
	splitter_fail(c, "after %zu items: %s", c->items, what);
	return 0;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}
