/*
 * actors/runtime/syscall_filter.c - the rows of syscall_table.h as a program for the kernel's packet
 * filter. Pure.
 *
 * The kernel remembers which calls are allowed whatever their arguments, so the length of the program
 * costs a plain call nothing.
 */
#include "syscall_filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/sched.h>	/* flags of clone; SCHED_NORMAL is SCHED_OTHER of sched.h */
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "obj.h"
#include "syscall_table.h"

#if defined(__x86_64__)
#define MACHINE		AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define MACHINE		AUDIT_ARCH_AARCH64
#else
#define MACHINE		0
#endif

/* Above this x86-64 has the calls of the x32 interface, which nobody uses. */
#define X32_BIT		0x40000000u

#define SYSCALL_SET_ALL	0
#define SOCKET_TYPE	(~(unsigned)(SOCK_CLOEXEC | SOCK_NONBLOCK))
#define NEW_THREAD	(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD)
#define NAMESPACES	(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID	\
			 | CLONE_NEWNET | CLONE_NEWCGROUP)
#define CLONE_MASK	(NEW_THREAD | NAMESPACES | CLONE_VFORK | CLONE_PTRACE)
/* No process has this id. */
#define SELF		0xffffffffu

static const int plain[] = {
#define PLAIN_ROW(name) __NR_##name,
	SYSCALLS_OLD(PLAIN_ROW) SYSCALLS_PLAIN(PLAIN_ROW)
};

enum { CONDITIONS = 2 };
static const struct when {
	int		nr;
	unsigned	set;
	struct {
		unsigned	argument;
		uint32_t	mask, value;
	} is[CONDITIONS];	/* mask 0: no condition */
} when[] = {
#define WHEN_ROW(name, set_, a1, m1, v1, a2, m2, v2)	{ .nr = __NR_##name, .set = SYSCALL_SET_##set_,	\
	.is = { { (a1), (uint32_t)(m1), (uint32_t)(v1) }, { (a2), (uint32_t)(m2), (uint32_t)(v2) } } },
	SYSCALLS_WHEN(WHEN_ROW)
};

static const struct {
	int		 nr;
	const char	*name;
} names[] = {
#define NAME_ROW(call) { __NR_##call, #call },
	SYSCALLS_OLD(NAME_ROW) SYSCALLS_PLAIN(NAME_ROW) REFUSED_OLD(NAME_ROW) SYSCALLS_REFUSED(NAME_ROW)
};

struct program {
	struct sock_filter	*at, *end;
};

static void add(struct program *, uint16_t, uint32_t, size_t, size_t);
static void add_when(struct program *, const struct when *, uint32_t);

#define LOAD		(BPF_LD | BPF_W | BPF_ABS)
#define RETURN		(BPF_RET | BPF_K)
#define IF_EQUAL	(BPF_JMP | BPF_JEQ | BPF_K)
#define IF_AT_LEAST	(BPF_JMP | BPF_JGE | BPF_K)
#define AND		(BPF_ALU | BPF_AND | BPF_K)

size_t
syscall_filter_make(struct sock_filter out[SYSCALL_FILTER_MAX], unsigned sets, uint32_t pid)
{
	struct program p = { .at = out, .end = out + SYSCALL_FILTER_MAX };

	if (MACHINE == 0)
		return 0;
	add(&p, LOAD, offsetof(struct seccomp_data, arch), 0, 0);
	add(&p, IF_EQUAL, MACHINE, 1, 0);
	add(&p, RETURN, SECCOMP_RET_KILL_PROCESS, 0, 0);
	add(&p, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
	add(&p, IF_AT_LEAST, X32_BIT, 0, 1);
	add(&p, RETURN, SECCOMP_RET_TRAP, 0, 0);
	for (size_t i = 0; i < NITEMS(plain); i++) {
		add(&p, IF_EQUAL, (uint32_t)plain[i], 0, 1);
		add(&p, RETURN, SECCOMP_RET_ALLOW, 0, 0);
	}
	/* Its flags are in memory, where a filter cannot read them; without it glibc calls clone. */
	add(&p, IF_EQUAL, __NR_clone3, 0, 1);
	add(&p, RETURN, SECCOMP_RET_ERRNO | ENOSYS, 0, 0);
	for (size_t i = 0; i < NITEMS(when); i++) {
		if (when[i].set == SYSCALL_SET_ALL || (when[i].set & sets) != 0)
			add_when(&p, &when[i], pid);
	}
	add(&p, RETURN, SECCOMP_RET_TRAP, 0, 0);
	return (size_t)(p.at - out);
}

const char *
syscall_name(int number)
{
	for (size_t i = 0; i < NITEMS(names); i++) {
		if (names[i].nr == number)
			return names[i].name;
	}
	return NULL;
}

static void
add(struct program *p, uint16_t code, uint32_t k, size_t yes, size_t no)
{
	MUST(p->at < p->end && yes <= UINT8_MAX && no <= UINT8_MAX);
	*p->at++ = (struct sock_filter){ .code = code, .jt = (uint8_t)yes, .jf = (uint8_t)no, .k = k };
}

/*
 * One row is: the number; for each condition, the lower half of the argument, its mask, its value (the
 * kernel reads no more of these arguments); allowed. A row that does not match ends where the next
 * begins, which loads the number again.
 */
static void
add_when(struct program *p, const struct when *w, uint32_t pid)
{
	enum { PER_CONDITION = 3 };
	size_t left = 1;	/* instructions of this row that follow the one that is added */

	for (size_t c = 0; c < CONDITIONS; c++)
		left += w->is[c].mask != 0 ? PER_CONDITION : 0;
	add(p, LOAD, offsetof(struct seccomp_data, nr), 0, 0);
	add(p, IF_EQUAL, (uint32_t)w->nr, 0, left);
	for (size_t c = 0; c < CONDITIONS; c++) {
		if (w->is[c].mask == 0)
			continue;
		const uint32_t offset = (uint32_t)(offsetof(struct seccomp_data, args)
		    + w->is[c].argument * sizeof(uint64_t));

		left -= PER_CONDITION;
		add(p, LOAD, offset, 0, 0);
		add(p, AND, w->is[c].mask, 0, 0);
		add(p, IF_EQUAL, w->is[c].value == SELF ? pid : w->is[c].value, 0, left);
	}
	add(p, RETURN, SECCOMP_RET_ALLOW, 0, 0);
}
