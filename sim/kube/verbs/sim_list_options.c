/* sim/kube/verbs/sim_list_options.c - the rules of metav1.ListOptions, with the words of the apiserver. */
#include <string.h>

#include "sim/kube/semantics/sim_field_errors.h"
#include "sim_verbs.h"

static void check_list(json_t *, const struct sim_request *, const char *);
static void check_watch(json_t *, const struct sim_request *, const char *);

bool
sim_list_options_valid(struct sim_request *c, bool watch)
{
	json_t *const errors = json_array();

	(watch ? check_watch : check_list)(errors, c, sim_request_text(c, "resourceVersionMatch"));
	json_t *const status = sim_field_errors_status(errors, "meta.k8s.io", "ListOptions", "");
	if (status != NULL)
		sim_request_reply_status(c, status);
	return status == NULL;
}

static void
check_list(json_t *errors, const struct sim_request *c, const char *match)
{
	const char *const rv = sim_request_text(c, "resourceVersion");

	if (match[0] != '\0' && rv[0] == '\0')
		sim_field_error(errors, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
		    "resourceVersionMatch is forbidden unless resourceVersion is provided");
	if (match[0] != '\0' && sim_request_text(c, "continue")[0] != '\0')
		sim_field_error(errors, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
		    "resourceVersionMatch is forbidden when continue is provided");
	if (match[0] != '\0' && strcmp(match, "Exact") != 0 && strcmp(match, "NotOlderThan") != 0)
		sim_field_error_text(errors, FIELD_UNSUPPORTED, "resourceVersionMatch", match,
		    "supported values: \"Exact\", \"NotOlderThan\", \"\"");
	if (strcmp(match, "Exact") == 0 && strcmp(rv, "0") == 0)
		sim_field_error(errors, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
		    "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
	if (sim_request_param(c, "sendInitialEvents") != NULL)
		sim_field_error(errors, FIELD_FORBIDDEN, "sendInitialEvents", NULL,
		    "sendInitialEvents is forbidden for list");
}

static void
check_watch(json_t *errors, const struct sim_request *c, const char *match)
{
	const bool initial = sim_request_param(c, "sendInitialEvents") != NULL;

	if (initial && strcmp(match, "NotOlderThan") != 0)
		sim_field_error(errors, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
		    "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
	if (match[0] != '\0' && !initial)
		sim_field_error(errors, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
		    "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided");
	if (match[0] != '\0' && strcmp(match, "NotOlderThan") != 0)
		sim_field_error_text(errors, FIELD_UNSUPPORTED, "resourceVersionMatch", match,
		    "supported values: \"NotOlderThan\"");
	if (match[0] != '\0' && sim_request_text(c, "continue")[0] != '\0')
		sim_field_error(errors, FIELD_FORBIDDEN, "resourceVersionMatch", NULL,
		    "resourceVersionMatch is forbidden when continue is provided");
}
