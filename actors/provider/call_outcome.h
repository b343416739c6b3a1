/*
 * actors/provider/call_outcome.h - what became of a provider call. Pure.
 *
 * A mutation that was sent and not answered whole may have happened: nobody repeats it before its effect was
 * searched for. A 5xx and a 408 of a mutation are no proof either: a proxy answers so after the deed.
 */
#ifndef MUSTER_CALL_OUTCOME_H
#define MUSTER_CALL_OUTCOME_H

#include <stdbool.h>

/* ID, name, text for people */
#define CALL_OUTCOMES(O)								\
	O(DONE,     "done",     "the provider did it")					\
	O(REFUSED,  "refused",  "the provider refused it: nothing happened")		\
	O(NOT_SENT, "not-sent", "it was not sent: nothing happened")			\
	O(FAILED,   "failed",   "no usable answer to a read: ask again later")		\
	O(UNKNOWN,  "unknown",  "it was sent and may have happened: read before planning again")

enum call_outcome {
#define CALL_OUTCOME_ENUM(ID, name, text) CALL_##ID,
	CALL_OUTCOMES(CALL_OUTCOME_ENUM)
#undef CALL_OUTCOME_ENUM
	CALL_OUTCOME_MAX
};

struct call_end {
	bool	mutating;
	bool	sent;		/* a byte of it may have reached the provider */
	bool	whole;		/* a whole answer came */
	int	status;
};

enum call_outcome call_outcome(const struct call_end *e);
const char *call_outcome_name(enum call_outcome o);
const char *call_outcome_text(enum call_outcome o);

#endif
