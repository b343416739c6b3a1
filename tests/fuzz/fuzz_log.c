/*
 * tests/fuzz/fuzz_log.c - whatever is logged, the line is one line, fits, and is JSON.
 *
 * Input: size of the buffer (2 bytes), format and errno (1 byte), then message and values, split at NUL.
 */
#include <jansson.h>
#include <string.h>

#include "log.h"
#include "obj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void
check(const char *line, size_t n, enum log_format format)
{
	MUST(line[n - 1] == '\n' && strlen(line) == n && strchr(line, '\n') == line + n - 1);
	if (format != LOG_JSON)
		return;
	json_t *const v = json_loadb(line, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	MUST(v != NULL);
	json_decref(v);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	if (len < 3)
		return 0;
	const size_t size = (size_t)(data[0] | data[1] << 8) % 5000;
	const enum log_format format = data[2] % 2 == 0 ? LOG_JSON : LOG_CONSOLE;
	const int errnum = data[2] / 2;
	char *const text = obj_alloc(len), *const line = obj_alloc(size + 1);
	const char *parts[4] = { "", NULL, NULL, NULL };

	memcpy(text, data + 3, len - 3);
	for (size_t at = 0, i = 0; at < len - 3 && i < NITEMS(parts); at += strlen(text + at) + 1)
		parts[i++] = text + at;
	const size_t n = log_format_line(line, size, format, len % 2 == 0, "actor", 1794872675123, len % 3,
	    LEVEL_WARN, errnum, parts[0],
	    LOG_KVS(KV_S(WHY, parts[1]), KV_I(PID, (int64_t)len), KV_SN(KEY, text, len - 3),
		KV_S(ERR, parts[2]), KV_S(ACTOR, parts[3])));
	MUST(n == 0 || n < size);
	MUST(n > 0 || size < 256);
	if (n > 0)
		check(line, n, format);
	free(text);
	free(line);
	return 0;
}
