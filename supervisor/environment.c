/* supervisor/environment.c - the explicit environment of an actor, from the rows of environment.h. */
#include "environment.h"

#include <stdio.h>
#include <stdlib.h>

#include "obj.h"

const struct variable environment_table[VARIABLE_MAX] = {
#define VARIABLE_ROW(NAME, TYPE, TO) { .name = (NAME), .type = VARIABLE_##TYPE, .reach = TO },
	ENVIRONMENT(VARIABLE_ROW)
};

bool
environment_reaches(const struct variable *v, const struct child_row *row)
{
	switch (v->reach.to) {
	case VARIABLE_ALL:
		return true;
	case VARIABLE_CALLERS:
		return (row->tcp & TCP_CONNECT) != 0;
	case VARIABLE_ONLY:
		return v->reach.role == row->role;
	}
	return false;
}

const char *
environment_next(enum variable_type type, const struct child_row *row, size_t *at, const struct variable **v)
{
	while (*at < VARIABLE_MAX) {
		*v = &environment_table[(*at)++];
		if ((*v)->type != type || !environment_reaches(*v, row))
			continue;
		const char *const value = getenv((*v)->name);
		if (value != NULL && value[0] != '\0')
			return value;
	}
	return NULL;
}

char **
environment_make(const struct child_row *row)
{
	char **const env = obj_alloc((VARIABLE_MAX + 3) * sizeof(*env));
	size_t n = 0;

	for (size_t i = 0; i < VARIABLE_MAX; i++) {
		const struct variable *const v = &environment_table[i];
		const char *const value = getenv(v->name);

		if (value != NULL && environment_reaches(v, row))
			MUST(asprintf(&env[n++], "%s=%s", v->name, value) != -1);
	}
	if (getenv("PATH") == NULL)
		env[n++] = obj_strdup("PATH=/usr/local/bin:/usr/bin:/bin");
	/* Otherwise czmq takes SIGTERM away from the actor's loop. */
	env[n++] = obj_strdup("ZSYS_SIGHANDLER=false");
	return env;
}

void
environment_free(char **env)
{
	for (char **e = env; *e != NULL; e++)
		free(*e);
	free(env);
}
