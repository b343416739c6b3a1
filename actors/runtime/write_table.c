/* actors/runtime/write_table.c - what became of each write that was requested. Pure. */
#include "write_table.h"

#include "obj.h"

static struct write_entry *find(struct write_table *, uint64_t);
static int64_t ends_at(const struct write_entry *);

bool
write_table_add(struct write_table *t, uint64_t id, enum link l, int64_t deadline_ms)
{
	for (size_t i = 0; i < NITEMS(t->entries); i++) {
		if (t->entries[i].state != WRITE_FREE)
			continue;
		t->entries[i] = (struct write_entry){
			.state = WRITE_PENDING, .id = id, .link = l, .deadline_ms = deadline_ms };
		return true;
	}
	return false;
}

uint64_t
write_table_due(const struct write_table *t, enum link l, int64_t now_ms)
{
	uint64_t oldest = 0;

	for (size_t i = 0; i < NITEMS(t->entries); i++) {
		const struct write_entry *e = &t->entries[i];

		if (e->state == WRITE_PENDING && e->link == l && now_ms < e->deadline_ms
		    && (oldest == 0 || e->id < oldest))
			oldest = e->id;
	}
	return oldest;
}

void
write_table_sent(struct write_table *t, uint64_t id)
{
	struct write_entry *e = find(t, id);

	MUST(e != NULL && e->state == WRITE_PENDING);
	e->state = WRITE_SENT;
}

bool
write_table_answered(struct write_table *t, uint64_t id)
{
	struct write_entry *e = find(t, id);

	if (e == NULL || e->state != WRITE_SENT)
		return false;
	*e = (struct write_entry){ 0 };
	return true;
}

void
write_table_lost(struct write_table *t, enum link l)
{
	for (size_t i = 0; i < NITEMS(t->entries); i++) {
		if (t->entries[i].state == WRITE_SENT && t->entries[i].link == l)
			t->entries[i].state = WRITE_LOST;
	}
}

uint64_t
write_table_ended(struct write_table *t, int64_t now_ms, enum outcome *how)
{
	for (size_t i = 0; i < NITEMS(t->entries); i++) {
		struct write_entry *e = &t->entries[i];

		if (e->state == WRITE_FREE || now_ms < ends_at(e))
			continue;
		const uint64_t id = e->id;
		*how = e->state == WRITE_PENDING ? OUTCOME_EXPIRED : OUTCOME_UNKNOWN;
		*e = (struct write_entry){ 0 };
		return id;
	}
	return 0;
}

int64_t
write_table_at(const struct write_table *t)
{
	int64_t at_ms = INT64_MAX;

	for (size_t i = 0; i < NITEMS(t->entries); i++) {
		if (t->entries[i].state != WRITE_FREE && ends_at(&t->entries[i]) < at_ms)
			at_ms = ends_at(&t->entries[i]);
	}
	return at_ms;
}

static struct write_entry *
find(struct write_table *t, uint64_t id)
{
	for (size_t i = 0; i < NITEMS(t->entries); i++) {
		if (t->entries[i].state != WRITE_FREE && t->entries[i].id == id)
			return &t->entries[i];
	}
	return NULL;
}

static int64_t
ends_at(const struct write_entry *e)
{
	if (e->state == WRITE_LOST)
		return INT64_MIN;
	return e->deadline_ms + (e->state == WRITE_SENT ? WRITE_GRACE_MS : 0);
}
