/* kube/cut_private.h - what the splitters of each form and shape share. */
#ifndef MUSTER_CUT_PRIVATE_H
#define MUSTER_CUT_PRIVATE_H

#include <stdint.h>

#include "cut.h"
#include "json_span.h"

enum { CUT_META_MAX = 64 * 1024, CUT_HEAD_MAX = 16, CUT_KEY_MAX = 32 };

/* A splitter eats some of what comes, at least a byte; 0: it failed, or the piece's owner said stop. */
typedef size_t cut_step(struct cut *c, const char *p, size_t len);

/* A JSON list: where in it we are. */
struct cut_json {
	unsigned		state;
	struct json_depth	depth;
	bool			escape;		/* the byte before was a backslash that counts */
	char			word[CUT_KEY_MAX];	/* a key, or a scalar; longer ones are none of ours */
	size_t			word_len;
	bool			items_seen, meta_seen, null_wanted;
};

/* Protobuf, lists and watches: a head that says how much of what follows. */
struct cut_pb {
	unsigned		state;
	uint8_t			head[CUT_HEAD_MAX];
	size_t			head_len;
	uint64_t		left;		/* of what the head announced */
	uint64_t		raw_left;	/* of the list itself; counts down only while inside */
	bool			inside, raw_seen, is_list;
};

struct cut {
	uint32_t	 magic;
	cut_step	*step;
	bool		(*whole)(struct cut *);	/* at the end: nothing is missing; else cut_fail was called */
	cut_piece	*piece;
	void		*arg;
	bool		 list, over;		/* over: failed or stopped */
	char		*held;			/* of a piece that came in parts */
	size_t		 held_len, held_size;
	size_t		 items;
	char		*rv, *next;		/* of the list's metadata; next: its continue */
	char		 error[160];
	struct cut_json	 json;
	struct cut_pb	 pb;
};

/* Always false. */
__attribute__((format(printf, 2, 3))) bool cut_fail(struct cut *c, const char *format, ...);

/* Keeps bytes of an unfinished piece. False: it would be longer than max. */
bool cut_hold(struct cut *c, const char *p, size_t len, size_t max);
/*
 * Hands out what was held, or, when nothing was, the bytes where they stand, if enough can be read
 * behind them.
 */
bool cut_give(struct cut *c, const char *p, size_t len, size_t behind);
/* The held bytes are done with. */
void cut_drop(struct cut *c);
/* Of the list's metadata; copies. */
void cut_keep(char **to, const char *p, size_t len);
/* It has a resourceVersion that one can watch from. */
bool cut_list_known(struct cut *c);

cut_step cut_json_watch, cut_json_list, cut_pb_watch, cut_pb_list;
bool cut_json_list_whole(struct cut *c);
bool cut_pb_list_whole(struct cut *c);

#endif
