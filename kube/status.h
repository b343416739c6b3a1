/*
 * kube/status.h - why the server refused: metav1.Status from JSON or protobuf, or the text of a proxy that
 * answered in its place.
 *
 * Decisions go by code, reason and causes, never by the message; that one is for people. All text
 * is UTF-8 without control characters, cut to fit.
 */
#ifndef MUSTER_KUBE_STATUS_H
#define MUSTER_KUBE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATUS_CAUSES_MAX = 16, STATUS_BODY_MAX = 1024 * 1024, STATUS_RETRY_MAX_S = 24 * 3600 };

struct kube_cause {
	char	reason[64];	/* "FieldValueInvalid" */
	char	field[192];	/* "spec.taints[0].effect" */
	char	message[512];
};

struct kube_status {
	int			code;		/* of HTTP, or the Status's own inside a watch */
	bool			given;		/* it was a Status; else only code and message are known */
	char			reason[64];	/* "Conflict" */
	char			message[1024];	/* `... cannot patch resource "nodes" ...` */
	int64_t			retry_after_s;	/* 0: none given */
	struct kube_cause	causes[STATUS_CAUSES_MAX];
	size_t			ncauses;	/* more than fit are dropped */
};

/*
 * Any body of any answer, distinguished by its first bytes: never fails. http_code: 0 for the object
 * of an ERROR event (then the Status's own code counts).
 */
void status_read(struct kube_status *s, int http_code, const void *bytes, size_t len);

/* The server we asked lags behind one that we have seen: ask again later, do not give up. */
bool status_too_large_rv(const struct kube_status *s);

/* "field: message" lines, as RESULT carries them. The length, cut to fit. */
size_t status_causes(const struct kube_status *s, char *buf, size_t size);

#endif
