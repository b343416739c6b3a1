/* proto/kinds.c - the kinds as data: what the readers of JSON and protobuf walk along. */
#include "kinds.h"

#include <string.h>

#include "msg.h"
#include "obj.h"

#define FIELD_ROW(type_, name_, json_, proto_, readers_) {			\
	.type = #type_, .name = #name_, .json = (json_), .proto = (proto_), .readers = (readers_) },
#define FIELDS_OF(ID, body, ...)						\
	static const struct kind_field body##_fields[] = { body##_FIELDS(FIELD_ROW) };
KINDS(FIELDS_OF)

#define READER_OF(type, name, json, proto, readers) | (readers)

const struct kind_row kind_table[KIND_MAX] = {
#define KIND_ROW(ID, body, num, many, group_, resource_, kind_, scope_, versions_, form_) [KIND_##ID] = { \
		.name = #ID, .message = MSG_##ID, .group = (group_), .resource = (resource_),	\
		.kind = (kind_), .scope = SCOPE_##scope_, .versions = (versions_),		\
		.form = FORM_##form_, .fields = body##_fields, .nfields = NITEMS(body##_fields),	\
		.readers = FORM_##form_ == FORM_LIVE ? 0 : 0 body##_FIELDS(READER_OF),		\
		.live_readers = FORM_##form_ != FORM_LIVE ? 0 : 0 body##_FIELDS(READER_OF) },
	KINDS(KIND_ROW)
};

static const char *const state_names[KIND_STATE_MAX] = {
#define STATE_ROW(ID, name) [KIND_STATE_##ID] = (name),
	KIND_STATES(STATE_ROW)
};

static bool is_named(enum kind, const char *, const char *);

const char *
kind_state_name(enum kind_state s)
{
	return (unsigned)s < KIND_STATE_MAX ? state_names[s] : "?";
}

enum kind
kind_find(const char *group, const char *resource)
{
	enum kind live = KIND_MAX;

	for (unsigned k = 0; k < KIND_MAX; k++) {
		if (!is_named((enum kind)k, group, resource))
			continue;
		if (kind_table[k].form != FORM_LIVE)
			return (enum kind)k;
		live = (enum kind)k;
	}
	return live;
}

enum kind
kind_find_live(const char *group, const char *resource, enum role reader)
{
	for (unsigned k = 0; k < KIND_MAX; k++) {
		if ((kind_table[k].live_readers >> reader & 1) != 0
		    && is_named((enum kind)k, group, resource))
			return (enum kind)k;
	}
	return KIND_MAX;
}

static bool
is_named(enum kind k, const char *group, const char *resource)
{
	return strcmp(kind_table[k].group, group) == 0 && strcmp(kind_table[k].resource, resource) == 0;
}

const char *
kind_report(const char *resource)
{
	static const struct {
		const char	*resource, *report;
	} reports[] = {
#define REPORT_ROW(resource_, report_) { (resource_), (report_) },
		KIND_REPORTS(REPORT_ROW)
	};

	for (size_t i = 0; i < NITEMS(reports); i++) {
		if (strcmp(reports[i].resource, resource) == 0)
			return reports[i].report;
	}
	return NULL;
}
