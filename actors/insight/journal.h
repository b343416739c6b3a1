/*
 * actors/insight/journal.h - per key: what was planned last and why, what was written last and how it ended.
 * For `muster explain`, and for what the server refused.
 */
#ifndef MUSTER_INSIGHT_JOURNAL_H
#define MUSTER_INSIGHT_JOURNAL_H

#include "plan.h"

enum { JOURNAL_MESSAGE_MAX = 200 };

struct journal;

struct journal_entry {
	enum insight_verb	 verb;
	const char		*why, *field;	/* NULL: nothing was planned yet */
	/* The last write; at_us 0: there was none. */
	enum op			 op;
	bool			 status;	/* of the status subresource */
	enum outcome		 outcome;
	int64_t			 at_us;		/* wall clock */
	char			*message;	/* ours; NULL: none */
	bool			 refused;	/* by the server, and nothing has changed since */
};

struct journal *journal_new(void);
void journal_free(struct journal **jp);
/* Made when absent; valid until the next call. */
struct journal_entry *journal_entry(struct journal *j, const char *key, size_t len);
const struct journal_entry *journal_find(const struct journal *j, const char *key, size_t len);	/* or NULL */
void journal_drop(struct journal *j, const char *key, size_t len);
/* Something about the key has changed, or about all: what was refused is worth another try. */
void journal_changed(struct journal *j, const char *key, size_t len);
void journal_all_changed(struct journal *j);

#endif
