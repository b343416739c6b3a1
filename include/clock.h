/* include/clock.h - the only places that read a clock. Decisions get `now_ms` handed in. */
#ifndef MUSTER_CLOCK_H
#define MUSTER_CLOCK_H

#include <stdint.h>

int64_t clock_mono_ms(void);	/* timers, deadlines, ages: never jumps */
int64_t clock_mono_us(void);
int64_t clock_wall_ms(void);	/* display only */
int64_t clock_wall_us(void);

#endif
