/*
 * tests/actors/forbidden.c - stands in for any actor (bus/test_syscalls.py starts it under each name)
 * and makes the calls that it may not make, and some that it may. Never in a release build.
 *
 * It is on the runtime, so what it is left with is what the actor of that name has.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/vm_sockets.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "actor.h"
#include "log.h"
#include "obj.h"

static void start(struct actor *, void *);
static void act(const char *, bool);
static bool open_socket(int, int, int);
static void *act_unnoticed(void *);

static const struct actor_spec spec = { .start = start };

int
main(int argc, char **argv)
{
	return actor_main(&spec, argc, argv);
}

static void
start(struct actor *a, void *self)
{
	static char *const arguments[] = { (char *)(uintptr_t)"true", NULL }, *const none[] = { NULL };
	char own[160], foreign[160];
	pthread_t thread;
	char byte;
	const struct iovec here = { .iov_base = &byte, .iov_len = 1 };

	(void)self;
	snprintf(own, sizeof(own), "%s/%s", actor_run_dir(a), role_name(actor_role(a)));
	snprintf(foreign, sizeof(foreign), "%s/lock", actor_run_dir(a));
	/* Of another process: of the supervisor. */
	const pid_t parent = getppid();

	/* Landlock allows it there: the error without a filter is ENOENT. */
	act("execve", execve("/usr/lib/none", arguments, none) == 0);
	const pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	act("fork", pid > 0 && waitpid(pid, NULL, 0) == pid);
	act("ptrace", ptrace(PTRACE_ATTACH, parent, NULL, NULL) == 0);
	act("process_vm_readv", process_vm_readv(parent, &here, 1, &here, 1, 0) == 1);
	act("kill", kill(parent, 0) == 0);
	act("socket-packet", open_socket(AF_PACKET, SOCK_RAW, 0));
	act("socket-vsock", open_socket(AF_VSOCK, SOCK_STREAM, 0));
	act("socket-raw", open_socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
	act("socket-audit", open_socket(AF_NETLINK, SOCK_RAW, NETLINK_AUDIT));
	act("socket-ip", open_socket(AF_INET, SOCK_STREAM, 0));
	act("socket-udp", open_socket(AF_INET6, SOCK_DGRAM, 0));
	act("socket-unix", open_socket(AF_UNIX, SOCK_STREAM, 0));
	act("chmod", chmod(own, 0755) == 0);
	act("setrlimit", setrlimit(RLIMIT_CORE, &(struct rlimit){ 1, 1 }) == 0);
	act("dumpable", prctl(PR_SET_DUMPABLE, 1) == 0);
	act("io_uring", syscall(SYS_io_uring_setup, 1, NULL) >= 0 || errno == EFAULT);
	act("newer", syscall(9999) == 0);
	act("foreign-file", open(foreign, O_RDONLY | O_CLOEXEC) != -1);
	act("passwd", open("/etc/passwd", O_RDONLY | O_CLOEXEC) != -1);
	act("thread", pthread_create(&thread, NULL, act_unnoticed, NULL) == 0
	    && pthread_join(thread, NULL) == 0);
	act("signal-self", raise(SIGCONT) == 0);
	log_info("all acts are done");
}

static void
act(const char *name, bool done)
{
	log_info("act", KV_S(VALUE, name), KV_S(OUTCOME, done ? "done" : strerrorname_np(errno)));
}

static bool
open_socket(int family, int type, int protocol)
{
	const int fd = socket(family, type | SOCK_CLOEXEC, protocol);

	if (fd != -1)
		close(fd);
	return fd != -1;
}

/* libzmq's threads block all signals, SIGSYS too: the process must survive a refusal there. */
static void *
act_unnoticed(void *arg)
{
	const unsigned long read_only = 0xffffffff;
	sigset_t all;

	sigfillset(&all);
	MUST(pthread_sigmask(SIG_SETMASK, &all, NULL) == 0);
	act("blocked-signals", personality(read_only) != -1);
	return arg;
}
