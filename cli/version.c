/* cli/version.c - `muster version`: what was built, and what it runs with. */
#include "version.h"

#include <czmq.h>
#include <jansson.h>
#include <msgpack.h>
#include <stdio.h>
#include <yaml.h>
#include <zmq.h>

#include "cli.h"

static int run(const struct command *, const struct cli *);

const struct command version_command = {
	.name = "version", .synopsis = "", .run = run,
	.summary = "Print the version, the commit and the libraries.",
};

static int
run(const struct command *self, const struct cli *cli)
{
	int major, minor, patch;

	(void)self;
	(void)cli;
	printf("muster %s (commit %s, built with %s)\n", MUSTER_VERSION, MUSTER_COMMIT, MUSTER_COMPILER);
	zmq_version(&major, &minor, &patch);
	printf("  libzmq     %d.%d.%d\n", major, minor, patch);
	zsys_version(&major, &minor, &patch);
	printf("  czmq       %d.%d.%d\n", major, minor, patch);
	printf("  msgpack-c  %s\n", msgpack_version());
	printf("  libyaml    %s\n", yaml_get_version_string());
	printf("  jansson    %s\n", jansson_version_str());
	printf("  libevent   %s (actors, as built)\n", MUSTER_LIBEVENT);
	printf("  libcurl    %s (actors, as built)\n", MUSTER_LIBCURL);
	return CLI_OK;
}
