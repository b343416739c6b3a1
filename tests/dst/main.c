/*
 * tests/dst/main.c - `dst`: runs histories of every world on every core, prints TAP and how to
 * replay a failure.
 *
 * Each history is one seed: base + i, whichever worker runs it. A run without --world, --break or a
 * lone --seed also breaks each rule that a world names and fails if the simulation does not
 * detect it: a check that cannot fail proves nothing.
 */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "dst.h"
#include "obj.h"

enum { WORKERS_MAX = 64, PROGRESS_MS = 10000, BREAK_HISTORIES = 20000, BREAK_SECONDS = 120 };

struct options {
	const char	*world, *broken;
	uint64_t	 seed, histories, at_least;
	int64_t		 seconds;
	long		 jobs;
	bool		 seed_given, verbose, no_breaks;
};

/* The results of a worker, in memory that outlives it. */
struct report {
	_Atomic uint64_t	histories, steps, seed;
	atomic_bool		failed;
	char			violation[512];
};

struct shared {
	atomic_bool	stop;
	struct report	workers[WORKERS_MAX];
};

struct outcome {
	uint64_t	histories, steps, seed;
	bool		failed, crashed;	/* crashed: the product or the simulator ended the process */
	char		violation[600];
};

static void read_options(struct options *, int, char **);
static _Noreturn void usage(int);
static uint64_t number(const char *, const char *);
static struct outcome simulate(const struct world *, unsigned, const struct options *);
static void worker(struct shared *, long, const struct world *, unsigned, const struct options *, int64_t);
static bool history(const struct world *, unsigned, uint64_t, const struct options *, struct report *);
static void print_progress(int, const struct shared *, const struct world *);
static void collect(struct shared *, long, int, struct outcome *);
static void explain(const struct world *, unsigned, const struct outcome *);
static bool is_replay(const struct options *);
static bool normal_case(const struct world *, unsigned, const struct options *, unsigned);
static bool break_case(const struct world *, unsigned, const struct options *, unsigned);
static unsigned find_break(const struct world *, const char *);
static const struct world_break *break_of(const struct world *, unsigned);

static const char *program;

int
main(int argc, char **argv)
{
	struct options o = { .jobs = sysconf(_SC_NPROCESSORS_ONLN) };
	unsigned cases = 0, failed = 0;

	program = argv[0];
	setvbuf(stdout, NULL, _IOLBF, 0);
	read_options(&o, argc, argv);
	for (const struct world *const *w = worlds; *w != NULL; w++) {
		if (o.world != NULL && strcmp(o.world, (*w)->name) != 0)
			continue;
		failed += !normal_case(*w, find_break(*w, o.broken), &o, ++cases);
		for (unsigned b = 1;
		     o.broken == NULL && !o.no_breaks && !is_replay(&o) && break_of(*w, b)->name != NULL;
		     b++)
			failed += !break_case(*w, b, &o, ++cases);
	}
	if (cases == 0) {
		fprintf(stderr, "%s: no world %s\n", program, o.world);
		return 2;
	}
	printf("1..%u\n", cases);
	return failed == 0 ? 0 : 1;
}

static void
read_options(struct options *o, int argc, char **argv)
{
	static const struct option names[] = {
		{ "world", required_argument, NULL, 'w' }, { "break", required_argument, NULL, 'b' },
		{ "seconds", required_argument, NULL, 's' }, { "histories", required_argument, NULL, 'n' },
		{ "seed", required_argument, NULL, 'S' }, { "jobs", required_argument, NULL, 'j' },
		{ "verbose", no_argument, NULL, 'v' }, { "no-breaks", no_argument, NULL, 'N' },
		{ "at-least", required_argument, NULL, 'l' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};

	for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;) {
		switch (c) {
		case 'w': o->world = optarg; break;
		case 'b': o->broken = optarg; break;
		case 's': o->seconds = (int64_t)number("seconds", optarg); break;
		case 'n': o->histories = number("histories", optarg); break;
		case 'l': o->at_least = number("at-least", optarg); break;
		case 'S': o->seed = number("seed", optarg); o->seed_given = true; break;
		case 'j': o->jobs = (long)number("jobs", optarg); break;
		case 'v': o->verbose = true; break;
		case 'N': o->no_breaks = true; break;
		case 'h': usage(0);
		default: usage(2);
		}
	}
	if (optind != argc || o->jobs < 1)
		usage(2);
	if (o->jobs > WORKERS_MAX)
		o->jobs = WORKERS_MAX;
	if (!o->seed_given && getrandom(&o->seed, sizeof(o->seed), 0) == sizeof(o->seed))
		o->seed >>= 24;		/* short enough to be typed */
	if (o->seconds == 0 && o->histories == 0) {
		o->histories = o->seed_given ? 1 : 0;
		o->seconds = o->seed_given ? 0 : 10;
	}
}

