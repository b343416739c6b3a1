/*
 * sim/kube/semantics/sim_field_errors.h - what is wrong with the fields of an object, collected as the causes of
 * one Status.
 *
 * A list of flaws is a JSON array of causes: { reason, message, field }. The texts are those of
 * apimachinery's field errors, so that `kubectl` and people read what they know.
 */
#ifndef MUSTER_SIM_FIELD_ERRORS_H
#define MUSTER_SIM_FIELD_ERRORS_H

#include <jansson.h>

enum flaw {
	FLAW_INVALID,		/* "Invalid value: <value>: <detail>" */
	FLAW_TYPE,		/* the same words, another reason */
	FLAW_UNSUPPORTED,	/* "Unsupported value: <value>: supported values: ..." */
	FLAW_DUPLICATE,		/* "Duplicate value: <value>" */
	FLAW_TOO_MANY,		/* "Too many: <value>: must have at most N items" */
	FLAW_TOO_LONG,		/* "Too long: <detail>": the value is left out, as in the two below */
	FLAW_REQUIRED,		/* "Required value: <detail>" */
	FLAW_FORBIDDEN,		/* "Forbidden: <detail>" */
	FLAW_MAX
};

/* value is borrowed; NULL is shown as null. The detail may be "" (then no colon). */
void flaw(json_t *flaws, enum flaw what, const char *field, const json_t *value, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void flaw_text(json_t *flaws, enum flaw what, const char *field, const char *value, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Takes the flaws. NULL where there are none, else the Status 422 "KIND.GROUP "NAME" is invalid: ...". */
json_t *flaws_status(json_t *flaws, const char *group, const char *kind, const char *name);

/* A value as Go prints it in these texts: %q for texts, %v for numbers, JSON for the rest. Free it. */
char *flaw_value(const json_t *value);
/* A value as Go's %v: map[spec:map[size:1]]. Free it. */
char *flaw_go(const json_t *value);
/* A text as Go's %q writes it. Free it. */
char *flaw_quote(const char *text);

#endif
