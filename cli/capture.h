/*
 * cli/capture.h - one record of the tap (actors/runtime/tap.h), checked.
 *
 * Records come from other processes or from a file: nothing in them is believed. Views into the
 * bytes and the arena.
 */
#ifndef MUSTER_CAPTURE_H
#define MUSTER_CAPTURE_H

#include <stddef.h>
#include <stdint.h>

#include "envelope.h"
#include "tap.h"

struct bytes {
	const uint8_t	*p;
	size_t		 len;
};

/* As it came. */
struct capture_raw {
	struct bytes	topic, meta, frame;
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

#endif
