/*
 * kube/json.cc - walks one JSON object along a field tree. The only C++: simdjson, on demand.
 *
 * What is not in the tree is skipped and not validated: of such parts only quotes and brackets matter,
 * to any depth, without recursion. Two members of one name: the first counts. No exception can leave
 * this file, for simdjson is built without them and nothing else here throws.
 */
#define SIMDJSON_EXCEPTIONS 0
#include <simdjson.h>

#include <bitset>
#include <cstring>

#include "project_private.h"

namespace ondemand = simdjson::ondemand;
using simdjson::error_code;

/*
 * All projections share these: nothing of them is needed after a walk, and their buffers (six bytes for
 * each byte of the largest object) are the larger part of what a projection costs. Buffers above
 * KEEP are given back.
 */
static ondemand::parser on_demand;
static simdjson::dom::parser validator;	/* of subtrees that are kept as text */

static constexpr size_t FIRST = 32 * 1024, KEEP = 1024 * 1024, DEPTH = 256;

using reader = bool(extract *, const field_node *, ondemand::value);
static reader found, inside, text, integer, flag, map, texts, rows;
static bool walk(extract *, const field_node *, ondemand::object);
static bool subtree(extract *, const field_node *, std::string_view);
static error_code text_of(ondemand::value, bool, std::string_view *);
static error_code document_of(extract *, std::string_view, size_t, ondemand::document *);
template <class parser> static void make_room(parser &, size_t);
static std::string_view padded(extract *, std::string_view);
static std::string_view trimmed(std::string_view);
static bool refuse(extract *, const field_node *, error_code, const char *, std::string_view = {});
static std::string_view number_text(char (&)[16], uint32_t);

/* By enum field_node_type. */
static reader *const readers[] = {
	inside, text, text, text, integer, flag, map, map, texts, rows,
};
static_assert(sizeof(readers) / sizeof(readers[0]) == NODE_ROWS + 1,
    "a reader for each enum field_node_type, in its order");

bool
walk_json(extract *t, const char *bytes, size_t len, size_t padding)
{
	const field_node *root = &t->tree->nodes[0];
	ondemand::document doc;
	ondemand::object object;
	const char *after;

	error_code err = document_of(t, { bytes, len }, padding, &doc);
	if (err == simdjson::SUCCESS)
		err = doc.get_object().get(object);
	if (err != simdjson::SUCCESS)
		return refuse(t, root, err, "not a JSON object");
	if (!walk(t, root, object))
		return false;
	if (doc.current_location().get(after) == simdjson::SUCCESS)
		return extract_fail(t, root, nullptr, 0, "something follows its end");
	return true;
}

static bool
walk(extract *t, const field_node *parent, ondemand::object object)
{
	std::bitset<TREE_NODES_MAX> seen;

	for (auto member : object) {
		ondemand::field field;
		std::string_view name;

		error_code err = std::move(member).get(field);
		if (err == simdjson::SUCCESS)
			err = field.unescaped_key().get(name);
		if (err != simdjson::SUCCESS)
			return refuse(t, parent, err, "not a member of an object");
		const field_node *s = field_tree_by_name(t->tree, parent, name.data(), name.size());
		if (s == nullptr || seen[size_t(s - t->tree->nodes)])
			continue;
		seen[size_t(s - t->tree->nodes)] = true;
		if (!found(t, s, field.value()))
			return false;
	}
	return true;
}

/* null is as if it were not there. */
static bool
found(extract *t, const field_node *s, ondemand::value v)
{
	bool null;
	const error_code err = v.is_null().get(null);

	if (err != simdjson::SUCCESS)
		return refuse(t, s, err, "not a value");
	return null || readers[s->what](t, s, v);
}

