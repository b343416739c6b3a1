/*
 * kube/rv.h - which of two resourceVersions is newer.
 *
 * They are decimal integers of any length, without a leading zero ("0" is none: it means "any version").
 * Only versions of one resource of one cluster may be compared. A server before 1.35 promises no order; what
 * is no number is RV_UNKNOWN, and the caller treats it as newer.
 * Pure.
 */
#ifndef MUSTER_RV_H
#define MUSTER_RV_H

#include <stdbool.h>
#include <stddef.h>

enum rv_order { RV_OLDER, RV_SAME, RV_NEWER, RV_UNKNOWN };

bool rv_valid(const char *rv, size_t len);
/* What a is beside b. Two equal texts that are no numbers are still RV_UNKNOWN. */
enum rv_order rv_compare(const char *a, size_t alen, const char *b, size_t blen);

#endif
