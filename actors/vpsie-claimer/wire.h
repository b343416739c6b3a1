/*
 * actors/vpsie-claimer/wire.h - the answers of the VPSie API (contract A7, D17, D23).
 *
 * - Every 2xx has a body flag: {"error":true} with HTTP 200 is an error like any other.
 * - `data` is a list, an object or a boolean; a VM comes bare, in `data`, or in `data.vmData`.
 * - A wrong type is an error that names the field, and the answer changes nothing.
 * - A list counts only when all of it was read: with `total` that many entries, without it a last page that
 *   is not full. A server that ignores the offset is noticed by its repeated page.
 * - The `id` of a cluster's node is not taken for a VM's id: nothing confirms that it is one.
 */
#ifndef MUSTER_VPSIE_WIRE_H
#define MUSTER_VPSIE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "discover.h"

enum {
	VPSIE_TEXT_MAX	     = 512,	/* of one text in an answer */
	VPSIE_MESSAGE_MAX    = 256,
	VPSIE_MACHINES_MAX   = 100000,
	VPSIE_TOKEN_LIFE_S   = 3600,	/* when the answer has no usable time */
	VPSIE_TOKEN_EARLY_S  = 300,	/* refreshed so long before it expires */
};

/* ID, name, text: what the answer means whatever was asked */
#define VPSIE_VERDICTS(V)									\
	V(GOOD,      "good",      "the provider did what was asked")				\
	V(REFUSED,   "refused",   "the provider refused: nothing happened")			\
	V(CAPACITY,  "capacity",  "a limit of the account or plan is reached")			\
	V(DENIED,    "denied",    "the token is not accepted")					\
	V(NOT_FOUND, "not-found", "there is no such thing")					\
	V(THROTTLED, "throttled", "too many requests")						\
	V(UNUSABLE,  "unusable",  "no usable answer: a mutation may have happened")

enum vpsie_verdict {
#define VPSIE_VERDICT_ENUM(ID, name, text) ANSWER_##ID,
	VPSIE_VERDICTS(VPSIE_VERDICT_ENUM)
#undef VPSIE_VERDICT_ENUM
	ANSWER_MAX
};

struct vpsie_answer {
	enum vpsie_verdict	verdict;
	int64_t			code;		/* of the body; 0: none */
	char			message[VPSIE_MESSAGE_MAX];	/* the provider's, or our error */
};

/* An answer whose content does not matter: of a mutation. Empty is good with 2xx. */
struct vpsie_answer vpsie_answer_read(int status, const char *body, size_t len);
const char *vpsie_verdict_name(enum vpsie_verdict v);
const char *vpsie_verdict_text(enum vpsie_verdict v);

/* ---- Between the files that read answers (answer.c) ---- */

struct reply;
/* True: it is good and has a body. Either way vpsie_answer_close, or reply_free. */
bool vpsie_answer_open(struct reply *r, int status, const char *body, size_t len, bool secret,
    struct vpsie_answer *a);
/* Frees the reply. True: nothing in it was wrong. */
bool vpsie_answer_close(struct reply *r, struct vpsie_answer *a);
/* A good answer without the body that was asked for is unusable. */
void vpsie_answer_needs_body(struct vpsie_answer *a, const char *error);

/* ---- Lists (wire.c) ---- */

/* What a list was read into. Texts of machines and groups live in it. */
struct vpsie_list;

struct vpsie_group {
	int64_t			id, nodes;
	struct wire_str		name, identifier, cluster;
	struct machine_group	is;
	int64_t			created_us;
	bool			deleted;
};

enum vpsie_page {
	PAGE_LAST,		/* the list is complete */
	PAGE_MORE,		/* ask for the entries from vpsie_list_count on */
	PAGE_FAILED,		/* the answer has the cause; the list is of no use */
};

struct vpsie_list *vpsie_list_new(void);
void vpsie_list_free(struct vpsie_list **lp);
size_t vpsie_list_count(const struct vpsie_list *l);		/* VMs that were read */
enum vpsie_page vpsie_list_vms(struct vpsie_list *l, int status, const char *body, size_t len,
    struct vpsie_answer *a);
/* Adds a cluster's nodes. PAGE_LAST or PAGE_FAILED. *short: it has fewer workers than the answer counts. */
enum vpsie_page vpsie_list_cluster(struct vpsie_list *l, struct wire_str cluster, int status,
    const char *body, size_t len, bool *is_short, struct vpsie_answer *a);
/* Adds the groups of a cluster. PAGE_LAST or PAGE_FAILED. */
enum vpsie_page vpsie_list_groups(struct vpsie_list *l, struct wire_str cluster, int status, const char *body,
    size_t len, struct vpsie_answer *a);
/* One VM; it is the only one of the list then. */
enum vpsie_page vpsie_list_vm(struct vpsie_list *l, int status, const char *body, size_t len,
    struct vpsie_answer *a);
/* Once, after all were added: VMs and nodes of clusters that are the same become one (merge.c). */
void vpsie_list_merge(struct vpsie_list *l, uint64_t seed);
const struct machine *vpsie_list_machines(const struct vpsie_list *l, uint32_t *n);
const struct vpsie_group *vpsie_list_group_rows(const struct vpsie_list *l, uint32_t *n);

/* ---- Small answers (answer.c) ---- */

/* The answer to CALL_ADD_WORKER: mostly `data: true`; sometimes what was made. */
struct vpsie_added {
	int64_t	id;					/* 0: not given */
	char	identifier[VPSIE_TEXT_MAX + 1], hostname[VPSIE_TEXT_MAX + 1];	/* "": not given */
};
struct vpsie_answer vpsie_added_read(int status, const char *body, size_t len, struct vpsie_added *out);

/* The answer to CALL_TOKEN. *token is the caller's: wiped and freed by vpsie_token_free. */
struct vpsie_answer vpsie_token_read(int status, const char *body, size_t len, int64_t now_us, char **token,
    int64_t *refresh_us);
void vpsie_token_free(char **token);

/*
 * Joins nodes of clusters, from `nvms` on, with the VMs before them: by identifier, by address, by a hostname
 * that only one of each has. Returns how many are left. memory: machines_merge_bytes.
 */
size_t machines_merge_bytes(uint32_t n);
uint32_t machines_merge(struct machine *m, uint32_t nvms, uint32_t n, void *memory, uint64_t seed);

#endif