static bool
inside(extract *t, const field_node *s, ondemand::value v)
{
	ondemand::object object;
	ondemand::array array;
	std::string_view raw;

	const error_code wrong = v.get_object().get(object);
	if (s->slot == SLOT_NONE || s->child != NODE_NONE) {
		if (wrong != simdjson::SUCCESS)
			return refuse(t, s, wrong, "not an object");
		if (s->slot == SLOT_NONE)
			return walk(t, s, object);
	}
	/* Its text first; then, if the tree has fields inside it too, another walk through it. */
	const error_code err = wrong == simdjson::SUCCESS ? object.raw_json().get(raw)
	    : v.get_array().get(array) == simdjson::SUCCESS ? array.raw_json().get(raw)
	    : (raw = v.raw_json_token(), simdjson::SUCCESS);
	if (err != simdjson::SUCCESS)
		return refuse(t, s, err, "not a value");
	if (!subtree(t, s, trimmed(raw)))
		return false;
	if (s->child == NODE_NONE)
		return true;
	const error_code again = object.reset().error();
	return again == simdjson::SUCCESS ? walk(t, s, object) : refuse(t, s, again, "not an object");
}

static bool
text(extract *t, const field_node *s, ondemand::value v)
{
	const bool numbers = s->what == NODE_QUANTITY;
	std::string_view found_text;
	const error_code err = text_of(v, numbers, &found_text);

	return err == simdjson::SUCCESS ? extract_text(t, s, found_text.data(), found_text.size())
	    : refuse(t, s, err, numbers ? "neither a string nor a number" : "not a string");
}

static bool
integer(extract *t, const field_node *s, ondemand::value v)
{
	int64_t number;
	const error_code err = v.get_int64().get(number);

	return err == simdjson::SUCCESS ? extract_int(t, s, number)
					: refuse(t, s, err, "not an integer of 64 bits");
}

static bool
flag(extract *t, const field_node *s, ondemand::value v)
{
	bool yes;
	const error_code err = v.get_bool().get(yes);

	return err == simdjson::SUCCESS ? extract_flag(t, s, yes)
					: refuse(t, s, err, "neither true nor false");
}

static bool
map(extract *t, const field_node *s, ondemand::value v)
{
	ondemand::object object;

	error_code err = v.get_object().get(object);
	if (err != simdjson::SUCCESS)
		return refuse(t, s, err, "not an object");
	for (auto member : object) {
		ondemand::field field;
		std::string_view key, value;

		err = std::move(member).get(field);
		if (err == simdjson::SUCCESS)
			err = field.unescaped_key().get(key);
		if (err != simdjson::SUCCESS)
			return refuse(t, s, err, "not a member of an object");
		err = text_of(field.value(), s->what == NODE_MAP_QUANTITY, &value);
		if (err != simdjson::SUCCESS)
			return refuse(t, s, err, "not a string", key);
		if (!extract_pair(t, s, key.data(), key.size(), value.data(), value.size()))
			return false;
	}
	return true;
}

static bool
texts(extract *t, const field_node *s, ondemand::value v)
{
	ondemand::array array;
	char number[16];
	uint32_t n = 0;

	error_code err = v.get_array().get(array);
	if (err != simdjson::SUCCESS)
		return refuse(t, s, err, "not a list");
	for (auto element : array) {
		ondemand::value value;
		std::string_view found_text;

		err = element.get(value);
		if (err == simdjson::SUCCESS)
			err = text_of(value, false, &found_text);
		if (err != simdjson::SUCCESS)
			return refuse(t, s, err, "not a string", number_text(number, n));
		if (!extract_list_item(t, s, found_text.data(), found_text.size()))
			return false;
		n++;
	}
	return true;
}

/* A record that is null is one without members, as in Go. */
static bool
rows(extract *t, const field_node *s, ondemand::value v)
{
	ondemand::array array;
	char number[16];
	uint32_t n = 0;

	error_code err = v.get_array().get(array);
	if (err != simdjson::SUCCESS)
		return refuse(t, s, err, "not a list");
	for (auto element : array) {
		ondemand::value value;
		ondemand::object record;
		bool null = false;

		err = element.get(value);
		if (err == simdjson::SUCCESS)
			err = value.is_null().get(null);
		if (err == simdjson::SUCCESS && !null)
			err = value.get_object().get(record);
		if (err != simdjson::SUCCESS)
			return refuse(t, s, err, "not an object", number_text(number, n));
		if (!extract_row(t, s) || (!null && !walk(t, s, record)))
			return false;
		n++;
	}
	return true;
}

