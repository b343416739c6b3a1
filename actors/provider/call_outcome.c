/* actors/provider/call_outcome.c - the rules of call_outcome.h. Pure. */
#include "call_outcome.h"

static const struct {
	const char	*name, *text;
} outcomes[CALL_OUTCOME_MAX] = {
#define CALL_OUTCOME_ROW(ID, name, text) [CALL_##ID] = { name, text },
	CALL_OUTCOMES(CALL_OUTCOME_ROW)
#undef CALL_OUTCOME_ROW
};

enum call_outcome
call_outcome(const struct call_end *e)
{
	if (!e->sent)
		return CALL_NOT_SENT;
	if (e->whole && ((e->status >= 200 && e->status <= 299) || e->status == 304))
		return CALL_DONE;
	if (e->whole && e->status >= 400 && e->status <= 499 && e->status != 408)
		return CALL_REFUSED;
	return e->mutating ? CALL_UNKNOWN : CALL_FAILED;
}

const char *
call_outcome_name(enum call_outcome o)
{
	return (unsigned)o < CALL_OUTCOME_MAX ? outcomes[o].name : "?";
}

const char *
call_outcome_text(enum call_outcome o)
{
	return (unsigned)o < CALL_OUTCOME_MAX ? outcomes[o].text : "?";
}
