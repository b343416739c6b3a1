/* kube/splitter_private.h - what the splitters of each form and shape share. */
#ifndef MUSTER_SPLITTER_PRIVATE_H
#define MUSTER_SPLITTER_PRIVATE_H

#include <stdint.h>

#include "splitter.h"
#include "json_span.h"

enum { SPLITTER_META_MAX = 64 * 1024, SPLITTER_HEAD_MAX = 16, SPLITTER_KEY_MAX = 32 };

/* Returns the bytes consumed, at least one; 0: it failed, or the callback returned false. */
typedef size_t splitter_step(struct splitter *c, const char *p, size_t len);

/* The position in a JSON list. */
struct splitter_json {
	unsigned		state;
	struct json_depth	depth;
	bool			escape;		/* the byte before was an unescaped backslash */
	char			word[SPLITTER_KEY_MAX];	/* a key or a scalar, cut to this length */
	size_t			word_len;
	bool			items_seen, meta_seen, null_wanted;
};

/* Protobuf, lists and watches: a head with the length of what follows. */
struct splitter_pb {
	unsigned		state;
	uint8_t			head[SPLITTER_HEAD_MAX];
	size_t			head_len;
	uint64_t		left;		/* bytes of the field that are to come */
	uint64_t		raw_left;	/* of the list itself; counts down only while inside */
	bool			inside, raw_seen, is_list;
};

struct splitter {
	uint32_t	 magic;
	splitter_step	*step;
	bool		(*whole)(struct splitter *);	/* at the end of the input */
	splitter_object_fn	*piece;
	void		*arg;
	bool		 over;			/* failed or stopped */
	char		*held;			/* of an object that came in parts */
	size_t		 held_len, held_size;
	size_t		 items;
	char		*rv, *next;		/* of the list's metadata; next: its continue */
	char		 error[160];
	struct splitter_json	 json;
	struct splitter_pb	 pb;
};

/* Always false. */
__attribute__((format(printf, 2, 3))) bool splitter_fail(struct splitter *c, const char *format, ...);

/* Buffers bytes of an unfinished object. False: it would be longer than max. */
bool splitter_buffer(struct splitter *c, const char *p, size_t len, size_t max);
/*
 * Calls back with the buffered object, or, when nothing is buffered, with the bytes in place, if enough can
 * be read behind them.
 */
bool splitter_deliver(struct splitter *c, const char *p, size_t len, size_t behind);
/* Empties the buffer. */
void splitter_drop(struct splitter *c);
/* Copies a text of the list's metadata. */
void splitter_copy_text(char **to, const char *p, size_t len);
/* It has a resourceVersion that one can watch from. */
bool splitter_list_has_rv(struct splitter *c);

splitter_step splitter_json_watch, splitter_json_list, splitter_pb_watch, splitter_pb_list;
bool splitter_json_list_complete(struct splitter *c);
bool splitter_pb_list_complete(struct splitter *c);

#endif
