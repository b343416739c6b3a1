/* kube/rv.c - order of resourceVersions. Pure. */
#include "rv.h"

#include <string.h>

bool
rv_valid(const char *rv, size_t len)
{
	if (len == 0 || rv[0] == '0')
		return false;
	for (size_t i = 0; i < len; i++) {
		if (rv[i] < '0' || rv[i] > '9')
			return false;
	}
	return true;
}

enum rv_order
rv_compare(const char *a, size_t alen, const char *b, size_t blen)
{
	if (!rv_valid(a, alen) || !rv_valid(b, blen))
		return RV_UNKNOWN;
	/* Without leading zeros the longer number is the larger one. */
	if (alen != blen)
		return alen < blen ? RV_OLDER : RV_NEWER;
	const int order = memcmp(a, b, alen);
	return order < 0 ? RV_OLDER : order > 0 ? RV_NEWER : RV_SAME;
}
