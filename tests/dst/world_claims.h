/*
 * tests/dst/world_claims.h - the worlds `claims` and `claims-sweep`: test-claimer on the harness
 * (harness.h), and a modelled provider whose effects are late or not answered and whose lists lag.
 *
 *	world_claims.c		Widgets, what must hold, the final state
 *	claims_provider.c	the provider and its VMs
 */
#ifndef MUSTER_DST_WORLD_CLAIMS_H
#define MUSTER_DST_WORLD_CLAIMS_H

#include "harness.h"

enum { CLAIMS_WIDGETS = 8, CLAIMS_VMS_MAX = 96 };

struct claims_vm {
	char	tag[64];
	int64_t	from_ms;	/* in lists from then on */
	bool	deleted;
	int64_t	until_ms;	/* deleted: in lists until then */
	int64_t	joined_ms;	/* its Node joined the cluster; 0: not yet */
	int64_t	blinks_ms;	/* lists lack it once, for BLINK_MS from then on */
};

struct claims {
	struct harness		 h;		/* first */
	struct claims_vm	 vms[CLAIMS_VMS_MAX];
	uint32_t		 nvms;
	uint64_t		 vm_changes;
	uint32_t		 shrinks;	/* in a thousand orders: lists lose entries after one */
	uint64_t		 checked;	/* changes at the last check */
};

extern const struct world claims_world, claims_sweep_world;

/* The entry of the program (tests/CMakeLists.txt). */
int claimer_main(int argc, char **argv);

void claims_serve(struct harness *h, struct http_exchange *x);
uint32_t claims_live_vms(const struct claims *w, const char *tag);

#endif
