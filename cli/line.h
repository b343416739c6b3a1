/* cli/line.h - one message body as one line, for people or for programs. */
#ifndef MUSTER_LINE_H
#define MUSTER_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "capture.h"

/* Views; valid as long as the capture and the arena. */
struct line {
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
bool line_next(struct line *l, struct capture *c, struct msg_arena *arena);
void line_print(FILE *out, const struct line *l, bool json);
void line_print_lost(FILE *out, uint64_t n, const char *actor, bool json);
void line_print_damaged(FILE *out, const char *why, const struct bytes *topic, bool json);

#endif
