/*
 * tests/actors/faulty.c - an actor that misbehaves as its setting `mode` requires. Never in a
 * release build.
 *
 * It does not use the runtime but implements the lifeline itself, so that the supervisor is tested
 * alone, and can run under any role (a link named muster-metrics beside it makes it a stand-in).
 * It prints what it receives, except tokens.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "lifeline.h"
#include "obj.h"

static struct {
	const char	*role;
	char		 config[LIFELINE_MAX];
	int64_t		 beat_ms;
	char		 peers[64][40];		/* "<role> <incarnation>" */
	size_t		 npeers;
	bool		 stop_received, not_reading, bad_answers;
	char		 run_dir[95];
} self;

static volatile sig_atomic_t terminated;
static pid_t supervisor;

static void on_sigterm(int);
static void boot(void);
static bool receive_record(void);
static void receive_peer(const char *);
static const char *setting(const char *, const char *);
static long number(const char *);
static void send_record(const char *);
static void send_bad_answers(unsigned long);
static void run_ms(int64_t);
static void run_until_stopped(void);

/* What the actor does before `bound`, after it, and after `stop`. */
struct mode {
	const char	 *name;
	void		(*early)(void);
	void		(*late)(void);
	void		(*stop)(void);
};

/* ---- before `bound` ---- */

static void
config_error(void)
{
	fprintf(stderr, "setting mode: will never work\n");
	exit(EXIT_CONFIG);
}

static void
crash(void)
{
	fprintf(stderr, "crashing\n");
	exit(EXIT_TRANSIENT);
}

static void
never_bind(void)
{
	for (;;)
		pause();
}

/* ---- after `bound` ---- */

static void
stop_reading(void)
{
	self.not_reading = true;
	run_ms(number("after"));
	self.not_reading = false;
}

static void
spin(void)
{
	run_ms(number("after"));
	for (volatile uint64_t n = 0;; n++)
		;
}

static void
spin_ignoring_abort(void)
{
	signal(SIGABRT, SIG_IGN);
	spin();
}

/* Exits at four times its limit: a build without limits must not use up the memory of the machine. */
static void
allocate(void)
{
	for (int mib = 0; mib < 256; mib++)
		memset(obj_alloc(1 << 20), 1, 1 << 20);
	fprintf(stderr, "no limit was enforced\n");
	exit(EXIT_TRANSIENT);
}

static void
crash_later(void)
{
	run_ms(number("after"));
	crash();
}

static void
abort_later(void)
{
	run_ms(number("after"));
	fprintf(stderr, "panic: on purpose\n");
	abort();
}

static void
exit_0_later(void)
{
	run_ms(number("after"));
	exit(0);
}

/*
 * One child stays in our group; one leaves our session and has a child that leaves its session. They
 * would outlive us.
 */
static void
leave_orphans(void)
{
	pid_t below;
	int pair[2];

	MUST(pipe(pair) == 0);
	const pid_t in_group = fork();
	if (in_group == 0) {
		pause();
		_exit(0);
	}
	const pid_t on_its_own = fork();
	if (on_its_own == 0) {
		setsid();
		if (fork() == 0) {
			setsid();
			below = getpid();
			MUST(write(pair[1], &below, sizeof(below)) == sizeof(below));
		}
		poll(NULL, 0, (int)number("after"));
		_exit(0);
	}
	MUST(read(pair[0], &below, sizeof(below)) == sizeof(below));
	fprintf(stderr, "left behind: %d %d %d\n", (int)in_group, (int)on_its_own, (int)below);
	crash();
}

static void
flood(void)
{
	for (long i = 0; i < number("count"); i++)
		fprintf(stderr, "flood %ld %0200d\n", i, 0);
	fprintf(stderr, "flood is over\n");
}

static void
send_bad_records(void)
{
	static const char *const bad_records[] = {
		"x", " ", "bound extra", "beat", "beat -1", "beat 99999999999999999999", "beat 1 2",
		"extend 999999999999", "report nobody 1 x", "report - 1 ", "report metrics x y",
		"status\x01\xff\"\\", "BOUND", "stop",
	};
	char big[8192];

	for (size_t i = 0; i < NITEMS(bad_records); i++)
		send_record(bad_records[i]);
	memset(big, 'a', sizeof(big));
	lifeline_send(LIFELINE_FD, "%.*s", (int)sizeof(big), big);
}

