/* sim/provider/sim_provider_parts.c - paths, pages and limits of a provider API. */
#include "sim_provider_parts.h"

#include <errno.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "keytab.h"
#include "obj.h"

struct limit_window {
	int64_t	since_ms, used;
};
struct limit_rate {
	int64_t	limit, window_ms;
};

struct sim_provider_limits {
	uint32_t	 magic;
#define LIMITS_MAGIC	0x4c494d54u
	struct keytab	*windows;	/* of "BUCKET TOKEN" */
	struct keytab	*set;		/* by bucket, in place of that of its classes */
};

static bool is_word_of(const char *, const char *, size_t);
static bool take_segment(const char *, size_t, struct sim_provider_args *, size_t, size_t *);
static bool read_number(const char *, size_t, size_t, size_t, size_t *);

bool
sim_provider_path_fits(const char *pattern, const char *path, struct sim_provider_args *args)
{
	size_t n = 0, used = 0;

	*args = (struct sim_provider_args){ .of = { NULL } };
	for (;;) {
		const size_t wanted = strcspn(pattern, "/ "), len = strcspn(path, "/");

		if (pattern[0] == '{') {
			if (!take_segment(path, len, args, n++, &used) || !is_word_of(pattern, path, len))
				return false;
		} else if (wanted != len || strncmp(pattern, path, len) != 0) {
			return false;
		}
		pattern += wanted;
		path += len;
		const bool over = *pattern == '\0' || *pattern == ' ';
		if (over || *path == '\0')
			return over && *path == '\0';
		pattern++;
		path++;
	}
}

bool
sim_provider_form_fits(const char *pattern, const json_t *form)
{
	const char *const field = strchr(pattern, ' ');

	if (field == NULL)
		return true;
	const size_t len = strcspn(field + 1, "=");
	const char *const value = json_string_value(json_object_getn(form, field + 1, len));
	return value != NULL && strcmp(value, field + 1 + len + 1) == 0;
}

json_t *
sim_provider_read_form(const char *text)
{
	struct evkeyvalq fields;
	const struct evkeyval *field;
	json_t *form = json_object();

	TAILQ_INIT(&fields);
	evhttp_parse_query_str(text, &fields);
	TAILQ_FOREACH(field, &fields, next)
		json_object_set_new(form, field->key, json_string(field->value));
	evhttp_clear_headers(&fields);
	return form;
}

bool
sim_provider_page_by_number(struct sim_provider_page *p, size_t results, const char *page,
    const char *page_size, const struct sim_provider_page_sizes *sizes)
{
	size_t number, size;

	if (!read_number(page, 1, 1, SIZE_MAX, &number)
	    || !read_number(page_size, sizes->usual, sizes->least, sizes->most, &size))
		return false;
	const size_t pages = results == 0 ? 1 : (results + size - 1) / size;
	const size_t first = number > pages ? results : (number - 1) * size;
	const size_t left = results - first;
	*p = (struct sim_provider_page){ .first = first, .n = left < size ? left : size, .page = number,
		.pages = pages };
	return true;
}

bool
sim_provider_page_by_offset(struct sim_provider_page *p, size_t results, const char *offset,
    const char *limit, const struct sim_provider_page_sizes *sizes)
{
	size_t first, size;

	if (!read_number(offset, 0, 0, SIZE_MAX, &first)
	    || !read_number(limit, sizes->usual, sizes->least, sizes->most, &size))
		return false;
	first = first < results ? first : results;
	const size_t left = results - first;
	*p = (struct sim_provider_page){ .first = first, .n = left < size ? left : size };
	return true;
}

json_t *
sim_provider_slice(const json_t *list, const struct sim_provider_page *p)
{
	json_t *const out = json_array();

	for (size_t i = 0; i < p->n; i++)
		json_array_append(out, json_array_get(list, p->first + i));
	return out;
}

struct sim_provider_limits *
sim_provider_limits_new(void)
{
	struct sim_provider_limits *l;

	OBJ_NEW(l, LIMITS_MAGIC);
	l->windows = keytab_new(sizeof(struct limit_window));
	l->set = keytab_new(sizeof(struct limit_rate));
	return l;
}