/* A subtree as text, without blanks. On demand it was only skipped, so it is validated here. */
static bool
subtree(extract *t, const field_node *s, std::string_view raw)
{
	size_t len;
	simdjson::dom::element ignored;

	make_room(validator, raw.size());
	error_code err = validator.parse(raw.data(), raw.size()).get(ignored);
	if (err != simdjson::SUCCESS)
		return refuse(t, s, err, "not a value");
	char *const buf = extract_alloc(t, raw.size() + simdjson::SIMDJSON_PADDING);
	err = simdjson::minify(raw.data(), raw.size(), buf, len);
	return err == simdjson::SUCCESS ? extract_raw(t, s, buf, len) : refuse(t, s, err, "not a value");
}

/* A string; null is an empty one; with `numbers` a number as it is written, too. */
static error_code
text_of(ondemand::value v, bool numbers, std::string_view *out)
{
	ondemand::json_type type;

	const error_code err = v.type().get(type);
	if (err != simdjson::SUCCESS)
		return err;
	if (type == ondemand::json_type::string)
		return v.get_string().get(*out);
	*out = "";	/* with an address: memcpy may not be given none */
	if (type == ondemand::json_type::null) {
		bool null;
		return v.is_null().get(null);
	}
	if (type != ondemand::json_type::number || !numbers)
		return simdjson::INCORRECT_TYPE;
	*out = trimmed(v.raw_json_token());
	return v.get_number().error();
}

/* Bytes that are not UTF-8 are replaced as in any other text (project_extract.c), as Go's decoder does. */
static error_code
document_of(extract *t, std::string_view bytes, size_t padding, ondemand::document *doc)
{
	if (padding < simdjson::SIMDJSON_PADDING)
		bytes = padded(t, bytes);
	make_room(on_demand, bytes.size());
	error_code err = on_demand.iterate(bytes, bytes.size() + simdjson::SIMDJSON_PADDING).get(*doc);
	if (err != simdjson::UTF8_ERROR)
		return err;
	const text_span sanitized = sanitize_utf8(t, { bytes.data(), bytes.size() });
	bytes = padded(t, { sanitized.p, sanitized.len });
	make_room(on_demand, bytes.size());
	return on_demand.iterate(bytes, bytes.size() + simdjson::SIMDJSON_PADDING).get(*doc);
}

/* In powers of two, so that a kind whose objects grow slowly is not allocated for each of them. */
template <class parser> static void
make_room(parser &p, size_t len)
{
	size_t capacity = FIRST;

	while (capacity < len)
		capacity *= 2;
	if (p.capacity() > KEEP && capacity <= KEEP)
		p = parser();
	/* If memory is short, the parser tries once more by itself and then returns the error. */
	if (p.capacity() < len && p.allocate(capacity, DEPTH) != simdjson::SUCCESS)
		p = parser();
}

static std::string_view
padded(extract *t, std::string_view bytes)
{
	char *const copy = extract_alloc(t, bytes.size() + simdjson::SIMDJSON_PADDING);

	std::memcpy(copy, bytes.data(), bytes.size());
	std::memset(copy + bytes.size(), 0, simdjson::SIMDJSON_PADDING);
	return { copy, bytes.size() };
}

/* A token reaches to the next one. */
static std::string_view
trimmed(std::string_view s)
{
	while (!s.empty() && std::strchr(" \t\r\n", s.back()) != nullptr)
		s.remove_suffix(1);
	return s;
}

/* `expected` when the type is wrong; else simdjson's text for what is not JSON. key: of a map or a list. */
static bool
refuse(extract *t, const field_node *s, error_code err, const char *expected, std::string_view key)
{
	return extract_fail(t, s, key.data(), key.size(),
	    err == simdjson::INCORRECT_TYPE ? expected : simdjson::error_message(err));
}

static std::string_view
number_text(char (&buf)[16], uint32_t n)
{
	return { buf, size_t(snprintf(buf, sizeof(buf), "%u", unsigned(n))) };
}
