/* sim/http/sim_audit.c - a ring of rows. */
#include "sim_audit.h"

#include <string.h>

#include "obj.h"

/* Columns that are texts, in the order of struct sim_audit_row. */
static const char *const columns[] = {
	"verb", "group", "resource", "namespace", "name", "subresource", "user", "user-agent", "uri",
};
enum { TEXTS = NITEMS(columns), NAME_COLUMN = 4, PENDING = -1 };

struct audit_entry {
	char		*text;		/* all columns, each with its NUL */
	int64_t		 at_ms;
	int		 code;
	uint64_t	 rv;
};

struct sim_audit {
	uint32_t		 magic;
#define AUDIT_MAGIC	0x41554454u
	uint64_t		 next, first;	/* numbers, from 1 */
	struct audit_entry	 ring[AUDIT_MAX];
};

static char *pack(const char *const[TEXTS]);
static struct audit_entry *at(struct sim_audit *, uint64_t);

struct sim_audit *
sim_audit_new(void)
{
	struct sim_audit *a;

	OBJ_NEW(a, AUDIT_MAGIC);
	a->next = a->first = 1;
	return a;
}

void
sim_audit_free(struct sim_audit **ap)
{
	struct sim_audit *a;

	if (*ap == NULL)
		return;
	OBJ_TAKE(a, ap, AUDIT_MAGIC);
	for (size_t i = 0; i < AUDIT_MAX; i++)
		free(a->ring[i].text);
	OBJ_FREE(a);
}

uint64_t
sim_audit_begin(struct sim_audit *a, const struct sim_audit_row *row)
{
	const char *const texts[TEXTS] = { row->verb, row->group, row->resource, row->ns, row->name,
		row->subresource, row->user, row->user_agent, row->uri };
	struct audit_entry *const e = at(a, a->next);

	free(e->text);
	*e = (struct audit_entry){ .text = pack(texts), .at_ms = row->at_ms, .code = PENDING };
	if (a->next - a->first == AUDIT_MAX)
		a->first++;
	return a->next++;
}

void
sim_audit_name(struct sim_audit *a, uint64_t row, const char *name)
{
	if (row < a->first || row >= a->next)
		return;
	struct audit_entry *const e = at(a, row);
	const char *texts[TEXTS], *p = e->text;
	char *const old = e->text;

	for (size_t i = 0; i < TEXTS; i++, p += strlen(p) + 1)
		texts[i] = i == NAME_COLUMN ? name : p;
	e->text = pack(texts);
	free(old);
}

void
sim_audit_end(struct sim_audit *a, uint64_t row, int code, uint64_t rv)
{
	if (row < a->first || row >= a->next)
		return;
	at(a, row)->code = code;
	at(a, row)->rv = rv;
}

json_t *
sim_audit_list(const struct sim_audit *a, uint64_t since)
{
	json_t *const list = json_array();

	for (uint64_t n = since >= a->first ? since + 1 : a->first; n < a->next; n++) {
		const struct audit_entry *const e = &a->ring[n % AUDIT_MAX];
		json_t *const row =
		    json_pack("{s:I, s:I}", "n", (json_int_t)n, "at_ms", (json_int_t)e->at_ms);
		const char *p = e->text;

		for (size_t i = 0; i < TEXTS; i++, p += strlen(p) + 1) {
			json_t *const text = json_string(p);

			json_object_set_new(
			    row, columns[i], text != NULL ? text : json_string("(not UTF-8)"));
		}
		json_object_set_new(row, "code", e->code == PENDING ? json_null() : json_integer(e->code));
		json_object_set_new(row, "rv", json_integer((json_int_t)e->rv));
		json_array_append_new(list, row);
	}
	return list;
}

void
sim_audit_clear(struct sim_audit *a)
{
	a->first = a->next;
}

static char *
pack(const char *const texts[TEXTS])
{
	size_t size = 0;

	for (size_t i = 0; i < TEXTS; i++)
		size += strlen(texts[i]) + 1;
	char *const packed = obj_alloc(size);
	char *p = packed;
	for (size_t i = 0; i < TEXTS; i++)
		p = stpcpy(p, texts[i]) + 1;
	return packed;
}

static struct audit_entry *
at(struct sim_audit *a, uint64_t n)
{
	return &a->ring[n % AUDIT_MAX];
}
