/* actors/kube-watcher/reflector_private.h - shared by reflector.c and reflector_failure.c. */
#ifndef MUSTER_REFLECTOR_PRIVATE_H
#define MUSTER_REFLECTOR_PRIVATE_H

#include "reflector.h"

enum reflector_want { WANT_DISCOVERY, WANT_LIST, WANT_WATCH };
enum reflector_open { OPEN_NOTHING, OPEN_DISCOVERY, OPEN_LIST, OPEN_WATCHLIST, OPEN_WATCH, OPEN_MAX };

/* The open request is over; stop: the caller has yet to cancel it. */
void reflector_close(struct reflector *r, bool stop);
/*
 * The open request is about to end. A watch that lived for a while shows that the failure before it is
 * over: the backoff begins anew.
 */
void reflector_forget_past(struct reflector *r, int64_t now_ms);
/* A list under way is dropped: its marks are of another snapshot than the next list. */
void reflector_list_anew(struct reflector *r);

enum reflector_reason reflector_classify(const struct reflector *r, const struct reflector_failure *f);
/* The open request failed for that reason: decides the next request and its time. */
void reflector_react(struct reflector *r, enum reflector_reason why, bool stop, int64_t retry_after_ms,
    int64_t now_ms);
void reflector_back_off(struct reflector *r, int64_t retry_after_ms, int64_t now_ms);
void reflector_rest_long(struct reflector *r, int64_t now_ms);

#endif
