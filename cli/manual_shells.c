/*
 * cli/manual_shells.c - completion for bash, zsh and fish.
 *
 * What may stand at a place is read from the synopsis and from the name of an option's value:
 * "text|json" are words, ACTOR is any actor, KIND any kind, FILE and DIR are paths.
 */
#include <ctype.h>
#include <string.h>

#include "cli.h"
#include "manual.h"
#include "obj.h"
#include "object_query.h"
#include "config/config.h"
#include "supervisor/options.h"

enum { PLACES_MAX = 4, WORDS_MAX = 2048 };

/* What may stand at one place of a command line. */
struct place {
	bool	files, folders;
	char	words[WORDS_MAX];	/* separated by blanks */
};

static size_t read_places(const char *, struct place[PLACES_MAX]);
static struct place read_place(const char *, size_t);
static void add_word(struct place *, const char *, size_t);
typedef void add_fn(struct place *);
static add_fn add_actors, add_commands, add_kinds, add_files, add_folders;
static void put_bash_flags(FILE *, const struct flag *, size_t);
static void put_bash_place(FILE *, const struct place *);
static void put_bash_values(FILE *, const struct flag *, size_t);
static void put_zsh_flags(FILE *, const struct flag *, size_t);
static void put_zsh_place(FILE *, const struct place *);
static void put_quoted(FILE *, const char *, const char *);
static void put_fish_flags(FILE *, const char *, const char *, const struct flag *, size_t);

/* What stands in capitals in a synopsis; other capitals are free text. */
static const struct {
	const char	*name;
	add_fn		*add;
} variables[] = {
	{ "ACTOR", add_actors }, { "COMMAND", add_commands }, { "KIND/", add_kinds }, { "FILE", add_files },
	{ "DIR", add_folders },
};

