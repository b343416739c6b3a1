/* cli/suggest.h - what somebody may have meant. Pure. */
#ifndef MUSTER_SUGGEST_H
#define MUSTER_SUGGEST_H

#include <stddef.h>

/* The name nearest to word; NULL when none is near. */
const char *suggest(const char *word, const char *const *names, size_t n);

#endif
