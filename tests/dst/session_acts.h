/* tests/dst/session_acts.h - the actions in the world of one link, besides the turns of its nodes. */
#ifndef MUSTER_SESSION_ACTS_H
#define MUSTER_SESSION_ACTS_H

#include "world_session.h"

void act(struct session_world *w);		/* anything: the store, a node, a connection */
void act_on_store(struct session_world *w);	/* one random change of the truth */
uint32_t act_draw_only(struct session_world *w);
void act_create(struct session_world *w, uint32_t i);

void world_cut(struct session_world *w, uint32_t i);
void world_restart_soon(struct session_world *w, uint32_t who);	/* CONSUMERS_MAX: the producer */

#endif
