/* actors/runtime/boot.h - records of the supervisor (lifeline.h), from text to checked structs. */
#ifndef MUSTER_BOOT_H
#define MUSTER_BOOT_H

#include <stdbool.h>
#include <stdint.h>

#include "bus.h"
#include "log.h"
#include "roles.h"

struct boot {
	enum role	 role;
	uint64_t	 incarnation;
	char		 run_dir[108];
	enum log_level	 level;
	enum log_format	 format;
	int64_t		 beat_ms;
	char		 instance[129];
	unsigned	 syscalls;	/* bits of enum syscall_set; 0: any call */
};

struct boot_peer {
	enum role	 role;
	uint64_t	 incarnation;
	struct secret	 expected, presented;	/* see bus_peer; len 0: none */
	enum peer_state	 state;
};

/* Each takes a record and writes into it. NULL: fine; else what is wrong (never with a token in it). */
const char *boot_parse(char *record, struct boot *out);
const char *boot_parse_peer(char *record, struct boot_peer *out);

/* The actor's configuration section: key=value lines. */
struct settings;
struct settings *settings_parse(const char *lines);
void settings_free(struct settings **sp);
const char *settings_get(const struct settings *s, const char *key);	/* NULL: no such key */

#endif
