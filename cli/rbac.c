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
	struct rule	 rows[RULES_MAX];
	size_t		 count;
};

static void collect(struct rules *);
static void add(struct rules *, const char *, const char *, uint32_t);
static bool shipped(enum role);
static bool read_by_shipped(uint64_t);
static void print_role(FILE *, const char *, const struct rules *, bool);
static void print_rule(FILE *, const struct rule *);
static void print_binding(FILE *, const char *, bool);

void
rbac_print(FILE *out)
{
	rbac_print_group(out, INSIGHT_GROUP);
}

void
rbac_print_group(FILE *out, const char *insight_group)
{
	struct rules rules = { .insight_group = insight_group };

	collect(&rules);
	fputs("# deploy/rbac.yaml - what kube-watcher may do in the cluster, and nothing else.\n"
	      "# `muster check --print-rbac` writes it from the tables that the program itself goes by\n"
	      "# (proto/kinds.h, proto/rights.h).\n"
	      "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: " NAMESPACE "\n---\n"
	      "apiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: muster\n"
	      "  namespace: " NAMESPACE "\n---\n", out);
	print_role(out, "ClusterRole", &rules, false);
	print_binding(out, "ClusterRole", false);
	fputs("# The Lease of leader election, in this namespace alone.\n", out);
	print_role(out, "Role", &rules, true);
	print_binding(out, "Role", true);
}

static void
collect(struct rules *r)
{
	/* Reading is a list and a watch; a GET is a live read, which has a row of its own. */
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if (read_by_shipped(kind_table[k].readers))
			add(r, kind_table[k].group, kind_table[k].resource, VERBS_READ);
	}
	for (size_t i = 0; i < rights_count; i++) {
		if (shipped(rights_table[i].role))
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

/* Test actors are no part of a release; the file is the same from every build. */
static bool
shipped(enum role r)
{
	return strncmp(role_name(r), "test-", strlen("test-")) != 0;
}

static bool
read_by_shipped(uint64_t readers)
{
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if ((readers >> r & 1) != 0 && shipped((enum role)r))
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
	    "subjects:\n  - kind: ServiceAccount\n    name: muster\n    namespace: " NAMESPACE "\n%s",
	    kind, own ? "  namespace: " NAMESPACE "\n" : "", kind, own ? "" : "---\n");
}
