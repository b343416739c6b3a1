/* kube/splitter_json.c - JSON: lines of a watch; the items of a list. */
#include <jansson.h>
#include <string.h>

#include "splitter_private.h"

/* What may come next, within {"key": value, ...}. Before the AT_ states blanks may stand. */
enum json_state {
	AT_START, AT_FIRST_KEY, AT_KEY, AT_COLON, AT_COMMA, AT_FIRST_ITEM, AT_ITEM, AFTER_ITEM, AT_END,
	AT_VALUE,
	IN_KEY, IN_STRING, IN_SCALAR, IN_BRACKETS, IN_META, IN_ITEM,
};

/* Where a single sign is expected: which, what comes after it, and what is wrong if it is none of them. */
static const struct {
	const char	*signs;
	enum json_state	 next[2];
	const char	*error;
} expected[] = {
	[AT_START]	= { "{",   { AT_FIRST_KEY },	  "not a JSON object" },
	[AT_FIRST_KEY]	= { "\"}", { IN_KEY, AT_END },	  "no name where a member should begin" },
	[AT_KEY]	= { "\"",  { IN_KEY },		  "no name where a member should begin" },
	[AT_COLON]	= { ":",   { AT_VALUE },	  "no colon behind a name" },
	[AT_COMMA]	= { ",}",  { AT_KEY, AT_END },	  "no comma behind a member" },
	[AT_FIRST_ITEM]	= { "{]",  { IN_ITEM, AT_COMMA }, "an item is not an object" },
	[AT_ITEM]	= { "{",   { IN_ITEM },		  "an item is not an object" },
	[AFTER_ITEM]	= { ",]",  { AT_ITEM, AT_COMMA }, "no comma behind an item" },
	[AT_END]	= { "",    { AT_END },		  "something follows its end" },
};

static splitter_step sign, value, in_string, in_scalar, in_brackets, in_meta, in_item;
static splitter_step *const steps[] = {
	[AT_START] = sign, [AT_FIRST_KEY] = sign, [AT_KEY] = sign, [AT_COLON] = sign, [AT_COMMA] = sign,
	[AT_FIRST_ITEM] = sign, [AT_ITEM] = sign, [AFTER_ITEM] = sign, [AT_END] = sign,
	[AT_VALUE] = value, [IN_KEY] = in_string, [IN_STRING] = in_string, [IN_SCALAR] = in_scalar,
	[IN_BRACKETS] = in_brackets, [IN_META] = in_meta, [IN_ITEM] = in_item,
};

static bool read_meta(struct splitter *);
static void keep_text(char **, const json_t *, const char *);
static bool word_is(const struct splitter *, const char *);
static void add_to_word(struct splitter *, char);
static size_t unexpected(struct splitter *, const char *);
static bool is_blank(char);

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

	while (state < IN_KEY && blanks < len && is_blank(p[blanks]))
		blanks++;
	if (blanks == len)
		return len;
	const size_t n = steps[state](c, p + blanks, len - blanks);
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
sign(struct splitter *c, const char *p, size_t len)
{
	const char *const signs = expected[c->json.state].signs;
	const char *const at = memchr(signs, *p, strlen(signs));

	if (at == NULL)
		return unexpected(c, expected[c->json.state].error);
	c->json.state = expected[c->json.state].next[at - signs];
	if (c->json.state == IN_KEY)
		c->json.word_len = 0;
	/* The bracket is part of the item. */
	return c->json.state == IN_ITEM ? in_item(c, p, len) : 1;
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
	if (*p == '"' || (items && *p == '[')) {
		j->state = *p == '"' ? IN_STRING : AT_FIRST_ITEM;
		return 1;
	}
	j->state = meta ? IN_META : *p == '{' || *p == '[' ? IN_BRACKETS : IN_SCALAR;
	return steps[j->state](c, p, len);
}

/* A key or a value; the word of a value is not used. */
static size_t
in_string(struct splitter *c, const char *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (p[i] == '"' && !c->json.escape) {
			c->json.state = c->json.state == IN_KEY ? AT_COLON : AT_COMMA;
			return i + 1;
		}
		c->json.escape = p[i] == '\\' && !c->json.escape;
		add_to_word(c, p[i]);
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
	return n > 0 ? n : is_blank(*p) ? 1 : sign(c, p, len);
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
in_item(struct splitter *c, const char *p, size_t len)
{
	const size_t n = json_depth_run(&c->json.depth, p, len);

	if (c->json.depth.depth > 0)
		return splitter_buffer(c, p, n, SPLITTER_OBJECT_MAX) ? n : 0;
	c->json.state = AFTER_ITEM;
	return splitter_deliver(c, p, n, len - n) ? n : 0;
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
	return span_is(c->json.word, c->json.word_len, word);
}

/* One that is too long is cut to the buffer, and then equals none of ours. */
static void
add_to_word(struct splitter *c, char byte)
{
	if (c->json.word_len < sizeof(c->json.word))
		c->json.word[c->json.word_len++] = byte;
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
