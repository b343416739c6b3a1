/* config/describe.c - rules and durations as text, for errors, default file and reference. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "obj.h"
#include "value.h"

static const char *print_words(const char *words, char *buf, size_t size);

const char *
value_allowed(const struct value_rule *rule, char *buf, size_t size)
{
	const char *or_empty = rule->min == 0 ? ", or empty" : "";
	char lo[32], hi[32];

	switch (rule->type) {
	case VALUE_STR:
	case VALUE_PATH:
		snprintf(buf, size, "%s of at most %" PRId64 " bytes%s",
		    rule->type == VALUE_STR ? "text" : "an absolute path", rule->max, or_empty);
		break;
	case VALUE_CREDENTIAL:
		snprintf(buf, size, "the absolute path of a file that holds the secret%s",
		    or_empty);
		break;
	case VALUE_FILE:
		snprintf(buf, size, "the absolute path of a file%s", or_empty);
		break;
	case VALUE_ADDR:
		snprintf(buf, size, ":port, host:port or [IPv6]:port; port 0 takes any free one%s",
		    rule->min == 0 ? "; \"0\" or off: none" : "");
		break;
	case VALUE_DOMAIN:
		snprintf(buf, size, "a domain of at most %" PRId64 " bytes, with a dot in it", rule->max);
		break;
	case VALUE_LABEL:
		snprintf(buf, size, "a DNS label of at most %" PRId64 " bytes", rule->max);
		break;
	case VALUE_URL:
		snprintf(buf, size, "a URL of at most %" PRId64 " bytes, https:// unless its host is "
		    "127.0.0.1, [::1] or localhost%s", rule->max, or_empty);
		break;
	case VALUE_INT:
		snprintf(buf, size, "a number from %" PRId64 " to %" PRId64, rule->min, rule->max);
		break;
	case VALUE_DURATION:
		snprintf(buf, size, "a duration from %s to %s",
		    value_print_duration(rule->min, lo, sizeof(lo)),
		    value_print_duration(rule->max, hi, sizeof(hi)));
		break;
	case VALUE_BOOL:
		snprintf(buf, size, "true or false");
		break;
	default:
		return print_words(value_words(rule), buf, size);
	}
	return buf;
}

const char *
value_print_duration(int64_t ms, char *buf, size_t size)
{
	size_t used = 0;

	MUST(ms >= 0 && size >= 32);
	if (ms == 0)
		snprintf(buf, size, "0");
	for (size_t i = 0; i < VALUE_UNITS; i++) {
		const int64_t n = ms / value_units[i].ms;

		ms %= value_units[i].ms;
		if (n > 0)
			used += (size_t)snprintf(buf + used, size - used, "%" PRId64 "%s", n,
			    value_units[i].name);
	}
	return buf;
}

/* "a|b|c" as "a, b or c". */
static const char *
print_words(const char *words, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (const char *w = words; *w != '\0' && used < size;) {
		const size_t n = strcspn(w, "|");
		const bool last = w[n] == '\0';
		const char *comma = w == words ? "" : last ? " or " : ", ";

		used += (size_t)snprintf(buf + used, size - used, "%s%.*s", comma, (int)n, w);
		w += n + !last;
	}
	return buf;
}