static void
report(void)
{
	run_ms(number("after"));
	for (long i = 0; i < number("count"); i++) {
		const char *incarnation = "0";

		for (size_t p = 0; p < self.npeers; p++) {
			const size_t len = strlen(setting("target", ""));

			if (strncmp(self.peers[p], setting("target", ""), len) == 0
			    && self.peers[p][len] == ' ')
				incarnation = self.peers[p] + len + 1;
		}
		lifeline_send(LIFELINE_FD, "report %s %s it sent nonsense", setting("target", "-"),
		    incarnation);
		run_ms(300);	/* long enough to receive the next incarnation */
	}
}

static void
try_open(const char *what, const char *path)
{
	const int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	fprintf(stderr, "open %s: %s\n", what,
	    fd != -1 ? "opened" : path != NULL ? strerrorname_np(errno) : "unset");
	if (fd != -1)
		close(fd);
}

/* An actor may not use the control socket. */
static void
try_control_socket(const char *who)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char answer[128] = "";
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/control.sock", self.run_dir);
	if (connect(fd, (const struct sockaddr *)&a, sizeof(a)) == 0) {
		(void)!send(fd, "stop\n", 5, MSG_NOSIGNAL);
		(void)!recv(fd, answer, sizeof(answer) - 1, 0);
	}
	fprintf(stderr, "control socket, %s: %s\n", who, answer);
	close(fd);
}

/* In the folder of that role, or in the run directory itself when folder is "". */
static struct sockaddr_un
address_of(const char *folder, const char *file)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	MUST(strlen(self.run_dir) + strlen(folder) + strlen(file) + 2 < sizeof(a.sun_path));
	stpcpy(stpcpy(stpcpy(stpcpy(stpcpy(a.sun_path, self.run_dir), "/"), folder), "/"), file);
	return a;
}

static bool
bind_at(const struct sockaddr_un *a)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return bind(fd, (const struct sockaddr *)a, sizeof(*a)) == 0;
}

static bool
connect_to(const struct sockaddr_un *a)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return connect(fd, (const struct sockaddr *)a, sizeof(*a)) == 0;
}

static bool
unlink_at(const struct sockaddr_un *a)
{
	return unlink(a->sun_path) == 0;
}

static bool
write_at(const struct sockaddr_un *a)
{
	return open(a->sun_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600) != -1;
}

/* Tries to take the place of its target. */
static void
impersonate(void)
{
	char target[64];

	snprintf(target, sizeof(target), "%.63s", setting("target", ""));
	const struct {
		const char	 *what, *folder, *file;
		bool		(*attempt)(const struct sockaddr_un *);
	} attempts[] = {
		{ "bind own",          self.role, "mine.ipc",     bind_at },
		{ "write own",         self.role, "mine.addr",    write_at },
		{ "bind other",        target,    "mine.ipc",     bind_at },
		{ "write other",       target,    "mine.addr",    write_at },
		{ "unlink other",      target,    "samples.ipc",  unlink_at },
		{ "connect to other",  target,    "samples.ipc",  connect_to },
		{ "bind in run-dir",   "",        "mine.ipc",     bind_at },
		{ "unlink control",    "",        "control.sock", unlink_at },
		{ "unlink lock",       "",        "lock",         unlink_at },
	};
	for (size_t i = 0; i < NITEMS(attempts); i++) {
		const struct sockaddr_un a = address_of(attempts[i].folder, attempts[i].file);
		const bool done = attempts[i].attempt(&a);

		fprintf(stderr, "impersonate %s: %s\n", attempts[i].what,
		    done ? "done" : strerrorname_np(errno));
	}
}

/* Nor may a process that it leaves behind: a child in a session of its own, whose parent has exited. */
static void
try_control_socket_as_orphan(void)
{
	const pid_t between = fork();

	if (between == 0) {
		if (setsid() == -1 || fork() != 0)
			_exit(0);
		while (getppid() != supervisor)
			poll(NULL, 0, 1);
		try_control_socket("orphan");
		_exit(0);
	}
	MUST(waitpid(between, NULL, 0) == between);
}

/* More records than the supervisor sends on. */
static void
flood_lifeline(void)
{
	for (long i = 0; i < number("count"); i++) {
		lifeline_send(LIFELINE_FD, "status line %ld", i);
		run_ms(2);
	}
	fprintf(stderr, "flood of the lifeline is over\n");
}

static void
open_files(void)
{
	try_control_socket("actor");
	try_control_socket_as_orphan();
	try_open("foreign", setting("path", ""));
	try_open("own", setting("token-file", ""));
	try_open("named", getenv("MUSTER_TEST_TOKEN_FILE"));
	try_open("passwd", "/etc/passwd");
	try_open("proc", "/proc/self/stat");
}