void
manual_print_bash(FILE *out)
{
	struct place commands = { 0 }, places[PLACES_MAX];

	add_commands(&commands);
	fprintf(out, "# Completion for bash; written by the build from the tables of options.\n"
	    "_muster()\n{\n"
	    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= n=0 flags= i\n"
	    "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	    "\t\t[[ ${COMP_WORDS[i]} == -* ]] && continue\n"
	    "\t\tif [ -z \"$command\" ]; then command=${COMP_WORDS[i]}; else n=$((n + 1)); fi\n"
	    "\tdone\n\tCOMPREPLY=()\n\tcase $command:$prev in\n");
	put_bash_values(out, cli_common_flags, cli_ncommon_flags);
	for (size_t i = 0; cli_command(i) != NULL; i++)
		put_bash_values(out, cli_command(i)->flags, cli_command(i)->nflags);
	fprintf(out, "\tesac\n\tcase $command in\n\t'')\n\t\tflags=\"");
	put_bash_flags(out, cli_common_flags, cli_ncommon_flags);
	fprintf(out, "\"\n\t\t[[ $cur == -* ]] || ");
	put_bash_place(out, &commands);
	fprintf(out, " ;;\n");
	for (size_t i = 0; cli_command(i) != NULL; i++) {
		const struct command *const c = cli_command(i);
		const size_t n = read_places(c->synopsis, places);

		fprintf(out, "\t%s)\n\t\tflags=\"", c->name);
		put_bash_flags(out, c->flags, c->nflags);
		put_bash_flags(out, cli_common_flags, cli_ncommon_flags);
		fprintf(out, "\"\n\t\tcase $n in\n");
		for (size_t at = 0; at < n; at++) {
			fprintf(out, "\t\t%zu) ", at);
			put_bash_place(out, &places[at]);
			fprintf(out, " ;;\n");
		}
		fprintf(out, "\t\tesac ;;\n");
	}
	fprintf(out, "\tesac\n\t[[ $cur != -* ]] || COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n"
	    "\t[[ ${COMPREPLY[0]} != */ ]] || compopt -o nospace\n}\n"
	    "_musterd()\n{\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	    "\tcase :$prev in\n");
	put_bash_values(out, options_flags, options_nflags);
	fprintf(out, "\tesac\n\tCOMPREPLY=($(compgen -W \"");
	put_bash_flags(out, options_flags, options_nflags);
	fprintf(out, "\" -- \"$cur\"))\n}\ncomplete -F _muster muster\ncomplete -F _musterd musterd\n");
}

void
manual_print_zsh(FILE *out)
{
	struct place places[PLACES_MAX];

	fprintf(out, "#compdef muster musterd\n"
	    "# Completion for zsh; written by the build from the tables of options.\n"
	    "_muster_commands()\n{\n\tlocal -a commands=(\n");
	for (size_t i = 0; cli_command(i) != NULL; i++) {
		fprintf(out, "\t\t'%s:", cli_command(i)->name);
		put_quoted(out, cli_command(i)->summary, ":");
		fprintf(out, "'\n");
	}
	fprintf(out, "\t)\n\t_describe command commands\n}\n\n"
	    "if [[ $service == musterd ]]; then\n\t_arguments");
	put_zsh_flags(out, options_flags, options_nflags);
	fprintf(out, "\n\treturn\nfi\n"
	    "local state line\n_arguments -C");
	put_zsh_flags(out, cli_common_flags, cli_ncommon_flags);
	fprintf(out, " \\\n\t\t'1:command:_muster_commands' '*::argument:->arguments' && return\n"
	    "case $words[1] in\n");
	for (size_t i = 0; cli_command(i) != NULL; i++) {
		const struct command *const c = cli_command(i);
		const size_t n = read_places(c->synopsis, places);

		fprintf(out, "%s) _arguments", c->name);
		put_zsh_flags(out, c->flags, c->nflags);
		put_zsh_flags(out, cli_common_flags, cli_ncommon_flags);
		for (size_t at = 0; at < n; at++) {
			fprintf(out, " \\\n\t\t'%zu:argument:", at + 1);
			put_zsh_place(out, &places[at]);
			fprintf(out, "'");
		}
		fprintf(out, " ;;\n");
	}
	fprintf(out, "esac\n");
}

void
manual_print_fish(FILE *out)
{
	struct place places[PLACES_MAX];
	char when[96];

	fprintf(out, "# Completion for fish; written by the build from the tables of options.\n"
	    "complete -c muster -f\ncomplete -c musterd -f\n");
	put_fish_flags(out, "musterd", "", options_flags, options_nflags);
	put_fish_flags(out, "muster", "", cli_common_flags, cli_ncommon_flags);
	for (size_t i = 0; cli_command(i) != NULL; i++) {
		const struct command *const c = cli_command(i);

		fprintf(out, "complete -c muster -n __fish_use_subcommand -a %s -d '", c->name);
		put_quoted(out, c->summary, "");
		fprintf(out, "'\n");
		snprintf(when, sizeof(when), " -n '__fish_seen_subcommand_from %s'", c->name);
		put_fish_flags(out, "muster", when, c->flags, c->nflags);
		for (size_t n = read_places(c->synopsis, places), at = 0; at < n; at++) {
			if (places[at].files)
				fprintf(out, "complete -c muster%s -F\n", when);
			if (places[at].words[0] != '\0')
				fprintf(out, "complete -c muster%s -a '%s'\n", when, places[at].words);
		}
	}
}

/* The words of a synopsis that are no options: up to the first `[-`. Returns how many. */
static size_t
read_places(const char *synopsis, struct place places[PLACES_MAX])
{
	size_t n = 0;

	for (const char *p = synopsis; n < PLACES_MAX;) {
		p += strspn(p, " [");
		const size_t len = strcspn(p, " ]");

		if (len == 0 || *p == '-')
			break;
		places[n++] = read_place(p, len);
		p += len + strspn(p + len, "]");
	}
	return n;
}

/* "ACTOR|musterd|all", "KIND/NAME", "FILE". */
static struct place
read_place(const char *text, size_t len)
{
	struct place place = { 0 };

	for (const char *end = text + len; text < end;) {
		const char *const bar = memchr(text, '|', (size_t)(end - text));
		const size_t word = (size_t)((bar != NULL ? bar : end) - text);
		size_t i = 0;

		while (i < NITEMS(variables)
		    && strncmp(text, variables[i].name, strlen(variables[i].name)) != 0)
			i++;
		if (i < NITEMS(variables))
			variables[i].add(&place);
		else if (!isupper((unsigned char)text[0]))
			add_word(&place, text, word);
		text += word + 1;
	}
	return place;
}

static void
add_files(struct place *place)
{
	place->files = true;
}

static void
add_folders(struct place *place)
{
	place->folders = true;
}

/* Once, though a synopsis may have it with and without a namespace. */
static void
add_kinds(struct place *place)
{
	char word[64];

	for (size_t i = 0; place->words[0] == '\0' || i > 0; i++) {
		if (query_kind(i) == NULL)
			return;
		snprintf(word, sizeof(word), "%s/", query_kind(i));
		add_word(place, word, strlen(word));
	}
}

static void
add_word(struct place *place, const char *word, size_t len)
{
	const size_t used = strlen(place->words);

	MUST(used + len + 2 <= sizeof(place->words));
	snprintf(place->words + used, sizeof(place->words) - used, "%s%.*s", used > 0 ? " " : "",
	    (int)len, word);
}

static void
add_actors(struct place *place)
{
	for (size_t i = 0; config_actor_name(i) != NULL; i++)
		add_word(place, config_actor_name(i), strlen(config_actor_name(i)));
}

static void
add_commands(struct place *place)
{
	for (size_t i = 0; cli_command(i) != NULL; i++)
		add_word(place, cli_command(i)->name, strlen(cli_command(i)->name));
}

static void
put_bash_flags(FILE *out, const struct flag *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].name != NULL)
			fprintf(out, "--%s ", rows[i].name);
		if (rows[i].letter != '\0')
			fprintf(out, "-%c ", rows[i].letter);
	}
	fprintf(out, "--help ");
}

