/*
 * sim/kube/verbs/sim_page.h - continue tokens: where the next page of a list begins, and at which
 * resourceVersion. Pure.
 *
 * The bytes are those of kube-apiserver: base64url of
 * {"v":"meta.k8s.io/v1","rv":N,"start":"KEY\u0000"}. rv -1 means "go on at the newest": what a
 * client gets whose token has expired.
 */
#ifndef MUSTER_SIM_PAGE_H
#define MUSTER_SIM_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_page {
	int64_t	 rv;
	char	*start;		/* the first key that may follow; owned */
};

/* To be freed. after: the last key that was given. */
char *sim_page_token(int64_t rv, const char *after);
/* False with the apiserver's words in err. */
bool sim_page_parse(struct sim_page *p, const char *token, char *err, size_t size);

#endif
