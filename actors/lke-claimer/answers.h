/*
 * actors/lke-claimer/answers.h - answers of the Linode API (contract A7, C3, C11, C12).
 *
 * An answer is used whole or not at all: one wrong field refuses it, err names the field, and nothing has
 * changed. Unknown members are skipped, so that a newer API does no harm.
 */
#ifndef MUSTER_LKE_ANSWERS_H
#define MUSTER_LKE_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "actors/provider/reply.h"
#include "snapshot.h"
#include "types.h"
#include "wire.h"

struct lke_cluster {
	int64_t		id;
	char		label[LKE_NAME_SIZE], region[LKE_NAME_SIZE], k8s_version[LKE_NAME_SIZE];
	enum lke_tier	tier;
	bool		ready;
};

/* The body of one answer. */
struct lke_body {
	const char	*p;
	size_t		 len;
	char		 err[REPLY_ERROR_MAX];	/* when an answer is refused */
};

/* Clusters of that label: *found of them, *out is the first. Pages are counted in w. */
bool lke_answer_clusters(
    struct lke_body *b, const char *label, struct lke_walk *w, unsigned *found, struct lke_cluster *out);
bool lke_answer_cluster(struct lke_body *b, struct lke_cluster *out);

/* One page of each list of a snapshot. */
bool lke_answer_pools(struct lke_body *b, struct lke_snapshot *s);
bool lke_answer_instances(struct lke_body *b, struct lke_snapshot *s);
/* The answer to POST and PUT of a pool, and to PUT of an instance. *id: of it. */
bool lke_answer_pool(struct lke_body *b, struct lke_snapshot *s, int64_t *id);
bool lke_answer_instance(struct lke_body *b, struct lke_snapshot *s, int64_t *id);

/* The catalogue: all pages, then the availability of the region. */
struct lke_types {
	struct lke_type	*types;
	size_t		 n;
	struct lke_walk	 walk;		/* next 1 at first */
};
bool lke_answer_types(struct lke_body *b, const char *region, struct lke_types *t);
/* Plans that it does not list are available: it lists only some families. */
bool lke_answer_availability(struct lke_body *b, const char *region, struct lke_types *t);
void lke_types_free(struct lke_types *t);

/* ---- Errors ---- */

struct lke_error {
	char	field[64], reason[256];		/* of the first; "": it has none */
};

/* ID, label, what it means for people and what to do */
#define LKE_FAULTS(F)										\
	F(LIMITED,   "limited",   "the API limits the rate of calls: it is tried again later")		\
	F(TRANSIENT, "transient", "the API could not answer: it is tried again")			\
	F(TOKEN,     "token",     "the API refuses the token: put a valid one into the token file")	\
	F(FORBIDDEN, "forbidden", "the token needs the scopes lke:read_write and linodes:read_write")	\
	F(GONE,      "gone",      "the API does not have it")						\
	F(CAPACITY,  "capacity",  "the API has no capacity for the type, or the quota is used up")	\
	F(INVALID,   "invalid",   "the API refuses the request: correct the field that it names")

enum lke_fault {
#define LKE_FAULT_ENUM(ID, label, text) LKE_FAULT_##ID,
	LKE_FAULTS(LKE_FAULT_ENUM)
#undef LKE_FAULT_ENUM
	LKE_FAULT_MAX
};

/* A body that is no error of the API, such as a gateway's page, has none. */
void lke_answer_error(const struct lke_body *b, struct lke_error *out);
/* Of an answer that is no success. */
enum lke_fault lke_fault(enum lke_call c, int status, const struct lke_error *e);
const char *lke_fault_label(enum lke_fault f);
const char *lke_fault_text(enum lke_fault f);

#endif
