/*
 * tests/unit/test_lifeline.c - records over a real socket pair: whole or refused, without blocking
 * and without SIGPIPE.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "lifeline.h"
#include "obj.h"

struct pair {
	int us, them;
};

static char text[LIFELINE_MAX + 64], got[LIFELINE_MAX + 64];

static int
open_pair(void **state)
{
	static struct pair p;
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) == -1)
		return -1;
	p = (struct pair){ .us = fds[0], .them = fds[1] };
	*state = &p;
	return 0;
}

static int
close_pair(void **state)
{
	const struct pair *p = *state;

	if (p->us != -1)
		close(p->us);
	if (p->them != -1)
		close(p->them);
	return 0;
}

static void
records_stay_apart(void **state)
{
	const struct pair *p = *state;

	assert_true(lifeline_send(p->us, "beat %d", 42));
	assert_true(lifeline_send(p->us, "%s", "bound"));
	memset(got, 'x', sizeof(got));
	assert_int_equal(lifeline_recv(p->them, got, sizeof(got)), 7);
	assert_string_equal(got, "beat 42");
	assert_int_equal(lifeline_recv(p->them, got, sizeof(got)), 5);
	assert_string_equal(got, "bound");
}

static void
nothing_there_is_again(void **state)
{
	const struct pair *p = *state;

	assert_int_equal(lifeline_recv(p->them, got, sizeof(got)), -1);
	assert_int_equal(errno, EAGAIN);
}

static void
largest_record_passes(void **state)
{
	const struct pair *p = *state;

	memset(text, 'a', LIFELINE_MAX);
	text[LIFELINE_MAX] = '\0';
	assert_true(lifeline_send(p->us, "%s", text));
	assert_int_equal(lifeline_recv(p->them, got, LIFELINE_MAX + 1), LIFELINE_MAX);
	assert_string_equal(got, text);
}

static void
larger_record_is_refused(void **state)
{
	const struct pair *p = *state;

	memset(text, 'a', LIFELINE_MAX + 1);
	text[LIFELINE_MAX + 1] = '\0';
	assert_false(lifeline_send(p->us, "%s", text));
	assert_int_equal(errno, EMSGSIZE);
	assert_int_equal(lifeline_recv(p->them, got, sizeof(got)), -1);
	assert_int_equal(errno, EAGAIN);
}

/* A record that does not fit is an error and leaves nothing of itself (it may be a token) in the buffer. */
static void
cut_record_is_an_error(void **state)
{
	const struct pair *p = *state;

	assert_true(lifeline_send(p->us, "boot token=secret"));
	assert_true(lifeline_send(p->us, "go"));
	memset(got, 'x', sizeof(got));
	assert_int_equal(lifeline_recv(p->them, got, 8), -1);
	assert_int_equal(errno, EMSGSIZE);
	assert_memory_equal(got, "\0\0\0\0\0\0\0\0xxxx", 12);
	assert_int_equal(lifeline_recv(p->them, got, 8), 2);
	assert_string_equal(got, "go");
}

static void
silent_reader_is_again(void **state)
{
	const struct pair *p = *state;
	long sent = 0, read = 0;

	while (lifeline_send(p->us, "beat %ld", sent))
		sent++;
	assert_int_equal(errno, EAGAIN);
	assert_true(sent > 0);
	while (lifeline_recv(p->them, got, sizeof(got)) > 0) {
		char want[32];

		snprintf(want, sizeof(want), "beat %ld", read++);
		assert_string_equal(got, want);
	}
	assert_int_equal(read, sent);
}

static void
dead_peer_is_end_of_file(void **state)
{
	struct pair *p = *state;

	assert_true(lifeline_send(p->them, "last words"));
	close(p->them);
	p->them = -1;
	assert_int_equal(lifeline_recv(p->us, got, sizeof(got)), 10);
	assert_int_equal(lifeline_recv(p->us, got, sizeof(got)), 0);
	assert_false(lifeline_send(p->us, "a record"));	/* and no SIGPIPE, which would end this test */
	assert_int_equal(errno, EPIPE);
}

/* The kernel resets the pair then; taken for an error, it would leave an orphan process running. */
static void
peer_dead_with_our_record_unread_is_end_of_file(void **state)
{
	struct pair *p = *state;

	assert_true(lifeline_send(p->us, "unread"));
	close(p->them);
	p->them = -1;
	assert_int_equal(lifeline_recv(p->us, got, sizeof(got)), 0);
}

int
main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, open_pair, close_pair)
	static const struct CMUnitTest tests[] = {
		T(records_stay_apart),
		T(nothing_there_is_again),
		T(largest_record_passes),
		T(larger_record_is_refused),
		T(cut_record_is_an_error),
		T(silent_reader_is_again),
		T(dead_peer_is_end_of_file),
		T(peer_dead_with_our_record_unread_is_end_of_file),
	};
	return cmocka_run_group_tests_name("lifeline", tests, NULL, NULL);
}
