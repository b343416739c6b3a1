/*
 * cli/rbac.c - one rule per resource: the verbs of all actors together, since to the cluster they
 * are one. Finer rights are kube-watcher's own check (rights.h).
 */
#include <stdbool.h>
#include <string.h>

#include "cli.h"
#include "kinds.h"
#include "obj.h"
#include "rights.h"

#define NAMESPACE	"muster-system"
#define LEASES		"leases"	/* only in our own namespace: a Role */

enum { RULES_MAX = 128 };

struct rule {
	const char	*group, *resource;
	uint32_t	 verbs;
};

struct rules {
	const char	*insight_group;
	uint64_t	 roles;
	struct rule	 rows[RULES_MAX];
	size_t		 count;
};

static uint64_t shipped(void);
static void print_head(FILE *, const uint64_t *);
static void print_roles(FILE *, const struct rules *);
static void collect(struct rules *);
static void add(struct rules *, const char *, const char *, uint32_t);
static bool any_rule(const struct rules *, bool);
static void print_role(FILE *, const char *, const struct rules *, bool);
static void print_rule(FILE *, const struct rule *);
static void print_binding(FILE *, const char *, bool);

void
rbac_print(FILE *out, const char *insight_group, const uint64_t *roles)
{
	struct rules rules = { .insight_group = insight_group, .roles = roles != NULL ? *roles : shipped() };

	collect(&rules);
	print_head(out, roles);
	fputs("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " NAMESPACE "\n---\n"
	      "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: muster\n"
	      "  namespace: " NAMESPACE "\n", out);
	print_roles(out, &rules);
}

/* Test actors are no part of a release: deploy/rbac.yaml is the same from every build. */
static uint64_t
shipped(void)
{
	uint64_t roles = 0;

	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (strncmp(role_name((enum role)r), "test-", strlen("test-")) != 0)
			roles |= UINT64_C(1) << r;
	}
	return roles;
}

static void
print_head(FILE *out, const uint64_t *roles)
{
	const char *comma = " ";

	if (roles == NULL) {
		fputs("# deploy/rbac.yaml - what kube-watcher may do in the cluster, and nothing else.\n"
		      "# `muster check --print-rbac` writes it", out);
	} else {
		fputs("# What kube-watcher may do in the cluster for the actors of one configuration, and "
		      "nothing else:\n#", out);
		for (unsigned r = 0; r < ROLE_MAX; r++) {
			if ((*roles >> r & 1) == 0)
				continue;
			fprintf(out, "%s%s", comma, role_name((enum role)r));
			comma = ", ";
		}
		fprintf(out, "%s.\n# `muster check --print-rbac FILE` writes it", *roles == 0 ? " none" : "");
	}
	fputs(" from the tables that the program itself goes by\n# (proto/kinds.h, proto/rights.h).\n", out);
}

static void
print_roles(FILE *out, const struct rules *rules)
{
	if (any_rule(rules, false)) {
		fputs("---\n", out);
		print_role(out, "ClusterRole", rules, false);
		print_binding(out, "ClusterRole", false);
	}
	if (any_rule(rules, true)) {
		fputs("---\n# The Lease of leader election, in this namespace alone.\n", out);
		print_role(out, "Role", rules, true);
		print_binding(out, "Role", true);
	}
}

static void
collect(struct rules *r)
{
	/* Reading is a list and a watch; a GET is a live read, which has a row of its own, or a LIVE kind. */
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if ((kind_table[k].readers & r->roles) != 0)
			add(r, kind_table[k].group, kind_table[k].resource, VERBS_READ);
		if ((kind_table[k].live_readers & r->roles) != 0)
			add(r, kind_table[k].group, kind_table[k].resource, VERBS_LIVE);
	}
	for (size_t i = 0; i < rights_count; i++) {
		if ((r->roles >> rights_table[i].role & 1) != 0)
			add(r, rights_table[i].group, rights_table[i].resource, rights_table[i].verbs);
	}
}

static void
add(struct rules *r, const char *named, const char *resource, uint32_t verbs)
{
	const char *const group = strcmp(named, INSIGHT_GROUP) == 0 ? r->insight_group : named;

	for (size_t i = 0; i < r->count; i++) {
		if (strcmp(r->rows[i].group, group) == 0 && strcmp(r->rows[i].resource, resource) == 0) {
			r->rows[i].verbs |= verbs;
			return;
		}
	}
	MUST(r->count < RULES_MAX);
	r->rows[r->count++] = (struct rule){ .group = group, .resource = resource, .verbs = verbs };
}

/* own: those for our own namespace. */
static bool
any_rule(const struct rules *rules, bool own)
{
	for (size_t i = 0; i < rules->count; i++) {
		if ((strcmp(rules->rows[i].resource, LEASES) == 0) == own)
			return true;
	}
	return false;
}

static void
print_role(FILE *out, const char *kind, const struct rules *rules, bool own)
{
	fprintf(out, "apiVersion: rbac.authorization.k8s.io/v1\nkind: %s\n"
	    "metadata:\n  name: muster\n%srules:\n", kind, own ? "  namespace: " NAMESPACE "\n" : "");
	for (size_t i = 0; i < rules->count; i++) {
		if ((strcmp(rules->rows[i].resource, LEASES) == 0) == own)
			print_rule(out, &rules->rows[i]);
	}
	fputs("---\n", out);
}

static void
print_rule(FILE *out, const struct rule *r)
{
	static const char *const names[VERB_MAX] = {
#define VERB_NAME(ID, name) [VERB_##ID] = (name),
		VERBS(VERB_NAME)
	};
	const char *comma = "";

	fprintf(out, "  - apiGroups: [\"%s\"]\n    resources: [\"%s\"]\n    verbs: [", r->group, r->resource);
	for (unsigned v = 0; v < VERB_MAX; v++) {
		if ((r->verbs >> v & 1) == 0)
			continue;
		fprintf(out, "%s%s", comma, names[v]);
		comma = ", ";
	}
	fputs("]\n", out);
}

static void
print_binding(FILE *out, const char *kind, bool own)
{
	fprintf(out, "apiVersion: rbac.authorization.k8s.io/v1\nkind: %sBinding\n"
	    "metadata:\n  name: muster\n%s"
	    "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: %s\n  name: muster\n"
	    "subjects:\n  - kind: ServiceAccount\n    name: muster\n    namespace: " NAMESPACE "\n",
	    kind, own ? "  namespace: " NAMESPACE "\n" : "", kind);
}
