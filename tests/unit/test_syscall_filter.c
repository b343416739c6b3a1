/*
 * tests/unit/test_syscall_filter.c - which system calls the filter of an actor allows (issue 17.5). A row
 * is one call; the program that the kernel would get is run on it by a small machine of our own.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/if_alg.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <cmocka.h>

#include "obj.h"
#include "supervisor/confine.h"
#include "syscall_filter.h"

enum { PID = 4711 };

#if defined(__x86_64__)
#define MACHINE		AUDIT_ARCH_X86_64
#define FOREIGN		AUDIT_ARCH_I386
#else
#define MACHINE		AUDIT_ARCH_AARCH64
#define FOREIGN		AUDIT_ARCH_ARM
#endif

#define YES		SECCOMP_RET_ALLOW
#define NO		SECCOMP_RET_TRAP
#define ALL		0u
#define CONNECT		((unsigned)SYSCALL_SET_CONNECT)
#define BIND		((unsigned)SYSCALL_SET_BIND)
#define HELPER		((unsigned)SYSCALL_SET_HELPER)
#define THREAD		(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
#define STREAM		(SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK)

static const struct row {
	const char	*name;
	unsigned	 sets;
	uint32_t	 machine;
	int		 nr;
	uint64_t	 args[3];
	uint32_t	 wanted;
} rows[] = {
	{ "read",                     ALL, MACHINE, __NR_read, { 0 }, YES },
	{ "the last plain row",       ALL, MACHINE, __NR_getrlimit, { 0 }, YES },
	{ "the same of i386",         ALL, FOREIGN, __NR_read, { 0 }, SECCOMP_RET_KILL_PROCESS },
	{ "read of x32",              ALL, MACHINE, 0x40000000 | __NR_read, { 0 }, NO },
	{ "execve",                   ALL, MACHINE, __NR_execve, { 0 }, NO },
	{ "execveat",                 ALL, MACHINE, __NR_execveat, { 0 }, NO },
	{ "execve with all sets",     CONNECT | BIND | HELPER, MACHINE, __NR_execve, { 0 }, NO },
	{ "ptrace",                   ALL, MACHINE, __NR_ptrace, { 0 }, NO },
	{ "another's memory",         CONNECT | BIND | HELPER, MACHINE, __NR_process_vm_readv, { 0 }, NO },
	{ "io_uring",                 CONNECT, MACHINE, __NR_io_uring_setup, { 0 }, NO },
	{ "bpf",                      CONNECT, MACHINE, __NR_bpf, { 0 }, NO },
	{ "fchmodat",                 ALL, MACHINE, __NR_fchmodat, { 0 }, NO },
	{ "a call of a newer kernel", ALL, MACHINE, 9999, { 0 }, NO },
	{ "a number below 0",         ALL, MACHINE, -1, { 0 }, NO },
	{ "a thread",                 ALL, MACHINE, __NR_clone, { THREAD | CLONE_FS | CLONE_SETTLS }, YES },
	{ "fork",                     ALL, MACHINE, __NR_clone, { SIGCHLD }, NO },
	{ "a namespace with a thread", ALL, MACHINE, __NR_clone, { THREAD | CLONE_NEWUSER }, NO },
	{ "clone3 is not there",      ALL, MACHINE, __NR_clone3, { 0 }, SECCOMP_RET_ERRNO | ENOSYS },
	{ "a unix socket",            ALL, MACHINE, __NR_socket, { AF_UNIX, STREAM }, YES },
	{ "TCP",                      ALL, MACHINE, __NR_socket, { AF_INET, STREAM }, NO },
	{ "TCP of a caller",          CONNECT, MACHINE, __NR_socket, { AF_INET, STREAM }, YES },
	{ "TCP of a server",          BIND, MACHINE, __NR_socket, { AF_INET6, STREAM, 6 }, YES },
	{ "UDP of a caller",          CONNECT, MACHINE, __NR_socket, { AF_INET6, SOCK_DGRAM }, YES },
	{ "UDP of a server",          BIND, MACHINE, __NR_socket, { AF_INET, SOCK_DGRAM }, NO },
	{ "a raw socket of a caller", CONNECT, MACHINE, __NR_socket, { AF_INET, SOCK_RAW, 1 }, NO },
	{ "routes of a caller",       CONNECT, MACHINE, __NR_socket, { AF_NETLINK, SOCK_RAW, 0 }, YES },
	{ "audit of a caller",        CONNECT, MACHINE, __NR_socket, { AF_NETLINK, SOCK_RAW, 9 }, NO },
	{ "routes of others",         BIND, MACHINE, __NR_socket, { AF_NETLINK, SOCK_RAW, 0 }, NO },
	{ "AF_ALG",                   CONNECT | BIND, MACHINE, __NR_socket, { AF_ALG, SOCK_SEQPACKET }, NO },
	{ "the upper half is nothing", ALL, MACHINE, __NR_socket, { UINT64_C(1) << 32 | AF_UNIX }, YES },
	{ "a signal to itself",       ALL, MACHINE, __NR_tgkill, { PID, PID + 1, SIGABRT }, YES },
	{ "a signal to another",      ALL, MACHINE, __NR_tgkill, { PID + 1, PID + 1, SIGABRT }, NO },
	{ "kill of itself",           ALL, MACHINE, __NR_kill, { PID, SIGKILL }, YES },
	{ "kill of another",          ALL, MACHINE, __NR_kill, { PID + 1, SIGKILL }, NO },
	{ "kill of its helper",       HELPER, MACHINE, __NR_kill, { PID + 1, SIGKILL }, YES },
	{ "another signal to it",     HELPER, MACHINE, __NR_kill, { PID + 1, SIGTERM }, NO },
	{ "wait for its helper",      HELPER, MACHINE, __NR_wait4, { PID + 1 }, YES },
	{ "wait",                     CONNECT, MACHINE, __NR_wait4, { PID + 1 }, NO },
	{ "its limits",               ALL, MACHINE, __NR_prlimit64, { 0, 7, 0 }, YES },
	{ "a change of its limits",   ALL, MACHINE, __NR_prlimit64, { 0, 7, 4096 }, NO },
	{ "the limits of another",    ALL, MACHINE, __NR_prlimit64, { 1, 7, 0 }, NO },
	{ "bytes that wait",          ALL, MACHINE, __NR_ioctl, { 5, FIONREAD }, YES },
	{ "input for a terminal",     ALL, MACHINE, __NR_ioctl, { 0, TIOCSTI }, NO },
	{ "its name",                 ALL, MACHINE, __NR_prctl, { PR_SET_NAME }, YES },
	{ "dumpable",                 ALL, MACHINE, __NR_prctl, { PR_SET_DUMPABLE, 1 }, NO },
};

/* What the kernel does with such a program; it has the five kinds of instruction that ours uses. */
static uint32_t
run(const struct sock_filter *code, size_t len, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (size_t pc = 0; pc < len; pc++) {
		const struct sock_filter *const i = &code[pc];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			assert_true(i->k + sizeof(a) <= sizeof(*data) && i->k % sizeof(a) == 0);
			memcpy(&a, (const char *)data + i->k, sizeof(a));
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			pc += a == i->k ? i->jt : i->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			pc += a >= i->k ? i->jt : i->jf;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			fail_msg("instruction %zu has code %#x", pc, i->code);
		}
	}
	fail_msg("the program has no end");
	return 0;
}