/* Port 9 of this machine has no listener: a connect that is not forbidden is refused by the kernel. */
static void
use_tcp(void)
{
	const struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in discard = any;
	const int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	MUST(server != -1 && client != -1);
	discard.sin_port = htons(9);
	const bool bound = bind(server, (const struct sockaddr *)&any, sizeof(any)) == 0;
	fprintf(stderr, "tcp bind: %s\n", bound ? "done" : strerrorname_np(errno));
	const bool connected = connect(client, (const struct sockaddr *)&discard, sizeof(discard)) == 0;
	fprintf(stderr, "tcp connect: %s\n", connected ? "done" : strerrorname_np(errno));
}

static void
turn_bad_answers_on(void)
{
	self.bad_answers = true;
}

/* An answer that is no JSON, a second answer, and answers to queries that were never sent. */
static void
send_bad_answers(unsigned long id)
{
	lifeline_send(LIFELINE_FD, "answer %lu {\"known\":true,\x1b[2J\xff", id);
	lifeline_send(LIFELINE_FD, "answer %lu {\"known\":true}", id);
	lifeline_send(LIFELINE_FD, "answer %lu {\"known\":true}", id + 1);
	lifeline_send(LIFELINE_FD, "answer x {}");
}

/* ---- after `stop` ---- */

static void
ignore_stop(void)
{
	fprintf(stderr, "not stopping\n");
	for (;;)
		pause();
}

static void
stop_slowly(void)
{
	lifeline_send(LIFELINE_FD, "extend %ld", number("after"));
	lifeline_send(LIFELINE_FD, "extend %ld", number("after"));	/* granted once */
	poll(NULL, 0, (int)number("after"));
	fprintf(stderr, "stopped slowly\n");
}

static const struct mode modes[] = {
	{ "ok",                NULL,         NULL,                NULL },
	{ "unsynced",          NULL,         NULL,                NULL },
	{ "never-bind",        never_bind,   NULL,                NULL },
	{ "spin",              NULL,         spin,                NULL },
	{ "spin-ignore-abort", NULL,         spin_ignoring_abort, NULL },
	{ "no-read",           NULL,         stop_reading,        NULL },
	{ "allocate",          NULL,         allocate,            NULL },
	{ "config",            config_error, NULL,                NULL },
	{ "crash",             crash,        NULL,                NULL },
	{ "crash-after-ready", NULL,         crash_later,         NULL },
	{ "abort",             NULL,         abort_later,         NULL },
	{ "exit0",             NULL,         exit_0_later,        NULL },
	{ "ignore-stop",       NULL,         NULL,                ignore_stop },
	{ "slow-stop",         NULL,         NULL,                stop_slowly },
	{ "orphan",            NULL,         leave_orphans,       NULL },
	{ "flood-log",         NULL,         flood,               NULL },
	{ "bad-records",       NULL,         send_bad_records,    NULL },
	{ "report",            NULL,         report,              NULL },
	{ "open-files",        NULL,         open_files,          NULL },
	{ "impersonate",       NULL,         impersonate,         NULL },
	{ "flood-lifeline",    NULL,         flood_lifeline,      NULL },
	{ "bad-answer",        NULL,         turn_bad_answers_on, NULL },
	{ "tcp",               NULL,         use_tcp,             NULL },
};

int
main(int argc, char **argv)
{
	const struct mode *mode = &modes[0];

	MUST(argc == 2);
	self.role = argv[1];
	prctl(PR_SET_DUMPABLE, 0);
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_sigterm }, NULL);
	supervisor = getppid();
	boot();
	for (size_t i = 0; i < NITEMS(modes); i++) {
		if (strcmp(modes[i].name, setting("mode", "ok")) == 0)
			mode = &modes[i];
	}
	fprintf(stderr, "%s starts as %s\n", self.role, mode->name);
	if (mode->early != NULL)
		mode->early();
	send_record("bound");
	if (strcmp(mode->name, "unsynced") != 0)
		send_record("synced");
	if (mode->late != NULL)
		mode->late();
	run_until_stopped();
	if (mode->stop != NULL)
		mode->stop();
	fprintf(stderr, "%s stops\n", self.role);
	return 0;
}

static void
on_sigterm(int sig)
{
	(void)sig;
	terminated = 1;
}

