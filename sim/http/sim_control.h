/*
 * sim/http/sim_control.h - the control endpoint: faults, audit, history, world. JSON over HTTP;
 * docs/simulator.md.
 */
#ifndef MUSTER_SIM_CONTROL_H
#define MUSTER_SIM_CONTROL_H

struct evhttp_request;

/* arg is the struct simulator. A sim_server_handler. */
void sim_control_serve(struct evhttp_request *req, void *arg);

#endif
