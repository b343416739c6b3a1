/* sim/http/sim_accept.c - Accept headers as Kubernetes clients write them. */
#include "sim_accept.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { CLAUSE_MAX = 256 };

static int judge(char *, const struct sim_media_form *, size_t);
static char *trim(char *);

int
sim_accept_choose(const char *header, const struct sim_media_form *forms, size_t n)
{
	char clause[CLAUSE_MAX];

	if (header == NULL || header[0] == '\0')
		header = "application/json";
	for (const char *p = header; *p != '\0';) {
		const size_t len = strcspn(p, ",");

		snprintf(clause, sizeof(clause), "%.*s", (int)len, p);
		const int i = judge(clause, forms, n);
		if (i >= 0)
			return i;
		p += len + (p[len] == ',');
	}
	return -1;
}

bool
sim_accept_gzip(const char *header)
{
	const char *const word = header != NULL ? strcasestr(header, "gzip") : NULL;

	return word != NULL && strncmp(word, "gzip;q=0", 8) != 0;
}

static int
judge(char *clause, const struct sim_media_form *forms, size_t n)
{
	const char *as = "", *group = "", *version = "";
	char *rest = clause;
	const char *const type = trim(strsep(&rest, ";"));

	if (strcasecmp(type, "application/json") != 0 && strcmp(type, "application/*") != 0
	    && strcmp(type, "*/*") != 0)
		return -1;
	while (rest != NULL) {
		char *value = trim(strsep(&rest, ";"));
		const char *const name = strsep(&value, "=");

		if (value == NULL)
			continue;
		if (strcmp(name, "as") == 0)
			as = value;
		else if (strcmp(name, "g") == 0)
			group = value;
		else if (strcmp(name, "v") == 0)
			version = value;
	}
	for (size_t i = 0; i < n; i++) {
		if (strcmp(forms[i].as, as) == 0
		    && (as[0] == '\0'
			|| (strcmp(forms[i].group, group) == 0
			    && strcmp(forms[i].version, version) == 0)))
			return (int)i;
	}
	return -1;
}

static char *
trim(char *s)
{
	s += strspn(s, " \t");
	for (size_t len = strlen(s); len > 0 && (s[len - 1] == ' ' || s[len - 1] == '\t'); len--)
		s[len - 1] = '\0';
	return s;
}
