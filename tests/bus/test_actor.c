/*
 * tests/bus/test_actor.c - the life of an actor, with the test in the place of the supervisor: a
 * real process, a real lifeline, actor_main as every actor calls it.
 *
 * muster-test: parallel
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "err.h"
#include "rig.h"

enum { PATIENCE_MS = 20000, STORMS = 30, FLOOD = 3000 };

#define TOKEN	"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

struct nursery {
	char	dir[64];
	int	lifeline, output;	/* our ends */
	pid_t	pid;
};

/* ---- Actors to be born ---- */

static void
ready_at_once(struct actor *a, void *self)
{
	(void)self;
	actor_link_ready(a, LINK_SAMPLES);
}

static void
refuse_to_start(struct actor *a, void *self)
{
	(void)self;
	actor_exit(a, EXIT_CONFIG);
}

static void
say_too_much(struct actor *a, void *self)
{
	(void)self;
	for (int i = 0; i < FLOOD; i++)
		actor_status(a, "line %d of a supervisor that does not read", i);
	actor_link_ready(a, LINK_SAMPLES);
}

static const struct actor_spec plain = { .name = "test-producer", .start = ready_at_once };
static const struct actor_spec refusing = { .name = "test-producer", .start = refuse_to_start };
static const struct actor_spec talking = { .name = "test-producer", .start = say_too_much };

/* ---- The supervisor's side ---- */

static void
give_birth(struct nursery *n, const struct actor_spec *spec)
{
	int pair[2], out[2];

	*n = (struct nursery){ .dir = "/tmp/muster-rig-XXXXXX" };
	assert_non_null(mkdtemp(n->dir));
	rig_folder(n->dir, ROLE_TEST_PRODUCER);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
	fflush(NULL);
	n->pid = fork();
	if (n->pid == 0) {
		char *argv[] = { (char *)(uintptr_t)"actor", NULL };

		dup2(out[1], STDERR_FILENO);
		if (pair[1] == LIFELINE_FD)
			fcntl(LIFELINE_FD, F_SETFD, 0);
		else
			dup2(pair[1], LIFELINE_FD);
		for (int fd = LIFELINE_FD + 1; fd < 64; fd++)
			close(fd);
		setenv("ZSYS_SIGHANDLER", "false", 1);
		exit(actor_main(spec, 1, argv));
	}
	close(pair[1]);
	close(out[1]);
	n->lifeline = pair[0];
	n->output = out[0];
}

static void
say(struct nursery *n, const char *record)
{
	assert_true(lifeline_send(n->lifeline, "%s", record));
}

static void
boot_without_config(struct nursery *n)
{
	assert_true(lifeline_send(n->lifeline, "boot name=test-producer incarnation=4"
	    " run-dir=%s level=info format=json beat-ms=100 instance=here_1", n->dir));
}

static void
boot(struct nursery *n)
{
	boot_without_config(n);
	say(n, "config keys=1\nrate=0");
}

/* The next record that begins with that word; others are passed over. */
static void
expect(struct nursery *n, const char *word)
{
	const int64_t until_ms = clock_mono_ms() + PATIENCE_MS;
	char record[512];

	for (;;) {
		struct pollfd p = { .fd = n->lifeline, .events = POLLIN };

		if (poll(&p, 1, (int)(until_ms - clock_mono_ms())) != 1)
			fail_msg("the actor did not say `%s`", word);
		assert_true(lifeline_recv(n->lifeline, record, sizeof(record)) > 0);
		if (strncmp(record, word, strlen(word)) == 0)
			return;
	}
}

