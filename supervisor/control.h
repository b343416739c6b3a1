/* supervisor/control.h - the socket that `muster` talks to: one request line, one JSON line back. */
#ifndef MUSTER_CONTROL_H
#define MUSTER_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

struct tree;

/* Binds <run-dir>/control.sock; false with errno. */
bool control_open(struct tree *t);
void control_close(void);
/* Closes clients that send no request, or do not read their answer. */
void control_expire(int64_t now_ms);
int64_t control_next_ms(void);	/* INT64_MAX: no client */

#endif
