/*
 * actors/metrics/own.h - the families that come from the supervisor's tree, and those about the
 * metrics actor itself.
 */
#ifndef MUSTER_METRICS_OWN_H
#define MUSTER_METRICS_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "text.h"
#include "roster.h"

struct own_facts {
	const struct roster	*tree;		/* NULL: none has come yet */
	int64_t			 tree_age_ms;
	uint64_t		 trees_refused, series_refused;
	size_t			 series;
	uint64_t		 scrapes;
};

struct own_row {
	const char	 *family;
	enum stat_kind	  kind;
	const char	 *labels;	/* for the reference */
	const char	 *help;
	/* A value per enabled actor (false: it has none), ... */
	bool		(*of_actor)(const struct roster_actor *a, const struct own_facts *f, double *value);
	/* ... or all samples at once. */
	void		(*write)(struct text *out, const struct own_row *row, const struct own_facts *f);
};
extern const struct own_row own_table[];
extern const size_t own_count;

/* Such a family is ours: nobody else may send it. */
bool own_family(const char *name, size_t len);
void own_write(struct text *out, const struct own_facts *f);
/* docs/metrics.md, written from the tables of all families (reference.c). */
void reference_print(FILE *out);

#endif
