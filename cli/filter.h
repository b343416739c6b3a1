/* cli/filter.h - selects records and lines of the tap. Pure. */
#ifndef MUSTER_FILTER_H
#define MUSTER_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture.h"
#include "tap_line.h"

struct filter {
	enum tap_direction	 direction;
	enum role		 actor;		/* ROLE_ANY: all */
	enum link		 link;		/* LINK_MAX: all */
	enum msg		 message;	/* MSG_MAX: all; a value (STAT): items that carry it */
	const char		*key;		/* NULL: all; a glob */
	bool			 by_trace;
	uint64_t		 trace;
};

/* Everything. */
#define FILTER_ALL	((struct filter){ .actor = ROLE_ANY, .link = LINK_MAX, .message = MSG_MAX })

/* Hands out the narrowest topics to subscribe to at that actor: NUL-terminated prefixes. */
void filter_topics(const struct filter *f, enum role actor, void (*fn)(const char *prefix, void *arg),
    void *arg);
/* By topic alone: what a subscription would let pass. */
bool filter_record(const struct filter *f, const struct capture *c);
/* By what is inside. */
bool filter_line(const struct filter *f, const struct tap_line *l);

#endif
