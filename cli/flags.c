/* cli/flags.c - reads options by their table. Unknown ones are named, with the nearest that exists. */
#include "flags.h"

#include <stdarg.h>
#include <string.h>

#include "obj.h"
#include "config/nearest.h"

enum { FLAGS_MAX = 32 };

struct parse {
	const struct flag	*flags;
	size_t			 n;
	int			 argc, at;
	char			**argv;
	void			*out;
	char			*why;
};

static bool take(struct parse *, const struct flag *, const char *);
static bool take_long(struct parse *, const char *);
static bool take_letters(struct parse *, const char *);
static bool unknown(struct parse *, const char *);
static bool fail(struct parse *, const char *, ...) __attribute__((format(printf, 2, 3)));

int
flags_parse(const struct flag *flags, size_t n, int argc, char **argv, void *out, bool *help,
    char why[FLAGS_WHY_MAX])
{
	struct parse p = { .flags = flags, .n = n, .argc = argc, .argv = argv, .out = out, .why = why };
	bool words_only = false;
	int words = 0;

	*help = false;
	for (; p.at < argc; p.at++) {
		char *arg = argv[p.at];

		if (words_only || arg[0] != '-' || arg[1] == '\0') {
			argv[words++] = arg;
		} else if (strcmp(arg, "--") == 0) {
			words_only = true;
		} else if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
			*help = true;
		} else if (arg[1] == '-' ? !take_long(&p, arg) : !take_letters(&p, arg)) {
			return -1;
		}
	}
	return words;
}

void
flags_print(FILE *out, const struct flag *flags, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct flag *f = &flags[i];
		char name[64];
		int len = 0;

		if (f->letter != '\0')
			len += snprintf(name, sizeof(name), "-%c%s", f->letter, f->name != NULL ? ", " : "");
		if (f->name != NULL)
			len += snprintf(name + len, sizeof(name) - (size_t)len, "--%s", f->name);
		if (f->arg != NULL)
			snprintf(name + len, sizeof(name) - (size_t)len, " %s", f->arg);
		fprintf(out, "  %-24s %s\n", name, f->help);
	}
}

static bool
take_long(struct parse *p, const char *arg)
{
	const char *equals = strchr(arg, '=');
	const size_t len = equals != NULL ? (size_t)(equals - arg) - 2 : strlen(arg) - 2;

	for (size_t i = 0; i < p->n; i++) {
		const char *name = p->flags[i].name;

		if (name != NULL && strlen(name) == len && strncmp(arg + 2, name, len) == 0) {
			if (p->flags[i].arg == NULL && equals != NULL)
				return fail(p, "option --%s takes no value", name);
			return take(p, &p->flags[i], equals != NULL ? equals + 1 : NULL);
		}
	}
	return unknown(p, arg);
}

/* -w, -ojson, -wo json: switches may stand together, the first option with a value takes the rest. */
static bool
take_letters(struct parse *p, const char *arg)
{
	for (const char *letter = arg + 1; *letter != '\0'; letter++) {
		size_t i = 0;

		while (i < p->n && p->flags[i].letter != *letter)
			i++;
		if (i == p->n)
			return unknown(p, arg);
		if (p->flags[i].arg != NULL)
			return take(p, &p->flags[i], letter[1] != '\0' ? letter + 1 : NULL);
		take(p, &p->flags[i], NULL);
	}
	return true;
}

static bool
take(struct parse *p, const struct flag *f, const char *value)
{
	void *to = (char *)p->out + f->offset;

	if (f->arg == NULL) {
		*(bool *)to = true;
		return true;
	}
	if (value == NULL && p->at + 1 < p->argc)
		value = p->argv[++p->at];
	if (value == NULL)
		return fail(p, "option %s needs a value: %s", p->argv[p->at], f->arg);
	*(const char **)to = value;
	return true;
}

static bool
unknown(struct parse *p, const char *arg)
{
	const char *names[FLAGS_MAX];
	size_t n = 0;

	for (size_t i = 0; i < p->n && n < FLAGS_MAX; i++) {
		if (p->flags[i].name != NULL)
			names[n++] = p->flags[i].name;
	}
	const char *near = arg[1] == '-' ? nearest_word(arg + 2, strlen(arg + 2), names, n) : NULL;
	if (near != NULL)
		return fail(p, "unknown option %.64s; did you mean --%s?", arg, near);
	return fail(p, "unknown option %.64s", arg);
}

static bool
fail(struct parse *p, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, FLAGS_WHY_MAX, fmt, ap);
	va_end(ap);
	return false;
}
