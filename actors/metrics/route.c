/* actors/metrics/route.c - /metrics (on its own port only), /healthz, /readyz and the status page. */
#include "route.h"

#include <string.h>

#include "health.h"
#include "obj.h"

#define PLAIN	"text/plain; charset=utf-8"

static void healthz(const struct route_facts *, const char *, const char *, struct answer *);
static void readyz(const struct route_facts *, const char *, const char *, struct answer *);
static void page(const struct route_facts *, const char *, const char *, struct answer *);

static const struct route {
	const char	 *path;
	bool		  below;	/* what comes after path and a slash is a name */
	const char	 *type;
	void		(*answer)(const struct route_facts *, const char *name, const char *query,
			    struct answer *);
} routes[] = {
	{ "/healthz", true,  PLAIN,                      healthz },
	{ "/readyz",  true,  PLAIN,                      readyz },
	{ "/",        false, "text/html; charset=utf-8", page },
};

static bool matches(const struct route *, const char *, const char **);
static void health(enum health_kind, const struct route_facts *, const char *, const char *, struct answer *);
static void not_found(const struct route_facts *, struct answer *);
static bool query_has(const char *, const char *);
static bool shown(const char *, const void *);

void
route_answer(const struct route_facts *f, const char *path, const char *query, struct answer *a)
{
	const char *name;

	if (route_is_metrics(f, path)) {
		a->code = 200;
		a->type = EXPOSITION_CONTENT_TYPE;
		return;
	}
	for (size_t i = 0; i < NITEMS(routes); i++) {
		if (matches(&routes[i], path, &name)) {
			a->code = 200;
			a->type = routes[i].type;
			routes[i].answer(f, name, query, a);
			return;
		}
	}
	not_found(f, a);
}

bool
route_is_metrics(const struct route_facts *f, const char *path)
{
	return f->metrics && strcmp(path, "/metrics") == 0;
}

void
route_metrics(const struct route_facts *f, struct text *out)
{
	builtin_write(out, &f->own);
	series_write(f->series, out, f->own.tree != NULL ? shown : NULL, f->own.tree);
}

static void
healthz(const struct route_facts *f, const char *name, const char *query, struct answer *a)
{
	health(HEALTH_ALIVE, f, name, query, a);
}

static void
readyz(const struct route_facts *f, const char *name, const char *query, struct answer *a)
{
	health(HEALTH_READY, f, name, query, a);
}

static void
page(const struct route_facts *f, const char *name, const char *query, struct answer *a)
{
	(void)name;
	(void)query;
	status_page_write(f, &a->body);
}

static void
health(enum health_kind kind, const struct route_facts *f, const char *name, const char *query,
    struct answer *a)
{
	const struct health_facts facts = {
		.tree = f->own.tree,
		.tree_age_ms = f->own.tree != NULL ? f->own.tree_age_ms : f->alive_ms,
	};

	switch (health_answer(kind, name, query_has(query, "verbose"), &facts, &a->body)) {
	case HEALTH_OK:
		break;
	case HEALTH_FAILED:
		a->code = 503;
		break;
	case HEALTH_NO_SUCH_CHECK:
		not_found(f, a);
		break;
	}
}

static void
not_found(const struct route_facts *f, struct answer *a)
{
	a->code = 404;
	a->type = PLAIN;
	text_printf(&a->body, "not found; there are %s/healthz, /readyz (?verbose lists the checks) and /\n",
	    f->metrics ? "/metrics, " : "");
}

/* *name: the part below the path, NULL when there is none. */
static bool
matches(const struct route *r, const char *path, const char **name)
{
	const size_t len = strlen(r->path);

	*name = NULL;
	if (strcmp(path, r->path) == 0)
		return true;
	if (!r->below || strncmp(path, r->path, len) != 0 || path[len] != '/')
		return false;
	*name = path[len + 1] != '\0' ? path + len + 1 : NULL;	/* "/readyz/" is "/readyz" */
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
