/* actors/metrics/route.c - /metrics (on its own port only), /healthz, /readyz and the status page. */
#include "route.h"

#include <string.h>

#include "health.h"

#define PLAIN	"text/plain; charset=utf-8"

static bool below(const char *, const char *, const char **);
static void health(enum health_kind, const struct route_facts *, const char *, const char *, struct answer *);
static void not_found(const struct route_facts *, struct answer *);
static bool query_has(const char *, const char *);
static bool shown(const char *, const void *);

void
route_answer(const struct route_facts *f, const char *path, const char *query, struct answer *a)
{
	const char *name;

	a->code = 200;
	a->type = PLAIN;
	if (route_is_metrics(f, path)) {
		a->type = EXPOSITION_CONTENT_TYPE;
	} else if (strcmp(path, "/") == 0) {
		a->type = "text/html; charset=utf-8";
		status_page_write(f, &a->body);
	} else if (below(path, "/healthz", &name)) {
		health(HEALTH_ALIVE, f, name, query, a);
	} else if (below(path, "/readyz", &name)) {
		health(HEALTH_READY, f, name, query, a);
	} else {
		not_found(f, a);
	}
}

bool
route_is_metrics(const struct route_facts *f, const char *path)
{
	return f->metrics && strcmp(path, "/metrics") == 0;
}

void
route_metrics(void *facts, struct text *out)
{
	const struct route_facts *f = facts;

	builtin_write(out, &f->own);
	series_write(f->series, out, f->own.tree != NULL ? shown : NULL, f->own.tree);
}

static void
health(enum health_kind kind, const struct route_facts *f, const char *name, const char *query,
    struct answer *a)
{
	const struct health_facts facts = {
		.tree = f->own.tree,
		.tree_age_ms = f->own.tree != NULL ? f->own.tree_age_ms : f->alive_ms,
	};
	const enum health_verdict verdict =
	    health_answer(kind, name, query_has(query, "verbose"), &facts, &a->body);

	if (verdict == HEALTH_FAILED)
		a->code = 503;
	if (verdict == HEALTH_NO_SUCH_CHECK)
		not_found(f, a);
}

static void
not_found(const struct route_facts *f, struct answer *a)
{
	a->code = 404;
	text_printf(&a->body, "not found; there are %s/healthz, /readyz (?verbose lists the checks) and /\n",
	    f->metrics ? "/metrics, " : "");
}

/* *name: what comes after the route and a slash, the name of a check; NULL when there is none. */
static bool
below(const char *path, const char *route, const char **name)
{
	const size_t len = strlen(route);

	if (strncmp(path, route, len) != 0 || (path[len] != '\0' && path[len] != '/'))
		return false;
	/* "/readyz/" is "/readyz" */
	*name = path[len] != '\0' && path[len + 1] != '\0' ? path + len + 1 : NULL;
	return true;
}

/* The query has that parameter, with or without a value. */
static bool
query_has(const char *query, const char *name)
{
	const size_t len = strlen(name);

	while (query != NULL) {
		if (strncmp(query, name, len) == 0 && strchr("&=", query[len]) != NULL)
			return true;	/* also at the end: strchr finds the NUL */
		query = strchr(query, '&');
		query = query != NULL ? query + 1 : NULL;
	}
	return false;
}

/* Series of an actor that was switched off are not shown; while it restarts, its last ones are. */
static bool
shown(const char *actor, const void *tree)
{
	const struct tree_status_actor *a = tree_status_find(tree, actor);

	return a != NULL && a->enabled;
}
