/* kube/cut_private.h - what the splitters of each form and shape share. */
#ifndef MUSTER_CUT_PRIVATE_H
#define MUSTER_CUT_PRIVATE_H

#include <stdint.h>

#include "cut.h"
#include "json_span.h"

enum { CUT_META_MAX = 64 * 1024, CUT_HEAD_MAX = 16, CUT_KEY_MAX = 32 };

/* Returns the bytes consumed, at least one; 0: it failed, or the callback returned false. */
typedef size_t cut_step(struct splitter *c, const char *p, size_t len);

/* The position in a JSON list. */
struct cut_json {
	unsigned		state;
	struct json_depth	depth;
	bool			escape;		/* the byte before was an unescaped backslash */
	char			word[CUT_KEY_MAX];	/* a key or a scalar, cut to this length */
	size_t			word_len;
	bool			items_seen, meta_seen, null_wanted;
};

/* Protobuf, lists and watches: a head with the length of what follows. */
struct cut_pb {
	unsigned		state;
	uint8_t			head[CUT_HEAD_MAX];
	size_t			head_len;
	uint64_t		left;		/* bytes of the field that are to come */
	uint64_t		raw_left;	/* of the list itself; counts down only while inside */
	bool			inside, raw_seen, is_list;
};

struct splitter {
	uint32_t	 magic;
	cut_step	*step;
	bool		(*whole)(struct splitter *);	/* at the end of the input */
	cut_piece	*piece;
	void		*arg;
	bool		 list, over;		/* over: failed or stopped */
	char		*held;			/* of an object that came in parts */
	size_t		 held_len, held_size;
	size_t		 items;
	char		*rv, *next;		/* of the list's metadata; next: its continue */
	char		 error[160];
	struct cut_json	 json;
	struct cut_pb	 pb;
};

/* Always false. */
__attribute__((format(printf, 2, 3))) bool cut_fail(struct splitter *c, const char *format, ...);

/* Buffers bytes of an unfinished object. False: it would be longer than max. */
bool cut_hold(struct splitter *c, const char *p, size_t len, size_t max);
/*
 * Calls back with the buffered object, or, when nothing is buffered, with the bytes in place, if enough can
 * be read behind them.
 */
bool cut_give(struct splitter *c, const char *p, size_t len, size_t behind);
/* Empties the buffer. */
void cut_drop(struct splitter *c);
/* Copies a text of the list's metadata. */
void cut_keep(char **to, const char *p, size_t len);
/* It has a resourceVersion that one can watch from. */
bool cut_list_known(struct splitter *c);

cut_step cut_json_watch, cut_json_list, cut_pb_watch, cut_pb_list;
bool cut_json_list_whole(struct splitter *c);
bool cut_pb_list_whole(struct splitter *c);

#endif
