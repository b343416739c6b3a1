/* base/form.c - encodes fields of a form. Pure. */
#include "form.h"

#include <stdbool.h>
#include <string.h>

#include "ascii.h"

static bool
unreserved(char c)
{
	return ascii_letter(c) || ascii_digit(c) || memchr("-_.~", c, 4) != NULL;
}

void
form_put(char *buf, size_t size, size_t *len, const char *name, const char *value, size_t value_len)
{
	static const char hex[] = "0123456789ABCDEF";
	const size_t name_len = strlen(name);
	size_t at = *len;

	if (at >= size || size - at <= name_len + 3 * value_len) {
		*len = size;
		return;
	}
	memcpy(buf + at, name, name_len);
	at += name_len;
	for (size_t i = 0; i < value_len; i++) {
		if (unreserved(value[i])) {
			buf[at++] = value[i];
		} else {
			buf[at++] = '%';
			buf[at++] = hex[(unsigned char)value[i] >> 4];
			buf[at++] = hex[(unsigned char)value[i] & 15];
		}
	}
	buf[at] = '\0';
	*len = at;
}
