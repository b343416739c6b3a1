/*
 * actors/runtime/boot.c - records of the supervisor. They come from a trusted parent; a mistake is
 * still reported by name.
 */
#include "boot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "keytab.h"
#include "lifeline.h"
#include "obj.h"

struct settings {
	uint32_t	 magic;
#define SETTINGS_MAGIC	0x53455421u
	struct keytab	*keys;		/* char *: the value */
};

typedef bool field_fn(const char *value, struct boot *out);
static field_fn set_name, set_incarnation, set_run_dir, set_level, set_format, set_beat, set_instance;
static field_fn set_syscalls;
static bool parse_u64(const char *, uint64_t *);
static bool parse_token(const char *, struct secret *);
static int hex_digit(char);

static const struct {
	const char	*key;
	field_fn	*set;
} fields[] = {
	{ "name",        set_name        },
	{ "incarnation", set_incarnation },
	{ "run-dir",     set_run_dir     },
	{ "level",       set_level       },
	{ "format",      set_format      },
	{ "beat-ms",     set_beat        },
	{ "instance",    set_instance    },
	{ "syscalls",    set_syscalls    },
};

const char *
boot_parse(char *record, struct boot *out)
{
	unsigned seen = 0;
	char *save = NULL;

	*out = (struct boot){ 0 };
	const char *word = strtok_r(record, " ", &save);
	if (word == NULL || strcmp(word, "boot") != 0)
		return "the first record is not `boot`";
	for (char *pair = strtok_r(NULL, " ", &save); pair != NULL; pair = strtok_r(NULL, " ", &save)) {
		char *value = strchr(pair, '=');
		size_t i = 0;

		if (value == NULL)
			return "boot record: a word without `=`";
		*value++ = '\0';
		while (i < NITEMS(fields) && strcmp(fields[i].key, pair) != 0)
			i++;
		if (i == NITEMS(fields))
			return "boot record: unknown key";
		if (!fields[i].set(value, out))
			return fields[i].key;
		seen |= 1u << i;
	}
	return seen == (1u << NITEMS(fields)) - 1 ? NULL : "boot record: a key is missing";
}

const char *
boot_parse_peer(char *record, struct boot_peer *out)
{
	static const char *const states[] = { [PEER_DOWN] = "down", [PEER_UP] = "up", [PEER_OFF] = "off" };
	enum { WORDS = 6 };
	char *word[WORDS + 1], *save = NULL;
	size_t n = 0;

	*out = (struct boot_peer){ 0 };
	for (char *w = strtok_r(record, " ", &save); w != NULL && n < NITEMS(word);
	     w = strtok_r(NULL, " ", &save))
		word[n++] = w;
	if (n != WORDS)
		return "peer record: needs role, incarnation, two tokens, state";
	out->role = role_find(word[1], strlen(word[1]));
	if (out->role == ROLE_NONE)
		return "peer record: unknown role";
	if (!parse_u64(word[2], &out->incarnation))
		return "peer record: incarnation is not a number";
	if (!parse_token(word[3], &out->expected) || !parse_token(word[4], &out->presented))
		return "peer record: token is not hexadecimal of the right length";
	for (size_t s = 0; s < NITEMS(states); s++) {
		if (strcmp(word[5], states[s]) == 0) {
			out->state = (enum peer_state)s;
			return NULL;
		}
	}
	return "peer record: state is none of up, down, off";
}

struct settings *
settings_parse(const char *lines)
{
	struct settings *s;

	OBJ_NEW(s, SETTINGS_MAGIC);
	s->keys = keytab_new(sizeof(char *));
	while (*lines != '\0') {
		const size_t len = strcspn(lines, "\n");
		const char *eq = memchr(lines, '=', len);

		if (eq != NULL) {
			const uint32_t id = keytab_add(s->keys, lines, (size_t)(eq - lines), NULL);
			char **const value = keytab_value(s->keys, id);

			free(*value);
			*value = obj_strndup(eq + 1, (size_t)(lines + len - eq) - 1);
		}
		lines += len + (lines[len] == '\n');
	}
	return s;
}