static void
usage(int code)
{
	fprintf(code == 0 ? stdout : stderr,
	    "usage: dst [--world W] [--seconds N] [--at-least N] [--histories N] [--seed S]\n"
	    "           [--break RULE] [--no-breaks] [--jobs N] [--verbose]\n"
	    "A lone --seed replays that history.\n"
	    "--at-least: run at least so many histories, however long it takes; fewer of costly worlds.\n");
	for (const struct world *const *w = worlds; *w != NULL; w++) {
		fprintf(code == 0 ? stdout : stderr, "world %s\n", (*w)->name);
		for (const struct world_break *b = (*w)->breaks; b->name != NULL; b++)
			fprintf(code == 0 ? stdout : stderr, "  --break %-14s %s\n", b->name, b->what);
	}
	exit(code);
}

static uint64_t
number(const char *name, const char *text)
{
	char *end;
	const unsigned long long n = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end != '\0') {
		fprintf(stderr, "%s: --%s needs a number, not %s\n", program, name, text);
		exit(2);
	}
	return n;
}

/* A lone --seed. */
static bool
is_replay(const struct options *o)
{
	return o->seed_given && o->seconds == 0 && o->histories <= 1;
}

static bool
normal_case(const struct world *w, unsigned broken, const struct options *o, unsigned n)
{
	struct options own = *o;

	if (w->weight > 0)
		own.at_least /= w->weight;
	if (w->seeds > 0 && !o->seed_given) {
		own.seed = 0;
		own.histories = o->histories > 0 && o->histories < w->seeds ? o->histories : w->seeds;
	}
	if (w->points > 0 && !is_replay(o)) {
		own.seed = 0;
		own.histories = w->points;
		own.seconds = 0;
	}
	printf("# world %s: base seed %" PRIu64 "\n", w->name, own.seed);
	const struct outcome out = simulate(w, broken, &own);
	printf("%sok %u - %s: %" PRIu64 " histories, %.1f M steps, %d violations\n",
	    out.failed ? "not " : "", n, w->name, out.histories, (double)out.steps / 1e6, out.failed);
	if (out.failed)
		explain(w, broken, &out);
	return !out.failed;
}

/*
 * The seeds are always the same: whether a broken rule is detected must not depend on chance. A crash
 * does not count as detected.
 */
static bool
break_case(const struct world *w, unsigned broken, const struct options *o, unsigned n)
{
	const struct options own = {
		.seed = 1, .seed_given = true, .histories = BREAK_HISTORIES, .seconds = BREAK_SECONDS,
		.jobs = o->jobs,
	};
	const struct world_break *b = break_of(w, broken);
	const struct outcome out = simulate(w, broken, &own);
	const bool detected = out.failed && !out.crashed;

	printf("%sok %u - %s, broken: %s: %s after %" PRIu64 " histories%s%s\n", detected ? "" : "not ", n,
	    w->name, b->what, detected ? "detected" : "not detected", out.histories, out.failed ? ": " : "",
	    out.violation);
	return detected;
}

static struct outcome
simulate(const struct world *w, unsigned broken, const struct options *o)
{
	struct outcome out = { 0 };
	const int64_t until_ms = o->seconds == 0 ? INT64_MAX : clock_mono_ms() + o->seconds * 1000;
	const long jobs = o->histories == 1 ? 1 : o->jobs;
	int alive[2];

	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	MUST(s != MAP_FAILED && pipe(alive) == 0);
	pid_t pids[WORKERS_MAX];
	fflush(NULL);
	for (long i = 0; i < jobs; i++) {
		pids[i] = fork();
		MUST(pids[i] != -1);
		if (pids[i] == 0) {
			close(alive[0]);
			worker(s, i, w, broken, o, until_ms);
			exit(0);
		}
	}
	close(alive[1]);
	print_progress(alive[0], s, w);
	close(alive[0]);
	for (long i = 0; i < jobs; i++) {
		int status;

		MUST(waitpid(pids[i], &status, 0) == pids[i]);
		collect(s, i, status, &out);
	}
	munmap(s, sizeof(*s));
	return out;
}

