/* sim/kube/sim_route.c - from a path to group, version, resource, namespace, name, subresource. */
#include "sim_route.h"

#include <event2/http.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"

enum { SEGMENTS_MAX = 10 };

static size_t split(const char *, struct sim_route *, const char *[SEGMENTS_MAX]);
static bool is_namespace_subresource(const char *);

bool
sim_route_parse(const char *path, struct sim_route *out)
{
	const char *s[SEGMENTS_MAX];
	const size_t n = split(path, out, s);
	size_t at;

	out->group = out->version = out->plural = out->ns = out->name = out->subresource = "";
	if (n >= 2 && strcmp(s[0], "api") == 0) {
		out->version = s[1];
		at = 2;
	} else if (n >= 3 && strcmp(s[0], "apis") == 0) {
		out->group = s[1];
		out->version = s[2];
		at = 3;
	} else {
		return false;
	}
	/*
	 * namespaces/NS/pods is a resource inside; namespaces/NS and namespaces/NS/status are the
	 * Namespace itself.
	 */
	if (n - at >= 3 && strcmp(s[at], "namespaces") == 0
	    && !(n - at == 3 && is_namespace_subresource(s[at + 2]))) {
		out->ns = s[at + 1];
		at += 2;
	}
	if (at == n || n - at > 3)
		return false;
	out->plural = s[at];
	out->name = n - at > 1 ? s[at + 1] : "";
	out->subresource = n - at > 2 ? s[at + 2] : "";
	return true;
}

/* Decoded, without empty ones at the end; 0 when the path is too long or has too many. */
static size_t
split(const char *path, struct sim_route *out, const char *s[SEGMENTS_MAX])
{
	size_t n = 0, used = 0;
	char segment[ROUTE_PATH_MAX];

	if (strlen(path) >= ROUTE_PATH_MAX)
		return 0;
	for (const char *p = path; *p == '/' && p[1] != '\0';) {
		const size_t len = strcspn(++p, "/");
		size_t decoded_len;

		if (n == SEGMENTS_MAX)
			return 0;
		memcpy(segment, p, len);
		segment[len] = '\0';
		char *const decoded = evhttp_uridecode(segment, 0, &decoded_len);
		MUST(decoded != NULL);
		/* A NUL inside would end the segment early and name something else. */
		if (strlen(decoded) != decoded_len) {
			free(decoded);
			return 0;
		}
		memcpy(out->text + used, decoded, decoded_len + 1);
		free(decoded);
		s[n++] = out->text + used;
		used += decoded_len + 1;
		p += len;
	}
	return n;
}

static bool
is_namespace_subresource(const char *segment)
{
	return strcmp(segment, "status") == 0 || strcmp(segment, "finalize") == 0;
}
