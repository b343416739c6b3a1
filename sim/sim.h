/* sim/sim.h - the simulator: its parts, handed to whoever needs more than one of them. */
#ifndef MUSTER_SIM_SIM_H
#define MUSTER_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct options;
struct server;

struct sim {
	struct event_base	*base;
	const struct options	*options;
	struct depot		*depot;
	struct registry		*registry;
	struct faults		*faults;
	struct audit		*audit;
	struct watches		*watches;
	struct controllers	*controllers;
	struct world		*world;
	struct auth		*auth;
	struct server		*kube, *control;
	struct tls		*tls;
	uint64_t		 seed;		/* of uids, suffixes and the world: the same run twice */
};

/* Filled and listening; the options are kept. False with a text in why: close it all the same. */
bool sim_open(struct sim *s, struct event_base *base, const struct options *o, char *why, size_t size);
void sim_close(struct sim *s);

/* RFC 3339, in seconds, of now. */
enum { SIM_TIME_MAX = 48, SIM_UID_MAX = 37, SIM_SUFFIX_MAX = 6 };
const char *sim_now(char buf[SIM_TIME_MAX]);
/* A random UUID. */
const char *sim_uid(struct sim *s, char buf[SIM_UID_MAX]);
/* Five characters as generateName appends them. */
const char *sim_suffix(struct sim *s, char buf[SIM_SUFFIX_MAX]);

#endif
