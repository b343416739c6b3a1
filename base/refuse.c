/* base/refuse.c - why a check failed, as text. Apart from err.c, which is pure. */
#include "err.h"

#include <stdarg.h>
#include <stdio.h>

bool
err_refuse(char *err, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, size, fmt, ap);
	va_end(ap);
	return false;
}
