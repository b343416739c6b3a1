/*
 * actors/capa-annotator/catalogue.h - the instance types of each region, and when to read them again
 * (contract F3, F4, F8, F9). No clock, no I/O: time and pages come in.
 *
 *	find	 -> KNOWN, UNKNOWN, WAITING or FAILED, and remembers that the type is wanted
 *	next	 -> a region whose pages are due
 *	begin, (add* , page or page_failed)*, commit or fail
 *
 * Rules
 * - All pages of a region are read, one walk at a time per region; the catalogue changes only when the last
 *   page has been read. Until then, and when a walk fails, the previous catalogue answers.
 * - A catalogue is read again ttl_ms after its completion. What it has is answered for as long as there is
 *   no newer one; that a type does not exist can be stated only by one that is younger than ttl_ms and was
 *   not followed by a failed walk.
 * - A type that a catalogue does not have justifies one walk before that time, early_ms after the last one
 *   or later; one walk serves all types that wait for it. A walk that was under way when the type was first
 *   wanted counts as its walk.
 * - A walk with no type at all, with too many, too many pages, or a token twice is a failed walk.
 */
#ifndef MUSTER_CATALOGUE_H
#define MUSTER_CATALOGUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "msg.h"

enum {
	CATALOGUE_TTL_MS      = 24 * 60 * 60 * 1000,
	CATALOGUE_EARLY_MS    = 5 * 60 * 1000,
	CATALOGUE_REGIONS_MAX = 64,
	CATALOGUE_TYPES_MAX   = 8192,	/* in one region; there are about a thousand */
	CATALOGUE_PAGES_MAX   = 256,	/* of one walk */
	CATALOGUE_MISSING_MAX = 1024,	/* types wanted in one region that its catalogue does not have */
	CATALOGUE_NAME_MAX    = 64,	/* bytes of the name of a type */
	CATALOGUE_ERROR_MAX   = 256,
};

enum instance_arch { ARCH_AMD64, ARCH_ARM64 };
enum gpu_maker { GPU_NONE, GPU_NVIDIA, GPU_AMD, GPU_OTHER };

/* vcpus or memory_mib 0: EC2 has not given it. */
struct instance_type {
	uint32_t	vcpus, memory_mib, gpus;
	uint8_t		arch;		/* enum instance_arch */
	uint8_t		maker;		/* enum gpu_maker; GPU_OTHER also when makers differ */
};

enum catalogue_answer {
	CATALOGUE_KNOWN,
	CATALOGUE_UNKNOWN,	/* EC2 does not have it in this region */
	CATALOGUE_WAITING,	/* a walk is due or under way */
	CATALOGUE_FAILED,	/* the last walk failed, and what is there cannot answer */
};

struct catalogue_times {
	int64_t	ttl_ms, early_ms;
};

/* For metrics and `muster explain`. */
struct catalogue_state {
	uint32_t	 types;
	int64_t		 completed_ms;	/* -1: never */
	bool		 walking;
	uint32_t	 pages;		/* read in this walk */
	int64_t		 due_ms;	/* of the next walk */
	const char	*error;		/* of the last walk; "": it succeeded */
};

enum catalogue_page {
	CATALOGUE_MORE,		/* ask for the page of that token */
	CATALOGUE_LAST,		/* commit */
	CATALOGUE_BROKEN,	/* fail: the token came before, or there are too many pages */
};

/* A type that is new, gone, or has other figures, or that waited for this walk: its owners are reconciled. */
typedef void catalogue_changed(void *arg, struct wire_str type);

struct catalogue;

struct catalogue *catalogue_new(const struct catalogue_times *times);
void catalogue_free(struct catalogue **cp);

/* out is set when the answer is CATALOGUE_KNOWN. The region must be a valid one (aws_region_valid). */
enum catalogue_answer catalogue_find(struct catalogue *c, struct wire_str region, struct wire_str type,
    int64_t now_ms, struct instance_type *out);
/*
 * The region whose walk is due first. True: now, and *region is a view until the region is dropped. False:
 * none; *at_ms is when one will be, INT64_MAX: when something is wanted.
 */
bool catalogue_next(const struct catalogue *c, int64_t now_ms, struct wire_str *region, int64_t *at_ms);

/* The region has been wanted, and no walk of it is under way. */
void catalogue_begin(struct catalogue *c, struct wire_str region);
/* One type of a page. False: too many, or its name is too long: the walk fails. */
bool catalogue_add(
    struct catalogue *c, struct wire_str region, struct wire_str type, const struct instance_type *figures);
/* A page is complete; next_token "": it was the last. */
enum catalogue_page catalogue_page(struct catalogue *c, struct wire_str region, struct wire_str next_token);
/* The page was not read to its end: what it had is not kept, and it can be read again. */
void catalogue_page_failed(struct catalogue *c, struct wire_str region);
/* All pages are read. False: no type at all, and the walk has failed; it is due again after early_ms. */
bool catalogue_commit(struct catalogue *c, struct wire_str region, int64_t now_ms,
    catalogue_changed *changed, void *arg);
/* Also for an error before the first page. error is copied. */
void catalogue_fail(struct catalogue *c, struct wire_str region, int64_t retry_at_ms, const char *error);
/* Nothing names the region any more: it is not read again. Not while a walk is under way. */
void catalogue_drop(struct catalogue *c, struct wire_str region);

/* False: the region was never wanted. */
bool catalogue_state(const struct catalogue *c, struct wire_str region, struct catalogue_state *out);
size_t catalogue_bytes(const struct catalogue *c);	/* memory held, for bounds in tests and bench */

#endif