void
sim_provider_limits_free(struct sim_provider_limits **lp)
{
	struct sim_provider_limits *l;

	if (*lp == NULL)
		return;
	OBJ_TAKE(l, lp, LIMITS_MAGIC);
	keytab_free(&l->windows);
	keytab_free(&l->set);
	OBJ_FREE(l);
}

void
sim_provider_limits_set(struct sim_provider_limits *l, const char *bucket, int64_t limit, int64_t window_ms)
{
	const uint32_t at = keytab_add(l->set, bucket, strlen(bucket), NULL);

	*(struct limit_rate *)keytab_value(l->set, at) = (struct limit_rate){ limit, window_ms };
}

struct sim_provider_quota
sim_provider_limits_take(struct sim_provider_limits *l, const struct sim_provider_class *class,
    const char *token, int64_t now_ms)
{
	const char *const bucket = class->bucket != NULL ? class->bucket : class->name;
	const uint32_t set = keytab_find(l->set, bucket, strlen(bucket));
	const struct limit_rate rate = set == KEYTAB_NONE
	    ? (struct limit_rate){ class->limit, class->window_ms }
	    : *(const struct limit_rate *)keytab_value(l->set, set);

	if (rate.limit == 0)
		return (struct sim_provider_quota){ .limit = 0 };
	json_auto_t *key = json_sprintf("%s %s", bucket, token);
	bool added;
	const uint32_t id = keytab_add(l->windows, json_string_value(key), json_string_length(key), &added);
	struct limit_window *const w = keytab_value(l->windows, id);
	if (added || now_ms >= w->since_ms + rate.window_ms)
		*w = (struct limit_window){ .since_ms = now_ms };
	const bool refused = w->used >= rate.limit;
	w->used += !refused;
	return (struct sim_provider_quota){ .limit = rate.limit,
		.remaining = rate.limit > w->used ? rate.limit - w->used : 0,
		.reset_ms = w->since_ms + rate.window_ms - now_ms, .refused = refused };
}

bool
sim_provider_set_number(const struct sim_provider_setting *all, size_t n, void *settings, const char *name,
    const json_t *value)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(all[i].name, name) != 0 || !json_is_integer(value)
		    || json_integer_value(value) < all[i].least || json_integer_value(value) > all[i].most)
			continue;
		char *const to = (char *)settings + all[i].offset;
		*(int64_t *)(uintptr_t)to = json_integer_value(value);
		return true;
	}
	return false;
}

/* Of {A|B}; {NAME} allows every word. */
static bool
is_word_of(const char *pattern, const char *word, size_t len)
{
	const size_t end = strcspn(pattern, "}");

	if (memchr(pattern, '|', end) == NULL)
		return true;
	for (const char *p = pattern; *p != '}'; p += strcspn(p + 1, "|}") + 1) {
		if (strcspn(p + 1, "|}") == len && strncmp(p + 1, word, len) == 0)
			return true;
	}
	return false;
}

/* Decoded into args->text; a NUL inside would end it early and name something else. */
static bool
take_segment(const char *segment, size_t len, struct sim_provider_args *args, size_t n, size_t *used)
{
	char raw[PROVIDER_ARG_BYTES];
	size_t decoded_len;

	if (len == 0 || len >= sizeof(raw) || n == PROVIDER_ARGS_MAX)
		return false;
	memcpy(raw, segment, len);
	raw[len] = '\0';
	char *const decoded = evhttp_uridecode(raw, 0, &decoded_len);
	MUST(decoded != NULL);
	const bool fits = strlen(decoded) == decoded_len && *used + decoded_len < sizeof(args->text);
	if (fits) {
		args->of[n] = memcpy(args->text + *used, decoded, decoded_len + 1);
		*used += decoded_len + 1;
	}
	free(decoded);
	return fits;
}

static bool
read_number(const char *text, size_t absent, size_t least, size_t most, size_t *number)
{
	char *end;

	*number = absent;
	if (text == NULL)
		return true;
	errno = 0;
	*number = strtoul(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *number >= least
	    && *number <= most;
}