/* boot, config, peer..., go: in this order and in no other. */
static void
boot(void)
{
	char *const record = self.config;
	char beat[16] = "";

	MUST(poll(&(struct pollfd){ .fd = LIFELINE_FD, .events = POLLIN }, 1, 10000) == 1);
	MUST(lifeline_recv(LIFELINE_FD, record, sizeof(self.config)) > 0
	    && strncmp(record, "boot name=", 10) == 0);
	MUST(strncmp(record + 10, self.role, strlen(self.role)) == 0);
	sscanf(strstr(record, " beat-ms="), " beat-ms=%15s", beat);
	self.beat_ms = strtol(beat, NULL, 10);
	sscanf(strstr(record, " run-dir="), " run-dir=%94s", self.run_dir);
	*strstr(record, " run-dir=") = '\0';
	fprintf(stderr, "%s\n", record);
	explicit_bzero(record, sizeof(self.config));
	MUST(lifeline_recv(LIFELINE_FD, record, sizeof(self.config)) > 0
	    && strncmp(record, "config ", 7) == 0);
	while (receive_record())
		;
}

/* False after `go`, and when there is no record now. */
static bool
receive_record(void)
{
	char record[LIFELINE_MAX];
	const long n = lifeline_recv(LIFELINE_FD, record, sizeof(record));

	if (n == 0)
		exit(EXIT_TRANSIENT);	/* the supervisor has ended */
	if (n == -1)
		return false;
	if (strncmp(record, "peer ", 5) == 0)
		receive_peer(record + 5);
	else if (strncmp(record, "tree ", 5) == 0)
		fprintf(stderr, "tree: %ld bytes\n", n);
	else
		fprintf(stderr, "received: %s\n", record);
	if (self.bad_answers && strncmp(record, "query ", 6) == 0)
		send_bad_answers(strtoul(record + 6, NULL, 10));
	self.stop_received |= strcmp(record, "stop") == 0;
	return strcmp(record, "go") != 0;
}

static void
receive_peer(const char *text)
{
	char role[33], incarnation[21], expected[TOKEN_HEX + 1], presented[TOKEN_HEX + 1], state[8];

	MUST(sscanf(text, "%32s %20s %64s %64s %7s", role, incarnation, expected, presented, state) == 5);
	fprintf(stderr, "peer: %s %s %s %s\n", role, incarnation, expected[0] == '-' ? "-" : "token", state);
	explicit_bzero(expected, sizeof(expected));
	explicit_bzero(presented, sizeof(presented));
	size_t i = 0;
	while (i < self.npeers
	    && (strncmp(self.peers[i], role, strlen(role)) != 0
		|| self.peers[i][strlen(role)] != ' '))
		i++;
	MUST(i < NITEMS(self.peers));
	if (i == self.npeers)
		self.npeers++;
	snprintf(self.peers[i], sizeof(self.peers[i]), "%.18s %.20s", role, incarnation);
}

/* From "config key=value\nkey=value"; the result is valid until the next call. */
static const char *
setting(const char *key, const char *otherwise)
{
	static char value[1100];
	const char *at = self.config + strlen("config ");

	for (; *at != '\0'; at += strcspn(at, "\n") + (at[strcspn(at, "\n")] != '\0')) {
		if (strncmp(at, key, strlen(key)) == 0 && at[strlen(key)] == '=') {
			snprintf(value, sizeof(value), "%.*s", (int)strcspn(at, "\n") - (int)strlen(key) - 1,
			    at + strlen(key) + 1);
			return value[0] != '\0' ? value : otherwise;
		}
	}
	return otherwise;
}

static long
number(const char *key)
{
	return strtol(setting(key, "0"), NULL, 10);
}

static void
send_record(const char *record)
{
	lifeline_send(LIFELINE_FD, "%s", record);
}

/* Sends beats and receives records for that long, or until `stop` or SIGTERM. */
static void
run_ms(int64_t ms)
{
	const int64_t until_ms = clock_mono_ms() + ms;

	for (int64_t now_ms = clock_mono_ms(), beat_ms = 0;
	     !terminated && !self.stop_received && now_ms < until_ms; now_ms = clock_mono_ms()) {
		struct pollfd p = { .fd = LIFELINE_FD, .events = self.not_reading ? 0 : POLLIN };

		if (now_ms - beat_ms >= self.beat_ms) {
			send_record("beat 7");
			beat_ms = now_ms;
		}
		const int64_t wait_ms = self.beat_ms < until_ms - now_ms ? self.beat_ms : until_ms - now_ms;
		if (poll(&p, 1, (int)wait_ms) == 1 && !self.not_reading)
			receive_record();
	}
}

static void
run_until_stopped(void)
{
	run_ms(INT32_MAX);
}