/* What may follow an option that has a value. */
static void
put_bash_values(FILE *out, const struct flag *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].arg == NULL)
			continue;
		const struct place place = read_place(rows[i].arg, strlen(rows[i].arg));

		fprintf(out, "\t");
		if (rows[i].name != NULL)
			fprintf(out, "*:--%s%s", rows[i].name, rows[i].letter != '\0' ? "|" : "");
		if (rows[i].letter != '\0')
			fprintf(out, "*:-%c", rows[i].letter);
		fprintf(out, ") ");
		put_bash_place(out, &place);
		fprintf(out, "; return ;;\n");
	}
}

static void
put_bash_place(FILE *out, const struct place *place)
{
	if (place->files || place->folders)
		fprintf(out, "COMPREPLY=($(compgen -%c -- \"$cur\")); compopt -o filenames",
		    place->files ? 'f' : 'd');
	else
		fprintf(out, "COMPREPLY=($(compgen -W \"%s\" -- \"$cur\"))", place->words);
}

static void
put_zsh_flags(FILE *out, const struct flag *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *const arg = rows[i].arg;
		const struct place place = arg != NULL ? read_place(arg, strlen(arg)) : (struct place){ 0 };

		fprintf(out, " \\\n\t\t");
		if (rows[i].name != NULL && rows[i].letter != '\0')
			fprintf(out, "{-%c,--%s%s}'[", rows[i].letter, rows[i].name, arg != NULL ? "=" : "");
		else if (rows[i].name != NULL)
			fprintf(out, "'--%s%s[", rows[i].name, arg != NULL ? "=" : "");
		else
			fprintf(out, "'-%c[", rows[i].letter);
		put_quoted(out, rows[i].help, "[]:");
		fprintf(out, "]");
		if (arg != NULL) {
			fprintf(out, ":value:");
			put_zsh_place(out, &place);
		}
		fprintf(out, "'");
	}
}

static void
put_zsh_place(FILE *out, const struct place *place)
{
	if (place->files || place->folders)
		fprintf(out, "_files%s", place->folders ? " -/" : "");
	else if (place->words[0] != '\0')
		fprintf(out, "(%s)", place->words);
}

/* Inside quotes; special: what the shell's table takes for a separator. */
static void
put_quoted(FILE *out, const char *text, const char *special)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			fprintf(out, "'\\''");
		else
			fprintf(out, "%s%c", strchr(special, *text) != NULL ? "\\" : "", *text);
	}
}

static void
put_fish_flags(FILE *out, const char *program, const char *when, const struct flag *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *const arg = rows[i].arg;
		const struct place place = arg != NULL ? read_place(arg, strlen(arg)) : (struct place){ 0 };

		fprintf(out, "complete -c %s%s", program, when);
		if (rows[i].letter != '\0')
			fprintf(out, " -s %c", rows[i].letter);
		if (rows[i].name != NULL)
			fprintf(out, " -l %s", rows[i].name);
		if (place.files || place.folders)
			fprintf(out, " -r -F");
		else if (arg != NULL)
			fprintf(out, " -x -a '%s'", place.words);
		fprintf(out, " -d '");
		put_quoted(out, rows[i].help, "");
		fprintf(out, "'\n");
	}
}
