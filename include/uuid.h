/* include/uuid.h - a UUID as text and in binary. Pure. */
#ifndef MUSTER_UUID_H
#define MUSTER_UUID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UUID_TEXT = 36, UUID_BYTES = 16 };

/*
 * False: it is none as the API server writes it, in lower case. Upper case would be another text, and so
 * another uid.
 */
bool uuid_parse(const char *text, size_t len, uint8_t uuid[UUID_BYTES]);
void uuid_format(const uint8_t uuid[UUID_BYTES], char text[UUID_TEXT]);	/* no NUL */

#endif
