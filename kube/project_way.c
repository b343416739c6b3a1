/*
 * kube/project_way.c - from the paths of kinds.h to steps: one tree, in which a member has its JSON
 * name and its protobuf number. Both paths of a field have the same parts, so they are read side by
 * side.
 *
 * The table is ours: whatever is wrong in it is a mistake in the program, and ends it before
 * anything is read.
 */
#include <string.h>

#include "ascii.h"
#include "obj.h"
#include "project_private.h"

/* The two paths of one field. */
struct reading {
	const char	*json, *proto;
	bool		 both;
};

/* What stands at the end of a path, by the field's type and the letter behind the number. */
static const struct {
	const char	*type;
	char		 letter;
	enum step_what	 what;
} leaves[] = {
	{ "str",  '\0', STEP_TEXT },
	{ "str",  't',  STEP_TIME },
	{ "str",  'q',  STEP_QUANTITY },
	{ "str",  'i',  STEP_INT },
	{ "str",  'b',  STEP_FLAG },
	{ "i64",  '\0', STEP_INT },
	{ "i64",  'i',  STEP_INT },
	{ "flag", '\0', STEP_FLAG },
	{ "flag", 'b',  STEP_FLAG },
	{ "map",  '\0', STEP_MAP },
	{ "map",  'q',  STEP_MAP_QUANTITY },
};

static void add_list(struct way *, struct reading *, struct step *);
static void skip_pick(const char *, struct reading *);
static enum step_what leaf(const char *, struct reading *);
static struct step *descend(struct way *, struct step *, struct reading *);
static struct step *enter(struct way *, struct step *, const char *, size_t, uint32_t);
static bool accept(struct reading *, char);
static uint32_t read_number(struct reading *);
static const char *for_version(const char *, const char *);
static bool is_fresh(const struct step *);

void
way_init(struct way *w)
{
	*w = (struct way){ .nsteps = 1 };
	w->steps[0] = (struct step){ .name = "", .what = STEP_IN, .slot = SLOT_NONE, .column = COLUMN_NONE };
}

uint16_t
way_add(struct way *w, const char *type, const char *json, const char *proto, const char *version)
{
	struct reading r = { .json = for_version(json, version), .proto = for_version(proto, version) };

	if (r.json == NULL)
		return SLOT_NONE;
	r.both = r.proto != NULL && r.proto[0] != '\0';
	struct step *s = descend(w, &w->steps[0], &r);
	const bool fresh = is_fresh(s);

	if (fresh || (s->what == STEP_IN && *r.json == '!' && s->slot == SLOT_NONE)) {
		MUST(w->nslots < WAY_SLOTS_MAX);
		s->slot = (uint16_t)w->nslots++;
	}
	MUST(s->slot != SLOT_NONE);
	if (accept(&r, '[')) {
		MUST(fresh && strcmp(type, "rows") == 0);
		add_list(w, &r, s);
	} else if (*r.json == '!') {
		MUST(s->what == STEP_IN && strcmp(type, "str") == 0 && !r.both);
		r.json++;
	} else {
		skip_pick(type, &r);
		const enum step_what what = leaf(type, &r);
		MUST(fresh || s->what == what);		/* two fields of one place share its slot */
		s->what = (uint8_t)what;
	}
	MUST(*r.json == '\0' || *r.json == '|');
	MUST(!r.both || *r.proto == '\0' || *r.proto == '|');
	return s->slot;
}

const struct step *
way_by_name(const struct way *w, const struct step *parent, const char *name, size_t len)
{
	for (uint16_t i = parent->child; i != STEP_NONE; i = w->steps[i].next) {
		const struct step *s = &w->steps[i];

		if (s->name_len == len && memcmp(s->name, name, len) == 0)
			return s;
	}
	return NULL;
}

const struct step *
way_by_number(const struct way *w, const struct step *parent, uint32_t number)
{
	for (uint16_t i = parent->child; i != STEP_NONE; i = w->steps[i].next) {
		if (w->steps[i].number == number)
			return &w->steps[i];
	}
	return NULL;
}

