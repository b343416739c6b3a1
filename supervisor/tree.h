/*
 * supervisor/tree.h - all children together: stages up, stages down, deadlines.
 *
 * Nothing here waits. The loop sets now_ms, hands over what happened, then calls tree_judge and
 * tree_advance, which check after every event whether something can go on. So no transition hides in
 * a handler.
 */
#ifndef MUSTER_TREE_H
#define MUSTER_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "child.h"
#include "spec.h"

/* What the command line decided; valid as long as the tree. */
struct tree_setup {
	const char		*config_path;	/* NULL: the default file, if it exists */
	const char		*config_text;	/* instead of a file: from the flags of another program */
	struct spec_search	 search;
	const char		*run_dir;
	bool			 level_fixed;	/* by --log-level: the file does not change it */
	enum log_format		 format;
};

struct tree {
	uint32_t		 magic;
#define TREE_MAGIC		0x54524545u
	struct tree_setup	 setup;
	struct config		*config;
	struct spec_set		*specs;
	struct child		 children[CHILD_MAX];
	struct child_deps	 deps;
	int			 epoll_fd;

	int64_t			 now_ms, started_ms;
	uint64_t		 random;	/* jitter */
	char			 instance[96];	/* this musterd among its replicas: the Lease names it */
	struct tally		 tally;
	uint64_t		 unknown_senders;	/* reports about senders without a session */

	bool			 announced;	/* every stage has been up once */
	bool			 changed;	/* something that the status shows */
	bool			 text_changed;	/* only the status text of an actor */
	int64_t			 status_sent_ms;

	bool			 stopping;
	int			 exit_code;
	int			 stop_stage;	/* the one being stopped; 0: none yet */
	int64_t			 stop_by_ms;
	bool			 killed_all;
};

/* Reads the configuration that the setup names; NULL with errs. */
struct config *tree_config(const struct tree_setup *setup, struct config_errors *errs);
/* Takes config and specs. */
struct tree *tree_new(const struct tree_setup *setup, int epoll_fd, int null_fd, struct config **config,
    struct spec_set **specs);
void tree_free(struct tree **tp);

/* Every child in turn, as a pointer that is const as the tree is. */
#define TREE_EACH(t, ch)							\
	for (__typeof__(&(t)->children[0]) ch = (t)->children; ch < (t)->children + CHILD_MAX; ch++)

struct child *tree_child(struct tree *t, enum role r);	/* NULL: no such child */
/* The log level of that child, of all with ROLE_ANY. */
void tree_set_level(struct tree *t, enum role r, enum log_level level);

void tree_start(struct tree *t);
/* Orderly, in stages; a second call kills what is left. */
void tree_stop(struct tree *t, int exit_code, const char *why);
bool tree_done(const struct tree *t);
/* Of the whole process, once done. */
int tree_exit_code(const struct tree *t);

void tree_judge(struct tree *t);
void tree_advance(struct tree *t);
/* The next moment at which tree_judge has something to do. */
int64_t tree_next_ms(const struct tree *t);
/* We were late ourselves: every deadline moves, every beat counts as just received. */
void tree_rearm(struct tree *t, int64_t late_ms);

/* The time of the stop stages after this one. */
int64_t tree_later_ms(const struct tree *t, int stop_stage);
const char *tree_state_name(const struct tree *t);

/* One step of the child's state machine and its action (act.c). */
void act_feed(struct child *ch, enum fsm_event e);

/* Tokens and the records to actors (peers.c). */
void peers_mint(struct child *consumer);	/* one token per producer that it may connect to */
void peers_wipe(struct child *consumer);
void peers_changed(struct child *about);	/* its incarnation, token or `bound` */
bool peers_boot(struct child *to);		/* every record of a new process, up to `go` */
void peers_flush(struct child *to);		/* the records that it has not got yet */
void peers_flush_all(struct tree *t);
bool peers_linked(const struct child *a, const struct child *b);	/* by a link, either way */
/* The consumer has an input from the producer, metrics aside. */
bool peers_reads(const struct child *consumer, const struct child *producer);

/* Records of actors (lifeline_in.c). */
void lifeline_in_ready(void *child, uint32_t events);
void lifeline_in_drain(struct child *ch);		/* everything still in the lifeline of a dead child */

/* Deaths (reap.c). */
void reap_children(struct tree *t);
void reap_spawn_failed(struct child *ch, int errnum);
/*
 * Sends SIGKILL to every process that an actor left behind: it has become a child of ours, whatever
 * session it moved to. False: there is none.
 */
bool reap_kill_orphans(struct tree *t);
void reap_all_orphans(struct tree *t);		/* the same until there is none, at the end */

/* SIGHUP (reload.c). NULL, or why the old configuration stays. */
const char *reload(struct tree *t);

/* The socket that `muster` talks to (control.c): one request line, one JSON line back. */
bool control_open(struct tree *t);		/* <run-dir>/control.sock; false with errno */
void control_close(void);
void control_expire(int64_t now_ms);		/* closes clients that send no request or read no answer */
int64_t control_next_ms(void);			/* INT64_MAX: no client */

/* Waiting, and handing on what happened (loop.c). */
void loop_block_signals(void);			/* before anything else, so that none is lost */
int loop_run(struct tree *t);			/* to the end of the tree; the exit code of the process */

/* The status as JSON (status.c); 0 when it does not fit. */
size_t status_json(const struct tree *t, char *buf, size_t size);

#endif
