/* actors/runtime/crash.h - last words: a backtrace on stderr, no core (it would hold secrets). */
#ifndef MUSTER_CRASH_H
#define MUSTER_CRASH_H

void crash_install(void);

#endif