/* Behind the bracket: nothing, for a list of texts; or columns, which may lie deeper in a record. */
static void
add_list(struct way *w, struct reading *r, struct step *list)
{
	list->columns = 1;
	if (accept(r, ']')) {
		list->what = STEP_TEXTS;
		return;
	}
	list->what = STEP_ROWS;
	for (uint8_t n = 0;; n++) {
		struct step *s = descend(w, list, r);

		MUST(n < WAY_COLUMNS_MAX && is_fresh(s));
		s->what = (uint8_t)leaf("str", r);
		s->column = n;
		list->columns = (uint8_t)(n + 1);
		if (accept(r, ']'))
			return;
		MUST(accept(r, ','));
	}
}

/*
 * Which entries of a map a field wants is project_pack.c's affair: another field may want all of
 * them.
 */
static void
skip_pick(const char *type, struct reading *r)
{
	if (*r->json != '{')
		return;
	MUST(strcmp(type, "map") == 0);
	r->json += strcspn(r->json, "}");
	MUST(*r->json++ == '}');
}

/* The letter stands in the protobuf path; where there is none, behind a colon in the other. */
static enum step_what
leaf(const char *type, struct reading *r)
{
	const char *at = r->both ? r->proto : *r->json == ':' ? r->json + 1 : "";
	const char letter = *at >= 'a' && *at <= 'z' ? *at : '\0';

	if (letter != '\0') {
		r->proto += r->both ? 1 : 0;
		r->json += r->both ? 0 : 2;
	}
	size_t i = 0;
	while (i < NITEMS(leaves) && (leaves[i].letter != letter || strcmp(leaves[i].type, type) != 0))
		i++;
	MUST(i < NITEMS(leaves));
	return leaves[i].what;
}

/* Along names and numbers to the last of the path. */
static struct step *
descend(struct way *w, struct step *s, struct reading *r)
{
	do {
		const char *name = r->json;
		const size_t len = strcspn(name, ".,:[]{!|");

		r->json += len;
		s = enter(w, s, name, len, r->both ? read_number(r) : 0);
	} while (accept(r, '.'));
	return s;
}

static struct step *
enter(struct way *w, struct step *parent, const char *name, size_t len, uint32_t number)
{
	uint16_t *link = &parent->child;

	MUST((parent->what == STEP_IN || parent->what == STEP_ROWS) && len > 0 && len < 128);
	for (; *link != STEP_NONE; link = &w->steps[*link].next) {
		struct step *s = &w->steps[*link];

		if (s->name_len == len && memcmp(s->name, name, len) == 0) {
			MUST(s->number == number);
			return s;
		}
		MUST(number == 0 || s->number != number);
	}
	MUST(w->nsteps < WAY_STEPS_MAX);
	struct step *s = &w->steps[w->nsteps];
	*s = (struct step){ .name = name, .name_len = (uint8_t)len, .what = STEP_IN, .number = number,
		.slot = SLOT_NONE, .column = COLUMN_NONE, .parent = (uint16_t)(parent - w->steps) };
	*link = (uint16_t)w->nsteps++;
	return s;
}

/* The same sign in both paths. */
static bool
accept(struct reading *r, char sign)
{
	if (*r->json != sign)
		return false;
	r->json++;
	if (r->both)
		MUST(*r->proto++ == sign);
	return true;
}

static uint32_t
read_number(struct reading *r)
{
	uint32_t n = 0;

	while (ascii_digit(*r->proto))
		n = n * 10 + (uint32_t)(*r->proto++ - '0');
	MUST(n > 0 && n < 1 << 29);
	return n;
}

/* "v1=a.b|v1beta1=a.c" at one version; a path without versions is every version's. NULL: not in this one. */
static const char *
for_version(const char *path, const char *version)
{
	const size_t len = strlen(version);

	if (strchr(path, '=') == NULL)
		return path;
	for (const char *at = path; at != NULL; at = strchr(at, '|')) {
		at += *at == '|';
		if (strncmp(at, version, len) == 0 && at[len] == '=')
			return at + len + 1;
	}
	return NULL;
}

static bool
is_fresh(const struct step *s)
{
	return s->what == STEP_IN && s->slot == SLOT_NONE && s->column == COLUMN_NONE
	    && s->child == STEP_NONE;
}
