/*
 * actors/node-state/choose.h - which pool owns a node: the rule of the machine-config operator
 * (MCO). Pure.
 *
 * Never: a result that depends on the order of the pools, which is that of a hash table.
 */
#ifndef MUSTER_NODE_CHOOSE_H
#define MUSTER_NODE_CHOOSE_H

#include <stdbool.h>
#include <stddef.h>

/* In the order in which they are tested. CUSTOM is every name but "master" and "worker". */
enum choose_rule {
	CHOOSE_WINDOWS,		/* kubernetes.io/os=windows: no pool owns it */
	CHOOSE_SEVERAL,		/* two customs or more: MCO leaves the node alone */
	CHOOSE_MASTER_OVER_CUSTOM,
	CHOOSE_CUSTOM,		/* worker may match too, it is the second choice */
	CHOOSE_MASTER,
	CHOOSE_WORKER,
	CHOOSE_NOTHING,		/* no pool matches: an unmanaged node, not an error */
	CHOOSE_MAX
};

struct choice {
	int			index;	/* of the names handed in; -1: no pool owns the node */
	enum choose_rule	rule;
};

enum { CHOOSE_WHY_MAX = 320 };		/* room for the text with two names of 63 characters and more */

/* names: the pools whose selector matches the node's labels, each once, in any order. */
struct choice choose_pool(const char *const *names, size_t count, bool windows);
/*
 * The reason as a sentence: "pools gpu and infra both match: MCO does not manage such a node". The same for
 * every order of the names. NUL-terminated, cut to size (> 0); the length.
 */
size_t choose_why(struct choice c, const char *const *names, size_t count, char *buf, size_t size);

#endif
