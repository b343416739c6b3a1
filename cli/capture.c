/* cli/capture.c - topic, meta and frame of a tap record. */
#include "capture.h"

#include <string.h>

#include "keytab.h"

enum { TOPIC_WORDS = 4 };

static bool read_topic(struct capture *, const struct byte_view *);

const char *
capture_open(struct capture *c, const struct capture_raw *raw, struct msg_arena *arena)
{
	union msg_body meta;

	if (!read_topic(c, &raw->topic))
		return "unknown topic";
	if (!msg_unpack_value(MSG_TAP, raw->meta.p, raw->meta.len, arena, &meta))
		return "its description does not decode";
	c->meta = meta.tap;
	const char *wrong = frame_open(&c->frame, raw->frame.p, raw->frame.len, arena);
	c->bodies = wrong == NULL ? c->frame.bodies : 0;
	if (wrong == NULL && c->frame.env.type != c->message)
		wrong = "the frame is not of the topic's message";
	return wrong;
}

/* "<o|i>/<actor>/<link>/<MESSAGE>" */
static bool
read_topic(struct capture *c, const struct byte_view *topic)
{
	struct byte_view word[TOPIC_WORDS];

	if (topic->len == 0)	/* then p may be NULL */
		return false;
	const uint8_t *p = topic->p, *const end = topic->p + topic->len;
	for (size_t i = 0; i < TOPIC_WORDS; i++) {
		const uint8_t *slash = p < end ? memchr(p, '/', (size_t)(end - p)) : NULL;
		const uint8_t *stop = slash != NULL && i + 1 < TOPIC_WORDS ? slash : end;

		if (p >= end)
			return false;
		word[i] = (struct byte_view){ p, (size_t)(stop - p) };
		p = stop + 1;
	}
	c->direction = word[0].p[0] == 'o' ? TAP_OUT : TAP_IN;
	c->actor = role_find((const char *)word[1].p, word[1].len);
	c->link = link_find((const char *)word[2].p, word[2].len);
	c->message = msg_find((const char *)word[3].p, word[3].len);
	return word[0].len == 1 && (word[0].p[0] == 'o' || word[0].p[0] == 'i') && c->actor != ROLE_NONE
	    && c->link != LINK_MAX && c->message != MSG_MAX;
}

uint64_t
tap_loss_before(struct keytab *seen, const struct capture *c)
{
	const unsigned topic[] = { c->actor, c->direction, c->link, c->message };
	const struct tap_position now = { .incarnation = c->meta.incarnation, .seq = c->meta.seq };
	struct tap_position *last =
	    keytab_value(seen, keytab_add(seen, (const char *)topic, sizeof(topic), NULL));
	const bool follows = last->incarnation == now.incarnation && now.seq > last->seq;
	const uint64_t missing = follows ? now.seq - last->seq - 1 : 0;

	*last = now;
	return missing;
}
