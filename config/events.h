/*
 * config/events.h - a YAML file as a stream of events, limited to what a configuration needs.
 *
 * The event interface of libyaml is used, not the document one: an alias is refused where it
 * appears and never followed, so no file can grow in memory.
 */
#ifndef MUSTER_EVENTS_H
#define MUSTER_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "config.h"

struct events {
	yaml_event_t		 now;	/* the current one; who takes it leaves YAML_NO_EVENT */
	int			 depth;	/* of mappings and lists around it, itself included */
	bool			 ended;	/* nothing more can be read */
	yaml_parser_t		 yaml;
	const char		*text, *end;
	struct config_errors	*errs;
};

/* False with errs when the bytes are no text at all: then there is nothing to close. */
bool events_open(struct events *e, const char *text, size_t len, struct config_errors *errs);
void events_close(struct events *e);

/*
 * The next event; false, for good, when the YAML is broken, too deep, or the error list is full.
 * Anchors, aliases and tags are told to errs here; an alias then still arrives as a value, of which
 * there is nothing more to say.
 */
bool events_next(struct events *e);
/* To the last event of the current node: the end of its mapping or list, or itself. */
void events_skip(struct events *e);
int events_line(const struct events *e);
/* The current event for people: "a list". */
const char *events_kind(const struct events *e);
/* `key:` with nothing behind it, or a null by any of its YAML names. */
bool events_null(const struct events *e);

#endif
