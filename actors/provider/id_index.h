/*
 * actors/provider/id_index.h - which object has a provider's id: the Node with that providerID, the claim
 * with that machine. Kept current by whoever gets the changes of a mirror.
 */
#ifndef MUSTER_ID_INDEX_H
#define MUSTER_ID_INDEX_H

#include "msg.h"

struct id_index;

struct id_index *id_index_new(void);
void id_index_free(struct id_index **xp);
/* The object of that key has that id now; "": none, or it is gone. */
void id_index_set(struct id_index *x, struct wire_str key, struct wire_str id);
/* The key of the object with that id, NULL: none. Of several the one that had it first. */
const char *id_index_key(const struct id_index *x, struct wire_str id);
/* Objects with that id: 0, 1, or 2 for more. */
unsigned id_index_count(const struct id_index *x, struct wire_str id);

#endif
