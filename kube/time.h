/*
 * kube/time.h - times as Kubernetes writes them: metav1.Time (RFC 3339, seconds), MicroTime (six
 * decimals, always) and the Date header of HTTP, which has the cluster's time.
 *
 * A time here is microseconds since 1970 in UTC; finer parts are cut, as Go cuts them when it
 * prints. What is accepted is what Go's time.Parse accepts: any offset, any number of decimals
 * behind '.' or ',', an hour of one digit; no second 60. Pure: own calendar, no locale, no clock.
 */
#ifndef MUSTER_KUBE_TIME_H
#define MUSTER_KUBE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TIME_TEXT_MAX = 48 };		/* for any int64_t, with the NUL */

/* 0001-01-01T00:00:00Z: what Go takes for "not set" and writes as null. */
#define TIME_UNSET_US	INT64_C(-62135596800000000)

/* False: not such a time; *us is untouched. */
bool time_parse(const char *text, size_t len, int64_t *us);		/* metav1.Time */
bool time_parse_micro(const char *text, size_t len, int64_t *us);	/* MicroTime: exactly six decimals */
/* "Sun, 06 Nov 1994 08:49:37 GMT" (IMF-fixdate, RFC 9110 5.6.7); the two obsolete forms are refused. */
bool time_parse_http(const char *text, size_t len, int64_t *us);

/* In UTC, NUL-terminated; the length without it. size is at least TIME_TEXT_MAX. */
size_t time_format(int64_t us, char *buf, size_t size);			/* 2026-11-17T03:04:05Z */
size_t time_format_micro(int64_t us, char *buf, size_t size);		/* 2026-11-17T03:04:05.000006Z */

#endif
