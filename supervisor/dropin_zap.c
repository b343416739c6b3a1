/* supervisor/dropin_zap.c - the flags of controller-runtime's logger, as muster's log settings. */
#include <stdlib.h>
#include <string.h>

#include "dropin_common.h"
#include "obj.h"

static const char *level_of(const char *);

enum dropin_end
dropin_zap(struct dropin *d, const struct dropin_zap_flags *flags)
{
	const bool devel = dropin_on(d, flags->devel);
	const char *format = dropin_text(d, flags->encoder), *level = dropin_text(d, flags->level);

	if (format[0] != '\0' && strcmp(format, "json") != 0 && strcmp(format, "console") != 0)
		return dropin_refuse(d, DROPIN_WRONG,
		    "invalid value \"%.100s\" for flag -zap-encoder: invalid encoder value, there are json "
		    "and console", format);
	if (level[0] != '\0' && level_of(level) == NULL)
		return dropin_refuse(d, DROPIN_WRONG,
		    "invalid value \"%.100s\" for flag -zap-log-level: invalid log level, there are debug, "
		    "info, error, panic and numbers above 0", level);
	if (format[0] == '\0')
		format = devel ? "console" : "json";
	dropin_set(d, "supervisor", "log-format", format);
	dropin_set(d, "supervisor", "log-level",
	    level[0] != '\0' ? level_of(level) : devel ? "debug" : "info");
	return DROPIN_OK;
}

static const char *
level_of(const char *asked)
{
	static const struct {
		const char	*zap, *ours;
	} words[] = {
		{ "debug", "debug" }, { "info", "info" }, { "error", "error" }, { "panic", "error" },
	};
	char *end;

	for (size_t i = 0; i < NITEMS(words); i++) {
		if (strcasecmp(words[i].zap, asked) == 0)
			return words[i].ours;
	}
	return strtol(asked, &end, 10) > 0 && *end == '\0' ? "debug" : NULL;
}
