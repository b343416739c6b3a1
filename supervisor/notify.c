/*
 * supervisor/notify.c - parses records from actors. Pure.
 *
 * An actor may be broken or taken over: any bytes may come, of any length up to the record limit.
 * What does not match exactly is refused whole, and text is reduced to printable ASCII before
 * anyone prints it.
 */
#include "notify.h"

#include <string.h>

#include "obj.h"

/* What is left of the record. */
struct rest {
	const char	*at;
	size_t		 len;
};

static bool take_nothing(struct rest *, struct note *);
static bool take_number(struct rest *, struct note *);
static bool take_report(struct rest *, struct note *);
static bool take_text(struct rest *, struct note *);
static bool take_answer(struct rest *, struct note *);
static bool word(struct rest *, const char **, size_t *);
static bool number(const char *, size_t, uint64_t *);

static const struct {
	const char	 *name;
	bool		(*take)(struct rest *, struct note *);
	uint64_t	  most;		/* of the number */
} records[NOTE_MAX] = {
	[NOTE_BOUND]    = { "bound",    take_nothing, 0 },
	[NOTE_SYNCED]   = { "synced",   take_nothing, 0 },
	[NOTE_UNSYNCED] = { "unsynced", take_nothing, 0 },
	[NOTE_BEAT]     = { "beat",     take_number,  INT64_MAX },
	[NOTE_REPORT]   = { "report",   take_report,  INT64_MAX },
	[NOTE_EXTEND]   = { "extend",   take_number,  NOTE_MAX_MS },
	[NOTE_STATUS]   = { "status",   take_text,    0 },
	[NOTE_ANSWER]   = { "answer",   take_answer,  INT64_MAX },
};

bool
notify_parse(const char *record, size_t len, struct note *out)
{
	struct rest rest = { .at = record, .len = len };
	const char *name;
	size_t name_len;

	*out = (struct note){ .role = ROLE_NONE };
	if (!word(&rest, &name, &name_len))
		return false;
	for (unsigned i = 0; i < NITEMS(records); i++) {
		if (strlen(records[i].name) != name_len || memcmp(records[i].name, name, name_len) != 0)
			continue;
		out->kind = (enum note_kind)i;
		return records[i].take(&rest, out) && out->number <= records[i].most;
	}
	return false;
}

static bool
take_nothing(struct rest *rest, struct note *out)
{
	(void)out;
	return rest->len == 0;
}

static bool
take_number(struct rest *rest, struct note *out)
{
	const char *w;
	size_t len;

	return word(rest, &w, &len) && number(w, len, &out->number) && rest->len == 0;
}

/* <role|-> <incarnation> <reason>: a role that does not exist is not a report about anybody. */
static bool
take_report(struct rest *rest, struct note *out)
{
	const char *w;
	size_t len;

	if (!word(rest, &w, &len))
		return false;
	if (len != 1 || w[0] != '-') {
		out->role = role_find(w, len);
		if (out->role == ROLE_NONE)
			return false;
	}
	return word(rest, &w, &len) && number(w, len, &out->number) && take_text(rest, out)
	    && out->text[0] != '\0';
}

static bool
take_text(struct rest *rest, struct note *out)
{
	const size_t len = rest->len < NOTE_TEXT_MAX ? rest->len : NOTE_TEXT_MAX;

	for (size_t i = 0; i < len; i++)
		out->text[i] = rest->at[i] >= ' ' && rest->at[i] <= '~' ? rest->at[i] : '?';
	out->text[len] = '\0';
	return true;
}

/* <id> <json>: the client parses it, musterd does not. */
static bool
take_answer(struct rest *rest, struct note *out)
{
	const char *w;
	size_t len;

	if (!word(rest, &w, &len) || !number(w, len, &out->number) || rest->len == 0)
		return false;
	out->body = rest->at;
	out->body_len = rest->len;
	return true;
}

/* The next word, ended by one space or the end of the record; false when it is empty. */
static bool
word(struct rest *rest, const char **w, size_t *len)
{
	const char *const space = rest->len == 0 ? NULL : memchr(rest->at, ' ', rest->len);

	*w = rest->at;
	*len = space == NULL ? rest->len : (size_t)(space - rest->at);
	rest->at += *len + (space != NULL);
	rest->len -= *len + (space != NULL);
	return *len > 0;
}

static bool
number(const char *w, size_t len, uint64_t *out)
{
	uint64_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (w[i] < '0' || w[i] > '9' || n > (UINT64_MAX - 9) / 10)
			return false;
		n = n * 10 + (uint64_t)(w[i] - '0');
	}
	*out = n;
	return len > 0;
}
