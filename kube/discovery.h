/*
 * kube/discovery.h - what the server has of what we want: which of our versions, and whether its
 * objects have namespaces.
 *
 * There are two forms. New servers answer GET /api and GET /apis with everything at once
 * (APIGroupDiscoveryList, asked for with DISCOVERY_ACCEPT). Others answer the same requests with
 * the names of their groups and versions; then each group version that we want is asked for its
 * resources, at the paths that discovery_next names:
 *
 *	discovery_init; GET and read "/api", "/apis"; while (discovery_next(path)) GET and read it
 *
 * A kind is ABSENT only when the documents that would name it were read. A document that cannot be
 * had (an aggregated API that is down answers 503) is discovery_failed: those kinds stay UNKNOWN,
 * and nothing may be concluded from that.
 */
#ifndef MUSTER_DISCOVERY_H
#define MUSTER_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DISCOVERY_ACCEPT							\
	"application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"	\
	"application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"

enum { DISCOVERY_BODY_MAX = 4 * 1024 * 1024, DISCOVERY_WANTS_MAX = 64, DISCOVERY_VERSIONS_MAX = 4 };

/* kinds.h, or any other table, as data. */
struct discovery_want {
	const char	*group, *resource;
	const char	*versions;	/* those we can use, best first: "v1beta2 v1beta1" */
};

enum discovery_state { DISCOVERY_UNKNOWN, DISCOVERY_ABSENT, DISCOVERY_FOUND };

struct discovery_result {
	enum discovery_state	 state;
	char			 version[64];	/* FOUND: the best of ours that is served */
	bool			 namespaced;
};

/* Of one wanted resource at one of its versions. */
enum discovery_mark { MARK_UNKNOWN, MARK_LISTED, MARK_FAILED, MARK_ABSENT, MARK_CLUSTER, MARK_NAMESPACED };

/* By value, no memory of its own; `wants` must outlive it. */
struct discovery {
	const struct discovery_want	*wants;
	size_t				 nwants;
	uint8_t				 marks[DISCOVERY_WANTS_MAX][DISCOVERY_VERSIONS_MAX];
};

void discovery_init(struct discovery *d, const struct discovery_want *wants, size_t nwants);
/*
 * The body that GET `path` gave, of any of the four sorts of document. False: not one of them, or
 * not of that path; err has the cause, and nothing has changed.
 */
bool discovery_read(
    struct discovery *d, const char *path, const char *bytes, size_t len, char *err, size_t size);
/* The next document that is needed ("/apis/apps/v1"); false: no more. */
bool discovery_next(const struct discovery *d, char *path, size_t size);
/* GET `path` had no use. gone (404): what it would have named is absent; else it stays unknown. */
void discovery_failed(struct discovery *d, const char *path, bool gone);
/* Of wants[i]. */
void discovery_result(const struct discovery *d, size_t i, struct discovery_result *out);

#endif
