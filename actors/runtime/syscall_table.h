/*
 * actors/runtime/syscall_table.h - every system call that an actor may make once it has started, and
 * under which conditions.
 *
 * PLAIN(name): whatever its arguments. WHEN(name, set, argument, mask, value, ...): if every argument
 * that is named has that value under that mask; several rows of one name are alternatives. A row of
 * SYSCALL_SET_ALL is for each actor, one of another set for those whose row in supervisor/actors.h has
 * that set (supervisor/confine.h). What has no row is refused with EPERM and logged.
 *
 * OLD: calls that only the older machines have (x86-64).
 *
 * Never: execve or fork (a thread is allowed); ptrace and access to another's memory; a socket family
 * but AF_UNIX and, for those who call or serve, IP and the kernel's routes; chmod, which Landlock does
 * not judge; a change of user, limit, namespace or mount.
 */
#ifndef MUSTER_SYSCALL_TABLE_H
#define MUSTER_SYSCALL_TABLE_H

#ifdef __NR_open
#define SYSCALLS_OLD(P)								\
	P(open) P(stat) P(lstat) P(access) P(readlink) P(pipe) P(poll) P(select) P(dup2) P(eventfd)	\
	P(epoll_create) P(epoll_wait) P(signalfd) P(mkdir) P(rename) P(unlink) P(getpgrp) P(time)
#else
#define SYSCALLS_OLD(P)
#endif

#define SYSCALLS_PLAIN(P)							\
	/* memory */								\
	P(brk) P(mmap) P(munmap) P(mremap) P(mprotect) P(madvise) P(mincore) P(membarrier)	\
	/* files: Landlock decides which */					\
	P(openat) P(close) P(close_range) P(read) P(write) P(readv) P(writev) P(pread64)	\
	P(pwrite64) P(preadv) P(pwritev) P(lseek) P(fstat) P(newfstatat) P(statx) P(fstatfs)	\
	P(statfs) P(faccessat) P(faccessat2) P(readlinkat) P(getdents64) P(getcwd) P(fcntl)	\
	P(ftruncate) P(fsync) P(fdatasync) P(renameat) P(renameat2) P(unlinkat) P(mkdirat) P(dup)	\
	P(dup3) P(umask)							\
	/* waiting */								\
	P(pipe2) P(eventfd2) P(epoll_create1) P(epoll_ctl) P(epoll_pwait) P(ppoll) P(pselect6)	\
	P(timerfd_create) P(timerfd_settime) P(timerfd_gettime) P(signalfd4) P(nanosleep)	\
	P(clock_nanosleep) P(restart_syscall)					\
	/* sockets: `socket` itself is below */					\
	P(socketpair) P(bind) P(connect) P(listen) P(accept) P(accept4) P(getsockname)	\
	P(getpeername) P(getsockopt) P(setsockopt) P(sendto) P(recvfrom) P(sendmsg) P(recvmsg)	\
	P(sendmmsg) P(recvmmsg) P(shutdown)					\
	/* threads and signals */						\
	P(futex) P(set_robust_list) P(get_robust_list) P(rseq) P(set_tid_address) P(exit)	\
	P(exit_group) P(sched_yield) P(sched_getaffinity) P(sched_getparam) P(sched_getscheduler)	\
	P(rt_sigaction) P(rt_sigprocmask) P(rt_sigreturn) P(rt_sigpending) P(rt_sigtimedwait)	\
	P(sigaltstack)								\
	/* facts about this process and this machine */				\
	P(getpid) P(gettid) P(getppid) P(getuid) P(geteuid) P(getgid) P(getegid) P(getrusage)	\
	P(times) P(sysinfo) P(uname) P(getcpu) P(getrandom) P(clock_gettime) P(clock_getres)	\
	P(gettimeofday) P(getrlimit)

/*
 * SELF stands for the process id. NEW_THREAD under CLONE_MASK: a thread in the same namespaces.
 * AF_NETLINK with protocol 0 is NETLINK_ROUTE: getaddrinfo reads there which addresses exist.
 */