static void
worker(struct shared *s, long index, const struct world *w, unsigned broken,
    const struct options *o, int64_t until_ms)
{
	struct report *r = &s->workers[index];
	const long jobs = o->histories == 1 ? 1 : o->jobs;

	for (uint64_t i = (uint64_t)index; o->histories == 0 || i < o->histories; i += (uint64_t)jobs) {
		if (atomic_load(&s->stop) || (clock_mono_ms() >= until_ms && i >= o->at_least))
			break;
		if (!history(w, broken, o->seed + i, o, r)) {
			atomic_store(&r->failed, true);
			atomic_store(&s->stop, true);
			break;
		}
	}
}

static bool
history(const struct world *w, unsigned broken, uint64_t seed, const struct options *o, struct report *r)
{
	struct sim sim = { .tracing = o->verbose, .verbose = o->verbose };

	atomic_store(&r->seed, seed);
	const bool good = sim_history(&sim, w, seed, broken);
	atomic_fetch_add(&r->histories, 1);
	atomic_fetch_add(&r->steps, sim.steps);
	memcpy(r->violation, sim.violation, sizeof(r->violation));
	sim_free(&sim);
	return good;
}

/* Prints the progress until the last worker has closed its end. */
static void
print_progress(int fd, const struct shared *s, const struct world *w)
{
	const int64_t began_ms = clock_mono_ms();

	while (poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, isatty(1) ? 1000 : PROGRESS_MS) == 0) {
		uint64_t histories = 0, steps = 0;

		for (size_t i = 0; i < WORKERS_MAX; i++) {
			histories += atomic_load(&s->workers[i].histories);
			steps += atomic_load(&s->workers[i].steps);
		}
		printf("# %s: %" PRIu64 " histories, %.1f M steps in %lld s\n", w->name, histories,
		    (double)steps / 1e6, (long long)(clock_mono_ms() - began_ms) / 1000);
	}
}

static void
collect(struct shared *s, long index, int status, struct outcome *out)
{
	struct report *r = &s->workers[index];
	const bool crashed = !WIFEXITED(status) || WEXITSTATUS(status) != 0;

	out->histories += atomic_load(&r->histories);
	out->steps += atomic_load(&r->steps);
	if (out->failed || (!crashed && !atomic_load(&r->failed)))
		return;
	out->failed = true;
	out->crashed = !atomic_load(&r->failed);
	out->seed = atomic_load(&r->seed);
	if (!out->crashed)
		snprintf(out->violation, sizeof(out->violation), "%s", r->violation);
	else if (WIFSIGNALED(status))
		snprintf(out->violation, sizeof(out->violation), "the history ends with %s",
		    strsignal(WTERMSIG(status)));
	else
		snprintf(out->violation, sizeof(out->violation),
		    "the history ends with exit code %d", WEXITSTATUS(status));
}

/*
 * Runs the failing history again, with its trace; not if it kills its process, which only the replay
 * command may do.
 */
static void
explain(const struct world *w, unsigned broken, const struct outcome *out)
{
	const char *rule = broken == 0 ? "" : break_of(w, broken)->name;

	printf("# violation: %s\n", out->violation);
	printf("# replay: %s --world %s%s%s --seed %" PRIu64 "\n", program, w->name,
	    broken == 0 ? "" : " --break ", rule, out->seed);
	if (out->crashed) {
		printf("# add --verbose to see every step up to the end\n");
		return;
	}
	struct sim sim = { .tracing = true };
	if (sim_history(&sim, w, out->seed, broken))
		printf("# the same seed has no violation this time: something in it is not deterministic\n");
	sim_print_trace(&sim);
	sim_free(&sim);
}

static unsigned
find_break(const struct world *w, const char *name)
{
	if (name == NULL)
		return 0;
	for (unsigned b = 1; break_of(w, b)->name != NULL; b++) {
		if (strcmp(break_of(w, b)->name, name) == 0)
			return b;
	}
	fprintf(stderr, "%s: world %s has no rule %s to break; --help names them\n", program, w->name, name);
	exit(2);
}

static const struct world_break *
break_of(const struct world *w, unsigned broken)
{
	return &w->breaks[broken - 1];
}
