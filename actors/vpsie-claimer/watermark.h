/*
 * actors/vpsie-claimer/watermark.h - what was there before a machine was requested (contract D10). Pure.
 *
 * The provider's answer has no id, so the difference between before and after recognises the machine. The
 * annotation autoscaler.vpsie.com/creation-watermark holds, in one line:
 *
 *	nodes=3 newest=2026-01-09T10:01:00Z free=uuid-1,uuid-2
 *
 * nodes: machines of the cluster then. newest: creation time of the newest one. free: identifiers (of a
 * machine without one its hostname) of those that belonged to no VPSieNode; "free=..." when they do not fit,
 * and then nothing is known about them.
 */
#ifndef MUSTER_VPSIE_WATERMARK_H
#define MUSTER_VPSIE_WATERMARK_H

#include <stdbool.h>
#include <stdint.h>

#include "discover.h"

enum { WATERMARK_TEXT_MAX = 4096, WATERMARK_FREE_MAX = 96 };

struct watermark {
	int64_t		nodes, newest_us;		/* newest_us 0: unknown */
	bool		has_free;			/* `free` is all of them */
	struct wire_str	free[WATERMARK_FREE_MAX];	/* views */
	uint32_t	nfree;
};

/* Of that cluster; owners: of the machines, as the matching has them. */
void watermark_take(const struct machine *machines, const struct discover_owner *owners, uint32_t n,
    struct wire_str cluster, struct watermark *out);
void watermark_print(const struct watermark *w, char buf[WATERMARK_TEXT_MAX]);
/* False: it is not such a text; *out is empty then: nothing is known. */
bool watermark_parse(struct wire_str text, struct watermark *out);

#endif
