/* supervisor/notify.h - records of actors on their lifelines (include/lifeline.h), parsed. */
#ifndef MUSTER_NOTIFY_H
#define MUSTER_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roles.h"

enum {
	NOTE_TEXT_MAX = 200,	/* of a status or reason; what is longer is cut */
	NOTE_MAX_MS   = 600000,	/* most that `extend` can name */
};

enum note_kind {
	NOTE_BOUND, NOTE_SYNCED, NOTE_UNSYNCED, NOTE_BEAT, NOTE_REPORT, NOTE_EXTEND, NOTE_STATUS,
	NOTE_ANSWER,
	NOTE_MAX
};

struct note {
	enum note_kind	kind;
	uint64_t	number;		/* beat: mailbox; extend: ms; report: incarnation; answer: id */
	enum role	role;		/* report: ROLE_NONE for `-` */
	char		text[NOTE_TEXT_MAX + 1];	/* report, status: printable ASCII */
	const char	*body;		/* answer: the rest of the record, any bytes */
	size_t		body_len;
};

/* False: an unknown record, *out is undefined. The bytes come from an actor and are not trusted. */
bool notify_parse(const char *record, size_t len, struct note *out);

#endif
