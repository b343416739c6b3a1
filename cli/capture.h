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

/* The last record that was seen of a topic. */
struct tap_position {
	uint64_t	incarnation, seq;
};
struct keytab;

/*
 * How many records of that topic are missing before this one, because the reader was slow: none before the
 * first of a topic or of an incarnation. seen: has a struct tap_position per topic, empty at first.
 */
uint64_t tap_loss_before(struct keytab *seen, const struct capture *c);

/* tap_client.c: the records of all running actors, on one socket. */
struct filter;
struct tap_client;

/* NULL with the reason in why. */
struct tap_client *tap_client_open(const char *run_dir, const struct filter *f, char why[CONTROL_WHY_MAX]);
void tap_client_close(struct tap_client **lp);

/*
 * The next record, in views that are valid until the next call. While there is none it flushes stdout and
 * waits; every 2 s musterd is queried for new actors. False: end now, because of a signal or because the
 * output has no reader.
 */
bool tap_client_next(struct tap_client *l, struct capture_raw *raw);

#endif
