/*
 * cli/manual.c - muster-manual: writes what a package ships beside the programs, from the same rows that
 * the parser and the help use. A program of the build; it is not installed.
 */
#include <errno.h>
#include <string.h>

#include "manual.h"
#include "obj.h"

static const struct {
	const char	*name;
	void		(*print)(FILE *);
} outputs[] = {
	{ "muster.1",      manual_print_muster },
	{ "musterd.8",     manual_print_musterd },
	{ "muster.yaml.5", manual_print_configuration },
	{ "muster.bash",   manual_print_bash },
	{ "_muster",       manual_print_zsh },
	{ "muster.fish",   manual_print_fish },
};

int
main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < NITEMS(outputs); i++) {
		if (strcmp(argv[1], outputs[i].name) != 0)
			continue;
		outputs[i].print(stdout);
		if (fflush(stdout) == 0)
			return 0;
		fprintf(stderr, "muster-manual: cannot write %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	fprintf(stderr, "usage: muster-manual NAME, which is one of");
	for (size_t i = 0; i < NITEMS(outputs); i++)
		fprintf(stderr, " %s", outputs[i].name);
	fprintf(stderr, "\n");
	return 2;
}
