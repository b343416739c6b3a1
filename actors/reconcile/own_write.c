/* actors/reconcile/own_write.c - whether a link that passes through another actor has an own write. Pure. */
#include <string.h>

#include "kube/rv.h"
#include "reconcile.h"

static bool has_caught_up(const struct own_write *, const struct change *);

enum own_write_state
own_write_check(const struct own_write *o, const struct change *seen, int64_t now_ms)
{
	if (has_caught_up(o, seen))
		return OWN_WRITE_SEEN;
	return now_ms < o->until_ms ? OWN_WRITE_WAIT : OWN_WRITE_READ;
}

static bool
has_caught_up(const struct own_write *o, const struct change *seen)
{
	const char *const uid = o->write.uid;

	/* Only what was just created may be missing because the link is late. */
	if (seen == NULL)
		return o->write.op != OP_CREATE;
	/* Another object of that name came after the one that was written. */
	if (uid[0] != '\0' && wire_str_compare(wire_str_of(uid), seen->uid) != 0)
		return true;
	if (o->rv[0] == '\0')
		return false;
	return rv_compare(seen->rv.p, seen->rv.len, o->rv, strlen(o->rv)) != RV_OLDER;
}
