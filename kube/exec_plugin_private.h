/* kube/exec_plugin_private.h - the messages between an actor and its helper. */
#ifndef MUSTER_EXEC_PLUGIN_PRIVATE_H
#define MUSTER_EXEC_PLUGIN_PRIVATE_H

#include <stdint.h>
#include <sys/types.h>

/* Everything a run needs; the helper gets it by being forked. */
struct exec_run {
	const char *command, *hint;	/* hint or NULL */
	char	**argv, **envp;
	int64_t	  timeout_ms;
};

/*
 * actor -> helper: one byte, "run it". helper -> actor: this and len bytes (output of the plugin,
 * or what went wrong). Both are one program on one machine: no byte order, no version.
 */
enum { EXEC_RUN = 'r' };
struct exec_head {
	uint32_t	failed;
	uint32_t	len;
};

/* In the helper. Does not return. */
_Noreturn void exec_helper(const struct exec_run *run, int fd, pid_t parent);

#endif
