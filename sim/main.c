/* sim/main.c - muster-sim: the command line, the one line on stdout, the loop, the end. */
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "obj.h"
#include "sim.h"
#include "sim/http/sim_server.h"
#include "sim/provider/sim_providers.h"
#include "sim_options.h"
#include "version.h"

enum { EXIT_USAGE = 2, WHY_MAX = 1024 };

static void print_addresses(const struct simulator *);
static void on_signal(evutil_socket_t, short, void *);

int
main(int argc, char **argv)
{
	struct sim_options options;
	struct simulator sim;
	char why[WHY_MAX] = "";
	int rc = EXIT_FAILURE;

	if (!sim_options_read(&options, argc, argv, why)) {
		fprintf(stderr, "muster-sim: %s\nTry muster-sim --help.\n", why);
		return EXIT_USAGE;
	}
	if (options.help || options.version) {
		fputs(options.help ? sim_options_help() : "muster-sim " MUSTER_VERSION "\n", stdout);
		return EXIT_SUCCESS;
	}
	signal(SIGPIPE, SIG_IGN);
	struct event_base *const base = event_base_new();
	MUST(base != NULL);
	struct event *const stop[] = {
		evsignal_new(base, SIGTERM, on_signal, base), evsignal_new(base, SIGINT, on_signal, base),
	};
	for (size_t i = 0; i < NITEMS(stop); i++)
		event_add(stop[i], NULL);
	if (sim_open(&sim, base, &options, why, sizeof(why))) {
		print_addresses(&sim);
		event_base_dispatch(base);
		rc = EXIT_SUCCESS;
	} else {
		fprintf(stderr, "muster-sim: %s\n", why);
	}
	sim_close(&sim);
	for (size_t i = 0; i < NITEMS(stop); i++)
		event_free(stop[i]);
	event_base_free(base);
	return rc;
}

static void
print_addresses(const struct simulator *s)
{
	printf("muster-sim: kube %s control %s", sim_server_url(s->kube), sim_server_url(s->control));
	for (int i = 0; i < SIM_PROVIDER_MAX; i++) {
		const char *const url = sim_providers_url(s->providers, (enum sim_provider_id)i);

		if (url != NULL)
			printf(" %s %s", sim_provider_name((enum sim_provider_id)i), url);
	}
	putchar('\n');
	fflush(stdout);
}

static void
on_signal(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	event_base_loopbreak(arg);
}
