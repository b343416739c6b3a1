/* base/log_repeat.c - counts lines that are equal. Pure: no clock, no write, no allocation. */
#include "log_repeat.h"

#include <limits.h>
#include <string.h>

#include "keytab.h"

static struct repeat *entry(struct repeats *, uint64_t);
static void make_room(struct repeats *);
static void keep(struct repeat *, enum log_level, int, const char *, const struct log_kv *);
static uint64_t fingerprint(enum log_level, int, const char *, const struct log_kv *);

bool
repeats_hold(struct repeats *rs, enum log_level level, int errnum, const char *msg, const struct log_kv *kvs,
    int64_t now_ms)
{
	const uint64_t hash = fingerprint(level, errnum, msg, kvs);
	struct repeat *const r = entry(rs, hash);

	if (r == NULL)
		return false;
	if (r->hash != hash)
		*r = (struct repeat){ .hash = hash, .since_ms = now_ms };
	r->seen++;
	if (r->seen == REPEAT_FREE + 1) {
		keep(r, level, errnum, msg, kvs);
		make_room(rs);
	}
	return r->seen > REPEAT_FREE;
}

const struct repeat *
repeats_take(struct repeats *rs, int64_t now_ms)
{
	for (size_t i = 0; i < REPEAT_LINES; i++) {
		struct repeat *const r = &rs->lines[i];

		if (r->hash == 0 || (!r->due && now_ms - r->since_ms < REPEAT_WINDOW_MS))
			continue;
		r->hash = 0;
		if (r->seen <= REPEAT_FREE)
			continue;
		for (struct log_kv *kv = r->kvs; kv->type != LOG_END; kv++) {
			if (kv->key == LK_REPEATED)
				kv->num = r->seen - REPEAT_FREE;
		}
		return r;
	}
	return NULL;
}

/*
 * The line's own entry, else a free one, else that of the rarest line that is not being held back,
 * else NULL.
 */
static struct repeat *
entry(struct repeats *rs, uint64_t hash)
{
	struct repeat *best = NULL;
	uint32_t fewest = REPEAT_FREE + 1;

	for (size_t i = 0; i < REPEAT_LINES; i++) {
		struct repeat *const r = &rs->lines[i];

		if (r->hash == hash)
			return r;
		const uint32_t seen = r->hash == 0 ? 0 : r->seen;

		if (seen < fewest) {
			best = r;
			fewest = seen;
		}
	}
	return best;
}

/* With all of them held back a new line would pass as often as it liked. */
static void
make_room(struct repeats *rs)
{
	struct repeat *oldest = &rs->lines[0];

	for (size_t i = 0; i < REPEAT_LINES; i++) {
		struct repeat *const r = &rs->lines[i];

		if (r->hash == 0 || r->seen <= REPEAT_FREE)
			return;
		if (r->since_ms < oldest->since_ms)
			oldest = r;
	}
	oldest->due = true;
}

/* The caller's keys are gone when the summary is logged: copy them, cutting what is long. */
static void
keep(struct repeat *r, enum log_level level, int errnum, const char *msg, const struct log_kv *kvs)
{
	size_t n = 0, used = 0;

	r->level = level;
	r->errnum = errnum;
	r->msg = msg;
	for (; kvs->type != LOG_END && n < REPEAT_KEYS; kvs++, n++) {
		r->kvs[n] = *kvs;
		if (kvs->type != LOG_STR || kvs->str == NULL)
			continue;
		const size_t room = sizeof(r->text) - used;
		const size_t len = strnlen(kvs->str, kvs->len < room ? kvs->len : room);

		memcpy(r->text + used, kvs->str, len);
		r->kvs[n].str = r->text + used;
		r->kvs[n].len = len;
		used += len;
	}
	r->kvs[n] = (struct log_kv)KV_I(REPEATED, 0);
	r->kvs[n + 1] = (struct log_kv){ .type = LOG_END };
}

static uint64_t
fingerprint(enum log_level level, int errnum, const char *msg, const struct log_kv *kvs)
{
	const int64_t start[] = { level, errnum };
	uint64_t h = hash64_more(hash64(start, sizeof(start)), msg, strlen(msg));

	for (; kvs->type != LOG_END; kvs++) {
		const int64_t fact[] = { kvs->key, kvs->type == LOG_INT ? kvs->num : 0 };

		h = hash64_more(h, fact, sizeof(fact));
		if (kvs->type == LOG_STR && kvs->str != NULL)
			h = hash64_more(h, kvs->str,
			    strnlen(kvs->str, kvs->len < PIPE_BUF ? kvs->len : PIPE_BUF));
	}
	return h != 0 ? h : 1;
}
