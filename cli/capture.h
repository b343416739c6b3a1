/*
 * cli/capture.h - one record of the tap (tap_topic in proto/links.h), checked.
 *
 * Records come from other processes or from a file: all of it is checked. Views into the bytes and the
 * arena.
 */
#ifndef MUSTER_CAPTURE_H
#define MUSTER_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "control_client.h"
#include "envelope.h"
#include "links.h"
#include "roles.h"

struct byte_view {
	const uint8_t	*p;
	size_t		 len;
};

/* As it came. */
struct capture_raw {
	struct byte_view	topic, meta, frame;
};

struct capture {
	enum tap_direction	 direction;
	enum role		 actor;
	enum link		 link;
	enum msg		 message;
	struct body_tap		 meta;
	struct frame		 frame;
	uint32_t		 bodies;	/* that the frame had in the beginning */
};

/* NULL: fine, read on with frame_next. Otherwise what is wrong. */
const char *capture_open(struct capture *c, const struct capture_raw *raw, struct msg_arena *arena);

/* Gaps in the numbers of the records: what a slow reader lost. */
struct tap_loss;

struct tap_loss *tap_loss_new(void);
void tap_loss_free(struct tap_loss **lp);
/*
 * How many records of that topic are missing before this one: none before the first of a topic or of an
 * incarnation.
 */
uint64_t tap_loss_before(struct tap_loss *l, const struct capture *c);

/* tap_client.c: the records of all running actors, on one socket. */
struct filter;
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
