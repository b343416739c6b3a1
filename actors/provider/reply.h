/*
 * actors/provider/reply.h - a provider's JSON answer, read with limits; an error names the field.
 *
 *	struct reply r;
 *	struct reply_at data, vm;
 *
 *	if (reply_parse(&r, body, len)) {
 *		const struct reply_at root = reply_root(&r);
 *
 *		reply_list(&root, "data", REPLY_REQUIRED, &data);
 *		for (size_t i = 0; reply_element(&data, i, &vm); i++)
 *			reply_i64(&vm, "instance_id", REPLY_OPTIONAL, &id);
 *	}
 *	if (!reply_ok(&r))
 *		log r.error: "data[3].instance_id: not a number"
 *	reply_free(&r, false);
 *
 * The first error stays; every getter after it returns "absent". So a wire.c reads everything it needs and
 * checks once, and an answer with a wrong field changes nothing. Texts are views, valid until reply_free.
 */
#ifndef MUSTER_REPLY_H
#define MUSTER_REPLY_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	REPLY_BYTES_MAX = 16 * 1024 * 1024,
	REPLY_DEPTH_MAX = 64,
	REPLY_ERROR_MAX = 256,
};

enum reply_need {
	REPLY_OPTIONAL,		/* absent and null are the same, and no error */
	REPLY_REQUIRED,
};

struct reply {
	json_t	*root;
	char	 error[REPLY_ERROR_MAX];	/* "": none */
};

/* A place inside the answer. `from` must live as long as this is used. */
struct reply_at {
	struct reply		*reply;
	const json_t		*json;		/* NULL: absent; every getter on it returns "absent" */
	const struct reply_at	*from;		/* NULL: the root */
	const char		*member;	/* NULL: element `index` of a list */
	size_t			 index;
};

/* False: r->error has the cause. Either way reply_free. */
bool reply_parse(struct reply *r, const char *body, size_t len);
/* The body is a list and no object: reply_element on the root. */
bool reply_parse_list(struct reply *r, const char *body, size_t len);
/* For an answer that holds a secret: what the parser itself copies is wiped. Then free with `wipe`. */
bool reply_parse_secret(struct reply *r, const char *body, size_t len);
/* wipe: texts are overwritten first. */
void reply_free(struct reply *r, bool wipe);
bool reply_ok(const struct reply *r);
/* The error of a caller's own check, with the path of the member: "data[3].status: unknown value". */
void reply_fail(const struct reply_at *at, const char *member, const char *cause);

struct reply_at reply_root(struct reply *r);
/* All of them: false when absent or wrong; *out is then untouched (reply_at: empty). */
bool reply_object(const struct reply_at *at, const char *member, enum reply_need need, struct reply_at *out);
bool reply_list(const struct reply_at *at, const char *member, enum reply_need need, struct reply_at *out);
bool reply_i64(const struct reply_at *at, const char *member, enum reply_need need, int64_t *out);
bool reply_f64(const struct reply_at *at, const char *member, enum reply_need need, double *out);
bool reply_flag(const struct reply_at *at, const char *member, enum reply_need need, bool *out);
bool reply_text(const struct reply_at *at, const char *member, enum reply_need need, const char **out);
/*
 * Microseconds since 1970. RFC 3339, and "2026-05-01T10:00:00" or "2026-05-01 10:00:00" with or without
 * decimals: a time without a zone is UTC.
 */
bool reply_time(const struct reply_at *at, const char *member, enum reply_need need, int64_t *out);

/* Elements of a list; false behind its end. An element that is not an object, or not a text, is an error. */
size_t reply_count(const struct reply_at *list);
bool reply_element(const struct reply_at *list, size_t i, struct reply_at *out);
bool reply_text_element(const struct reply_at *list, size_t i, const char **out);

/* The times of reply_time, for header fields and annotations. */
bool reply_parse_time(const char *text, size_t len, int64_t *us);

#endif
