/* supervisor/settings_check.c - the rules of settings_check.h, as a table. */
#include "settings_check.h"

#include <string.h>

#include "err.h"
#include "obj.h"
#include "roles.h"

enum rule_kind { NEEDED, ONE_OF, URL };

static const struct rule {
	enum role	 role;
	enum rule_kind	 kind;
	const char	*key, *other;
} rules[] = {
	{ ROLE_LKE_CLAIMER, NEEDED, "token-file", NULL },
	{ ROLE_LKE_CLAIMER, ONE_OF, "cluster-id", "cluster-name" },
	{ ROLE_LKE_CLAIMER, URL, "api-url", NULL },
	{ ROLE_VPSIE_CLAIMER, NEEDED, "credential-dir", NULL },
};

static bool check(const struct config *, const struct rule *, char *, size_t);
static bool is_set(const struct config *, const char *, const char *);
static bool is_url(const char *);

bool
settings_check(const struct config *c, uint64_t enabled, char *err, size_t size)
{
	for (size_t i = 0; i < NITEMS(rules); i++) {
		if ((enabled >> rules[i].role & 1) != 0 && !check(c, &rules[i], err, size))
			return false;
	}
	return true;
}

static bool
check(const struct config *c, const struct rule *r, char *err, size_t size)
{
	const char *const actor = role_name(r->role), *const path = config_path(c);
	const char *const file = path != NULL ? path : "built-in defaults";
	const int enabled_line = config_enabled_line(c, actor);

	if (r->kind == NEEDED && !is_set(c, actor, r->key))
		return err_refuse(err, size, "%s:%d: actor %s needs the setting %s; set actors.%s.%s, or "
		    "disable the actor", file, enabled_line, actor, r->key, actor, r->key);
	if (r->kind == ONE_OF && !is_set(c, actor, r->key) && !is_set(c, actor, r->other))
		return err_refuse(err, size, "%s:%d: actor %s needs %s or %s; set one of them, or disable "
		    "the actor", file, enabled_line, actor, r->key, r->other);
	if (r->kind == ONE_OF && is_set(c, actor, r->key) && is_set(c, actor, r->other))
		return err_refuse(err, size, "%s:%d: actor %s has both %s and %s (line %d); leave one of "
		    "them out", file, config_line(c, actor, r->key), actor, r->key, r->other,
		    config_line(c, actor, r->other));
	if (r->kind == URL && !is_url(config_get(c, actor, r->key)))
		return err_refuse(err, size, "%s:%d: %s.%s is not an address like https://api.example.com: "
		    "it begins with https:// (or http://), has no user, no blank and no slash at its end",
		    file, config_line(c, actor, r->key), actor, r->key);
	return true;
}

/* Texts that are empty and numbers that are 0 mean: not set. */
static bool
is_set(const struct config *c, const char *section, const char *key)
{
	const char *const value = config_get(c, section, key);

	return value[0] != '\0' && strcmp(value, "0") != 0;
}

static bool
is_url(const char *url)
{
	static const char *const schemes[] = { "https://", "http://" };
	const size_t len = strlen(url);

	for (size_t i = 0; i < NITEMS(schemes); i++) {
		const size_t n = strlen(schemes[i]);

		if (strncmp(url, schemes[i], n) == 0)
			return len > n && url[n] != '/' && strpbrk(url + n, " @\t\"<>") == NULL
			    && url[len - 1] != '/';
	}
	return false;
}
