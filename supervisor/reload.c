/*
 * supervisor/reload.c - a new configuration: only the actors whose section changed are restarted, and
 * those that derive their work from the set of their consumers when that changed.
 */
#include <stdio.h>
#include <string.h>

#include "clock.h"
#include "obj.h"
#include "sdnotify.h"
#include "tree.h"

/* Settings of the supervisor itself that stay as they were when it started. */
static const char *const fixed[] = { "run-dir", "log-format", "beat-interval", "user", "confine" };

static const char *read_file(struct tree *, struct config **, struct spec_set **);
static void warn_fixed(const struct tree *, const struct config *);
static void change_level(struct tree *, const struct config *);
static void swap(struct tree *, struct config **, struct spec_set **);
static void apply(struct child *, const struct child_spec *, const struct child_spec *);
static bool consumers_changed(const struct child *, const struct spec_set *, const struct spec_set *);

const char *
reload(struct tree *t)
{
	struct config *config = NULL;
	struct spec_set *specs = NULL;

	if (t->stopping)
		return "stopping: the configuration is not read again";
	if (t->announced)
		sdnotify_reloading();
	const char *const refused = read_file(t, &config, &specs);
	if (refused == NULL) {
		warn_fixed(t, config);
		change_level(t, config);
		swap(t, &config, &specs);
		t->changed = true;
		log_info("configuration read again");
	}
	if (t->announced)
		sdnotify("READY=1");
	return refused;
}

/* NULL, or the answer to the request; the log has every line of it. */
static const char *
read_file(struct tree *t, struct config **config, struct spec_set **specs)
{
	static char why[SPEC_ERROR_MAX + 256];	/* handed to the caller */
	char err[SPEC_ERROR_MAX];
	struct config_errors errs;

	*config = tree_config(&t->setup, &errs);
	if (*config == NULL) {
		for (size_t i = 0; i < errs.count; i++)
			log_error("configuration refused; the old one stays", KV_S(FILE, errs.file),
			    KV_I(LINE, errs.list[i].line), KV_S(REASON, errs.list[i].text));
		snprintf(why, sizeof(why), "%s:%d: %s; the old configuration stays", errs.file,
		    errs.list[0].line, errs.list[0].text);
		return why;
	}
	*specs = spec_load(*config, &t->setup.search, err, sizeof(err));
	if (*specs == NULL) {
		log_error("configuration refused; the old one stays", KV_S(REASON, err));
		snprintf(why, sizeof(why), "%s; the old configuration stays", err);
		config_free(config);
		return why;
	}
	return NULL;
}

static void
warn_fixed(const struct tree *t, const struct config *now)
{
	for (size_t i = 0; i < NITEMS(fixed); i++) {
		const char *const was = config_get(t->config, "supervisor", fixed[i]);
		const char *const is = config_get(now, "supervisor", fixed[i]);

		if (strcmp(was, is) != 0)
			log_warnx("this setting of the supervisor cannot change while it runs",
			    KV_S(KEY, fixed[i]), KV_S(VALUE, is), KV_S(HINT, "restart musterd"));
	}
}

static void
change_level(struct tree *t, const struct config *now)
{
	const enum log_level level = (enum log_level)config_get_i64(now, "supervisor", "log-level");

	if (t->setup.level_fixed
	    || level == (enum log_level)config_get_i64(t->config, "supervisor", "log-level"))
		return;
	log_set_level(level);
	tree_set_level(t, ROLE_ANY, level);
}

static void
swap(struct tree *t, struct config **config, struct spec_set **specs)
{
	struct spec_set *old = t->specs;

	OBJ_TAKE(t->specs, specs, SPEC_SET_MAGIC);
	t->specs->beat_ms = old->beat_ms;
	/* All of them first: peer records that one step sends must be true of the new tree. */
	for (unsigned i = 0; i < CHILD_MAX; i++)
		t->children[i].spec = &t->specs->children[i];
	for (unsigned i = 0; i < CHILD_MAX; i++)
		apply(&t->children[i], &old->children[i], &t->specs->children[i]);
	TREE_EACH(t, ch) {
		if (!consumers_changed(ch, old, t->specs) || (ch->pid == 0 && ch->state != ST_BACKOFF))
			continue;
		log_info("actor restarts: the set of its consumers changed", KV_S(ACTOR, ch->name));
		ch->restart_due = ch->pid != 0;
		ch->settled = false;	/* what was enabled with it waits for its next incarnation */
	}
	spec_free(&old);
	config_free(&t->config);
	t->config = *config;
	*config = NULL;
}

static void
apply(struct child *ch, const struct child_spec *was, const struct child_spec *is)
{
	if (!was->enabled && is->enabled) {
		log_info("actor enabled", KV_S(ACTOR, ch->name));
		act_feed(ch, EV_ENABLE);
	} else if (was->enabled && !is->enabled) {
		log_info("actor disabled", KV_S(ACTOR, ch->name));
		act_feed(ch, EV_DISABLE);
		peers_changed(ch);
	} else if (is->enabled && strcmp(was->config, is->config) != 0) {
		log_info("actor restarts: its configuration changed", KV_S(ACTOR, ch->name));
		ch->policy = (struct policy){ 0 };	/* what it did with the old one is past */
		act_feed(ch, EV_RESTART);
	}
}

static bool
consumers_changed(const struct child *ch, const struct spec_set *was, const struct spec_set *is)
{
	if (!ch->row->consumers_at_start || !ch->spec->enabled)
		return false;
	for (unsigned i = 0; i < CHILD_MAX; i++) {
		if (was->children[i].enabled != is->children[i].enabled
		    && peers_reads(&ch->tree->children[i], ch))
			return true;
	}
	return false;
}
