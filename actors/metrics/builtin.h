/*
 * actors/metrics/builtin.h - the families that come from the supervisor's tree, and those about the
 * metrics actor itself.
 */
#ifndef MUSTER_METRICS_BUILTIN_H
#define MUSTER_METRICS_BUILTIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "exposition.h"
#include "tree_status.h"

struct builtin_facts {
	const struct tree_status	*tree;		/* NULL: none has come yet */
	int64_t			 tree_age_ms;
	uint64_t		 status_rejected, series_rejected, series, scrapes;
};

struct builtin_row;
/* The value of an enabled actor; false: it has none. */
typedef bool builtin_of_actor(const struct tree_status_actor *a, const struct builtin_facts *f,
    double *value);
typedef void builtin_samples(struct text *out, const struct builtin_row *row, const struct builtin_facts *f);

struct builtin_row {
	const char		*family;
	enum stat_kind		 kind;
	const char		*labels;	/* for the reference */
	const char		*help;
	/* One of these: a value per enabled actor, all samples at once, or one number of the facts. */
	builtin_of_actor	*of_actor;
	builtin_samples		*write;
	size_t			 number;	/* its offset */
};
extern const struct builtin_row builtin_families[];
extern const size_t builtin_count;

/* The metrics actor itself has that family: no other actor may send it. */
bool builtin_family(const char *name, size_t len);
void builtin_write(struct text *out, const struct builtin_facts *f);

#endif
