/* base/uuid.c - a UUID as text and in binary. Pure. */
#include "uuid.h"

#include <string.h>

static bool is_dash(size_t);
static int hex_digit(char);

bool
uuid_parse(const char *text, size_t len, uint8_t uuid[UUID_BYTES])
{
	size_t nibbles = 0;

	if (len != UUID_TEXT)
		return false;
	memset(uuid, 0, UUID_BYTES);
	for (size_t i = 0; i < UUID_TEXT; i++) {
		const int digit = is_dash(i) ? 0 : hex_digit(text[i]);

		if (digit < 0 || (is_dash(i) && text[i] != '-'))
			return false;
		if (is_dash(i))
			continue;
		uuid[nibbles / 2] = (uint8_t)(uuid[nibbles / 2] << 4 | digit);
		nibbles++;
	}
	return true;
}

void
uuid_format(const uint8_t uuid[UUID_BYTES], char text[UUID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	size_t nibbles = 0;

	for (size_t i = 0; i < UUID_TEXT; i++) {
		if (is_dash(i)) {
			text[i] = '-';
			continue;
		}
		text[i] = digits[nibbles % 2 == 0 ? uuid[nibbles / 2] >> 4 : uuid[nibbles / 2] & 0xf];
		nibbles++;
	}
}

static bool
is_dash(size_t at)
{
	return at == 8 || at == 13 || at == 18 || at == 23;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
