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

/* A part of the record: a word, or what is left. */
struct part {
	const char	*at;
	size_t		 len;
};

typedef bool take(struct part *rest, struct note *);
static take take_nothing, take_number, take_report, take_text, take_answer;
static bool word(struct part *, struct part *);
static bool number(struct part *, uint64_t *);

static const struct {
	const char	*name;
	take		*take;
	uint64_t	 most;		/* of the number */
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
	struct part rest = { .at = record, .len = len }, name;

	*out = (struct note){ .role = ROLE_NONE };
	if (!word(&rest, &name))
		return false;
	for (unsigned i = 0; i < NITEMS(records); i++) {
		if (strlen(records[i].name) != name.len || memcmp(records[i].name, name.at, name.len) != 0)
			continue;
		out->kind = (enum note_kind)i;
		return records[i].take(&rest, out) && out->number <= records[i].most;
	}
	return false;
}

static bool
take_nothing(struct part *rest, struct note *out)
{
	(void)out;
	return rest->len == 0;
}

static bool
take_number(struct part *rest, struct note *out)
{
	return number(rest, &out->number) && rest->len == 0;
}

/* <role|-> <incarnation> <reason>: a role that does not exist is not a report about anybody. */
static bool
take_report(struct part *rest, struct note *out)
{
	struct part who;

	if (!word(rest, &who))
		return false;
	out->role = role_find(who.at, who.len);
	if (out->role == ROLE_NONE && (who.len != 1 || who.at[0] != '-'))
		return false;
	return number(rest, &out->number) && take_text(rest, out) && out->text[0] != '\0';
}

static bool
take_text(struct part *rest, struct note *out)
{
	const size_t len = rest->len < NOTE_TEXT_MAX ? rest->len : NOTE_TEXT_MAX;

	for (size_t i = 0; i < len; i++)
		out->text[i] = rest->at[i] >= ' ' && rest->at[i] <= '~' ? rest->at[i] : '?';
	out->text[len] = '\0';
	return true;
}

/* <id> <json>: the client parses it, musterd does not. */
static bool
take_answer(struct part *rest, struct note *out)
{
	if (!number(rest, &out->number) || rest->len == 0)
		return false;
	out->body = rest->at;
	out->body_len = rest->len;
	return true;
}

/* The next word, ended by one space or the end of the record; false when it is empty. */
static bool
word(struct part *rest, struct part *w)
{
	const char *const space = rest->len == 0 ? NULL : memchr(rest->at, ' ', rest->len);

	w->at = rest->at;
	w->len = space == NULL ? rest->len : (size_t)(space - rest->at);
	rest->at += w->len + (space != NULL);
	rest->len -= w->len + (space != NULL);
	return w->len > 0;
}

static bool
number(struct part *rest, uint64_t *out)
{
	struct part digits;

	if (!word(rest, &digits))
		return false;
	for (*out = 0; digits.len > 0; digits.at++, digits.len--) {
		if (*digits.at < '0' || *digits.at > '9' || *out > (UINT64_MAX - 9) / 10)
			return false;
		*out = *out * 10 + (uint64_t)(*digits.at - '0');
	}
	return true;
}
