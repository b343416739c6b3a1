/* actors/reconcile/journal.c - the last plan and the last effect of each key. */
#include <stdio.h>

#include "json.h"
#include "keytab.h"
#include "obj.h"
#include "reconcile.h"

static void clear(struct journal_entry *);

void
journal_free(struct keytab **jp)
{
	struct keytab *const j = *jp;

	for (uint32_t id = 0; j != NULL && id < keytab_ids(j); id++) {
		if (keytab_key(j, id, NULL) != NULL)
			clear(keytab_value(j, id));
	}
	keytab_free(jp);
}

struct journal_entry *
journal_entry(struct keytab *j, const char *key, size_t len)
{
	return keytab_value(j, keytab_add(j, key, len, NULL));
}

struct journal_entry *
journal_find(const struct keytab *j, const char *key, size_t len)
{
	const uint32_t id = keytab_find(j, key, len);

	return id == KEYTAB_NONE ? NULL : keytab_value(j, id);
}

void
journal_drop(struct keytab *j, const char *key, size_t len)
{
	const uint32_t id = keytab_find(j, key, len);

	if (id == KEYTAB_NONE)
		return;
	clear(keytab_value(j, id));
	keytab_remove(j, id);
}

void
journal_changed(struct journal_entry *e)
{
	e->refused = false;
	e->changed = true;
}

void
journal_clear_refused(struct keytab *j)
{
	for (uint32_t id = 0; id < keytab_ids(j); id++) {
		if (keytab_key(j, id, NULL) != NULL)
			journal_changed(keytab_value(j, id));
	}
}

void
journal_put_plan(const struct journal_entry *e, struct json *out)
{
	json_open(out, "plan", '{');
	json_str(out, "verb", e->verb);
	json_str(out, "why", e->why);
	if (e->field != NULL)
		json_str(out, "differs", e->field);
	json_close(out, '}');
}

void
journal_put_write(const struct journal_entry *e, struct json *out)
{
	char what[64];

	if (e->at_us == 0)
		return;
	snprintf(what, sizeof(what), "%s%s%s", e->what, e->subresource != NULL ? " " : "",
	    e->subresource != NULL ? e->subresource : "");
	json_open(out, "write", '{');
	json_str(out, "what", what);
	json_str(out, "outcome", e->outcome);
	json_str(out, "message", e->message != NULL ? e->message : "");
	json_int(out, "at_us", e->at_us);
	json_close(out, '}');
}

static void
clear(struct journal_entry *e)
{
	free(e->message);
	free(e->own);
}