/* How it ended: the exit code, or minus the signal. What it wrote goes to text. */
static int
bury(struct nursery *n, char *text, size_t size)
{
	const int64_t until_ms = clock_mono_ms() + PATIENCE_MS;
	char command[128];
	int status;

	while (waitpid(n->pid, &status, WNOHANG) == 0) {
		if (clock_mono_ms() > until_ms) {
			kill(n->pid, SIGKILL);
			fail_msg("the actor does not end");
		}
		poll(NULL, 0, 5);
	}
	const ssize_t len = read(n->output, text, size - 1);
	text[len > 0 ? len : 0] = '\0';
	close(n->lifeline);
	close(n->output);
	snprintf(command, sizeof(command), "rm -rf %s", n->dir);
	assert_int_equal(system(command), 0);
	assert_null(strstr(text, "00112233"));	/* the token stays a secret, however it ended */
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- Lives ---- */

static void
a_life(void **state)
{
	char text[4096];
	struct nursery n;

	(void)state;
	give_birth(&n, &plain);
	boot(&n);
	say(&n, "peer test-consumer-1 1 " TOKEN " - up");
	say(&n, "go");
	expect(&n, "bound");
	expect(&n, "beat 0");
	expect(&n, "beat 0");
	say(&n, "level debug");
	say(&n, "nonsense record");
	say(&n, "peer nobody 1 - - up");
	say(&n, "peer test-consumer-1 one - - up");
	say(&n, "peer test-consumer-1 2 " TOKEN "00 - up");
	say(&n, "stop");
	assert_int_equal(bury(&n, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "unknown record from the supervisor"));
	assert_non_null(strstr(text, "log level changes"));
	assert_non_null(strstr(text, "peer record: unknown role"));
	assert_non_null(strstr(text, "actor stops"));
}

/* The supervisor may send a configuration of LIFELINE_MAX bytes, so all of them are read (issue 10.15). */
static void
the_longest_configuration(void **state)
{
	static char record[LIFELINE_MAX + 1];
	char text[4096];
	struct nursery n;

	(void)state;
	give_birth(&n, &plain);
	boot_without_config(&n);
	const int head = snprintf(record, sizeof(record), "config keys=1\nrate=0\nlast=");
	memset(record + head, 'x', sizeof(record) - 1 - (size_t)head);
	say(&n, record);
	say(&n, "go");
	expect(&n, "bound");
	say(&n, "stop");
	assert_int_equal(bury(&n, text, sizeof(text)), 0);
}

static void
stopped_with_the_first_breath(void **state)
{
	char text[4096];
	struct nursery n;

	(void)state;
	give_birth(&n, &plain);
	boot(&n);
	say(&n, "go");
	say(&n, "stop");
	assert_int_equal(bury(&n, text, sizeof(text)), 0);
}

static void
stopped_before_go(void **state)
{
	char text[4096];
	struct nursery n;

	(void)state;
	give_birth(&n, &plain);
	boot(&n);
	say(&n, "stop");
	assert_int_equal(bury(&n, text, sizeof(text)), 0);
}

static void
a_start_that_refuses(void **state)
{
	char text[4096];
	struct nursery n;

	(void)state;
	give_birth(&n, &refusing);
	boot(&n);
	say(&n, "go");
	assert_int_equal(bury(&n, text, sizeof(text)), EXIT_CONFIG);
}

/* `stop` and SIGTERM come together, and SIGTERM may come again: the last words are still said. */
static void
sigterm_while_it_stops(void **state)
{
	char text[4096];
	struct nursery n;

	(void)state;
	for (int i = 0; i < STORMS; i++) {
		give_birth(&n, &plain);
		boot(&n);
		say(&n, "go");
		expect(&n, "bound");
		say(&n, "stop");
		for (int k = 0; k < 2000 && kill(n.pid, SIGTERM) == 0; k++) {
			siginfo_t si = { .si_pid = 0 };

			waitid(P_PID, (id_t)n.pid, &si, WEXITED | WNOHANG | WNOWAIT);
			if (si.si_pid != 0)
				break;
		}
		assert_int_equal(bury(&n, text, sizeof(text)), 0);
	}
}

static void
orphaned(void **state)
{
	char text[4096];
	struct nursery n;

	(void)state;
	give_birth(&n, &plain);
	boot(&n);
	say(&n, "go");
	expect(&n, "bound");
	shutdown(n.lifeline, SHUT_RDWR);
	assert_int_equal(bury(&n, text, sizeof(text)), EXIT_TRANSIENT);
}

/* What is state and not news is said again once the supervisor listens. */
static void
a_supervisor_that_does_not_listen(void **state)
{
	char text[65536];
	struct nursery n;

	(void)state;
	give_birth(&n, &talking);
	boot(&n);
	say(&n, "go");
	const int64_t until_ms = clock_mono_ms() + PATIENCE_MS;
	do {	/* until it says that it is up: by then the lifeline is full */
		assert_true(clock_mono_ms() < until_ms);
		poll(NULL, 0, 10);
		const ssize_t got = read(n.output, text, sizeof(text) - 1);
		text[got > 0 ? got : 0] = '\0';
	} while (strstr(text, "actor is up") == NULL);
	expect(&n, "synced");
	say(&n, "stop");
	assert_int_equal(bury(&n, text, sizeof(text)), 0);
}

static const struct bad_boot {
	const char	*name, *record, *says;
} bad_boots[] = {
	{ "no boot record",     "config a=b",                            "the first record is not `boot`" },
	{ "a word without =",   "boot name",                             "a word without `=`" },
	{ "an unknown key",     "boot colour=red",                       "unknown key" },
	{ "a key is missing",   "boot name=test-producer incarnation=1", "a key is missing" },
	{ "an unknown role",    "boot name=nobody",                      "name" },
	{ "incarnation 0",      "boot incarnation=0",                    "incarnation" },
	{ "a relative run-dir", "boot run-dir=run",                      "run-dir" },
	{ "no such level",      "boot level=loud",                       "level" },
	{ "no such format",     "boot format=xml",                       "format" },
	{ "no beats",           "boot beat-ms=0",                        "beat-ms" },
};

static void
a_bad_boot(void **state)
{
	const struct bad_boot *row = *state;
	char text[4096];
	struct nursery n;

	give_birth(&n, &plain);
	say(&n, row->record);
	assert_int_equal(bury(&n, text, sizeof(text)), EXIT_CONFIG);
	if (strstr(text, row->says) == NULL)
		fail_msg("it says: %s", text);
}

#define ALONE(fn)	{ .name = #fn, .test_func = (fn) }

int
main(int argc, char **argv)
{
	static const struct CMUnitTest lives[] = {
		ALONE(a_life), ALONE(the_longest_configuration),
		ALONE(stopped_with_the_first_breath), ALONE(stopped_before_go),
		ALONE(a_start_that_refuses), ALONE(sigterm_while_it_stops), ALONE(orphaned),
		ALONE(a_supervisor_that_does_not_listen),
	};
	struct CMUnitTest boots[NITEMS(bad_boots)];

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	for (size_t i = 0; i < NITEMS(bad_boots); i++) {
		boots[i] = (struct CMUnitTest){
			bad_boots[i].name, a_bad_boot, NULL, NULL, (void *)(uintptr_t)&bad_boots[i]
		};
	}
	return cmocka_run_group_tests_name("lives", lives, NULL, NULL)
	    + cmocka_run_group_tests_name("a bad boot record", boots, NULL, NULL);
}
