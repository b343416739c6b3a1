/* supervisor/loop.h - waits, and hands on what happened. */
#ifndef MUSTER_LOOP_H
#define MUSTER_LOOP_H

struct tree;

/* Blocks the signals that the loop reads: before anything else, so that none is lost. */
void loop_block_signals(void);
/* Runs the tree to its end; the exit code of the process. */
int loop_run(struct tree *t);

#endif
