/* actors/capa-annotator/catalogue.c - the rules of catalogue.h. */
#include "catalogue.h"

#include <string.h>

#include "keytab.h"
#include "obj.h"

/* A type that was wanted and that the catalogue did not have. */
struct missing {
	uint64_t	walk;		/* the first walk that counts for it */
};

struct region {
	char		*name;
	uint32_t	 name_len;
	struct keytab	*types;		/* -> struct instance_type; NULL: no walk was completed */
	struct keytab	*missing;	/* -> struct missing */
	int64_t		 completed_ms;
	uint64_t	 begun, completed;	/* numbers of walks */
	uint32_t	 uncovered;	/* missing ones that no completed walk counts for */
	/* The walk under way. */
	struct keytab	*read;		/* -> struct instance_type; NULL: none */
	struct keytab	*page;		/* the same of the page that is being read */
	uint64_t	 tokens[CATALOGUE_PAGES_MAX];	/* hashes */
	uint32_t	 ntokens;
	/* The last walk failed. */
	char		 error[CATALOGUE_ERROR_MAX];	/* "": no */
	int64_t		 retry_at_ms;
};

struct catalogue {
	uint32_t		 magic;
#define CATALOGUE_MAGIC	0x43415441u
	struct catalogue_times	 times;
	struct region		*regions[CATALOGUE_REGIONS_MAX];
	uint32_t		 nregions;
};

static struct region *find_region(const struct catalogue *, struct wire_str);
static struct region *must_find(const struct catalogue *, struct wire_str);
static struct region *want_region(struct catalogue *, struct wire_str);
static void free_region(struct region *);
static int64_t due_ms(const struct catalogue *, const struct region *);
static const struct instance_type *get(const struct keytab *, const char *, size_t);
static uint64_t walk_for(struct region *, struct wire_str);
static void set_error(struct region *, const char *, int64_t);
static void keep_page(struct region *);
static void end_walk(struct region *);
static void report_changes(const struct keytab *, const struct keytab *, catalogue_changed *, void *);
static void report_missing(struct region *, catalogue_changed *, void *);

struct catalogue *
catalogue_new(const struct catalogue_times *times)
{
	struct catalogue *c;

	OBJ_NEW(c, CATALOGUE_MAGIC);
	c->times = *times;
	return c;
}

void
catalogue_free(struct catalogue **cp)
{
	struct catalogue *c;

	if (*cp == NULL)
		return;
	OBJ_TAKE(c, cp, CATALOGUE_MAGIC);
	for (uint32_t i = 0; i < c->nregions; i++)
		free_region(c->regions[i]);
	OBJ_FREE(c);
}

enum catalogue_answer
catalogue_find(struct catalogue *c, struct wire_str region, struct wire_str type, int64_t now_ms,
    struct instance_type *out)
{
	OBJ_CHECK(c, CATALOGUE_MAGIC);
	struct region *const r = want_region(c, region);
	if (r == NULL)
		return CATALOGUE_FAILED;
	const struct instance_type *const found = get(r->types, type.p, type.len);
	if (found != NULL) {
		*out = *found;
		return CATALOGUE_KNOWN;
	}
	const uint64_t walk = walk_for(r, type);
	if (r->error[0] != '\0')
		return CATALOGUE_FAILED;
	const int64_t age_ms = now_ms - r->completed_ms;
	if (r->types == NULL || age_ms >= c->times.ttl_ms)
		return CATALOGUE_WAITING;
	/* Without its own walk: stated as unknown while the catalogue is too young to be read again. */
	const bool young = age_ms < c->times.early_ms;
	return r->completed >= walk || young ? CATALOGUE_UNKNOWN : CATALOGUE_WAITING;
}

bool
catalogue_next(const struct catalogue *c, int64_t now_ms, struct wire_str *region, int64_t *at_ms)
{
	*at_ms = INT64_MAX;
	for (uint32_t i = 0; i < c->nregions; i++) {
		const struct region *const r = c->regions[i];
		const int64_t due = due_ms(c, r);

		if (due < *at_ms) {
			*at_ms = due;
			*region = (struct wire_str){ .p = r->name, .len = r->name_len };
		}
	}
	return *at_ms <= now_ms;
}

void
catalogue_begin(struct catalogue *c, struct wire_str region)
{
	struct region *const r = must_find(c, region);

	MUST(r->read == NULL);
	r->read = keytab_new(sizeof(struct instance_type));
	r->page = keytab_new(sizeof(struct instance_type));
	r->ntokens = 0;
	r->begun++;
}

