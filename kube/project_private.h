/*
 * kube/project_private.h - the inside of a projection: the tree of the fields that are read, and what
 * was extracted from one object. Included by json.cc too, so it is valid C and C++.
 *
 * One pass: a walker (json.cc, project_pb.c) goes through the object along the tree and gives what
 * it finds to extract_*, which keeps spans of the object; project_pack.c makes bodies of that. The
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
	TREE_NODES_MAX	  = 120,
	TREE_SLOTS_MAX	  = 60,
	TREE_COLUMNS_MAX  = 16,
	EXTRACT_TEXTS_MAX = 30000,	/* in maps and lists: fewer than a frame may have objects */
	NODE_NONE	  = 0,		/* the root is no node's child */
	SLOT_NONE	  = 0xffff,
	COLUMN_NONE	  = 0xff,
};

enum field_node_type {
	NODE_OBJECT,	/* an object; with a slot its subtree text is kept too */
	NODE_TEXT,
	NODE_TIME,	/* protobuf: metav1.Time */
	NODE_QUANTITY,	/* protobuf: resource.Quantity; JSON: a number will do */
	NODE_INT,
	NODE_FLAG,
	NODE_MAP,	/* text to text */
	NODE_MAP_QUANTITY,
	NODE_TEXTS,	/* a list of texts */
	NODE_ROWS,	/* a list of records; the nodes below are its columns */
};

/* A member of an object, as JSON and as protobuf call it. */
struct field_node {
	const char	*name;		/* in kinds.h's text, not terminated */
	uint8_t		 name_len;
	uint8_t		 what;		/* enum field_node_type */
	uint8_t		 column;	/* inside a record: where its text goes */
	uint8_t		 columns;	/* of NODE_ROWS */
	uint16_t	 slot;
	uint16_t	 parent, child, next;
	uint32_t	 number;	/* 0: this kind has no protobuf */
};

struct field_tree {
	struct field_node	 nodes[TREE_NODES_MAX];	/* [0]: the object itself */
	size_t		 nnodes, nslots;
};

/* field_tree_add returns the slot. A path that kinds.h does not allow ends the process at its start. */
void field_tree_init(struct field_tree *w);
uint16_t field_tree_add(struct field_tree *w, const char *type, const char *json,
    const char *proto, const char *version);
/* The child of `parent` with that name or number; NULL: it is not read. */
const struct field_node *field_tree_by_name(const struct field_tree *w,
    const struct field_node *parent, const char *name, size_t len);
const struct field_node *field_tree_by_number(const struct field_tree *w,
    const struct field_node *parent, uint32_t number);

struct text_span {
	const char	*p;
	size_t		 len;
};

/* A row of a list or an entry of a map: its texts begin at `at`. */
struct extract_entry {
	uint32_t	at, next;	/* next: index + 1; 0: the last */
};

struct extract_slot {
	bool		 set;
	struct text_span	 text;
	int64_t		 number;	/* NODE_INT, NODE_FLAG */
	uint32_t	 head, tail, count;	/* of entries, index + 1 */
};

struct extract {
	const struct field_tree	*tree;
	struct extract_slot	 slots[TREE_SLOTS_MAX];
	struct text_span		*texts;
	struct extract_entry	*entries;
	size_t			 ntexts, texts_size, nentries, entries_size;
	void			*zone;		/* memory of texts that are not in the object */
	uint32_t		 row, row_at;	/* the record being read: its number, its first text */
	char			 error[200];
};

void extract_init(struct extract *t, const struct field_tree *w);
void extract_begin(struct extract *t);
void extract_end(struct extract *t);	/* frees what it holds */

/*
 * What was found at a node. False: refused, t->error has the cause. Text is sanitized
 * (project_extract.c).
 */
bool extract_text(struct extract *t, const struct field_node *s, const char *p, size_t len);
bool extract_int(struct extract *t, const struct field_node *s, int64_t v);
bool extract_flag(struct extract *t, const struct field_node *s, bool v);
bool extract_raw(struct extract *t, const struct field_node *s, const char *p, size_t len);
bool extract_pair(struct extract *t, const struct field_node *s, const char *key, size_t key_len,
    const char *p, size_t len);
bool extract_list_item(struct extract *t, const struct field_node *s, const char *p, size_t len);
/* A record begins: its columns follow. */
bool extract_row(struct extract *t, const struct field_node *s);
/* v itself, or a copy that is UTF-8 without NUL. */
struct text_span sanitize_utf8(struct extract *t, struct text_span v);
/* Memory that stays until the next object. */
char *extract_alloc(struct extract *t, size_t len);

/* Always false. s: where; key: of a map, or NULL. */
bool extract_fail(struct extract *t, const struct field_node *s, const char *key, size_t key_len,
    const char *why);

/* The walkers. */
bool walk_pb(struct extract *t, const void *bytes, size_t len);
bool walk_json(struct extract *t, const char *bytes, size_t len, size_t padding);

#ifdef __cplusplus
}
#endif

#endif
