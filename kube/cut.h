/*
 * kube/cut.h - takes a stream of bytes apart as it comes: watch frames, and the items of a list.
 * Any chunking gives the same pieces as the whole input. Peak memory is one piece, never a list.
 *
 * Whatever else is answered in a list's place must not look like an empty list, for then everything
 * would seem gone: JSON must have `items`, protobuf a kind that ends in List, both a resourceVersion.
 *
 *	JSON watch	lines				protobuf watch	4 bytes of length, then a WatchEvent
 *	JSON list	{"items":[..]}, metadata	protobuf list	k8s\0, Unknown{raw: List{items}}
 */
#ifndef MUSTER_CUT_H
#define MUSTER_CUT_H

#include <stdbool.h>
#include <stddef.h>

#include "project.h"

enum { CUT_PIECE_MAX = 16 * 1024 * 1024 };

enum cut_shape { CUT_WATCH, CUT_LIST };

struct cut;

/*
 * A piece: the object's bytes, with at least PROJECT_PADDING readable bytes behind them. False
 * stops: cut_feed returns false.
 */
typedef bool cut_piece(const void *bytes, size_t len, void *arg);

struct cut *cut_new(enum cut_shape shape, enum project_form form, cut_piece *piece, void *arg);
void cut_free(struct cut **cp);
/*
 * False: the input is not what it should be (cut_error), or `piece` said stop. Nothing more may be
 * fed then.
 */
bool cut_feed(struct cut *c, const void *bytes, size_t len);
/*
 * The stream ended. False: in the middle of a piece (what is half is thrown away), or, for a list,
 * before its end; or it was no list.
 */
bool cut_end(struct cut *c);
const char *cut_error(const struct cut *c);	/* "" when nothing is wrong */

/* Of a list, complete after cut_end: its resourceVersion, its continue token, items seen. */
const char *cut_list_rv(const struct cut *c);
const char *cut_list_continue(const struct cut *c);
size_t cut_items(const struct cut *c);
size_t cut_held(const struct cut *c);		/* bytes held of an unfinished piece */

#endif
