/* base/obj.c - allocation that does not fail, assertions that stay on. */
#include "obj.h"

#include <string.h>

#include "err.h"

_Noreturn void
obj_panic(const char *what, const char *file, int line, const char *func)
{
	fprintf(stderr, "panic: %s:%d %s: %s is false\n", file, line, func, what);
	abort();
}

static _Noreturn void
out_of_memory(size_t size)
{
	fprintf(stderr, "out of memory: %zu bytes refused; this actor's limit or the machine's\n",
	    size);
	_Exit(EXIT_TRANSIENT);
}

void *
obj_alloc(size_t size)
{
	void *p = calloc(1, size);

	if (p == NULL)
		out_of_memory(size);
	return p;
}

void *
obj_realloc(void *old, size_t size)
{
	void *p = realloc(old, size);

	if (p == NULL)
		out_of_memory(size);
	return p;
}

char *
obj_strdup(const char *s)
{
	return obj_strndup(s, strlen(s));
}

char *
obj_strndup(const char *s, size_t len)
{
	char *copy = obj_alloc(len + 1);

	if (len > 0)
		memcpy(copy, s, len);
	return copy;
}

void *
obj_memdup(const void *p, size_t len)
{
	void *copy = obj_alloc(len == 0 ? 1 : len);

	if (len > 0)
		memcpy(copy, p, len);
	return copy;
}
