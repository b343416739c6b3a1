/*
 * sim/kube/semantics/sim_semantics_name.c - what an object, a label and a finalizer may be called,
 * and the texts when not.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"
#include "sim_field_errors.h"
#include "sim_semantics_rules.h"

enum { SUBDOMAIN_MAX = 253, LABEL_MAX = 63 };

#define LABEL_PATTERN	"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define KEY_PATTERN	"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

static const char not_label[] =
	"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
	"and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
	"regex used for validation is '" LABEL_PATTERN "')";
static const char not_resource[] =
	"a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
	"alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', "
	"regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
static const char not_subdomain[] =
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
	"'-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', "
	"regex used for validation is '" LABEL_PATTERN "(\\." LABEL_PATTERN ")*')";
static const char not_key[] =
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
	"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
	"regex used for validation is '" KEY_PATTERN "')";
static const char not_value[] =
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', "
	"and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
	"'12345', regex used for validation is '(" KEY_PATTERN ")?')";

static bool is_label(const char *s, size_t len);
static bool is_subdomain(const char *s, size_t len);
static bool is_key(const char *s);

void
sim_name_check(json_t *errors, const char *field, const char *name, enum sim_name_form form, bool prefix)
{
	char *masked = obj_strdup(name);
	size_t len = strlen(masked);

	/* As the real one does it: the last two characters become one letter. */
	if (prefix && len > 1 && masked[len - 1] == '-') {
		masked[len - 2] = 'a';
		masked[--len] = '\0';
	}
	const size_t max = form == NAME_SUBDOMAIN ? SUBDOMAIN_MAX : LABEL_MAX;

	if (len > max)
		sim_field_error_text(errors, FIELD_INVALID, field, name,
		    "must be no more than %zu characters", max);
	if (form == NAME_LABEL && !is_label(masked, len))
		sim_field_error_text(errors, FIELD_INVALID, field, name, "%s",
		    is_subdomain(masked, len) ? "must not contain dots" : not_label);
	if (form == NAME_RESOURCE && (!is_label(masked, len) || isdigit((unsigned char)*masked)))
		sim_field_error_text(errors, FIELD_INVALID, field, name, "%s", not_resource);
	if (form == NAME_SUBDOMAIN && !is_subdomain(masked, len))
		sim_field_error_text(errors, FIELD_INVALID, field, name, "%s", not_subdomain);
	free(masked);
}

void
sim_name_check_qualified(json_t *errors, const char *field, const char *shown, const char *name)
{
	const char *slash = strchr(name, '/');
	const char *key = slash == NULL ? name : slash + 1;

	if (strchr(key, '/') != NULL) {
		sim_field_error_text(errors, FIELD_INVALID, field, shown,
		    "a valid label key %s with an optional DNS subdomain prefix and '/' (e.g. "
		    "'example.com/MyName')", not_key);
		return;
	}
	if (slash == name)
		sim_field_error_text(errors, FIELD_INVALID, field, shown, "prefix part must be non-empty");
	if (slash != NULL && slash != name) {
		const size_t len = (size_t)(slash - name);

		if (len > SUBDOMAIN_MAX)
			sim_field_error_text(errors, FIELD_INVALID, field, shown,
			    "prefix part must be no more than %d bytes", SUBDOMAIN_MAX);
		if (!is_subdomain(name, len))
			sim_field_error_text(errors, FIELD_INVALID, field, shown, "prefix part %s",
			    not_subdomain);
	}
	if (*key == '\0')
		sim_field_error_text(errors, FIELD_INVALID, field, shown, "name part must be non-empty");
	else if (strlen(key) > LABEL_MAX)
		sim_field_error_text(errors, FIELD_INVALID, field, shown,
		    "name part must be no more than %d bytes",
		    LABEL_MAX);
	if (!is_key(key))
		sim_field_error_text(errors, FIELD_INVALID, field, shown, "name part %s", not_key);
}

void
sim_name_check_label_value(json_t *errors, const char *field, const char *value)
{
	if (strlen(value) > LABEL_MAX)
		sim_field_error_text(errors, FIELD_INVALID, field, value,
		    "must be no more than %d bytes", LABEL_MAX);
	if (*value != '\0' && !is_key(value))
		sim_field_error_text(errors, FIELD_INVALID, field, value, "%s", not_value);
}

static bool
is_label(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		const bool inner = i > 0 && i + 1 < len;

		if (!islower((unsigned char)s[i]) && !isdigit((unsigned char)s[i]) && !(inner && s[i] == '-'))
			return false;
	}
	return len > 0;
}

static bool
is_subdomain(const char *s, size_t len)
{
	const char *end = s + len;

	for (;;) {
		const char *dot = memchr(s, '.', (size_t)(end - s));

		if (!is_label(s, (size_t)((dot == NULL ? end : dot) - s)))
			return false;
		if (dot == NULL)
			return true;
		s = dot + 1;
	}
}

static bool
is_key(const char *s)
{
	const size_t len = strlen(s);

	for (size_t i = 0; i < len; i++) {
		const bool inner = i > 0 && i + 1 < len;

		if (!isalnum((unsigned char)s[i]) && !(inner && strchr("-_.", s[i]) != NULL))
			return false;
	}
	return len > 0;
}
