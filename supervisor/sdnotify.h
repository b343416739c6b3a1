/* supervisor/sdnotify.h - sends the state to systemd, or to whatever set NOTIFY_SOCKET. */
#ifndef MUSTER_SDNOTIFY_H
#define MUSTER_SDNOTIFY_H

#include <stdint.h>

/* Takes NOTIFY_SOCKET and the watchdog variables out of the environment. */
void sdnotify_open(void);
/* "READY=1\nSTATUS=..."; does nothing without NOTIFY_SOCKET. Never blocks. */
void sdnotify(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* RELOADING=1 with the time that the protocol requires. */
void sdnotify_reloading(void);
/* How often WATCHDOG=1 is due; 0: never. */
int64_t sdnotify_watchdog_ms(void);

#endif