bool
catalogue_add(struct catalogue *c, struct wire_str region, struct wire_str type,
    const struct instance_type *figures)
{
	struct region *const r = must_find(c, region);

	MUST(r->read != NULL);
	if (type.len == 0 || type.len > CATALOGUE_NAME_MAX
	    || keytab_count(r->read) + keytab_count(r->page) >= CATALOGUE_TYPES_MAX)
		return false;
	const uint32_t id = keytab_add(r->page, type.p, type.len, NULL);
	struct instance_type *const t = keytab_value(r->page, id);
	*t = *figures;
	return true;
}

enum catalogue_page
catalogue_page(struct catalogue *c, struct wire_str region, struct wire_str next_token)
{
	struct region *const r = must_find(c, region);

	MUST(r->read != NULL);
	keep_page(r);
	if (next_token.len == 0)
		return CATALOGUE_LAST;
	const uint64_t token = hash64(next_token.p, next_token.len);
	for (uint32_t i = 0; i < r->ntokens; i++) {
		if (r->tokens[i] == token)
			return CATALOGUE_BROKEN;
	}
	if (r->ntokens == CATALOGUE_PAGES_MAX - 1)
		return CATALOGUE_BROKEN;
	r->tokens[r->ntokens++] = token;
	return CATALOGUE_MORE;
}

void
catalogue_page_failed(struct catalogue *c, struct wire_str region)
{
	struct region *const r = must_find(c, region);

	MUST(r->read != NULL);
	keytab_free(&r->page);
	r->page = keytab_new(sizeof(struct instance_type));
}

bool
catalogue_commit(struct catalogue *c, struct wire_str region, int64_t now_ms, catalogue_changed *changed,
    void *arg)
{
	struct region *const r = must_find(c, region);

	MUST(r->read != NULL);
	keep_page(r);
	if (keytab_count(r->read) == 0) {
		set_error(r, "EC2 answered with no instance type at all", now_ms + c->times.early_ms);
		end_walk(r);
		return false;
	}
	struct keytab *old = r->types;
	r->types = r->read;
	r->read = NULL;
	end_walk(r);
	r->error[0] = '\0';
	r->completed_ms = now_ms;
	report_missing(r, changed, arg);
	r->completed = r->begun;
	report_changes(old, r->types, changed, arg);
	keytab_free(&old);
	return true;
}

void
catalogue_fail(struct catalogue *c, struct wire_str region, int64_t retry_at_ms, const char *error)
{
	struct region *const r = must_find(c, region);

	set_error(r, error, retry_at_ms);
	end_walk(r);
}

void
catalogue_drop(struct catalogue *c, struct wire_str region)
{
	for (uint32_t i = 0; i < c->nregions; i++) {
		struct region *const r = c->regions[i];

		if (r->name_len == region.len && memcmp(r->name, region.p, region.len) == 0) {
			MUST(r->read == NULL);
			free_region(r);
			c->regions[i] = c->regions[--c->nregions];
			return;
		}
	}
}

bool
catalogue_state(const struct catalogue *c, struct wire_str region, struct catalogue_state *out)
{
	const struct region *const r = find_region(c, region);

	if (r == NULL)
		return false;
	*out = (struct catalogue_state){
		.types = r->types == NULL ? 0 : keytab_count(r->types),
		.completed_ms = r->types == NULL ? -1 : r->completed_ms, .walking = r->read != NULL,
		.pages = r->read == NULL ? 0 : r->ntokens, .due_ms = due_ms(c, r), .error = r->error,
	};
	return true;
}

size_t
catalogue_bytes(const struct catalogue *c)
{
	size_t bytes = sizeof(*c);

	for (uint32_t i = 0; i < c->nregions; i++) {
		const struct region *const r = c->regions[i];

		bytes += sizeof(*r) + r->name_len + keytab_bytes(r->missing);
		bytes += r->types == NULL ? 0 : keytab_bytes(r->types);
		bytes += r->read == NULL ? 0 : keytab_bytes(r->read) + keytab_bytes(r->page);
	}
	return bytes;
}

static struct region *
find_region(const struct catalogue *c, struct wire_str name)
{
	for (uint32_t i = 0; i < c->nregions; i++) {
		struct region *const r = c->regions[i];

		if (r->name_len == name.len && memcmp(r->name, name.p, name.len) == 0)
			return r;
	}
	return NULL;
}

static struct region *
must_find(const struct catalogue *c, struct wire_str name)
{
	OBJ_CHECK(c, CATALOGUE_MAGIC);
	struct region *const r = find_region(c, name);
	MUST(r != NULL);
	return r;
}

/* NULL: as many regions as there may be are wanted. */
static struct region *
want_region(struct catalogue *c, struct wire_str name)
{
	struct region *r = find_region(c, name);

	if (r != NULL || c->nregions == CATALOGUE_REGIONS_MAX)
		return r;
	r = obj_alloc(sizeof(*r));
	r->name = obj_memdup(name.p, name.len);
	r->name_len = name.len;
	r->missing = keytab_new(sizeof(struct missing));
	c->regions[c->nregions++] = r;
	return r;
}

