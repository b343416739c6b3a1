/* config/config.c - loads a file; values by section and key. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "obj.h"
#include "private.h"

static struct config *new_defaults(void);
static const struct config_value *value_of(const struct config *, const char *, const char *);
static const struct config_section *section_of(const struct config *, const char *);
static bool read_file(const char *, char *, size_t *, struct config_errors *);

struct config *
config_load(const char *path, struct config_errors *errs)
{
	struct config *c = NULL;
	size_t len = CONFIG_FILE_MAX + 1;

	errors_clear(errs, path == NULL ? "built-in defaults" : path);
	if (path == NULL)
		return new_defaults();
	char *text = obj_alloc(len);
	if (read_file(path, text, &len, errs))
		c = config_parse(path, text, len, errs);
	if (c != NULL)
		c->path = obj_strdup(path);
	free(text);
	return c;
}

struct config *
config_parse(const char *name, const char *text, size_t len, struct config_errors *errs)
{
	struct config *c = new_defaults();

	errors_clear(errs, name);
	if (!read_yaml(c, text, len, errs))
		config_free(&c);
	return c;
}

void
config_free(struct config **cp)
{
	struct config *c;

	if (*cp == NULL)
		return;
	OBJ_TAKE(c, cp, CONFIG_MAGIC);
	for (size_t i = 0; i < SETTING_MAX; i++)
		free(c->values[i].text);
	free(c->path);
	OBJ_FREE(c);
}

const char *
config_path(const struct config *c)
{
	OBJ_CHECK(c, CONFIG_MAGIC);
	return c->path;
}

const char *
config_get(const struct config *c, const char *section, const char *key)
{
	return value_of(c, section, key)->text;
}

int64_t
config_get_i64(const struct config *c, const char *section, const char *key)
{
	return value_of(c, section, key)->num;
}

int
config_line(const struct config *c, const char *section, const char *key)
{
	return value_of(c, section, key)->line;
}

bool
config_mentioned(const struct config *c, const char *section)
{
	const struct config_section *s = section_of(c, section);

	return s != NULL && s->line > 0;
}

enum config_enabled
config_enabled(const struct config *c, const char *section)
{
	const struct config_section *s = section_of(c, section);

	return s == NULL ? CONFIG_UNSET : s->enabled;
}

int
config_enabled_line(const struct config *c, const char *section)
{
	const struct config_section *s = section_of(c, section);

	if (s == NULL)
		return 0;
	return s->enabled_line > 0 ? s->enabled_line : s->line;
}

char *
config_flat(const struct config *c, const char *section)
{
	const enum section s = schema_section(section, strlen(section));
	char *text;
	size_t len;
	FILE *const out = open_memstream(&text, &len);

	OBJ_CHECK(c, CONFIG_MAGIC);
	MUST(out != NULL);
	for (size_t i = 0; i < SETTING_MAX; i++) {
		if (schema_settings[i].section == s)
			fprintf(out, "%s=%s\n", schema_settings[i].key, c->values[i].text);
	}
	MUST(fclose(out) == 0);
	return text;
}

const char *
config_credential(const struct config *c, const char *section, size_t i)
{
	const enum section s = schema_section(section, strlen(section));

	OBJ_CHECK(c, CONFIG_MAGIC);
	for (size_t n = 0; n < SETTING_MAX; n++) {
		const struct setting *row = &schema_settings[n];

		if (row->section == s
		    && (row->rule.type == VALUE_CREDENTIAL || row->rule.type == VALUE_FILE)
		    && c->values[n].text[0] != '\0' && i-- == 0)
			return c->values[n].text;
	}
	return NULL;
}

const char *
config_actor_name(size_t i)
{
	return i < SECTION_MAX - 1 ? schema_section_name((enum section)(i + 1)) : NULL;
}

enum value_fault
config_set(struct config *c, size_t setting, const char *text, size_t len)
{
	const struct value_rule *rule = &schema_settings[setting].rule;
	struct config_value *v = &c->values[setting];
	const enum value_fault f = value_parse(rule, text, len, &v->num);

	if (f != VALUE_FAULT_NONE)
		return f;
	free(v->text);
	v->text = obj_alloc(len + 32);
	if (rule->type == VALUE_DURATION)
		snprintf(v->text, len + 32, "%" PRId64, v->num);
	else
		memcpy(v->text, text, len);
	return VALUE_FAULT_NONE;
}

static struct config *
new_defaults(void)
{
	struct config *c;

	OBJ_NEW(c, CONFIG_MAGIC);
	for (size_t i = 0; i < SETTING_MAX; i++) {
		const char *initial = schema_settings[i].initial;

		MUST(config_set(c, i, initial, strlen(initial)) == VALUE_FAULT_NONE);
	}
	return c;
}

static const struct config_value *
value_of(const struct config *c, const char *section, const char *key)
{
	const size_t i = schema_setting(schema_section(section, strlen(section)), key, strlen(key));

	OBJ_CHECK(c, CONFIG_MAGIC);
	MUST(i < SETTING_MAX);
	return &c->values[i];
}

/* NULL: no such section, which is no fault here: a role may have no settings yet. */
static const struct config_section *
section_of(const struct config *c, const char *section)
{
	const enum section s = schema_section(section, strlen(section));

	OBJ_CHECK(c, CONFIG_MAGIC);
	return s == SECTION_NONE ? NULL : &c->sections[s];
}

/* *len: room in, bytes out. O_NONBLOCK: the supervisor must not wait for a pipe's writer. */
static bool
read_file(const char *path, char *text, size_t *len, struct config_errors *errs)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	size_t used = 0;
	ssize_t n = 0;

	if (fd == -1 || fstat(fd, &st) == -1) {
		const char *hint = "; `muster check --print-defaults` prints one to start from";

		errors_add(errs, 0, "cannot open the configuration: %s%s", strerror(errno),
		    errno == ENOENT ? hint : "");
	} else if (!S_ISREG(st.st_mode)) {
		errors_add(errs, 0, "is not a regular file; the configuration is one YAML file");
	} else {
		do {
			n = read(fd, text + used, *len - used);
			used += n > 0 ? (size_t)n : 0;
		} while ((n > 0 && used < *len) || (n == -1 && errno == EINTR));
		if (n == -1)
			errors_add(errs, 0, "cannot read the configuration: %s", strerror(errno));
	}
	if (fd != -1)
		close(fd);
	*len = used;
	return errs->count == 0;
}
