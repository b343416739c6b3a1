/* actors/capa-annotator/aws_retry.c - the rules of aws_retry.h. Pure. */
#include "aws_retry.h"

#include "obj.h"

/* How each fault is handled: as one that passes, and whether giving up waits for the longest interval. */
static const struct {
	bool	passes, stays;
} handled[AWS_FAULT_MAX] = {
	[AWS_FAULT_TRANSIENT]   = { true,  false },
	[AWS_FAULT_THROTTLED]   = { true,  false },
	[AWS_FAULT_CREDENTIALS] = { false, false },
	[AWS_FAULT_TOKEN]       = { true,  false },
	[AWS_FAULT_CLOCK]       = { false, false },
	[AWS_FAULT_DENIED]      = { false, true },
	[AWS_FAULT_PAGING]      = { false, false },
	[AWS_FAULT_INVALID]     = { false, true },
};

static int64_t doubled(const struct aws_retry_times *, unsigned);

struct aws_retry_plan
aws_retry(const struct aws_retry_times *times, const struct aws_retry_facts *f)
{
	struct aws_retry_plan p = { .verb = AWS_RETRY_GIVE_UP };

	MUST((unsigned)f->fault < AWS_FAULT_MAX);
	if (f->fault == AWS_FAULT_CREDENTIALS && !f->renewed)
		return (struct aws_retry_plan){ .verb = AWS_RETRY_RENEW };
	if (f->fault == AWS_FAULT_CLOCK && !f->clock_set)
		return (struct aws_retry_plan){ .verb = AWS_RETRY_CLOCK };
	if (handled[f->fault].passes && f->tries < AWS_RETRY_TRIES) {
		p.verb = AWS_RETRY_AGAIN;
		p.after_ms = doubled(times, f->tries > 0 ? f->tries - 1 : 0);
	} else {
		p.after_ms = handled[f->fault].stays ? times->most_ms : doubled(times, f->failures);
	}
	if (p.after_ms < f->retry_after_ms)
		p.after_ms = f->retry_after_ms;
	return p;
}

static int64_t
doubled(const struct aws_retry_times *times, unsigned n)
{
	int64_t ms = times->first_ms;

	for (unsigned i = 0; i < n && ms < times->most_ms; i++)
		ms *= 2;
	return ms < times->most_ms ? ms : times->most_ms;
}
