/*
 * cli/trace.h - the pictures of `muster trace` and `muster explain`. Pure but for the stream they
 * write to.
 */
#ifndef MUSTER_TRACE_H
#define MUSTER_TRACE_H

#include "about.h"

/* The last so many changes, the newest last. */
about_draw trace_draw;
about_draw explain_draw;	/* `last` means nothing to it */

#endif
