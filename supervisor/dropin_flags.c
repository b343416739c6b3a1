/* supervisor/dropin_flags.c - Go's flag package, over a table of ours. */
#include "dropin_flags.h"

#include <stdio.h>
#include <string.h>

#include "config/value.h"
#include "err.h"
#include "obj.h"

/* One argument, taken apart. */
struct arg {
	const char	*name;		/* without its hyphens */
	size_t		 len;
	const char	*value;		/* behind the equals sign; NULL: there is none */
};

static bool split(const char *, struct arg *, struct dropin_flags *);
static bool is(const struct arg *, const char *);
static size_t find(const struct dropin_flag *, size_t, const struct arg *);
static enum dropin_end set_unknown(const struct arg *, struct dropin_flags *);
static bool set_boolean(const struct dropin_flag *, const char *, struct dropin_value *,
    struct dropin_flags *);

enum dropin_end
dropin_flags_read(const struct dropin_flag *table, size_t n, int nargs, char *const *args,
    struct dropin_flags *out)
{
	MUST(n <= DROPIN_FLAGS_MAX);
	*out = (struct dropin_flags){ .rest = NULL };
	for (size_t i = 0; i < n; i++)
		out->values[i].text = table[i].initial;

	for (int a = 0; a < nargs; a++) {
		struct arg arg;

		if (args[a][0] != '-' || args[a][1] == '\0') {
			out->rest = args[a];
			return DROPIN_OK;
		}
		if (strcmp(args[a], "--") == 0) {
			out->rest = a + 1 < nargs ? args[a + 1] : NULL;
			return DROPIN_OK;
		}
		if (!split(args[a], &arg, out))
			return DROPIN_WRONG;
		const size_t i = find(table, n, &arg);
		if (i == n)
			return is(&arg, "help") || is(&arg, "h") ? DROPIN_HELP : set_unknown(&arg, out);
		struct dropin_value *const v = &out->values[i];
		v->given = true;
		if (table[i].boolean) {
			if (!set_boolean(&table[i], arg.value, v, out))
				return DROPIN_WRONG;
			continue;
		}
		v->text = arg.value != NULL ? arg.value : a + 1 < nargs ? args[++a] : NULL;
		if (v->text == NULL) {
			snprintf(out->error, sizeof(out->error), "flag needs an argument: -%s",
			    table[i].name);
			return DROPIN_WRONG;
		}
	}
	return DROPIN_OK;
}

static bool
split(const char *text, struct arg *out, struct dropin_flags *flags)
{
	const char *const name = text + (text[1] == '-' ? 2 : 1);
	const char *const equals = strchr(name, '=');

	if (name[0] == '\0' || name[0] == '-' || name[0] == '=') {
		snprintf(flags->error, sizeof(flags->error), "bad flag syntax: %.200s", text);
		return false;
	}
	out->name = name;
	out->len = equals != NULL ? (size_t)(equals - name) : strlen(name);
	out->value = equals != NULL ? equals + 1 : NULL;
	return true;
}

static bool
is(const struct arg *arg, const char *name)
{
	return strlen(name) == arg->len && memcmp(name, arg->name, arg->len) == 0;
}

static size_t
find(const struct dropin_flag *table, size_t n, const struct arg *arg)
{
	size_t i = 0;

	while (i < n && !is(arg, table[i].name))
		i++;
	return i;
}

/* Its name alone: what was meant as the value may be a secret. */
static enum dropin_end
set_unknown(const struct arg *arg, struct dropin_flags *out)
{
	const int len = arg->len < sizeof(out->unknown) ? (int)arg->len : (int)sizeof(out->unknown) - 1;

	snprintf(out->unknown, sizeof(out->unknown), "%.*s", len, arg->name);
	snprintf(out->error, sizeof(out->error), "flag provided but not defined: -%s", out->unknown);
	return DROPIN_WRONG;
}

/* By strconv.ParseBool; without a value it is true. */
static bool
set_boolean(const struct dropin_flag *flag, const char *text, struct dropin_value *v,
    struct dropin_flags *out)
{
	static const struct value_rule words = {
		.type = VALUE_CHOICE, .words = "0|f|F|false|FALSE|False|1|t|T|true|TRUE|True",
	};
	enum { FIRST_TRUE = 6 };
	int64_t place = FIRST_TRUE;

	if (text != NULL && value_parse(&words, text, strlen(text), &place) != VALUE_FAULT_NONE)
		return err_refuse(out->error, sizeof(out->error),
		    "invalid boolean value \"%.100s\" for -%s: parse error", text, flag->name);
	v->text = place < FIRST_TRUE ? "false" : "true";
	return true;
}
