/*
 * tests/bus/test_actor.c - an actor from start to exit, with the test in the place of the supervisor: a
 * real process, a real lifeline, and actor_main as every actor calls it.
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

enum { TIMEOUT_MS = 20000, REPEATS = 30, FLOOD = 3000 };

#define TOKEN	"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

struct child {
	char	dir[64];
	int	lifeline, output;	/* our ends */
	pid_t	pid;
};

/* ---- Actors to spawn ---- */

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
send_many_statuses(struct actor *a, void *self)
{
	(void)self;
	for (int i = 0; i < FLOOD; i++)
		actor_status(a, "line %d for a supervisor that does not read", i);
	actor_link_ready(a, LINK_SAMPLES);
}

static const struct actor_spec plain = { .name = "test-producer", .start = ready_at_once };
static const struct actor_spec refusing = { .name = "test-producer", .start = refuse_to_start };
static const struct actor_spec flooding = { .name = "test-producer", .start = send_many_statuses };

/* ---- The supervisor's side ---- */

static void
spawn(struct child *c, const struct actor_spec *spec)
{
	int pair[2], out[2];

	*c = (struct child){ .dir = "/tmp/muster-rig-XXXXXX" };
	assert_non_null(mkdtemp(c->dir));
	rig_folder(c->dir, ROLE_TEST_PRODUCER);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
	fflush(NULL);
	c->pid = fork();
	if (c->pid == 0) {
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
	c->lifeline = pair[0];
	c->output = out[0];
}

static void
send_record(struct child *c, const char *record)
{
	assert_true(lifeline_send(c->lifeline, "%s", record));
}

static void
boot_without_config(struct child *c)
{
	assert_true(lifeline_send(c->lifeline, "boot name=test-producer incarnation=4"
	    " run-dir=%s level=info format=json beat-ms=100 instance=here_1 syscalls=own", c->dir));
}

static void
boot(struct child *c)
{
	boot_without_config(c);
	send_record(c, "config keys=1\nrate=0");
}

/* Receives records until one begins with that word. */
static void
expect(struct child *c, const char *word)
{
	const int64_t until_ms = clock_mono_ms() + TIMEOUT_MS;
	char record[512];

	for (;;) {
		struct pollfd p = { .fd = c->lifeline, .events = POLLIN };

		if (poll(&p, 1, (int)(until_ms - clock_mono_ms())) != 1)
			fail_msg("the actor did not send `%s`", word);
		assert_true(lifeline_recv(c->lifeline, record, sizeof(record)) > 0);
		if (strncmp(record, word, strlen(word)) == 0)
			return;
	}
}

/* Waits for the exit; returns the exit code, or minus the signal. What the actor wrote goes to text. */
static int
reap(struct child *c, char *text, size_t size)
{
	const int64_t until_ms = clock_mono_ms() + TIMEOUT_MS;
	char command[128];
	int status;

	while (waitpid(c->pid, &status, WNOHANG) == 0) {
		if (clock_mono_ms() > until_ms) {
			kill(c->pid, SIGKILL);
			fail_msg("the actor does not exit");
		}
		poll(NULL, 0, 5);
	}
	const ssize_t len = read(c->output, text, size - 1);
	text[len > 0 ? len : 0] = '\0';
	close(c->lifeline);
	close(c->output);
	snprintf(command, sizeof(command), "rm -rf %s", c->dir);
	assert_int_equal(system(command), 0);
	assert_null(strstr(text, "00112233"));	/* the token is not logged, however the actor ended */
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- From start to exit ---- */

static void
from_start_to_stop(void **state)
{
	char text[4096];
	struct child c;

	(void)state;
	spawn(&c, &plain);
	boot(&c);
	send_record(&c, "peer test-consumer-1 1 " TOKEN " - up");
	send_record(&c, "go");
	expect(&c, "bound");
	expect(&c, "beat 0");
	expect(&c, "beat 0");
	send_record(&c, "level debug");
	send_record(&c, "nonsense record");
	send_record(&c, "peer nobody 1 - - up");
	send_record(&c, "peer test-consumer-1 one - - up");
	send_record(&c, "peer test-consumer-1 2 " TOKEN "00 - up");
	send_record(&c, "stop");
	assert_int_equal(reap(&c, text, sizeof(text)), 0);
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
	struct child c;

	(void)state;
	spawn(&c, &plain);
	boot_without_config(&c);
	const int head = snprintf(record, sizeof(record), "config keys=1\nrate=0\nlast=");
	memset(record + head, 'x', sizeof(record) - 1 - (size_t)head);
	send_record(&c, record);
	send_record(&c, "go");
	expect(&c, "bound");
	send_record(&c, "stop");
	assert_int_equal(reap(&c, text, sizeof(text)), 0);
}

static void
stopped_right_after_go(void **state)
{
	char text[4096];
	struct child c;

	(void)state;
	spawn(&c, &plain);
	boot(&c);
	send_record(&c, "go");
	send_record(&c, "stop");
	assert_int_equal(reap(&c, text, sizeof(text)), 0);
}

static void
stopped_before_go(void **state)
{
	char text[4096];
	struct child c;

	(void)state;
	spawn(&c, &plain);
	boot(&c);
	send_record(&c, "stop");
	assert_int_equal(reap(&c, text, sizeof(text)), 0);
}

static void
a_start_that_refuses(void **state)
{
	char text[4096];
	struct child c;

	(void)state;
	spawn(&c, &refusing);
	boot(&c);
	send_record(&c, "go");
	assert_int_equal(reap(&c, text, sizeof(text)), EXIT_CONFIG);
}

/* `stop` and SIGTERM arrive together, and SIGTERM may arrive again: the actor still exits in order. */
static void
sigterm_while_it_stops(void **state)
{
	char text[4096];
	struct child c;

	(void)state;
	for (int i = 0; i < REPEATS; i++) {
		spawn(&c, &plain);
		boot(&c);
		send_record(&c, "go");
		expect(&c, "bound");
		send_record(&c, "stop");
		for (int k = 0; k < 2000 && kill(c.pid, SIGTERM) == 0; k++) {
			siginfo_t si = { .si_pid = 0 };

			waitid(P_PID, (id_t)c.pid, &si, WEXITED | WNOHANG | WNOWAIT);
			if (si.si_pid != 0)
				break;
		}
		assert_int_equal(reap(&c, text, sizeof(text)), 0);
	}
}

static void
lifeline_closed(void **state)
{
	char text[4096];
	struct child c;

	(void)state;
	spawn(&c, &plain);
	boot(&c);
	send_record(&c, "go");
	expect(&c, "bound");
	shutdown(c.lifeline, SHUT_RDWR);
	assert_int_equal(reap(&c, text, sizeof(text)), EXIT_TRANSIENT);
}

/* A record of a state, such as `synced`, is sent again once the supervisor reads. */
static void
a_supervisor_that_does_not_read(void **state)
{
	char text[65536];
	struct child c;

	(void)state;
	spawn(&c, &flooding);
	boot(&c);
	send_record(&c, "go");
	const int64_t until_ms = clock_mono_ms() + TIMEOUT_MS;
	do {	/* until it logs that it is up: by then the lifeline is full */
		assert_true(clock_mono_ms() < until_ms);
		poll(NULL, 0, 10);
		const ssize_t got = read(c.output, text, sizeof(text) - 1);
		text[got > 0 ? got : 0] = '\0';
	} while (strstr(text, "actor is up") == NULL);
	expect(&c, "synced");
	send_record(&c, "stop");
	assert_int_equal(reap(&c, text, sizeof(text)), 0);
}

static const struct bad_boot {
	const char	*name, *record, *expected;
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
	struct child c;

	spawn(&c, &plain);
	send_record(&c, row->record);
	assert_int_equal(reap(&c, text, sizeof(text)), EXIT_CONFIG);
	if (strstr(text, row->expected) == NULL)
		fail_msg("expected `%s`, it logged: %s", row->expected, text);
}

#define ALONE(fn)	{ .name = #fn, .test_func = (fn) }

int
main(int argc, char **argv)
{
	static const struct CMUnitTest lifecycle[] = {
		ALONE(from_start_to_stop), ALONE(the_longest_configuration),
		ALONE(stopped_right_after_go), ALONE(stopped_before_go),
		ALONE(a_start_that_refuses), ALONE(sigterm_while_it_stops), ALONE(lifeline_closed),
		ALONE(a_supervisor_that_does_not_read),
	};
	struct CMUnitTest boots[NITEMS(bad_boots)];

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);	/* a glob, for a person */
	for (size_t i = 0; i < NITEMS(bad_boots); i++) {
		boots[i] = (struct CMUnitTest){
			bad_boots[i].name, a_bad_boot, NULL, NULL, (void *)(uintptr_t)&bad_boots[i]
		};
	}
	return cmocka_run_group_tests_name("lifecycle", lifecycle, NULL, NULL)
	    + cmocka_run_group_tests_name("a bad boot record", boots, NULL, NULL);
}
