/*
 * sim/provider/sim_provider_parts.h - what any provider API does with a path, a list and a call too
 * many. Pure: the time comes in.
 */
#ifndef MUSTER_SIM_PROVIDER_PARTS_H
#define MUSTER_SIM_PROVIDER_PARTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROVIDER_ARGS_MAX = 4, PROVIDER_ARG_BYTES = 512 };

/* The segments of a path that a pattern leaves open, decoded. */
struct sim_provider_args {
	const char	*of[PROVIDER_ARGS_MAX];
	char		 text[PROVIDER_ARG_BYTES];
};

/* "/{v1|v2}/pools/{pool}": {NAME} is one segment, which is not empty; {A|B} is one of those words. */
bool sim_provider_path_fits(const char *pattern, const char *path, struct sim_provider_args *args);
/* "/ Action=List": what follows a blank is a field of the form and its value; no blank: any form fits. */
bool sim_provider_form_fits(const char *pattern, const json_t *form);
/* A form as an object of texts. A new reference. */
json_t *sim_provider_read_form(const char *text);

/* What a page of a list has; n is 0 behind the last one. */
struct sim_provider_page {
	size_t	first, n;
	size_t	page, pages;		/* from 1; of a list by offset 0 */
};
struct sim_provider_page_sizes {
	size_t	usual, least, most;
};

/* ?page=2&page_size=100, each NULL where it is not given. False: not such a number. */
bool sim_provider_page_by_number(struct sim_provider_page *p, size_t results, const char *page,
    const char *page_size, const struct sim_provider_page_sizes *sizes);
/* ?offset=100&limit=50. */
bool sim_provider_page_by_offset(struct sim_provider_page *p, size_t results, const char *offset,
    const char *limit, const struct sim_provider_page_sizes *sizes);
/* The elements of that page. A new reference. */
json_t *sim_provider_slice(const json_t *list, const struct sim_provider_page *p);

/* So many calls per window, of each token for itself; a window begins with its first call. */
struct sim_provider_class {
	const char	*name;
	int64_t		 limit;		/* 0: none */
	int64_t		 window_ms;
	const char	*bucket;	/* classes of one bucket share that limit; NULL: its name */
};
struct sim_provider_quota {
	int64_t	limit, remaining;	/* limit 0: there is none */
	int64_t	reset_ms;		/* until the window ends */
	bool	refused;
};

struct sim_provider_limits;
struct sim_provider_limits *sim_provider_limits_new(void);
void sim_provider_limits_free(struct sim_provider_limits **lp);
/* From now on in place of what the classes of the bucket have. */
void sim_provider_limits_set(struct sim_provider_limits *l, const char *bucket, int64_t limit,
    int64_t window_ms);
struct sim_provider_quota sim_provider_limits_take(struct sim_provider_limits *l,
    const struct sim_provider_class *class, const char *token, int64_t now_ms);

/* A number of a model that tests may set, an int64_t at that offset, and what it may be. */
struct sim_provider_setting {
	const char	*name;
	size_t		 offset;
	int64_t		 least, most;
};
/* False: none of the settings has that name, or the value is none for it. */
bool sim_provider_set_number(const struct sim_provider_setting *all, size_t n, void *settings,
    const char *name, const json_t *value);

#endif
