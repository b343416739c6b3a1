/* tests/unit/test_provider_token.c - a token file, and all ways in which it changes (contract A7). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "actors/provider/token.h"
#include "obj.h"

#define BYTES(s)	(s), sizeof(s) - 1

static const struct row {
	const char	*name, *bytes;
	size_t		 len;
	const char	*want;		/* NULL: it is refused */
	const char	*wrong;		/* a part of the reason */
} rows[] = {
	{ "a token", BYTES("abc.DEF-123_~"), "abc.DEF-123_~", NULL },
	{ "a line end after it", BYTES("abc\n"), "abc", NULL },
	{ "a line end of Windows, and blanks around", BYTES("\t abc \r\n\n"), "abc", NULL },
	{ "one character", BYTES("x"), "x", NULL },
	{ "empty", BYTES(""), NULL, "empty" },
	{ "blanks alone", BYTES(" \r\n\t"), NULL, "empty" },
	{ "a line end inside", BYTES("abc\ndef"), NULL, "more than one" },
	{ "a blank inside", BYTES("abc def"), NULL, "more than one" },
	{ "a NUL inside", BYTES("abc\0def"), NULL, "cannot be sent" },
	{ "a NUL after it", BYTES("abc\0"), NULL, "cannot be sent" },
	{ "not ASCII", BYTES("abc\xc3\xa4"), NULL, "cannot be sent" },
	{ "a mark of UTF-8 before it", BYTES("\xef\xbb\xbf" "abc"), NULL, "cannot be sent" },
	{ "DEL", BYTES("abc\x7f"), NULL, "cannot be sent" },
};

static void
check_row(void **state)
{
	const struct row *const r = *state;
	const char *text = NULL;
	size_t len = 0;
	const char *const wrong = token_parse(r->bytes, r->len, &text, &len);

	if (r->want == NULL) {
		assert_non_null(wrong);
		assert_non_null(strstr(wrong, r->wrong));
		return;
	}
	assert_null(wrong);
	assert_int_equal(len, strlen(r->want));
	assert_memory_equal(text, r->want, len);
}

static void
the_longest_token(void **state)
{
	static char bytes[TOKEN_BYTES_MAX + 1];
	const char *text;
	size_t len;

	(void)state;
	memset(bytes, 'a', sizeof(bytes));
	assert_null(token_parse(bytes, TOKEN_BYTES_MAX, &text, &len));
	assert_int_equal(len, TOKEN_BYTES_MAX);
	assert_non_null(token_parse(bytes, TOKEN_BYTES_MAX + 1, &text, &len));
}

/* ---- Files ---- */

struct dir {
	char	name[64], path[96];
};

