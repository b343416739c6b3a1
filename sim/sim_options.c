/* sim/sim_options.c - reads the command line; describes what is wrong with it. */
#include "sim_options.h"

#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "obj.h"

enum { NOT_SET = -1 };
enum option_type { SWITCH, TEXT, WHOLE, REAL, CRDS, TOKENS, YES_NO };

/* One row: how it is written, where it goes, what may stand there. */
static const struct option_row {
	const char		*name;
	enum option_type	 kind;
	size_t			 offset;
	double			 least, most;
} rows[] = {
	{ "kube",             TEXT,   offsetof(struct sim_options, kube),             0, 0 },
	{ "control",          TEXT,   offsetof(struct sim_options, control),          0, 0 },
	{ "crds",             CRDS,   0,                                          0, 0 },
	{ "write-kubeconfig", TEXT,   offsetof(struct sim_options, write_kubeconfig), 0, 0 },
	{ "tls-cert",         TEXT,   offsetof(struct sim_options, tls_cert),         0, 0 },
	{ "tls-key",          TEXT,   offsetof(struct sim_options, tls_key),          0, 0 },
	{ "client-ca",        TEXT,   offsetof(struct sim_options, client_ca),        0, 0 },
	{ "token-file",       TEXT,   offsetof(struct sim_options, token_file),       0, 0 },
	{ "nodes",            WHOLE,  offsetof(struct sim_options, nodes),            0, 1e6 },
	{ "node-bytes",       WHOLE,  offsetof(struct sim_options, node_bytes),       0, 1e6 },
	{ "speed",            REAL,   offsetof(struct sim_options, speed),            0.001, 1e6 },
	{ "churn",            REAL,   offsetof(struct sim_options, churn),            0, 1e5 },
	{ "seed",             WHOLE,  offsetof(struct sim_options, seed),             0, 1e15 },
	{ "openshift",        SWITCH, offsetof(struct sim_options, openshift),        0, 0 },
	{ "masters",          WHOLE,  offsetof(struct sim_options, masters),          0, 1e5 },
	{ "infra",            WHOLE,  offsetof(struct sim_options, infra),            0, 1e5 },
	{ "workers",          WHOLE,  offsetof(struct sim_options, workers),          0, 1e5 },
	{ "release",          TEXT,   offsetof(struct sim_options, release),          0, 0 },
#define PROVIDER_AT(ID)	offsetof(struct sim_options, providers[SIM_PROVIDER_##ID])
#define PROVIDER_ROWS(ID, name, help)							\
	{ #name,          TEXT,   PROVIDER_AT(ID) + offsetof(struct sim_provider_options, address), 0, 0 }, \
	{ #name "-token", TOKENS, PROVIDER_AT(ID),                                                  0, 0 }, \
	{ #name "-join",  YES_NO, PROVIDER_AT(ID) + offsetof(struct sim_provider_options, join),    0, 0 },
	SIM_PROVIDERS(PROVIDER_ROWS)
#undef PROVIDER_AT
#undef PROVIDER_ROWS
	{ "provider-audit",   TEXT,   offsetof(struct sim_options, provider_audit),   0, 0 },
	{ "help",             SWITCH, offsetof(struct sim_options, help),             0, 0 },
	{ "version",          SWITCH, offsetof(struct sim_options, version),          0, 0 },
};

static const char usage[] =
    "usage: muster-sim --kube ADDRESS:PORT [option ...]\n"
    "\n"
    "A simulated Kubernetes apiserver and the cluster behind it. Port 0 takes a free port; the\n"
    "addresses are printed on one line once it serves. It ends on SIGTERM or SIGINT.\n"
    "\n"
    "  --kube ADDRESS:PORT       where the Kubernetes API is served\n"
    "  --control ADDRESS:PORT    the control endpoint: faults, audit, cluster (default 127.0.0.1:0)\n"
    "  --crds PATH ...           CRDs to begin with: YAML or JSON files, or folders; may be repeated\n"
    "  --nodes N                 Nodes to begin with (default 0)\n"
    "  --node-bytes N            grow each Node to about N bytes of JSON (default: as they come, 4 KB)\n"
    "  --openshift               an OpenShift: pools, MachineConfigs, a ClusterVersion, and updates\n"
    "  --masters N --infra N --workers N   its Nodes by role (default 3, 0 and 3)\n"
    "  --release VERSION         its version at the start (default 4.20.3)\n"
    "  --churn N                 changes of the cluster per second (default 0)\n"
    "  --speed X                 how much faster than real time the cluster runs (default 1)\n"
    "  --seed N                  the seed of everything that is random (default 1)\n"
    "  --write-kubeconfig FILE   write a kubeconfig for this server\n"
    "  --tls-cert FILE --tls-key FILE   serve the Kubernetes API over TLS\n"
    "  --client-ca FILE          accept client certificates that it signed\n"
    "  --token-file FILE         accept the bearer tokens of its lines: token,user,uid[,\"group,group\"]\n"
#define PROVIDER_USAGE(ID, name, help)									\
    "  --" #name " ADDRESS:PORT        serve the API of " help "\n"					\
    "  --" #name "-token TOKEN=ID      a token that it accepts, and its name in the audit log\n" \
    "  --" #name "-join yes|no         whether its machines become Nodes of this cluster (default yes)\n"
    SIM_PROVIDERS(PROVIDER_USAGE)
#undef PROVIDER_USAGE
    "  --provider-audit FILE     write a JSON line for each call of a provider's API\n"
    "  --help, --version\n"
    "\n"
    "docs/simulator.md describes what it serves and the faults it can make.\n";

static bool take(struct sim_options *, const struct option_row *, const char *, char *);
static bool add_crds(struct sim_options *, const char *, char *);
static bool add_token(struct sim_provider_options *, const char *, const char *, char *);
static bool number(const struct option_row *, const char *, double *, char *);
static bool check(const struct sim_options *, char *);
static bool check_providers(const struct sim_options *, char *);
static bool uses_openshift_options(const struct sim_options *);
static void set_openshift_defaults(struct sim_options *);

bool
sim_options_read(struct sim_options *o, int argc, char **argv, char why[OPTIONS_WHY_MAX])
{
	struct option table[NITEMS(rows) + 1] = { 0 };
	int i, c;

	*o = (struct sim_options){ .control = "127.0.0.1:0", .speed = 1, .seed = 1,
		.masters = NOT_SET, .infra = NOT_SET, .workers = NOT_SET };
	for (size_t k = 0; k < NITEMS(o->providers); k++)
		o->providers[k].join = true;
	for (size_t k = 0; k < NITEMS(rows); k++)
		table[k] = (struct option){ .name = rows[k].name,
			.has_arg = rows[k].kind == SWITCH ? no_argument : required_argument };
	opterr = 0;
	optind = 0;		/* glibc: from the start, for tests that parse twice */
	while ((c = getopt_long(argc, argv, "+:", table, &i)) != -1) {
		if (c == ':' || c == '?') {
			snprintf(why, OPTIONS_WHY_MAX, c == ':' ? "%s needs a value" : "unknown option %s",
			    argv[optind - 1]);
			return false;
		}
		if (!take(o, &rows[i], optarg, why))
			return false;
		/* --crds A B C: the words that follow are more of them. */
		while (rows[i].kind == CRDS && optind < argc && argv[optind][0] != '-') {
			if (!add_crds(o, argv[optind++], why))
				return false;
		}
	}
	if (optind < argc) {
		snprintf(why, OPTIONS_WHY_MAX, "unexpected word %s", argv[optind]);
		return false;
	}
	if (o->help || o->version)
		return true;
	const bool fine = check(o, why);
	set_openshift_defaults(o);
	return fine;
}

const char *
sim_options_help(void)
{
	return usage;
}

static bool
take(struct sim_options *o, const struct option_row *row, const char *value, char *why)
{
	char *const to = (char *)o + row->offset;
	double n = 0;

	switch (row->kind) {
	case SWITCH:
		*(bool *)to = true;
		return true;
	case TEXT:
		*(const char **)to = value;
		return true;
	case CRDS:
		return add_crds(o, value, why);
	case TOKENS:
		return add_token((struct sim_provider_options *)(uintptr_t)to, row->name, value, why);
	case YES_NO:
		*(bool *)to = strcmp(value, "yes") == 0;
		if (*(bool *)to || strcmp(value, "no") == 0)
			return true;
		snprintf(why, OPTIONS_WHY_MAX, "--%s is yes or no, not \"%s\"", row->name, value);
		return false;
	case WHOLE:
	case REAL:
		break;
	}
	if (!number(row, value, &n, why))
		return false;
	if (row->kind == REAL)
		*(double *)to = n;
	else
		*(long *)to = (long)n;
	return true;
}

static bool
add_crds(struct sim_options *o, const char *path, char *why)
{
	if (o->ncrds == OPTIONS_CRDS_MAX) {
		snprintf(why, OPTIONS_WHY_MAX, "more than %d of --crds: name a folder", OPTIONS_CRDS_MAX);
		return false;
	}
	o->crds[o->ncrds++] = path;
	return true;
}

/* The text is not repeated in an error: it is a secret. */
static bool
add_token(struct sim_provider_options *p, const char *name, const char *pair, char *why)
{
	const char *const equals = strrchr(pair, '=');
	const char *wrong = NULL;

	if (equals == NULL || equals == pair || equals[1] == '\0')
		wrong = "takes TOKEN=ID";
	else if (p->ntokens == NITEMS(p->tokens))
		wrong = "is there too often";
	if (wrong != NULL) {
		snprintf(why, OPTIONS_WHY_MAX, "--%s %s", name, wrong);
		return false;
	}
	p->tokens[p->ntokens++] = pair;
	return true;
}

static bool
number(const struct option_row *row, const char *value, double *n, char *why)
{
	char *end;

	errno = 0;
	*n = strtod(value, &end);
	if (end != value && *end == '\0' && errno == 0 && *n >= row->least && *n <= row->most
	    && (row->kind == REAL || *n == (double)(long)*n))
		return true;
	snprintf(why, OPTIONS_WHY_MAX, "--%s takes a %snumber from %.9g to %.9g, not \"%s\"", row->name,
	    row->kind == WHOLE ? "whole " : "", row->least, row->most, value);
	return false;
}

static bool
check(const struct sim_options *o, char *why)
{
	const char *wrong = NULL;

	if (o->kube == NULL)
		wrong = "--kube ADDRESS:PORT is missing";
	else if ((o->tls_cert == NULL) != (o->tls_key == NULL))
		wrong = "--tls-cert and --tls-key go together";
	else if (o->client_ca != NULL && o->tls_cert == NULL)
		wrong = "--client-ca needs --tls-cert and --tls-key";
	else if (!o->openshift && uses_openshift_options(o))
		wrong = "--masters, --infra, --workers and --release need --openshift";
	if (wrong != NULL)
		snprintf(why, OPTIONS_WHY_MAX, "%s", wrong);
	return wrong == NULL && check_providers(o, why);
}

static bool
check_providers(const struct sim_options *o, char *why)
{
	static const char *const names[] = {
#define PROVIDER_NAME(ID, name, help) #name,
		SIM_PROVIDERS(PROVIDER_NAME)
#undef PROVIDER_NAME
	};
	bool served = false;

	for (size_t i = 0; i < NITEMS(names); i++) {
		const struct sim_provider_options *const p = &o->providers[i];

		if ((p->address == NULL) != (p->ntokens == 0)) {
			snprintf(why, OPTIONS_WHY_MAX, "--%s and --%s-token go together", names[i], names[i]);
			return false;
		}
		if (p->address == NULL && !p->join) {
			snprintf(why, OPTIONS_WHY_MAX, "--%s-join needs --%s", names[i], names[i]);
			return false;
		}
		served = served || p->address != NULL;
	}
	if (o->provider_audit == NULL || served)
		return true;
	snprintf(why, OPTIONS_WHY_MAX, "--provider-audit needs a provider: --%s", names[0]);
	return false;
}

static bool
uses_openshift_options(const struct sim_options *o)
{
	return o->masters != NOT_SET || o->infra != NOT_SET || o->workers != NOT_SET || o->release != NULL;
}

static void
set_openshift_defaults(struct sim_options *o)
{
	o->masters = o->masters != NOT_SET ? o->masters : 3;
	o->infra = o->infra != NOT_SET ? o->infra : 0;
	o->workers = o->workers != NOT_SET ? o->workers : 3;
	o->release = o->release != NULL ? o->release : "4.20.3";
}