#define SYSCALLS_WHEN(W)							\
	W(socket, ALL, 0, ~0u, AF_UNIX, 0, 0, 0)				\
	W(socket, CONNECT, 0, ~0u, AF_INET, 1, SOCKET_TYPE, SOCK_STREAM)	\
	W(socket, CONNECT, 0, ~0u, AF_INET, 1, SOCKET_TYPE, SOCK_DGRAM)	\
	W(socket, CONNECT, 0, ~0u, AF_INET6, 1, SOCKET_TYPE, SOCK_STREAM)	\
	W(socket, CONNECT, 0, ~0u, AF_INET6, 1, SOCKET_TYPE, SOCK_DGRAM)	\
	W(socket, CONNECT, 0, ~0u, AF_NETLINK, 2, ~0u, 0)			\
	W(socket, BIND, 0, ~0u, AF_INET, 1, SOCKET_TYPE, SOCK_STREAM)		\
	W(socket, BIND, 0, ~0u, AF_INET6, 1, SOCKET_TYPE, SOCK_STREAM)		\
	W(clone, ALL, 0, CLONE_MASK, NEW_THREAD, 0, 0, 0)			\
	W(kill, ALL, 0, ~0u, SELF, 0, 0, 0)					\
	W(tgkill, ALL, 0, ~0u, SELF, 0, 0, 0)					\
	W(prlimit64, ALL, 0, ~0u, 0, 2, ~0u, 0)				\
	/* libzmq sets for its threads what they have anyway */		\
	W(sched_setscheduler, ALL, 1, ~0u, SCHED_NORMAL, 0, 0, 0)		\
	W(ioctl, ALL, 1, ~0u, TCGETS, 0, 0, 0)					\
	W(ioctl, ALL, 1, ~0u, FIONREAD, 0, 0, 0)				\
	W(ioctl, ALL, 1, ~0u, FIONBIO, 0, 0, 0)				\
	W(prctl, ALL, 0, ~0u, PR_SET_NAME, 0, 0, 0)				\
	W(prctl, ALL, 0, ~0u, PR_GET_NAME, 0, 0, 0)				\
	W(prctl, ALL, 0, ~0u, PR_GET_DUMPABLE, 0, 0, 0)			\
	W(prctl, ALL, 0, ~0u, PR_SET_VMA, 0, 0, 0)				\
	/* the helper of an exec plugin is ended and waited for */		\
	W(kill, HELPER, 1, ~0u, SIGKILL, 0, 0, 0)				\
	W(wait4, HELPER, 0, 0, 0, 0, 0, 0)

/* Names of what is refused, for the log; others are logged by number. */
#ifdef __NR_fork
#define REFUSED_OLD(P)	P(fork) P(vfork) P(chmod) P(chown) P(lchown) P(link) P(symlink) P(mknod) P(rmdir)
#else
#define REFUSED_OLD(P)
#endif
#define SYSCALLS_REFUSED(P)							\
	P(execve) P(execveat) P(ptrace) P(process_vm_readv) P(process_vm_writev) P(kcmp)	\
	P(pidfd_open) P(pidfd_getfd) P(pidfd_send_signal) P(clone) P(clone3) P(wait4) P(waitid)	\
	P(socket) P(kill) P(tkill) P(tgkill) P(rt_sigqueueinfo) P(prctl) P(prlimit64) P(setrlimit)	\
	P(ioctl) P(fchmod) P(fchmodat) P(fchown) P(fchownat) P(linkat) P(symlinkat) P(mknodat)	\
	P(truncate) P(chdir) P(fchdir) P(chroot) P(pivot_root) P(mount) P(umount2) P(unshare) P(setns)	\
	P(setuid) P(setgid) P(setreuid) P(setregid) P(setresuid) P(setresgid) P(setgroups)	\
	P(setfsuid) P(setfsgid) P(capset) P(setsid) P(setpgid) P(setpriority) P(sched_setaffinity)	\
	P(sched_setscheduler) P(keyctl) P(add_key) P(request_key) P(bpf) P(perf_event_open)	\
	P(userfaultfd) P(memfd_create) P(io_uring_setup) P(io_uring_enter) P(io_uring_register)	\
	P(init_module) P(finit_module) P(delete_module) P(kexec_load) P(reboot) P(swapon)	\
	P(swapoff) P(syslog) P(acct) P(quotactl) P(settimeofday) P(clock_settime) P(adjtimex)	\
	P(sethostname) P(setdomainname) P(personality) P(seccomp) P(inotify_init1) P(fanotify_init)	\
	P(name_to_handle_at) P(open_by_handle_at) P(setxattr) P(shmget) P(msgget) P(semget) P(mq_open)

#endif
