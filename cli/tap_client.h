/* cli/tap_client.h - the taps of all running actors, on one socket. */
#ifndef MUSTER_TAP_CLIENT_H
#define MUSTER_TAP_CLIENT_H

#include "control_client.h"
#include "filter.h"

struct tap_client;

/* NULL with the reason in why. */
struct tap_client *tap_client_open(const char *run_dir, const struct filter *f, char why[CONTROL_WHY_MAX]);
void tap_client_close(struct tap_client **lp);

enum tap_client_result { TAP_CLIENT_RECORD, TAP_CLIENT_NOTHING, TAP_CLIENT_END };
/*
 * Views, valid until the next call. NOTHING: no record is pending (a moment to flush). wait: block until one
 * arrives; every 2 s musterd is queried for new actors.
 */
enum tap_client_result tap_client_next(struct tap_client *l, bool wait, struct capture_raw *raw);

#endif
