/* config/value.h - what a value may be: one parser per type of setting. Pure. */
#ifndef MUSTER_VALUE_H
#define MUSTER_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ID, the words it is limited to (their order gives the numbers; NULL: none, or those of the rule) */
#define VALUE_TYPES(T)				\
	T(STR,        NULL)			\
	T(PATH,       NULL)			\
	T(CREDENTIAL, NULL)			\
	T(FILE,       NULL)			\
	T(ADDR,       NULL)			\
	T(DOMAIN,     NULL)			\
	T(LABEL,      NULL)			\
	T(URL,        NULL)			\
	T(INT,        NULL)			\
	T(BOOL,       "false|true")		\
	T(DURATION,   NULL)			\
	T(LEVEL,      "debug|info|warn|error")	\
	T(FORMAT,     "json|console")		\
	T(CHOICE,     NULL)

/* What can be wrong, worded so that `"10" has no unit` is a sentence. */
#define VALUE_FAULTS(F)							\
	F(NONE,     "is fine")						\
	F(TEXT,     "holds a line break or a control character")	\
	F(LENGTH,   "is too short or too long")				\
	F(NUMBER,   "is not a decimal number")				\
	F(RANGE,    "is out of bounds")					\
	F(DURATION, "is not a duration such as 500ms, 10s or 1h30m")		\
	F(UNIT,     "has no unit: write ms, s, m or h after the number") \
	F(FRACTION, "has a fraction: write it in a smaller unit")	\
	F(WORD,     "is not one of the words")				\
	F(RELATIVE, "is not an absolute path")				\
	F(NO_PORT,  "has no :port at its end")				\
	F(PORT,     "has a port that is not a number from 0 to 65535")	\
	F(HOST,     "has a host that is no name and no address; IPv6 goes into brackets")	\
	F(DOMAIN,   "is not a domain: labels of lower case letters, digits and -, joined by dots")	\
	F(LABEL,    "is not a label: lower case letters, digits and -, which is at neither end")	\
	F(URL,      "is not a URL: https://host[:port][/path] without blanks, user name and query")	\
	F(PLAIN,    "would send the credential unencrypted: only https:// leaves this machine")

enum value_type {
#define VALUE_ENUM(ID, words) VALUE_##ID,
	VALUE_TYPES(VALUE_ENUM)
#undef VALUE_ENUM
	VALUE_TYPE_MAX
};

enum value_fault {
#define VALUE_ENUM(ID, text) VALUE_FAULT_##ID,
	VALUE_FAULTS(VALUE_ENUM)
#undef VALUE_ENUM
	VALUE_FAULT_MAX
};

struct value_rule {
	enum value_type	 type;
	int64_t		 min, max;	/* of a number, of ms, of the bytes of a text; settings.h */
	const char	*words;		/* "one|two" for VALUE_CHOICE; other types have theirs */
};

/* Words instead of an address, where it may be switched off; "0" as controller-runtime has it. */
#define VALUE_ADDR_OFF	"0|off"

/* Largest first: "1h30m" has them in this order, each at most once. */
enum { VALUE_UNITS = 4 };
extern const struct value_unit {
	const char	*name;
	int64_t		 ms;
} value_units[VALUE_UNITS];

/* *num: the number, the duration in ms, the place of the word, else 0; untouched by a fault. */
enum value_fault value_parse(const struct value_rule *rule, const char *text, size_t len,
    int64_t *num);

/* Room for what value_allowed writes of any rule. */
enum { VALUE_ALLOWED_MAX = 256 };

const char *value_fault_text(enum value_fault f);
/* "one|two", or NULL. */
const char *value_words(const struct value_rule *rule);
/* What is allowed, for people: "a duration from 1s to 10m". Returns buf. */
const char *value_allowed(const struct value_rule *rule, char *buf, size_t size);
/* "1h30m", "500ms", "0". Returns buf. */
const char *value_print_duration(int64_t ms, char *buf, size_t size);

/* Anything that a terminal, a log line or `key=value\n` could take for more than text. */
bool value_control(uint32_t code);

#endif
