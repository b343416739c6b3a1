/* supervisor/request.c - parses requests of the control socket. Pure; any bytes may come. */
#include "request.h"

#include <string.h>

#include "obj.h"

enum { WORDS_MAX = 3 };

struct words {
	char	text[WORDS_MAX][OBJECT_MAX + 1];
	size_t	count;
};

typedef const char *check(const struct words *, struct request *);
static check no_more, whose_level, which_actor, which_object;
static bool split(const char *, size_t, struct words *);

static const struct {
	const char	*name;
	check		*check;
} verbs[REQ_MAX] = {
	[REQ_STATUS]  = { "status",  no_more },
	[REQ_LEVEL]   = { "level",   whose_level },
	[REQ_RELOAD]  = { "reload",  no_more },
	[REQ_RESTART] = { "restart", which_actor },
	[REQ_EXPLAIN] = { "explain", which_object },
	[REQ_TRACE]   = { "trace",   which_object },
	[REQ_STOP]    = { "stop",    no_more },
};

const char *
request_parse(const char *line, size_t len, struct request *out)
{
	struct words w;

	*out = (struct request){ .role = ROLE_NONE };
	if (!split(line, len, &w))
		return "not a request: up to three words of printable text, each at most 384 bytes";
	for (unsigned i = 0; i < NITEMS(verbs); i++) {
		if (w.count > 0 && strcmp(w.text[0], verbs[i].name) == 0) {
			out->verb = (enum request_verb)i;
			return verbs[i].check(&w, out);
		}
	}
	return "unknown request; there are: status, level <actor|all> <level>, reload, restart <actor>, "
	       "explain <object>, trace <object>, stop";
}

static const char *
no_more(const struct words *w, struct request *out)
{
	(void)out;
	return w->count == 1 ? NULL : "this request takes no argument";
}

static const char *
whose_level(const struct words *w, struct request *out)
{
	if (w->count != 3)
		return "usage: level <actor|all> <debug|info|warn|error>";
	if (!log_level_parse(w->text[2], &out->level))
		return "unknown level; there are: debug, info, warn, error";
	if (strcmp(w->text[1], "musterd") == 0)
		return NULL;
	if (strcmp(w->text[1], "all") == 0) {
		out->role = ROLE_ANY;
		return NULL;
	}
	out->role = role_find(w->text[1], strlen(w->text[1]));
	return out->role == ROLE_NONE ? "no such actor" : NULL;
}

static const char *
which_actor(const struct words *w, struct request *out)
{
	if (w->count != 2)
		return "usage: restart <actor>";
	out->role = role_find(w->text[1], strlen(w->text[1]));
	return out->role == ROLE_NONE ? "no such actor" : NULL;
}

/* It goes into a record for every actor as it stands: names as Kubernetes allows them, and nothing else. */
static const char *
which_object(const struct words *w, struct request *out)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789.-";
	const char *at = w->text[1];
	int parts = 0;

	if (w->count != 2)
		return "usage: explain|trace <resource>/<name>";
	for (;; at++) {
		const size_t len = strspn(at, allowed);

		at += len;
		if (len == 0 || ++parts > 3 || (*at != '/' && *at != '\0'))
			return "not an object: <resource>/<name> or <resource>/<namespace>/<name>, "
			       "in lower case";
		if (*at == '\0')
			break;
	}
	if (parts < 2)
		return "not an object: a name is missing behind the resource, as in nodes/worker-1";
	memcpy(out->object, w->text[1], strlen(w->text[1]) + 1);
	return NULL;
}

/* Words between single or repeated spaces; a carriage return at the end is forgiven (telnet, nc -C). */
static bool
split(const char *line, size_t len, struct words *w)
{
	w->count = 0;
	if (len > 0 && line[len - 1] == '\r')
		len--;
	for (size_t i = 0; i < len;) {
		if (line[i] == ' ') {
			i++;
			continue;
		}
		if (w->count == WORDS_MAX)
			return false;
		char *const text = w->text[w->count++];
		size_t n = 0;
		for (; i < len && line[i] != ' '; i++) {
			if (n == OBJECT_MAX || line[i] < '!' || line[i] > '~')
				return false;
			text[n++] = line[i];
		}
		text[n] = '\0';
	}
	return true;
}
