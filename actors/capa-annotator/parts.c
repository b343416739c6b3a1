/* actors/capa-annotator/parts.c - what the parts of the actor share. */
#include <stdio.h>
#include <string.h>

#include "annotator.h"

struct annotator *
annotator_of(struct reconciler *r)
{
	return (struct annotator *)r;
}

bool
annotator_open_calls(struct annotator *a, struct call_effects *calls, enum aws_service service,
    struct wire_str region)
{
	char url[AWS_URL_MAX];
	size_t len = aws_endpoint_url(url, sizeof(url), service, region, &a->identity.urls);

	if (len == 0)
		return false;
	while (len > 0 && url[len - 1] == '/')
		url[--len] = '\0';
	return call_effects_open(calls, &a->r, &(struct client_config){ .provider = "aws", .url = url,
	    .user_agent = "muster-capa-annotator/1.0", .ca_file = a->identity.ca_file,
	    .classes = a->classes, .nclasses = AWS_SERVICE_MAX });
}
