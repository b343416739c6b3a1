/*
 * actors/vpsie-claimer/group_view.h - a NodeGroup, its VPSieNodes and its platform group, and what
 * group.c decides.
 */
#ifndef MUSTER_VPSIE_GROUP_VIEW_H
#define MUSTER_VPSIE_GROUP_VIEW_H

#include "group_status.h"
#include "kube/time.h"
#include "vpsie.h"

/* Everything that one plan reads. Texts are views of the mirrors. */
struct nodegroup_view {
	struct vpsie_claimer	*c;
	const struct work	*work;
	struct nodegroup_claim	*claim;
	struct wire_str		 ns, name;
	struct change		 object;
	union msg_body		 body;
	struct group_input	 in;
	int64_t			 shared_id;	/* of its platform group, by another one; 0: none */
	struct group_member	*members;
	struct group_node	*rows, *sorted;
	uint32_t		 nmembers, room;
	uint32_t		*order, *spare;
	struct group_plan	 plan;
	struct group_node	*stored_rows;
	struct group_status	 stored, desired;
	const char		*error;		/* a call fails for now; or NULL */
	int64_t			 now_ms, cluster_us;
	char			 now[TIME_TEXT_MAX];
};

/* NULL: the NodeGroup does not exist. */
struct nodegroup_view *nodegroup_view_new(struct vpsie_claimer *c, const struct work *w);
void nodegroup_view_free(struct nodegroup_view **vp);

#endif
