/*
 * sim/kube/semantics/sim_field_errors.h - what is wrong with the fields of an object, collected as
 * the causes of one Status.
 *
 * A list of field errors is a JSON array of causes: { reason, message, field }. The texts are those of
 * apimachinery's field errors.
 */
#ifndef MUSTER_SIM_FIELD_ERRORS_H
#define MUSTER_SIM_FIELD_ERRORS_H

#include <jansson.h>

enum sim_field_error {
	FIELD_INVALID,		/* "Invalid value: <value>: <detail>" */
	FIELD_TYPE,		/* the same words, another reason */
	FIELD_UNSUPPORTED,	/* "Unsupported value: <value>: supported values: ..." */
	FIELD_DUPLICATE,		/* "Duplicate value: <value>" */
	FIELD_TOO_MANY,		/* "Too many: <value>: must have at most N items" */
	FIELD_TOO_LONG,		/* "Too long: <detail>": the value is left out, as in the two below */
	FIELD_REQUIRED,		/* "Required value: <detail>" */
	FIELD_FORBIDDEN,		/* "Forbidden: <detail>" */
	FIELD_MAX
};

/* value is borrowed; NULL is shown as null. The detail may be "" (then no colon). */
void sim_field_error(json_t *errors, enum sim_field_error what, const char *field,
    const json_t *value, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void sim_field_error_text(json_t *errors, enum sim_field_error what, const char *field,
    const char *value, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Takes the errors. NULL where there are none, else the Status 422 "KIND.GROUP "NAME" is invalid: ...". */
json_t *sim_field_errors_status(json_t *errors, const char *group, const char *kind, const char *name);

/* A value as Go prints it in these texts: %q for texts, %v for numbers, JSON for the rest. Free it. */
char *sim_field_error_value(const json_t *value);
/* A value as Go's %v: map[spec:map[size:1]]. Free it. */
char *sim_go_format(const json_t *value);
/* A text as Go's %q writes it. Free it. */
char *sim_go_quote(const char *text);

#endif
