/* sim/sim.h - the simulator: its parts, handed to whoever needs more than one of them. */
#ifndef MUSTER_SIM_SIM_H
#define MUSTER_SIM_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_base;
struct evhttp_request;
struct sim_options;
struct sim_server;

struct simulator {
	struct event_base		*base;
	const struct sim_options	*options;
	struct sim_store		*store;
	struct sim_registry		*registry;
	struct sim_fault_table		*faults;
	struct sim_audit		*audit;
	struct sim_watches		*watches;
	struct sim_controllers		*controllers;
	struct sim_cluster		*cluster;
	struct sim_ipam			*ipam;
	struct sim_auth			*auth;
	struct sim_server		*kube, *control;
	struct sim_providers		*providers;
	struct tls_server		*tls;
	uint64_t			 seed;		/* of uids, suffixes and churn */
};

/* Filled and listening; the options are kept. False with a text in why: close it all the same. */
bool sim_open(struct simulator *s, struct event_base *base, const struct sim_options *o, char *why,
    size_t size);
void sim_close(struct simulator *s);

/* RFC 3339, in seconds, of now. */
enum { SIM_TIME_MAX = 48, SIM_UID_MAX = 37, SIM_SUFFIX_MAX = 6 };
const char *sim_now(char buf[SIM_TIME_MAX]);
/* A random UUID. */
const char *sim_uid(struct simulator *s, char buf[SIM_UID_MAX]);
/* Five characters as generateName appends them. */
const char *sim_suffix(struct simulator *s, char buf[SIM_SUFFIX_MAX]);

/* The control endpoint (docs/simulator.md): a sim_server_handler whose arg is the struct simulator. */
void sim_control_serve(struct evhttp_request *req, void *arg);

/* sim_load.c: the objects of the start. */
void sim_load_namespaces(struct simulator *s);
/*
 * A file or a folder of .yaml, .yml and .json files; other kinds than CRDs are skipped. False
 * with a text in err.
 */
bool sim_load_crds(struct simulator *s, const char *path, char *err, size_t size);

#endif
