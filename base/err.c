/* base/err.c - names and texts of include/err.h. */
#include "err.h"

#include <stddef.h>

static const struct {
	const char *name, *text;
	bool retry;
} errors[E_MAX] = {
#define ERR_ROW(ID, t, r) [E_##ID] = { .name = #ID, .text = (t), .retry = (r) },
	ERRORS(ERR_ROW)
};

const char *
err_name(enum err e)
{
	return (unsigned)e < E_MAX ? errors[e].name : "?";
}

const char *
err_text(enum err e)
{
	return (unsigned)e < E_MAX ? errors[e].text : "unknown error";
}

bool
err_retry(enum err e)
{
	return (unsigned)e < E_MAX && errors[e].retry;
}