static void
check_row(void **state)
{
	static struct sock_filter code[SYSCALL_FILTER_MAX];
	const struct row *const r = *state;
	struct seccomp_data data = { .nr = r->nr, .arch = r->machine };
	const size_t len = syscall_filter_make(code, SYSCALL_SET_OWN | r->sets, PID);

	memcpy(data.args, r->args, sizeof(r->args));
	assert_in_range(len, 1, SYSCALL_FILTER_MAX);
	assert_int_equal(run(code, len, &data), r->wanted);
}

static void
the_names_are_those_of_the_calls(void **state)
{
	(void)state;
	assert_string_equal(syscall_name(__NR_execve), "execve");
	assert_string_equal(syscall_name(__NR_read), "read");
	assert_null(syscall_name(9999));
}

/* The sets follow from what a row has anyway: TCP, and the cluster's credential with its exec plugin. */
static void
which_sets_a_row_has(void **state)
{
	(void)state;
	for (size_t i = 0; i < CHILD_MAX; i++) {
		const struct child_row *const row = &child_table[i];
		unsigned wanted = SYSCALL_SET_OWN;

		wanted |= row->tcp == TCP_CONNECT ? CONNECT : row->tcp == TCP_BIND ? BIND : 0;
		wanted |= i == CHILD_KUBE_WATCHER ? HELPER : 0;
		assert_int_equal(confine_syscall_sets(row), wanted);
	}
}

int
main(void)
{
	static const struct CMUnitTest others[] = {
		cmocka_unit_test(the_names_are_those_of_the_calls), cmocka_unit_test(which_sets_a_row_has),
	};
	struct CMUnitTest tests[NITEMS(rows) + NITEMS(others)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		tests[i] = (struct CMUnitTest){ .name = rows[i].name, .test_func = check_row,
			.initial_state = (void *)(uintptr_t)&rows[i] };
	memcpy(&tests[NITEMS(rows)], others, sizeof(others));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