static void
free_region(struct region *r)
{
	keytab_free(&r->types);
	keytab_free(&r->missing);
	end_walk(r);
	free(r->name);
	free(r);
}

/* INT64_MAX: a walk is under way. */
static int64_t
due_ms(const struct catalogue *c, const struct region *r)
{
	if (r->read != NULL)
		return INT64_MAX;
	if (r->error[0] != '\0')
		return r->retry_at_ms;
	if (r->types == NULL)
		return INT64_MIN;
	const int64_t early_ms = r->uncovered > 0 ? c->times.early_ms : c->times.ttl_ms;
	return r->completed_ms + (early_ms < c->times.ttl_ms ? early_ms : c->times.ttl_ms);
}

static const struct instance_type *
get(const struct keytab *types, const char *name, size_t len)
{
	const uint32_t id = types == NULL ? KEYTAB_NONE : keytab_find(types, name, len);

	return id == KEYTAB_NONE ? NULL : keytab_value(types, id);
}

/* The number of the first walk that counts for a type that is missing; 0: any, there is no room for it. */
static uint64_t
walk_for(struct region *r, struct wire_str type)
{
	const bool full = keytab_count(r->missing) >= CATALOGUE_MISSING_MAX;
	bool added = false;

	if (type.len > CATALOGUE_NAME_MAX
	    || (full && keytab_find(r->missing, type.p, type.len) == KEYTAB_NONE))
		return 0;
	struct missing *const m =
	    keytab_value(r->missing, keytab_add(r->missing, type.p, type.len, &added));
	if (added) {
		m->walk = r->read != NULL ? r->begun : r->begun + 1;
		r->uncovered++;
	}
	return m->walk;
}

static void
set_error(struct region *r, const char *error, int64_t retry_at_ms)
{
	snprintf(r->error, sizeof(r->error), "%s", error[0] != '\0' ? error : "unknown error");
	r->retry_at_ms = retry_at_ms;
}

/* Pages may overlap when the list changes between them: the later one is right. */
static void
keep_page(struct region *r)
{
	size_t len;

	/* The first page, often the only one of an emulator, is not copied. */
	if (keytab_count(r->read) == 0) {
		struct keytab *const empty = r->read;

		r->read = r->page;
		r->page = empty;
		return;
	}
	KEYTAB_EACH(r->page, id) {
		const char *const name = keytab_key(r->page, id, &len);
		struct instance_type *const t =
		    keytab_value(r->read, keytab_add(r->read, name, len, NULL));

		*t = *(const struct instance_type *)keytab_value(r->page, id);
	}
	keytab_free(&r->page);
	r->page = keytab_new(sizeof(struct instance_type));
}

static void
end_walk(struct region *r)
{
	keytab_free(&r->read);
	keytab_free(&r->page);
}

/* Types of one catalogue that the other does not have, or has with other figures. */
static void
report_changes(const struct keytab *old, const struct keytab *new, catalogue_changed *changed, void *arg)
{
	size_t len;

	for (uint32_t id = 0; id < keytab_ids(new); id++) {
		const char *const name = keytab_key(new, id, &len);
		const struct instance_type *const was = get(old, name, len);
		const struct instance_type *const is = keytab_value(new, id);

		if (was == NULL || was->vcpus != is->vcpus || was->memory_mib != is->memory_mib
		    || was->gpus != is->gpus || was->arch != is->arch || was->maker != is->maker)
			changed(arg, (struct wire_str){ .p = name, .len = (uint32_t)len });
	}
	for (uint32_t id = 0; old != NULL && id < keytab_ids(old); id++) {
		const char *const name = keytab_key(old, id, &len);

		if (get(new, name, len) == NULL)
			changed(arg, (struct wire_str){ .p = name, .len = (uint32_t)len });
	}
}

/* Types that waited for this walk and are still missing; those that it has are reported as changed. */
static void
report_missing(struct region *r, catalogue_changed *changed, void *arg)
{
	size_t len;

	for (uint32_t id = 0; id < keytab_ids(r->missing); id++) {
		const char *const name = keytab_key(r->missing, id, &len);

		if (name == NULL)
			continue;
		const struct missing *const m = keytab_value(r->missing, id);
		if (get(r->types, name, len) != NULL)
			keytab_remove(r->missing, id);
		else if (m->walk > r->completed)
			changed(arg, (struct wire_str){ .p = name, .len = (uint32_t)len });
	}
	r->uncovered = 0;
}
