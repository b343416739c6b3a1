/* sim/kube/verbs/sim_list_options.c - the rules of metav1.ListOptions, with the words of the apiserver. */
#include "sim_list_options.h"

#include <string.h>

#include "sim/kube/semantics/sim_field_errors.h"

static void check_list(json_t *, const struct call *, const char *);
static void check_watch(json_t *, const struct call *, const char *);
static const char *param(const struct call *, const char *);

bool
list_options_valid(struct call *c, bool watch)
{
	json_t *const flaws = json_array();

	(watch ? check_watch : check_list)(flaws, c, param(c, "resourceVersionMatch"));
	json_t *const status = flaws_status(flaws, "meta.k8s.io", "ListOptions", "");
	if (status != NULL)
		call_reply_status(c, status);
	return status == NULL;
}

static void
check_list(json_t *flaws, const struct call *c, const char *match)
{
	const char *const rv = param(c, "resourceVersion");

	if (match[0] != '\0' && rv[0] == '\0')
		flaw(flaws, FLAW_FORBIDDEN, "resourceVersionMatch", NULL,
		    "resourceVersionMatch is forbidden unless resourceVersion is provided");
	if (match[0] != '\0' && param(c, "continue")[0] != '\0')
		flaw(flaws, FLAW_FORBIDDEN, "resourceVersionMatch", NULL,
		    "resourceVersionMatch is forbidden when continue is provided");
	if (match[0] != '\0' && strcmp(match, "Exact") != 0 && strcmp(match, "NotOlderThan") != 0)
		flaw_text(flaws, FLAW_UNSUPPORTED, "resourceVersionMatch", match,
		    "supported values: \"Exact\", \"NotOlderThan\", \"\"");
	if (strcmp(match, "Exact") == 0 && strcmp(rv, "0") == 0)
		flaw(flaws, FLAW_FORBIDDEN, "resourceVersionMatch", NULL,
		    "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
	if (call_param(c, "sendInitialEvents") != NULL)
		flaw(flaws, FLAW_FORBIDDEN, "sendInitialEvents", NULL,
		    "sendInitialEvents is forbidden for list");
}

static void
check_watch(json_t *flaws, const struct call *c, const char *match)
{
	const bool initial = call_param(c, "sendInitialEvents") != NULL;

	if (initial && strcmp(match, "NotOlderThan") != 0)
		flaw(flaws, FLAW_FORBIDDEN, "resourceVersionMatch", NULL,
		    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
	if (match[0] != '\0' && !initial)
		flaw(flaws, FLAW_FORBIDDEN, "resourceVersionMatch", NULL,
		    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
	if (match[0] != '\0' && strcmp(match, "NotOlderThan") != 0)
		flaw_text(flaws, FLAW_UNSUPPORTED, "resourceVersionMatch", match,
		    "supported values: \"NotOlderThan\"");
	if (match[0] != '\0' && param(c, "continue")[0] != '\0')
		flaw(flaws, FLAW_FORBIDDEN, "resourceVersionMatch", NULL,
		    "resourceVersionMatch is forbidden when continue is provided");
}

static const char *
param(const struct call *c, const char *name)
{
	const char *const value = call_param(c, name);

	return value != NULL ? value : "";
}