static void
put(const char *path, const char *text)
{
	FILE *const f = fopen(path, "we");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int
dir_open(void **state)
{
	static struct dir d;

	d = (struct dir){ .name = "/tmp/muster-token-XXXXXX" };
	assert_non_null(mkdtemp(d.name));
	snprintf(d.path, sizeof(d.path), "%s/token", d.name);
	put(d.path, "first\n");
	*state = &d;
	return 0;
}

static int
dir_close(void **state)
{
	const struct dir *const d = *state;
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", d->name);
	return system(command);
}

static struct token *
open_token(const struct dir *d)
{
	char err[TOKEN_ERROR_MAX] = "";
	struct token *const t = token_open(d->path, 0, err, sizeof(err));

	assert_string_equal(err, "");
	assert_string_equal(token_now(t, 0).text, "first");
	return t;
}

static void
a_change_is_seen_after_a_second(void **state)
{
	const struct dir *const d = *state;
	struct token *t = open_token(d);
	const uint64_t serial = token_now(t, 0).serial;

	put(d->path, "second");
	assert_string_equal(token_now(t, TOKEN_CHECK_MS - 1).text, "first");
	assert_string_equal(token_now(t, TOKEN_CHECK_MS).text, "second");
	assert_int_equal(token_now(t, TOKEN_CHECK_MS).len, 6);
	assert_int_not_equal(token_now(t, TOKEN_CHECK_MS).serial, serial);
	token_free(&t);
}

/* As a Secret's volume: token -> ..data/token, ..data -> ..1; then ..data is replaced by rename. */
static void
a_projected_volume_is_swapped(void **state)
{
	const struct dir *const d = *state;
	char one[128], two[128], data[128], fresh[128], file[160];

	snprintf(one, sizeof(one), "%s/..1", d->name);
	snprintf(two, sizeof(two), "%s/..2", d->name);
	snprintf(data, sizeof(data), "%s/..data", d->name);
	snprintf(fresh, sizeof(fresh), "%s/..data_tmp", d->name);
	assert_int_equal(mkdir(one, 0700) + mkdir(two, 0700), 0);
	snprintf(file, sizeof(file), "%s/token", one);
	put(file, "first");
	snprintf(file, sizeof(file), "%s/token", two);
	put(file, "secon");		/* the same size, and about the same time */
	assert_int_equal(unlink(d->path), 0);
	assert_int_equal(symlink("..1", data) + symlink("..data/token", d->path), 0);
	struct token *t = open_token(d);
	assert_int_equal(symlink("..2", fresh) + rename(fresh, data), 0);
	assert_string_equal(token_now(t, 5000).text, "secon");
	token_free(&t);
}

static const struct bad_row {
	const char	*name;
	const char	*text;	/* NULL: the file is gone; "/": a directory in its place */
	const char	*error;
} bad_rows[] = {
	{ "gone", NULL, "No such file" },
	{ "a directory", "/", "cannot be read" },
	{ "empty", "", "is empty" },
	{ "two lines", "s3cr3t\ns3cr3t\n", "more than one" },
};

static void
a_bad_file_keeps_the_token(void **state)
{
	const struct bad_row *const r = *state;
	struct dir *d;

	dir_open((void **)&d);
	struct token *t = open_token(d);
	assert_int_equal(unlink(d->path), 0);
	if (r->text != NULL && r->text[0] == '/')
		assert_int_equal(mkdir(d->path, 0700), 0);
	else if (r->text != NULL)
		put(d->path, r->text);
	struct token_view v = token_now(t, 5000);
	assert_string_equal(v.text, "first");
	assert_non_null(strstr(v.error, r->error));
	assert_null(strstr(v.error, "s3cr3t"));
	assert_false(token_refused(t, v.serial, 5001));
	assert_string_equal(token_now(t, 5001).text, "first");
	if (r->text != NULL && r->text[0] == '/')
		assert_int_equal(rmdir(d->path), 0);
	put(d->path, "third");
	v = token_now(t, 10000);
	assert_string_equal(v.text, "third");
	assert_string_equal(v.error, "");
	token_free(&t);
	dir_close((void **)&d);
}

/* The provider refuses what the file had a moment ago: it is read at once, and once for a burst. */
static void
a_refusal_reads_at_once(void **state)
{
	const struct dir *const d = *state;
	struct token *t = open_token(d);
	const uint64_t serial = token_now(t, 0).serial;

	assert_false(token_refused(t, serial, 10));
	put(d->path, "second");
	assert_true(token_refused(t, serial, 20));
	assert_string_equal(token_now(t, 20).text, "second");
	put(d->path, "third");
	assert_true(token_refused(t, serial, 30));	/* of the burst: the second is not refused yet */
	assert_string_equal(token_now(t, 30).text, "second");
	token_free(&t);
}

static void
no_token_to_begin_with(void **state)
{
	const struct dir *const d = *state;
	char err[TOKEN_ERROR_MAX] = "";

	put(d->path, "\n");
	assert_null(token_open(d->path, 0, err, sizeof(err)));
	assert_non_null(strstr(err, d->path));
	assert_non_null(strstr(err, "is empty"));
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, dir_open, dir_close)
	static const struct CMUnitTest files[] = {
		cmocka_unit_test(the_longest_token), T(a_change_is_seen_after_a_second),
		T(a_projected_volume_is_swapped), T(a_refusal_reads_at_once), T(no_token_to_begin_with),
	};
	struct CMUnitTest texts[NITEMS(rows)], bad[NITEMS(bad_rows)];

	for (size_t i = 0; i < NITEMS(rows); i++)
		texts[i] = (struct CMUnitTest){ rows[i].name, check_row, NULL, NULL,
			(void *)(uintptr_t)&rows[i] };
	for (size_t i = 0; i < NITEMS(bad_rows); i++)
		bad[i] = (struct CMUnitTest){ bad_rows[i].name, a_bad_file_keeps_the_token, NULL, NULL,
			(void *)(uintptr_t)&bad_rows[i] };
	return cmocka_run_group_tests_name("token, texts", texts, NULL, NULL)
	    + cmocka_run_group_tests_name("token, files", files, NULL, NULL)
	    + cmocka_run_group_tests_name("token, bad files", bad, NULL, NULL);
}
