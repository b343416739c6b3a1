/* cli/tap_line.h - one message body as one line of text or JSON. */
#ifndef MUSTER_TAP_LINE_H
#define MUSTER_TAP_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture.h"

/* Views; valid as long as the capture and the arena. */
struct tap_line {
	int64_t			 time_us;
	struct wire_str		 from, to;
	enum link		 link;
	enum msg		 message;
	bool			 has_key, gone;
	struct wire_str		 key;
	size_t			 size;		/* bytes of this body on the link */
	uint64_t		 trace, seq, epoch;
	enum msg		 value_type;	/* what value is; MSG_MAX: gone, or does not decode */
	union msg_body		 value;
};

/* The next body of the frame; false: it is not well-formed. */
bool tap_line_next(struct tap_line *l, struct capture *c, struct msg_arena *arena);
void tap_line_print(FILE *out, const struct tap_line *l, bool json);
void tap_line_print_lost(FILE *out, uint64_t n, const char *actor, bool json);
void tap_line_print_damaged(FILE *out, const char *why, const struct byte_view *topic, bool json);

#endif
