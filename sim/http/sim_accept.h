/* sim/http/sim_accept.h - the form of an answer that the client accepts. Pure. */
#ifndef MUSTER_SIM_ACCEPT_H
#define MUSTER_SIM_ACCEPT_H

#include <stdbool.h>
#include <stddef.h>

/* A form of JSON we can write: application/json;as=AS;g=GROUP;v=VERSION. `as` "": plain. */
struct sim_media_form {
	const char	*as, *group, *version;
};

/*
 * The index of the form that the first acceptable clause of the header names; -1: none (406). No
 * header: plain.
 */
int sim_accept_choose(const char *header, const struct sim_media_form *forms, size_t n);
/* Does Accept-Encoding allow gzip? */
bool sim_accept_gzip(const char *header);

#endif
