/* supervisor/options.c - musterd's options, one row each. */
#include "options.h"

#include "err.h"
#include "obj.h"

const struct flag options_flags[] = {
	{ "config",      0, "FILE",   offsetof(struct options, config),
	    "the configuration; default /etc/muster/muster.yaml if it exists, else the built-in defaults" },
	{ "run-dir",     0, "DIR",    offsetof(struct options, run_dir),
	    "sockets and lock; default $MUSTER_RUN_DIR, else /run/muster (root) or $XDG_RUNTIME_DIR/muster" },
	{ "log-format",  0, "json|console", offsetof(struct options, log_format), "format of the log lines" },
	{ "log-level",   0, "debug|info|warn|error", offsetof(struct options, log_level), "how much is logged" },
	{ "libexec-dir", 0, "DIR",    offsetof(struct options, libexec_dir),
	    "where the actors' programs are searched first" },
	{ "check",       0, NULL,     offsetof(struct options, check),   "only validate the configuration" },
	{ "version",     0, NULL,     offsetof(struct options, version), "print the version" },
};
const size_t options_nflags = NITEMS(options_flags);

static bool has_values(const struct options *, char *, size_t);

bool
options_parse(int argc, char **argv, struct options *out, char *err, size_t size)
{
	const struct flags flags = { .rows = options_flags, .n = NITEMS(options_flags), .out = out };
	char why[FLAGS_WHY_MAX];

	*out = (struct options){ 0 };
	const int words = flags_parse(&flags, argc - 1, argv + 1, &out->help, why);
	if (words == -1)
		return err_refuse(err, size, "%s; musterd --help lists them all", why);
	if (words > 0)
		return err_refuse(err, size, "unknown option %s; musterd --help lists them all", argv[1]);
	return has_values(out, err, size);
}

/* `--config=` is a mistake in a script, never a wish for the default. */
static bool
has_values(const struct options *o, char *err, size_t size)
{
	for (size_t i = 0; i < NITEMS(options_flags); i++) {
		const struct flag *const f = &options_flags[i];
		const char *const value =
		    f->arg != NULL ? *(const char *const *)(const void *)((const char *)o + f->offset) : NULL;

		if (value != NULL && value[0] == '\0')
			return err_refuse(err, size, "option --%s needs a value: %s", f->name, f->arg);
	}
	return true;
}

void
options_print_usage(FILE *out)
{
	fprintf(out, "usage: musterd [options]\n\n");
	flags_print(out, options_flags, NITEMS(options_flags));
	fprintf(out, "  %-24s %s\n\nSIGTERM stops in stages, a second one kills at once; "
	    "SIGHUP reads the configuration again.\n", "--help", "print this");
}
