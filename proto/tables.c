/* proto/tables.c - the schema's tables as data: roles, messages, links, and one hash over all of it. */
#include <stdio.h>
#include <string.h>

#include "keytab.h"
#include "links.h"
#include "msg.h"
#include "obj.h"
#include "roles.h"
#include "writes.h"

/* Of a field's type: it may have to be hidden; it holds another message. */
#define SECRET_str	0
#define SECRET_bin	0
#define SECRET_u64	0
#define SECRET_i64	0
#define SECRET_f64	0
#define SECRET_flag	0
#define SECRET_nums	0
#define SECRET_map	0
#define SECRET_rows	0
#define SECRET_resource	0
#define SECRET_number	0
#define SECRET_secret	1
#define SECRET_object	1
#define SECRET_value	2
#define IS_SECRET(type, name, ...)	|| SECRET_##type > 0
#define NESTS(type, name, ...)		|| SECRET_##type == 2
#define MANY_ONE	false
#define MANY_MANY	true
#define GATE_BESIDE	false
#define GATE_GATING	true
#define WRITES_READS	false
#define WRITES_WRITES	true

static const char *const role_names[ROLE_MAX] = {
#define ROLE_ROW(ID, name) [ROLE_##ID] = (name),
	ROLES(ROLE_ROW)
};

const struct msg_row msg_table[MSG_MAX] = {
#define MSG_ROW(ID, body, num, many_, ...) [MSG_##ID] = {			\
		.name = #ID, .number = (num), .many = MANY_##many_,		\
		.secret = false body##_FIELDS(IS_SECRET), .nests = false body##_FIELDS(NESTS) },
	MESSAGES(MSG_ROW)
};

const struct link_row link_table[LINK_MAX] = {
#define LINK_ROW(ID, name_, binder_, connectors_, values_, gating_, writes_) [LINK_##ID] = {	\
		.name = (name_), .binder = ROLE_##binder_, .connectors = (connectors_),		\
		.values = (values_), .gating = GATE_##gating_, .writes = WRITES_##writes_ },
	LINKS(LINK_ROW)
};

/* The text of every line that gives bytes a meaning; its hash is what peers compare. */
static const char schema_text[] =
#define TEXT_FIELD(type, name, ...)		#type " " #name " " #__VA_ARGS__ ","
#define TEXT_BODY(body)				#body "{" body##_FIELDS(TEXT_FIELD) "}"
#define TEXT_MESSAGE(ID, body, num, many, ...)	#ID "=" #body " " #num " " #many " " #__VA_ARGS__ ";"
#define TEXT_LINK(ID, name, binder, connectors, values, gating, writes)			\
	name ":" #binder " " #values " " #writes ";"
#define TEXT_NAMED(ID, name, ...)		#ID " " name ";"
    BODIES(TEXT_BODY) MESSAGES(TEXT_MESSAGE) LINKS(TEXT_LINK)
    OPS(TEXT_NAMED) OUTCOMES(TEXT_NAMED) KIND_STATES(TEXT_NAMED);

uint64_t
msg_schema_hash(void)
{
	static uint64_t hash;

	if (hash == 0)
		hash = hash64(schema_text, sizeof(schema_text) - 1);
	return hash;
}

const char *
role_name(enum role r)
{
	return (unsigned)r < ROLE_MAX ? role_names[r] : "?";
}

enum role
role_find(const char *name, size_t len)
{
	for (unsigned r = 0; r < ROLE_MAX; r++) {
		if (strlen(role_names[r]) == len && memcmp(role_names[r], name, len) == 0)
			return (enum role)r;
	}
	return ROLE_NONE;
}

const char *
msg_name(enum msg m)
{
	return (unsigned)m < MSG_MAX ? msg_table[m].name : "?";
}

enum msg
msg_find(const char *name, size_t len)
{
	for (unsigned m = 0; m < MSG_MAX; m++) {
		if (strlen(msg_table[m].name) == len && memcmp(msg_table[m].name, name, len) == 0)
			return (enum msg)m;
	}
	return MSG_MAX;
}

enum msg
msg_by_number(uint64_t number)
{
	static const uint8_t ids[] = {	/* and 1, so that a number without a message has 0 */
#define NUMBER_ROW(ID, body, num, ...) [num] = MSG_##ID + 1,
		MESSAGES(NUMBER_ROW)
	};

	return number < NITEMS(ids) && ids[number] != 0 ? (enum msg)(ids[number] - 1) : MSG_MAX;
}

bool
link_binds(enum link l, enum role r)
{
	return link_table[l].binder == r || link_table[l].binder == ROLE_ANY;
}

bool
link_connects(enum link l, enum role r)
{
	return (unsigned)r < ROLE_MAX && (link_table[l].connectors >> r & 1) != 0;
}

bool
link_carries(enum link l, enum msg m)
{
	return (unsigned)m < MSG_MAX && (link_table[l].values >> m & 1) != 0;
}

bool
link_answers(enum link l, enum msg m)
{
	return link_table[l].writes && (link_carries(l, m) || m == MSG_RAW);
}

bool
link_may_hide(enum link l, enum msg m)
{
	if (!msg_table[m].nests)
		return msg_table[m].secret;
	for (unsigned v = 0; v < MSG_MAX; v++) {
		if (msg_table[v].secret && (link_carries(l, (enum msg)v) || link_answers(l, (enum msg)v)))
			return true;
	}
	return false;
}

enum link
link_find(const char *name, size_t len)
{
	for (unsigned l = 0; l < LINK_MAX; l++) {
		if (strlen(link_table[l].name) == len && memcmp(link_table[l].name, name, len) == 0)
			return (enum link)l;
	}
	return LINK_MAX;
}

bool
link_path(char *buf, size_t size, const char *run_dir, enum link l, enum role binder)
{
	const int n = snprintf(buf, size, "%s/%s/%s.ipc", run_dir, role_name(binder), link_table[l].name);

	return n > 0 && (size_t)n < size && n <= LINK_PATH_MAX;
}

bool
tap_path(char *buf, size_t size, const char *run_dir, enum role r)
{
	const int n = snprintf(buf, size, "%s/%s/tap.ipc", run_dir, role_name(r));

	return n > 0 && (size_t)n < size && n <= LINK_PATH_MAX;
}

size_t
tap_topic(char *buf, size_t size, enum tap_direction d, enum role r, enum link l, enum msg m)
{
	const int n = snprintf(buf, size, "%c/%s/%s/%s", d == TAP_OUT ? 'o' : 'i', role_name(r),
	    link_table[l].name, msg_name(m));

	MUST(n > 0 && (size_t)n < size);
	return (size_t)n;
}
