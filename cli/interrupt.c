/* cli/interrupt.c - signals as a flag. */
#include "interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t caught;

static void
on_signal(int number)
{
	(void)number;
	caught = 1;
}

void
interrupt_catch(void)
{
	const struct sigaction note = { .sa_handler = on_signal }, ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGINT, &note, NULL);
	sigaction(SIGTERM, &note, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
}

bool
interrupt_caught(void)
{
	return caught != 0;
}

/* poll without events still reports a pipe without a reader. */
bool
interrupt_wait(int output_fd, int wait_ms)
{
	struct pollfd p = { .fd = output_fd };

	if (caught)
		return true;
	const int n = poll(&p, 1, wait_ms);
	return caught || (n == 1 && (p.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0);
}
