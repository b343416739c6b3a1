/* include/ascii.h - letters and digits of the formats we read, whatever the locale. */
#ifndef MUSTER_ASCII_H
#define MUSTER_ASCII_H

#include <stdbool.h>

static inline bool
ascii_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool
ascii_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

#endif
