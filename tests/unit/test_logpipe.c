/* tests/unit/test_logpipe.c - a child's output: lines pass, the last ones are kept, nothing blocks. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <cmocka.h>

#include "log.h"
#include "obj.h"
#include "supervisor/logpipe.h"
#include "supervisor/log_writer.h"

enum { CAPTURE = 512 * 1024 };

/* stderr is a pipe of ours; `read_end` is what a reader of musterd's log has. */
struct world {
	int	read_end, saved, epoll_fd;
	char	text[CAPTURE];
};

static int
set_up(void **state)
{
	struct world *const w = obj_alloc(sizeof(*w));
	int fds[2];

	MUST(pipe2(fds, O_CLOEXEC) == 0);
	w->read_end = fds[0];
	fcntl(w->read_end, F_SETFL, O_NONBLOCK);
	w->saved = dup(STDERR_FILENO);
	MUST(dup2(fds[1], STDERR_FILENO) == STDERR_FILENO);
	close(fds[1]);
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	log_writer_open(w->epoll_fd);
	*state = w;
	return 0;
}

static int
tear_down(void **state)
{
	struct world *const w = *state;

	log_writer_close();
	log_writer.dropped = log_writer.unreported = 0;
	log_set_sink(NULL);
	dup2(w->saved, STDERR_FILENO);
	close(w->saved);
	close(w->read_end);
	close(w->epoll_fd);
	free(w);
	return 0;
}

static const char *
captured(struct world *w)
{
	size_t used = 0;

	for (;;) {
		log_writer_flush();
		const ssize_t n = read(w->read_end, w->text + used, sizeof(w->text) - used - 1);

		if (n <= 0)
			break;
		used += (size_t)n;
	}
	w->text[used] = '\0';
	return w->text;
}

static void
feed(struct logpipe *p, const char *text)
{
	logpipe_feed(p, text, strlen(text));
}

static void
lines_pass_unchanged(void **state)
{
	struct logpipe p = { .watch = WATCH_CLOSED };

	feed(&p, "one\ntw");
	feed(&p, "o\n\nthr");
	assert_string_equal(captured(*state), "one\ntwo\n\n");
	logpipe_finish(&p);
	assert_string_equal(captured(*state), "thr\n");
}

static void
the_last_ten_lines_are_kept(void **state)
{
	struct logpipe p = { .watch = WATCH_CLOSED };
	char words[LOGPIPE_JOINED];

	logpipe_last_output(&p, words);
	assert_string_equal(words, "");
	feed(&p, "1\n2\n3\n");
	logpipe_last_output(&p, words);
	assert_string_equal(words, "1\n2\n3");
	feed(&p, "4\n5\n6\n7\n8\n9\n10\n11\n12\n");
	logpipe_last_output(&p, words);
	assert_string_equal(words, "3\n4\n5\n6\n7\n8\n9\n10\n11\n12");
	(void)captured(*state);
}

/* As long as log.c makes one: it is not broken, and no empty line follows it. */
static void
the_longest_line_stays_whole(void **state)
{
	struct logpipe p = { .watch = WATCH_CLOSED };

	for (int i = 0; i < LOGPIPE_LINE - 1; i++)
		feed(&p, "x");
	feed(&p, "\nnext\n");
	const char *const out = captured(*state);
	assert_int_equal(strcspn(out, "\n"), LOGPIPE_LINE - 1);
	assert_string_equal(out + LOGPIPE_LINE - 1, "\nnext\n");
}

static void
a_long_line_is_broken_and_its_words_cut(void **state)
{
	struct logpipe p = { .watch = WATCH_CLOSED };
	char words[LOGPIPE_JOINED];

	for (int i = 0; i < 5000; i++)
		feed(&p, "x");
	feed(&p, "\n");
	const char *const out = captured(*state);
	assert_int_equal(strcspn(out, "\n"), LOGPIPE_LINE - 1);
	assert_int_equal(strlen(out), 5000 + 2);
	logpipe_last_output(&p, words);
	assert_int_equal(strlen(words), 2 * LOGPIPE_WORDS + 1);
	for (int i = 0; i < 200000; i++)	/* full of the longest lines: still inside the buffer */
		feed(&p, "yyyyyyyyyyyyyyyyyyyyyyyyy");
	logpipe_last_output(&p, words);
	assert_int_equal(strlen(words), LOGPIPE_JOINED - 2);
}

static void
memory_is_recognised_by_its_words(void **state)
{
	static const struct {
		const char	*line;
		bool		 want;
	} lines[] = {
		{ "out of memory: 100 bytes refused\n", true }, { "Out of memory (src/msg.cpp:99)\n", true },
		{ "terminate called after throwing an instance of 'std::bad_alloc'\n", true },
		{ "the machine of node-3 is out of memory\n", false }, { "\n", false },
	};

	for (size_t i = 0; i < NITEMS(lines); i++) {
		struct logpipe p = { .watch = WATCH_CLOSED };

		feed(&p, lines[i].line);
		feed(&p, "and a backtrace\n");
		assert_int_equal(logpipe_out_of_memory(&p), lines[i].want);
	}
	(void)captured(*state);
}

/*
 * Nobody reads our stderr: we go on, keep what fits, count the rest, and log the count when it is read
 * again.
 */
static void
a_stuck_reader_costs_lines_not_time(void **state)
{
	struct logpipe p = { .watch = WATCH_CLOSED };
	char line[128];

	log_set_sink(log_writer_own_line);
	memset(line, 'z', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (int i = 0; i < 10000; i++) {
		logpipe_feed(&p, line, sizeof(line));
		if (i == 5000)
			log_writer_flush();		/* the pipe takes what it can; now it is full */
	}
	log_writer_flush();
	assert_true(log_writer.dropped > 0);
	assert_in_range(log_writer.len, 1, LOG_WRITER_CHILD_BYTES);

	/* There is still room for musterd's own lines. */
	const uint64_t dropped = log_writer.dropped;
	log_writer_own_line("own line\n", strlen("own line\n"));
	assert_true(log_writer.dropped == dropped);

	const char *const out = captured(*state);
	assert_non_null(strstr(out, "\nown line\n"));
	assert_non_null(strstr(out, "log lines were dropped"));
	assert_true(strncmp(out, line, sizeof(line)) == 0);
	for (const char *at = out; (at = strchr(at, 'z')) != NULL; at += sizeof(line))
		assert_memory_equal(at, line, sizeof(line));	/* whole lines only */
	assert_int_equal(log_writer.len, 0);
}

int
main(void)
{
#define CASE(name)	cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(lines_pass_unchanged),
		CASE(the_last_ten_lines_are_kept),
		CASE(the_longest_line_stays_whole),
		CASE(a_long_line_is_broken_and_its_words_cut),
		CASE(memory_is_recognised_by_its_words),
		CASE(a_stuck_reader_costs_lines_not_time),
	};

	return cmocka_run_group_tests_name("logpipe", tests, NULL, NULL);
}
