/* actors/metrics/page.h - the page at /: who runs, since when. Plain HTML, no scripts. Pure. */
#ifndef MUSTER_METRICS_PAGE_H
#define MUSTER_METRICS_PAGE_H

#include <stdint.h>

#include "text.h"
#include "roster.h"

/* now_ms: wall clock, at the time the tree was tree_age_ms old. tree NULL: none has come yet. */
void page_write(struct text *out, const struct roster *tree, int64_t tree_age_ms, int64_t now_ms);

#endif
