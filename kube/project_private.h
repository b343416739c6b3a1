/*
 * kube/project_private.h - the inside of a projection: the steps that lead to the fields, and what
 * was found on the way. Also read by json.cc, so it stays what C and C++ both understand.
 *
 * One pass: a walker (json.cc, project_pb.c) goes through the object along the steps and gives what
 * it finds to take_*, which keeps views into the object; project_pack.c makes bodies of that. The
 * first of two equal members or fields wins, whatever the form.
 */
#ifndef MUSTER_PROJECT_PRIVATE_H
#define MUSTER_PROJECT_PRIVATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
	WAY_STEPS_MAX	= 120,
	WAY_SLOTS_MAX	= 60,
	WAY_COLUMNS_MAX	= 16,
	TAKE_VIEWS_MAX	= 30000,	/* texts in maps and lists: fewer objects than a frame may have */
	STEP_NONE	= 0,		/* the root is nobody's child */
	SLOT_NONE	= 0xffff,
	COLUMN_NONE	= 0xff,
};

enum step_what {
	STEP_IN,	/* an object; with a slot its whole text is kept too */
	STEP_TEXT,
	STEP_TIME,	/* protobuf: metav1.Time */
	STEP_QUANTITY,	/* protobuf: resource.Quantity; JSON: a number will do */
	STEP_INT,
	STEP_FLAG,
	STEP_MAP,	/* text to text */
	STEP_MAP_QUANTITY,
	STEP_TEXTS,	/* a list of texts */
	STEP_ROWS,	/* a list of records; the steps below are its columns */
};

/* A member of an object, as JSON and as protobuf call it. */
struct step {
	const char	*name;		/* in kinds.h's text, not terminated */
	uint8_t		 name_len;
	uint8_t		 what;		/* enum step_what */
	uint8_t		 column;	/* inside a record: where its text goes */
	uint8_t		 columns;	/* of STEP_ROWS */
	uint16_t	 slot;
	uint16_t	 parent, child, next;
	uint32_t	 number;	/* 0: this kind has no protobuf */
};

struct way {
	struct step	 steps[WAY_STEPS_MAX];	/* [0]: the object itself */
	size_t		 nsteps, nslots;
};

/* Grown by way_add; a table that is not as kinds.h says ends the process at its start. Returns the slot. */
void way_init(struct way *w);
uint16_t way_add(struct way *w, const char *type, const char *json, const char *proto, const char *version);
/* The child of `parent` with that name or number; NULL: nobody wants it. */
const struct step *way_by_name(const struct way *w, const struct step *parent, const char *name, size_t len);
const struct step *way_by_number(const struct way *w, const struct step *parent, uint32_t number);

struct view {
	const char	*p;
	size_t		 len;
};

/* A row of a list or an entry of a map: so many views from `at` on. */
struct take_entry {
	uint32_t	at, next;	/* next: index + 1; 0: the last */
};

struct take_slot {
	bool		 set;
	struct view	 text;
	int64_t		 number;	/* STEP_INT, STEP_FLAG */
	uint32_t	 head, tail, count;	/* of entries, index + 1 */
};

struct take {
	const struct way	*way;
	struct take_slot	 slots[WAY_SLOTS_MAX];
	struct view		*views;
	struct take_entry	*entries;
	size_t			 nviews, views_size, nentries, entries_size;
	void			*zone;		/* texts that were made here */
	uint32_t		 row, row_at;	/* the record being read: its number, its first view */
	char			 error[200];
};

void take_init(struct take *t, const struct way *w);
void take_begin(struct take *t);
void take_end(struct take *t);	/* frees what it holds */

/* What was found at a step. False: refused, t->error says why. Text is mended here (see project_take.c). */
bool take_text(struct take *t, const struct step *s, const char *p, size_t len);
bool take_int(struct take *t, const struct step *s, int64_t v);
bool take_flag(struct take *t, const struct step *s, bool v);
bool take_raw(struct take *t, const struct step *s, const char *p, size_t len);
bool take_pair(struct take *t, const struct step *s, const char *key, size_t key_len, const char *p,
    size_t len);
bool take_listed(struct take *t, const struct step *s, const char *p, size_t len);
bool take_row(struct take *t, const struct step *s);	/* a record begins: its columns follow */
/* v, or a copy that is UTF-8 without NUL. */
struct view take_mend(struct take *t, struct view v);
/* Memory that stays until the next object. */
char *take_memory(struct take *t, size_t len);

/* Always false. step: where; key: of a map, or NULL. */
bool take_refuse(struct take *t, const struct step *s, const char *key, size_t key_len, const char *why);

/* The walkers. */
bool walk_pb(struct take *t, const void *bytes, size_t len);

struct json_walker;
struct json_walker *json_walker_new(void);
void json_walker_free(struct json_walker **wp);
bool json_walker_walk(struct json_walker *w, struct take *t, const char *bytes, size_t len, size_t padding);

#ifdef __cplusplus
}
#endif

#endif
