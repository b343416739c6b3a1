/*
 * sim/machines/sim_machines.h - the VMs behind every provider API: ordered, booting, with addresses,
 * joined as Nodes, ready; then deleted, or dead.
 *
 * The time is simulated: it moves by sim_machines_advance alone, and what is due happens in the
 * order of its moments. What a change means for the cluster is the listener's (sim_machine_nodes.h).
 */
#ifndef MUSTER_SIM_MACHINES_H
#define MUSTER_SIM_MACHINES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sim_machine_state {
	MACHINE_GONE,		/* it exists no longer */
	MACHINE_ORDERED,	/* the provider has accepted the order */
	MACHINE_BOOTING,
	MACHINE_RUNNING,	/* it has addresses */
	MACHINE_JOINED,		/* its kubelet has registered a Node, which is not ready */
	MACHINE_READY,
	MACHINE_DEAD,		/* it stopped by itself; the provider still lists it */
	MACHINE_DELETING,
	MACHINE_STATES
};
/* "ordered". */
const char *sim_machine_state_name(enum sim_machine_state state);

struct sim_machine_order {
	const char		*name;		/* of the Node, too */
	const char		*provider_id;	/* spec.providerID; "": it gets none */
	json_t			*labels, *taints;	/* of the Node; borrowed, or NULL */
	json_t			*capacity;	/* {"cpu": "2", ...} of the Node; borrowed, or NULL: some */
	json_t			*info;		/* what the provider wants back with it; borrowed, or NULL */
	enum sim_machine_state	 last;		/* it gets no further; MACHINE_GONE: no such limit */
	int64_t			 delay_ms;	/* it stays ordered for so much longer */
};

struct sim_machine {
	uint64_t		 id;		/* from 1, never used again */
	char			*name, *provider_id;
	json_t			*labels, *taints, *capacity, *info;
	enum sim_machine_state	 state, last;
	int64_t			 due_ms;	/* when the state ends */
	int64_t			 since_ms[MACHINE_STATES];	/* when each state began; of those that did */
	char			 public_ip[16], private_ip[16];	/* "" before MACHINE_RUNNING */
};

/* Called after each change, MACHINE_GONE included; it changes no machine itself. */
typedef void sim_machine_listener(void *arg, const struct sim_machine *m);

struct sim_machines_settings {
	int64_t			 lasts_ms[MACHINE_STATES];	/* about; where a state ends by itself */
	uint64_t		 seed;				/* of the differences between machines */
	sim_machine_listener	*changed;			/* NULL: none */
	void			*arg;
};

struct sim_machines;
struct sim_machines *sim_machines_new(const struct sim_machines_settings *s);
void sim_machines_free(struct sim_machines **mp);

/* The id that the next order gets: for its name. */
uint64_t sim_machines_next_id(const struct sim_machines *all);
const struct sim_machine *sim_machines_order(struct sim_machines *all, const struct sim_machine_order *o);
/* Both false: there is no such machine, or it is deleted already. A deleted one is gone after a while. */
bool sim_machines_delete(struct sim_machines *all, uint64_t id);
/* It stops: no kubelet answers any more. */
bool sim_machines_kill(struct sim_machines *all, uint64_t id);
void sim_machines_advance(struct sim_machines *all, int64_t elapsed_ms);
/* The simulated time, from 0. */
int64_t sim_machines_now_ms(const struct sim_machines *all);

/* Borrowed until the next call that changes something; NULL: none. By index: in the order of ids. */
const struct sim_machine *sim_machines_find(const struct sim_machines *all, uint64_t id);
const struct sim_machine *sim_machines_nth(const struct sim_machines *all, size_t i);
size_t sim_machines_count(const struct sim_machines *all);

#endif
