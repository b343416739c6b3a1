/* cli/filter.c - selects topics by subscription, keys and traces by record. */
#include "filter.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"

enum { PREFIX_MAX = 128, KEY_BYTES_MAX = 1024 };

static bool selects_message(const struct filter *, enum link, enum msg);
static bool is_value(enum msg);

/*
 * A topic ends its prefix with a slash, or is whole: "o/test-consumer-1" alone would also be that
 * of number 10. Without link and message one prefix does for everything of the actor.
 */
void
filter_topics(const struct filter *f, enum role actor, void (*fn)(const char *prefix, void *arg), void *arg)
{
	const char direction = f->direction == TAP_OUT ? 'o' : 'i';
	char prefix[PREFIX_MAX];

	if (f->actor != ROLE_ANY && f->actor != actor)
		return;
	if (f->link == LINK_MAX && f->message == MSG_MAX) {
		snprintf(prefix, sizeof(prefix), "%c/%s/", direction, role_name(actor));
		fn(prefix, arg);
		return;
	}
	for (unsigned l = 0; l < LINK_MAX; l++) {
		if ((f->link != LINK_MAX && f->link != l)
		    || (!link_binds((enum link)l, actor) && !link_connects((enum link)l, actor)))
			continue;
		if (f->message == MSG_MAX) {
			snprintf(prefix, sizeof(prefix), "%c/%s/%s/", direction, role_name(actor),
			    link_table[l].name);
			fn(prefix, arg);
		}
		for (unsigned m = 0; f->message != MSG_MAX && m < MSG_MAX; m++) {
			if (selects_message(f, (enum link)l, (enum msg)m)) {
				tap_topic(prefix, sizeof(prefix), f->direction, actor, (enum link)l,
				    (enum msg)m);
				fn(prefix, arg);
			}
		}
	}
}

bool
filter_record(const struct filter *f, const struct capture *c)
{
	return f->direction == c->direction && (f->actor == ROLE_ANY || f->actor == c->actor)
	    && (f->link == LINK_MAX || f->link == c->link) && selects_message(f, c->link, c->message);
}

bool
filter_line(const struct filter *f, const struct tap_line *l)
{
	char key[KEY_BYTES_MAX + 1];

	if (f->by_trace && l->trace != f->trace)
		return false;
	if (f->message != MSG_MAX && is_value(f->message) && l->value_type != f->message)
		return false;
	if (f->key == NULL)
		return true;
	if (!l->has_key || l->key.len > KEY_BYTES_MAX)
		return false;
	memcpy(key, l->key.p, l->key.len);
	key[l->key.len] = '\0';
	return fnmatch(f->key, key, 0) == 0;
}

static bool
selects_message(const struct filter *f, enum link l, enum msg m)
{
	if (f->message != MSG_MAX && is_value(f->message))
		return m == MSG_RESULT_ITEMS ? link_answers(l, f->message)
					     : msg_table[m].many && link_carries(l, f->message);
	return f->message == MSG_MAX || f->message == m;
}

/* A value is carried inside items. */
static bool
is_value(enum msg m)
{
	for (unsigned l = 0; l < LINK_MAX; l++) {
		if (link_carries((enum link)l, m) || link_answers((enum link)l, m))
			return true;
	}
	return false;
}
