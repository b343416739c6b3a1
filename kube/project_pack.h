/* kube/project_pack.h - from what was extracted to the bytes of a message's body. */
#ifndef MUSTER_PROJECT_PACK_H
#define MUSTER_PROJECT_PACK_H

#include <msgpack.h>

#include "kinds.h"
#include "project_private.h"
#include "scan.h"

enum { PACK_BODY_MAX = FRAME_MAX_VALUE };

struct pack_field;
typedef void pack_put(msgpack_packer *, const struct extract *, const struct pack_field *);

/* One field of the body; computed once, before the first object. */
struct pack_field {
	pack_put	 *put;
	uint64_t	  readers;
	uint16_t	  slot;		/* SLOT_NONE: always empty */
	uint8_t		  columns;	/* of rows */
	const char	 *selection;		/* of a map, behind its brace in kinds.h; NULL: all of it */
};
struct pack_field pack_field_of(const struct kind_field *f, const struct field_tree *w, uint16_t slot);

/* Maps in the order of their keys, each key once; before the first pack_body of an object. */
void pack_sort_maps(struct extract *t);
/*
 * Appends one body: the fields that `readers` has a bit of, the others empty. The layout is
 * msg_pack's: an array of all fields.
 */
void pack_body(msgpack_sbuffer *out, const struct extract *t, const struct pack_field *fields,
    size_t nfields, uint64_t readers);

#endif
