/* base/err.c - names and texts of include/err.h. */
#include "err.h"

static const struct {
	const char *name, *text;
} errors[E_MAX] = {
#define ERR_ROW(ID, t) [E_##ID] = { .name = #ID, .text = (t) },
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
