/*
 * include/lifeline.h - the records between supervisor and actor, on fd 3 of the actor.
 *
 * A SOCK_SEQPACKET pair: one record is one text, at most LIFELINE_MAX bytes, no terminator. End of
 * file on either side means the other is dead; an actor that reads it exits at once. This is how an
 * actor gets its identity: nothing secret is ever in argv or in the environment.
 *
 * supervisor -> actor
 *	boot name=<role> incarnation=<n> run-dir=<path> level=<level>
 *	     format=<json|console> beat-ms=<n> instance=<name> syscalls=<any|own[,<set>...]>
 *			first record, always. instance names this musterd among its replicas: host, and a
 *			part that is new with each start of musterd, but not with a restart of the actor.
 *			syscalls: any, or what every actor needs and these sets (SYSCALL_SETS)
 *	config <key>=<value>\n<key>=<value>...
 *			second record: the actor's section, checked, defaults filled in
 *	peer <role> <incarnation> <expected hex|-> <presented hex|-> <up|down|off>
 *			one per enabled actor this one has a link with, before `go` and at every change.
 *			`expected`: the token that the peer's HELLO to us must have; `presented`: the token
 *			that our HELLO to the peer must have; `-` where no link goes that way. `up`: the peer
 *			has bound its sockets; `off`: the configuration no longer has it
 *	go		everything needed was sent: bind, connect, run
 *	level <level>	log level from now on
 *	tree <json>	what `muster status -o json` prints; only for actors with receives_tree
 *	query <id> <explain|trace> <resource>/<name>
 *			from `muster explain` or `muster trace`; answered at once, or never
 *	stop		finish and exit 0 (SIGTERM means the same)
 *
 * actor -> supervisor
 *	bound		sockets are open: the next stage may start
 *	synced | unsynced
 *			every input has (lost) its first full snapshot
 *	beat <mailbox>	one full turn of the loop was made; mailbox = keys waiting for work
 *	report <role|-> <incarnation> <reason>
 *			that peer sent what it may not: docs/supervision.md
 *	extend <ms>	stopping takes longer; granted once
 *	status <text>	one line for people
 *	answer <id> <json>
 *			to a `query`, once. musterd does not parse it
 */
#ifndef MUSTER_LIFELINE_H
#define MUSTER_LIFELINE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	LIFELINE_FD  = 3,
	LIFELINE_MAX = 64 * 1024,
	TOKEN_BYTES  = 32,
	TOKEN_HEX    = TOKEN_BYTES * 2,
};

/*
 * What an actor may need of system calls beyond the others (actors/runtime/syscall_table.h): calls over
 * IP, service over IP, a helper process that was started before.
 */
#define SYSCALL_SETS(S)	S(CONNECT, "connect", 0) S(BIND, "bind", 1) S(HELPER, "helper", 2)
enum syscall_set {
#define SYSCALL_SET_ENUM(ID, name, bit) SYSCALL_SET_##ID = 1 << (bit),
	SYSCALL_SETS(SYSCALL_SET_ENUM)
#undef SYSCALL_SET_ENUM
	SYSCALL_SET_OWN = 1 << 3,	/* the process is restricted; without this bit it is not */
};

/* Never blocks, never raises SIGPIPE. False with errno (EAGAIN: the other side does not read). */
bool lifeline_send(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * A record into buf, NUL-terminated; its length, 0 at end of file, -1 with errno (EAGAIN: none now,
 * EMSGSIZE: cut).
 */
long lifeline_recv(int fd, char *buf, size_t size);

#endif
