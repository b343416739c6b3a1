/*
 * tests/dst/runtime_breaks.h - rules that the simulation can break without touching the product: calls
 * between its files are redirected at link time (--wrap; tests/CMakeLists.txt has the names).
 */
#ifndef MUSTER_DST_RUNTIME_BREAKS_H
#define MUSTER_DST_RUNTIME_BREAKS_H

#include <stdbool.h>

struct runtime_breaks {
	bool	write_twice;		/* every mutation is requested twice */
	bool	always_fresh;		/* actor_fresh is true, whatever the mirrors are */
	bool	always_leading;		/* the program never learns that another instance leads */
	bool	no_read_live;		/* what a write's outcome means: no live read */
	bool	busy_is_done;		/* ... BUSY ends the work on the key */
	bool	refused_again;		/* ... what the server refuses is tried again */
	bool	no_retry;		/* the work queue forgets a key that failed */
	bool	no_times;		/* no stored time of a condition is valid */
	bool	flag_as_fence;		/* the fence is open while a flag is set */
	bool	no_margin;		/* ... and until the Lease has ended */
	bool	no_settle;		/* ... and at once after a takeover, and after a start */
	bool	one_observation;	/* absence_observe confirms the first */
	bool	no_brake;		/* the brake is always released */
	bool	stale_own_write;	/* every link counts as caught up with own writes */
	bool	no_defer;		/* a key whose effect is in flight is planned again */
	bool	no_intent;		/* a pool of LKE, or a worker, is requested without a record of it */
	bool	newest_first;		/* ... the newest machine is taken, whichever it is */
	bool	blind_label;		/* ... a Node is labelled whatever it has become meanwhile */
	bool	first_match;		/* ... of two pools with one key the first one counts */
	bool	stale_list;		/* ... every list is newer than every call */
	bool	cut_tag;		/* ... a tag that is too long is cut */
	bool	first_page;		/* of capa-annotator: the first page is the whole catalogue */
	bool	failed_is_unknown;	/* ... a region that could not be read has no types */
	bool	walk_again;		/* ... a region is always read again early */
	bool	clear_when_gone;	/* ... annotations go with type, template or region */
	bool	no_version;		/* ... patches of labels have no resourceVersion */
	bool	unwatched;		/* ... what a MachineDeployment refers to wakes nobody */
	bool	keep_gpus;		/* ... the pair of GPU annotations stays */
	bool	any_claim;		/* of vip-claimer: a claim of another owner counts as the Cluster's */
	bool	overwrite;		/* ... what is set counts as not set */
	bool	no_owner;		/* ... claims are made without an owner */
	bool	unwatched_claims;	/* ... changes of claims and addresses enqueue nobody */
	bool	pass_unread;		/* ... the hooks answer from what is not read yet */
	bool	other_life;		/* ... GeneratePatches ignores the uid of the Cluster */
	bool	no_patch;		/* ... GeneratePatches succeeds without a patch instead of failing */
	bool	blind_repeat;		/* a provider call without an answer counts as not sent */
};

/* Of the present history; all false between histories. */
extern struct runtime_breaks runtime_breaks;

#endif
