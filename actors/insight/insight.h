/*
 * actors/insight/insight.h - what the actor keeps, and how its parts meet: main.c hears, work.c
 * does, explain.c tells.
 */
#ifndef MUSTER_INSIGHT_INSIGHT_H
#define MUSTER_INSIGHT_INSIGHT_H

#include <sys/queue.h>

#include "actor.h"
#include "journal.h"
#include "sorts.h"

enum {
	API_MAX = 320,
	/* Writes under way: kube-watcher takes 32 of one actor, and Events and live reads want room. */
	ERRANDS_MAX = 24,
};

/* What we know of one sort. */
struct kept {
	bool		on;
	enum kind_state	kind;
	bool		kind_told;		/* that the CRD is missing was said */
	char		group[254], api[API_MAX];	/* as the cluster has them: "group/version" */
	uint32_t	stored;			/* insights in the mirror */
	int64_t		hold_until_ms;		/* the cluster does not allow it */
};

/* A key in work: with a write under way, or waiting for its turn to ask for one. */
struct errand {
	STAILQ_ENTRY(errand)	 next;
	const char		*key;		/* the queue's, until actor_finish */
	size_t			 len;
	enum sort		 sort;
	enum insight_verb	 verb;
	char			 uid[128];
};

struct insight {
	struct actor		*actor;
	struct kept		 kept[SORT_MAX];
	bool			 nodes_synced, kube_synced;	/* once complete */
	bool			 leading;
	unsigned		 under_way;
	STAILQ_HEAD(, errand)	 parked;	/* in work, waiting for one of the ERRANDS_MAX */
	struct journal		*journal;
	char			 body[WRITE_BODY_MAX];	/* of the write that is being asked for */
};

/* work.c */
enum work_result insight_work(struct actor *a, void *self, const struct work *w, int64_t *after_ms);
/* explain.c */
void insight_explain(struct actor *a, void *self, const char *resource, const char *name, struct json *out);
void insight_tick(struct actor *a, void *self, int64_t now_ms);

#endif