void
settings_free(struct settings **sp)
{
	struct settings *s;

	if (*sp == NULL)
		return;
	OBJ_TAKE(s, sp, SETTINGS_MAGIC);
	KEYTAB_EACH(s->keys, id)
		free(*(char **)keytab_value(s->keys, id));
	keytab_free(&s->keys);
	OBJ_FREE(s);
}

const char *
settings_get(const struct settings *s, const char *key)
{
	const uint32_t id = keytab_find(s->keys, key, strlen(key));

	return id == KEYTAB_NONE ? NULL : *(char **)keytab_value(s->keys, id);
}

/* ---- The fields of `boot` ---- */

static bool
set_name(const char *value, struct boot *out)
{
	out->role = role_find(value, strlen(value));
	return out->role != ROLE_NONE;
}

static bool
set_incarnation(const char *value, struct boot *out)
{
	return parse_u64(value, &out->incarnation) && out->incarnation > 0;
}

static bool
set_run_dir(const char *value, struct boot *out)
{
	const size_t len = strlen(value);

	if (value[0] != '/' || len >= sizeof(out->run_dir))
		return false;
	memcpy(out->run_dir, value, len + 1);
	return true;
}

static bool
set_level(const char *value, struct boot *out)
{
	return log_level_parse(value, &out->level);
}

static bool
set_format(const char *value, struct boot *out)
{
	out->format = strcmp(value, "console") == 0 ? LOG_CONSOLE : LOG_JSON;
	return out->format == LOG_CONSOLE || strcmp(value, "json") == 0;
}

static bool
set_beat(const char *value, struct boot *out)
{
	uint64_t ms;

	if (!parse_u64(value, &ms) || ms == 0 || ms > INT32_MAX)
		return false;
	out->beat_ms = (int64_t)ms;
	return true;
}

/* It will stand in a Lease and in Events: at most 128 characters, and none that needs quoting. */
static bool
set_instance(const char *value, struct boot *out)
{
	const size_t len = strlen(value);
	const size_t good =
	    strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	if (len == 0 || good != len || len >= sizeof(out->instance))
		return false;
	memcpy(out->instance, value, len + 1);
	return true;
}

/* "any", or "own" and the names of sets, between commas. */
static bool
set_syscalls(const char *value, struct boot *out)
{
	static const struct {
		const char	*name;
		unsigned	 bit;
	} sets[] = {
		{ "own", SYSCALL_SET_OWN },
#define SET_ROW(ID, text, bit_) { text, SYSCALL_SET_##ID },
		SYSCALL_SETS(SET_ROW)
	};

	out->syscalls = 0;
	if (strcmp(value, "any") == 0)
		return true;
	for (;;) {
		const size_t len = strcspn(value, ",");
		size_t i = 0;

		while (i < NITEMS(sets)
		    && (strlen(sets[i].name) != len || memcmp(sets[i].name, value, len) != 0))
			i++;
		if (i == NITEMS(sets))
			return false;
		out->syscalls |= sets[i].bit;
		if (value[len] == '\0')
			return (out->syscalls & SYSCALL_SET_OWN) != 0;
		value += len + 1;
	}
}

static bool
parse_u64(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
}

/* "-": there is none. */
static bool
parse_token(const char *hex, struct secret *out)
{
	if (strcmp(hex, "-") == 0)
		return true;
	if (strlen(hex) != TOKEN_HEX)
		return false;
	for (size_t i = 0; i < TOKEN_BYTES; i++) {
		const int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);

		if (high < 0 || low < 0)
			return false;
		out->bytes[i] = (uint8_t)(high << 4 | low);
	}
	out->len = TOKEN_BYTES;
	return true;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
