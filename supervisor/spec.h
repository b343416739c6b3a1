/* supervisor/spec.h - what the configuration makes of the child table: checked at once and whole. */
#ifndef MUSTER_SPEC_H
#define MUSTER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "actors.h"
#include "config/config.h"
#include "needs.h"

enum { SPEC_PATHS_MAX = 12, SPEC_ERROR_MAX = 1024 };

/* A folder that this actor alone may enter: not the file, because Kubernetes swaps `..data` in it. */
struct spec_path {
	char	*dir;
	bool	 write, run;
};

struct child_spec {
	bool			 enabled;
	char			*program;	/* absolute */
	char			*config;	/* the flattened section */
	uint64_t		 data_limit;	/* bytes */
	struct spec_path	 paths[SPEC_PATHS_MAX];
	size_t			 npaths;
};

struct spec_set {
	uint32_t		 magic;
#define SPEC_SET_MAGIC		0x53504543u
	struct child_spec	 children[CHILD_MAX];
	int64_t			 beat_ms, stop_ms;
	bool			 confine;	/* Landlock */
	bool			 own_syscalls;	/* seccomp */
	bool			 change_user;
	uid_t			 uid;
	gid_t			 gid;
};

/* Where programs are searched, in this order; and who starts them. */
struct spec_search {
	const char	*dirs[2];
	uid_t		 euid;
};

/*
 * NULL with a text in err when the configuration cannot be run: what spec_actors refuses, a program that
 * is not there, a user that does not exist, root without supervisor.user. What was enabled because another
 * actor needs it is logged with the reason.
 */
struct spec_set *spec_load(const struct config *c, const struct spec_search *s, char *err, size_t size);
void spec_free(struct spec_set **sp);
/*
 * Which actors run: enabled, on by default, or needed by one of those. False with a text in err: one that is
 * needed is switched off, or a setting of another section does not allow one of them.
 */
bool spec_actors(const struct config *c, struct needs_answer *out, char *err, size_t size);

#endif
