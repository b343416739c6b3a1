/*
 * proto/roles.h - who can stand at an end of a link. A role is one actor's name on the bus, in the
 * logs, in the rights.
 *
 * R(ID, name). A role may stand here before its program does: links and rights are written down
 * first.
 */
#ifndef MUSTER_ROLES_H
#define MUSTER_ROLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef MUSTER_TEST_ACTORS
#include "../tests/actors/roles.def"
#else
#define TEST_ROLES(R)
#endif

#define ROLES(R)					\
	R(KUBE_WATCHER,   "kube-watcher")		\
	R(NODE_STATE,     "node-state")			\
	R(INSIGHT,        "insight")			\
	R(VPSIE_CLAIMER,  "vpsie-claimer")		\
	R(LKE_CLAIMER,    "lke-claimer")		\
	R(VIP_CLAIMER,    "vip-claimer")		\
	R(CAPA_ANNOTATOR, "capa-annotator")		\
	R(METRICS,        "metrics")			\
	TEST_ROLES(R)

enum role {
#define ROLE_ENUM(ID, name) ROLE_##ID,
	ROLES(ROLE_ENUM)
#undef ROLE_ENUM
	ROLE_MAX,
	ROLE_ANY = ROLE_MAX,	/* in links.h: every actor */
	ROLE_NONE
};
_Static_assert(ROLE_MAX <= 64, "role sets are 64-bit masks");

#define ROLE_BIT(ID)	(UINT64_C(1) << ROLE_##ID)

const char *role_name(enum role r);			/* "?" when out of range */
enum role role_find(const char *name, size_t len);	/* ROLE_NONE when unknown */

#endif
