/* actors/node-state/choose.c - the MCO's choice among the pools that match a node. Pure. */
#include "choose.h"

#include <string.h>

#include "obj.h"
#include "text_buffer.h"

/* The classes of the names, whatever their order. */
struct pool_classes {
	int	master, worker, custom;		/* index, or -1; custom: of one of them */
	size_t	customs;
};

/* Around the names of the custom pools; a sentence without names is all in `after`. */
static const struct {
	const char	*before, *after;
} sentences[CHOOSE_MAX] = {
	[CHOOSE_WINDOWS] = { NULL, "a Windows node: MCO does not manage it" },
	[CHOOSE_SEVERAL] = { "pools ", " match: MCO does not manage such a node" },
	[CHOOSE_MASTER_OVER_CUSTOM] = { NULL, "pool master matches: it comes before a custom pool" },
	[CHOOSE_CUSTOM]  = { "custom pool ", " matches" },
	[CHOOSE_MASTER]  = { NULL, "pool master matches" },
	[CHOOSE_WORKER]  = { NULL, "only pool worker matches" },
	[CHOOSE_NOTHING] = { NULL, "no pool's selector matches" },
};

static void put_customs(struct text_buffer *, const char *const *, size_t);
static struct pool_classes classify(const char *const *, size_t);
static bool is_custom(const char *);
static const char *next_custom(const char *const *, size_t, const char *);

struct choice
choose_pool(const char *const *names, size_t count, bool windows)
{
	const struct pool_classes f = classify(names, count);

	if (windows)
		return (struct choice){ -1, CHOOSE_WINDOWS };
	if (f.customs > 1)
		return (struct choice){ -1, CHOOSE_SEVERAL };
	if (f.customs == 1 && f.master >= 0)
		return (struct choice){ f.master, CHOOSE_MASTER_OVER_CUSTOM };
	if (f.customs == 1)
		return (struct choice){ f.custom, CHOOSE_CUSTOM };
	if (f.master >= 0)
		return (struct choice){ f.master, CHOOSE_MASTER };
	if (f.worker >= 0)
		return (struct choice){ f.worker, CHOOSE_WORKER };
	return (struct choice){ -1, CHOOSE_NOTHING };
}

size_t
choose_why(struct choice c, const char *const *names, size_t count, char *buf, size_t size)
{
	struct text_buffer t = { .p = buf, .size = size };

	MUST(size > 0 && c.rule < CHOOSE_MAX);
	buf[0] = '\0';
	if (sentences[c.rule].before != NULL) {
		text_put(&t, sentences[c.rule].before);
		put_customs(&t, names, count);
	}
	text_put(&t, sentences[c.rule].after);
	return t.len;
}

/* "a", "a and b both", "a, b and c all": by name, whatever the order they came in. */
static void
put_customs(struct text_buffer *t, const char *const *names, size_t count)
{
	const size_t customs = classify(names, count).customs;
	const char *name = "";

	for (size_t i = 0; i < customs && (name = next_custom(names, count, name)) != NULL; i++) {
		if (i > 0)
			text_put(t, i + 1 < customs ? ", " : " and ");
		text_put(t, name);
	}
	if (customs > 1)
		text_put(t, customs == 2 ? " both" : " all");
}

static struct pool_classes
classify(const char *const *names, size_t count)
{
	struct pool_classes f = { -1, -1, -1, 0 };

	for (size_t i = 0; i < count; i++) {
		if (is_custom(names[i])) {
			f.custom = (int)i;
			f.customs++;
		} else if (names[i][0] == 'm') {
			f.master = (int)i;
		} else {
			f.worker = (int)i;
		}
	}
	return f;
}

static bool
is_custom(const char *name)
{
	return strcmp(name, "master") != 0 && strcmp(name, "worker") != 0;
}

/* The custom pool whose name comes next after that one. */
static const char *
next_custom(const char *const *names, size_t count, const char *after)
{
	const char *next = NULL;

	for (size_t i = 0; i < count; i++) {
		if (is_custom(names[i]) && strcmp(names[i], after) > 0
		    && (next == NULL || strcmp(names[i], next) < 0))
			next = names[i];
	}
	return next;
}
