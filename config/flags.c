/* config/flags.c - reads options by their table. Unknown ones are named, with the nearest that exists. */
#include "flags.h"

#include <string.h>

#include "err.h"
#include "obj.h"
#include "nearest.h"

enum { FLAGS_MAX = 32 };

struct parse {
	const struct flags	*flags;
	int			 argc, at;
	char			**argv;
	char			*why;
};

/* A row, and the struct that its value goes to. */
struct flag_match {
	const struct flag	*row;		/* NULL: there is no such option */
	void			*out;
};

static struct flag_match find(const struct flags *, const char *, size_t, char);
static bool take(struct parse *, const struct flag_match *, const char *);
static bool take_long(struct parse *, const char *);
static bool take_letters(struct parse *, const char *);
static bool unknown(struct parse *, const char *);

int
flags_parse(const struct flags *flags, int argc, char **argv, bool *help, char why[FLAGS_WHY_MAX])
{
	struct parse p = { .flags = flags, .argc = argc, .argv = argv, .why = why };
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
flags_print(FILE *out, const struct flag *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct flag *f = &rows[i];
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
	const struct flag_match f = find(p->flags, arg + 2, len, '\0');

	if (f.row == NULL)
		return unknown(p, arg);
	if (f.row->arg == NULL && equals != NULL)
		return err_refuse(p->why, FLAGS_WHY_MAX, "option --%s takes no value", f.row->name);
	return take(p, &f, equals != NULL ? equals + 1 : NULL);
}

/* -w, -ojson, -wo json: switches may be combined, the first option with a value takes the rest. */
static bool
take_letters(struct parse *p, const char *arg)
{
	for (const char *letter = arg + 1; *letter != '\0'; letter++) {
		const struct flag_match f = find(p->flags, "", 0, *letter);

		if (f.row == NULL)
			return unknown(p, arg);
		if (f.row->arg != NULL)
			return take(p, &f, letter[1] != '\0' ? letter + 1 : NULL);
		take(p, &f, NULL);
	}
	return true;
}

/* By its name, or by its letter. */
static struct flag_match
find(const struct flags *flags, const char *name, size_t len, char letter)
{
	for (; flags != NULL; flags = flags->next) {
		for (size_t i = 0; i < flags->n; i++) {
			const struct flag *f = &flags->rows[i];

			if (letter != '\0' ? f->letter == letter
			    : f->name != NULL && strlen(f->name) == len && strncmp(f->name, name, len) == 0)
				return (struct flag_match){ .row = f, .out = flags->out };
		}
	}
	return (struct flag_match){ 0 };
}

static bool
take(struct parse *p, const struct flag_match *match, const char *value)
{
	const struct flag *f = match->row;
	void *to = (char *)match->out + f->offset;

	if (f->arg == NULL) {
		*(bool *)to = true;
		return true;
	}
	if (value == NULL && p->at + 1 < p->argc)
		value = p->argv[++p->at];
	if (value == NULL)
		return err_refuse(p->why, FLAGS_WHY_MAX, "option %s needs a value: %s", p->argv[p->at],
		    f->arg);
	*(const char **)to = value;
	return true;
}

static bool
unknown(struct parse *p, const char *arg)
{
	const char *names[FLAGS_MAX];
	size_t n = 0;

	for (const struct flags *f = p->flags; f != NULL; f = f->next) {
		for (size_t i = 0; i < f->n && n < FLAGS_MAX; i++) {
			if (f->rows[i].name != NULL)
				names[n++] = f->rows[i].name;
		}
	}
	const char *near = arg[1] == '-' ? nearest_word(arg + 2, strlen(arg + 2), names, n) : NULL;
	if (near != NULL)
		return err_refuse(p->why, FLAGS_WHY_MAX, "unknown option %.64s; did you mean --%s?", arg,
		    near);
	return err_refuse(p->why, FLAGS_WHY_MAX, "unknown option %.64s", arg);
}
