/*
 * include/obj.h - structs with a magic number: a wrong pointer ends the process here, not three
 * calls later.
 */
#ifndef MUSTER_OBJ_H
#define MUSTER_OBJ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * Assertions stay on in production: a process whose state is impossible must not go on writing; it
 * dies and the supervisor starts a clean one. The text goes to stderr, of which the supervisor keeps
 * the last lines.
 */
_Noreturn void obj_panic(const char *what, const char *file, int line, const char *func);

#define MUST(cond)	((cond) ? (void)0 : obj_panic(#cond, __FILE__, __LINE__, __func__))

/* Every such struct starts with `uint32_t magic;` and has a NAME_MAGIC constant. */
#define OBJ_NEW(ptr, MAGIC)							\
	do {									\
		(ptr) = obj_alloc(sizeof(*(ptr)));				\
		(ptr)->magic = (MAGIC);						\
	} while (0)
#define OBJ_CHECK(ptr, MAGIC)	MUST((ptr) != NULL && (ptr)->magic == (MAGIC))
/* Moves ownership from *pp to `to` and nulls the source, so that nobody frees it twice. */
#define OBJ_TAKE(to, pp, MAGIC)							\
	do {									\
		MUST((pp) != NULL);						\
		(to) = *(pp);							\
		*(pp) = NULL;							\
		OBJ_CHECK(to, MAGIC);						\
	} while (0)
#define OBJ_FREE(ptr)								\
	do {									\
		(ptr)->magic = 0;						\
		free(ptr);							\
		(ptr) = NULL;							\
	} while (0)

/*
 * Zeroed memory or death: out of memory is the actor's own limit (RLIMIT_DATA), and only that actor
 * dies of it.
 */
void *obj_alloc(size_t size);
void *obj_realloc(void *old, size_t size);
char *obj_strdup(const char *s);
char *obj_strndup(const char *s, size_t len);	/* len bytes, whatever they are, and a NUL */
void *obj_memdup(const void *p, size_t len);

#define NITEMS(a)	(sizeof(a) / sizeof((a)[0]))

#endif
