/* actors/node-state/measure.c - the metrics of evaluations and notifications. */
#include "measure.h"

#include <string.h>

#include "log.h"

enum { LABELS_MAX = 600 };	/* a name of 253 bytes, every one of them escaped */

static void drop(const char *);
static struct stat_series *series(enum stat_id, const char *, const char *);
static void drop_label(struct measure *);

void
measure_init(struct measure *m, const char *setting)
{
	*m = (struct measure){ .labelled = strcmp(setting, "off") != 0,
		.auto_off = strcmp(setting, "auto") == 0, .named = keytab_new(0) };
}

void
measure_free(struct measure *m)
{
	keytab_free(&m->named);
}

void
measure_evaluation(struct measure *m, struct wire_str node, bool ok, double seconds)
{
	const char *name = NULL;

	if (m->labelled) {
		name = keytab_key(m->named, keytab_add(m->named, node.p, node.len, NULL), NULL);
		if (m->auto_off && keytab_count(m->named) > MEASURE_NODES_MAX) {
			drop_label(m);
			name = NULL;
		}
	}
	stat_observe(series(STAT_OUE_EVAL_TIME, name, NULL), seconds);
	stat_add(series(STAT_OUE_EVAL, name, ok ? "success" : "error"), 1);
}

void
measure_removed(struct measure *m, struct wire_str node)
{
	const uint32_t id = keytab_find(m->named, node.p, node.len);

	if (id == KEYTAB_NONE)
		return;
	drop(keytab_key(m->named, id, NULL));
	keytab_remove(m->named, id);
}

/* The names that the original has for the two kinds of insight. */
void
measure_notification(enum role consumer, enum msg type, double seconds)
{
	const char *const controller = consumer != ROLE_INSIGHT ? role_name(consumer)
	    : type == MSG_POOL_STATE ? "mcp_insight" : "node_insight";
	char labels[LABELS_MAX] = "";

	stat_label(labels, sizeof(labels), "controller_type", controller);
	stat_observe(stat_get(STAT_OUE_NOTIFY, labels), seconds);
}

void
measure_active(uint32_t nodes)
{
	stat_set(series(STAT_OUE_ACTIVE, NULL, NULL), nodes);
}

static void
drop_label(struct measure *m)
{
	log_info("label node removed from metrics: too many nodes",
	    KV_I(LIMIT, MEASURE_NODES_MAX), KV_S(HINT, "metrics-node-label: on keeps it"));
	KEYTAB_EACH(m->named, id)
		drop(keytab_key(m->named, id, NULL));
	keytab_free(&m->named);
	m->named = keytab_new(0);
	m->labelled = false;
}

static void
drop(const char *node)
{
	stat_drop(series(STAT_OUE_EVAL_TIME, node, NULL));
	stat_drop(series(STAT_OUE_EVAL, node, "success"));
	stat_drop(series(STAT_OUE_EVAL, node, "error"));
}

static struct stat_series *
series(enum stat_id id, const char *node, const char *result)
{
	char labels[LABELS_MAX] = "";

	if (node != NULL)
		stat_label(labels, sizeof(labels), "node", node);
	if (result != NULL)
		stat_label(labels, sizeof(labels), "result", result);
	return stat_get(id, labels);
}
