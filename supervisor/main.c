/* supervisor/main.c - musterd: arguments, configuration, run directory, then the loop. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dropin.h"
#include "err.h"
#include "lifeline.h"
#include "obj.h"
#include "options.h"
#include "log_writer.h"
#include "paths.h"
#include "rundir.h"
#include "sdnotify.h"
#include "tree.h"
#include "version.h"

static void prepare_process(void);
static struct config *load_config(const struct tree_setup *);
static void open_log(const struct options *, const struct config *, struct tree_setup *);
static _Noreturn void refuse(const char *);
static int run(struct tree_setup *, struct config *, struct spec_set *);

int
main(int argc, char **argv)
{
	struct options o = { 0 };
	struct dropin dropin = { 0 };
	char err[SPEC_ERROR_MAX];
	int first;

	prepare_process();
	const struct dropin_program *const instead = dropin_find(argc, argv, &first);
	if (instead != NULL) {
		const int code = dropin_read(instead, argc - first, argv + first, &dropin, stdout, stderr);

		if (code != DROPIN_RUN)
			return code;
	} else if (!options_parse(argc, argv, &o, err, sizeof(err))) {
		refuse(err);
	}
	if (o.help || o.version) {
		if (o.help)
			options_print_usage(stdout);
		else
			printf("musterd " MUSTER_VERSION "\n");
		return 0;
	}
	struct tree_setup setup = {
		.config_path = o.config, .config_text = dropin.yaml, .search = paths_programs(o.libexec_dir),
	};
	struct config *config = load_config(&setup);
	open_log(&o, config, &setup);
	if (instead != NULL)
		dropin_log_notes(&dropin);
	struct spec_set *specs = spec_load(config, &setup.search, err, sizeof(err));
	if (specs == NULL)
		refuse(err);
	if (o.check) {
		const char *const file = config_path(config);

		printf("%s: valid\n", file != NULL ? file : "built-in defaults");
		spec_free(&specs);
		config_free(&config);
		return 0;
	}
	setup.run_dir = paths_run_dir(o.run_dir, config_get(config, "supervisor", "run-dir"));
	if (setup.run_dir == NULL)
		refuse("no run directory: neither --run-dir, nor supervisor.run-dir, nor "
		       "$MUSTER_RUN_DIR, nor $XDG_RUNTIME_DIR is set");
	if (!rundir_take(setup.run_dir, specs->change_user ? specs->uid : geteuid(), specs->gid, err))
		refuse(err);
	const int code = run(&setup, config, specs);
	dropin_close(&dropin);
	return code;
}

static int
run(struct tree_setup *setup, struct config *config, struct spec_set *specs)
{
	const int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (epoll_fd == -1 || null_fd == -1)
		fatal("cannot open what the loop needs");
	sdnotify_open();
	log_writer_open(epoll_fd);
	log_set_sink(log_writer_own_line);
	struct tree *t = tree_new(setup, epoll_fd, null_fd, &config, &specs);
	if (!control_open(t))
		fatal("cannot open the control socket", KV_S(PATH, setup->run_dir));
	log_info("musterd is up", KV_I(PID, getpid()), KV_S(VERSION, MUSTER_VERSION),
	    KV_S(PATH, setup->run_dir), KV_S(FILE, config_path(t->config)));

	const int code = loop_run(t);

	reap_all_orphans(t);
	control_close();
	log_info("musterd ends", KV_I(CODE, code));
	tree_free(&t);
	log_set_sink(NULL);
	log_writer_drain(1000);
	log_writer_close();
	return code;
}

/* What must be so before anything is opened, read or forked. */
static void
prepare_process(void)
{
	int fd;

	/* 0 to 3 are taken: what we open is above, and a child's dup2 to 0..3 never closes its own source. */
	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	} while (fd != -1 && fd <= LIFELINE_FD);
	if (fd != -1)
		close(fd);
	umask(077);
	prctl(PR_SET_DUMPABLE, 0);		/* tokens are in our memory */
	prctl(PR_SET_CHILD_SUBREAPER, 1);	/* orphans of actors come to us, PID 1 or not */
	loop_block_signals();
	log_open("musterd", LOG_JSON, LEVEL_INFO);
}

static struct config *
load_config(const struct tree_setup *setup)
{
	struct config_errors errs;
	struct config *const config = tree_config(setup, &errs);

	if (config == NULL) {
		config_errors_print(&errs, stderr);
		exit(EXIT_CONFIG);
	}
	return config;
}

/* The command line outranks the file. */
static void
open_log(const struct options *o, const struct config *config, struct tree_setup *setup)
{
	enum log_level level = (enum log_level)config_get_i64(config, "supervisor", "log-level");

	setup->format = (enum log_format)config_get_i64(config, "supervisor", "log-format");
	setup->level_fixed = o->log_level != NULL;
	if (o->log_level != NULL && !log_level_parse(o->log_level, &level))
		refuse("--log-level: there are debug, info, warn, error");
	if (o->log_format != NULL) {
		if (strcmp(o->log_format, "json") != 0 && strcmp(o->log_format, "console") != 0)
			refuse("--log-format: there are json, console");
		setup->format = strcmp(o->log_format, "json") == 0 ? LOG_JSON : LOG_CONSOLE;
	}
	log_open("musterd", setup->format, level);
}

/* Before the loop runs, errors are for a person at a terminal: plain text, exit 100. */
static _Noreturn void
refuse(const char *why)
{
	fprintf(stderr, "musterd: %s\n", why);
	exit(EXIT_CONFIG);
}
