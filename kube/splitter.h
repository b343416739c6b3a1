/*
 * kube/splitter.h - splits a stream of bytes into objects as it comes: watch frames, or the items of a list.
 * Any chunking gives the same objects as the whole input. Peak memory is one object, never a list.
 *
 * Any other answer must not pass for an empty list, as every object would then be reported gone: JSON
 * must have `items`, protobuf a kind that ends in List, both a resourceVersion.
 *
 *	JSON watch	lines				protobuf watch	4 bytes of length, then a WatchEvent
 *	JSON list	{"items":[..]}, metadata	protobuf list	k8s\0, Unknown{raw: List{items}}
 */
#ifndef MUSTER_SPLITTER_H
#define MUSTER_SPLITTER_H

#include <stdbool.h>
#include <stddef.h>

#include "project.h"

enum { SPLITTER_OBJECT_MAX = 16 * 1024 * 1024 };

enum splitter_shape { SPLIT_WATCH, SPLIT_LIST };

struct splitter;

/*
 * One object: its bytes, with at least PROJECT_PADDING readable bytes behind them. False stops: splitter_feed
 * returns false.
 */
typedef bool splitter_object_fn(const void *bytes, size_t len, void *arg);

struct splitter *splitter_new(enum splitter_shape shape, enum project_form form,
    splitter_object_fn *piece, void *arg);
void splitter_free(struct splitter **cp);
/*
 * False: the input is invalid (splitter_error), or `piece` returned false. Nothing more may be fed then.
 */
bool splitter_feed(struct splitter *c, const void *bytes, size_t len);
/*
 * The stream ended. False: within an object (which is dropped), or, for a list, before its end; or it was
 * not a list.
 */
bool splitter_end(struct splitter *c);
const char *splitter_error(const struct splitter *c);	/* "" when nothing is wrong */

/* For a list, complete after splitter_end: its resourceVersion, its continue token. */
const char *splitter_list_rv(const struct splitter *c);
const char *splitter_list_continue(const struct splitter *c);

#endif
