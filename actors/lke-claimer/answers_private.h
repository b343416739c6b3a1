/* actors/lke-claimer/answers_private.h - what the readers of answers share. */
#ifndef MUSTER_LKE_ANSWERS_PRIVATE_H
#define MUSTER_LKE_ANSWERS_PRIVATE_H

#include "answers.h"

/* Parses a page: its entries are in *data. The walk advances; answer_end decides whether that counts. */
void answer_page(struct reply *r, const struct lke_body *b, struct reply_at *root, struct reply_at *data,
    struct lke_walk *w);
/* Frees the reply. False: b->err has its error. */
bool answer_end(struct reply *r, struct lke_body *b);
/* A number above 0. False: absent, or wrong. */
bool answer_id(const struct reply_at *at, const char *member, enum reply_need need, int64_t *out);
/* A text that is required, not empty, and fits. */
void answer_name(const struct reply_at *at, const char *member, char *buf, size_t size);

#endif
