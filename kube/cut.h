/*
 * kube/cut.h - splits a stream of bytes into objects as it comes: watch frames, or the items of a list.
 * Any chunking gives the same objects as the whole input. Peak memory is one object, never a list.
 *
 * Any other answer must not pass for an empty list, as every object would then be reported gone: JSON
 * must have `items`, protobuf a kind that ends in List, both a resourceVersion.
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

struct splitter;

/*
 * One object: its bytes, with at least PROJECT_PADDING readable bytes behind them. False stops: cut_feed
 * returns false.
 */
typedef bool cut_piece(const void *bytes, size_t len, void *arg);

struct splitter *cut_new(enum cut_shape shape, enum project_form form,
    cut_piece *piece, void *arg);
void cut_free(struct splitter **cp);
/*
 * False: the input is invalid (cut_error), or `piece` returned false. Nothing more may be fed then.
 */
bool cut_feed(struct splitter *c, const void *bytes, size_t len);
/*
 * The stream ended. False: within an object (which is dropped), or, for a list, before its end; or it was
 * not a list.
 */
bool cut_end(struct splitter *c);
const char *cut_error(const struct splitter *c);	/* "" when nothing is wrong */

/* For a list, complete after cut_end: its resourceVersion, its continue token, the number of items. */
const char *cut_list_rv(const struct splitter *c);
const char *cut_list_continue(const struct splitter *c);
size_t cut_items(const struct splitter *c);
size_t cut_held(const struct splitter *c);		/* bytes of an unfinished object */

#endif
