/*
 * actors/kube-watcher/cluster_clock.h - the time of the cluster: the API server's Date, carried on by the
 * monotonic clock. Pure.
 *
 * A Date has whole seconds and is older by the time that its answer took, so two of them differ although
 * nobody moved a clock. What the actors have is replaced only when it is wrong by more than that.
 */
#ifndef MUSTER_WATCHER_CLUSTER_CLOCK_H
#define MUSTER_WATCHER_CLUSTER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

enum { CLUSTER_CLOCK_NOISE_MS = 1500 };

struct cluster_clock {
	int64_t	offset_ms;	/* cluster time less clock_mono_ms; 0: not known yet */
	int64_t	at_ms;		/* when the Date came that it is from */
	int64_t	published_ms;	/* the offset that the actors have; 0: none */
};

/* An answer with that Date came at that moment. Ignored if it came before the last: watches end late. */
void cluster_clock_set(struct cluster_clock *c, int64_t date_us, int64_t at_ms);
/* True: published_ms has changed, and is to be published. */
bool cluster_clock_moved(struct cluster_clock *c);

#endif
