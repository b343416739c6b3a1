/* include/clock.h - the only places that read a clock. Decisions get `now_ms` handed in. */
#ifndef MUSTER_CLOCK_H
#define MUSTER_CLOCK_H

#include <stdint.h>

/*
 * Timers, deadlines, ages: CLOCK_BOOTTIME, which never jumps and counts the time in which the machine
 * was suspended. A Lease ends while we sleep, and a deadline passes; the timers of libevent, libzmq
 * and epoll do not count that time, so what is due is checked where it is used, not by a timer alone.
 */
int64_t clock_mono_ms(void);
int64_t clock_mono_us(void);
int64_t clock_wall_ms(void);	/* display only */
int64_t clock_wall_us(void);

#endif
