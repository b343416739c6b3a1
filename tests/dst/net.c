/* tests/dst/net.c - pipes that keep the order of frames, and the faults that change it. */
#include <stdlib.h>
#include <string.h>

#include "dst.h"
#include "obj.h"

enum { STALL_MAX_MS = 3000, LATE_MAX_MS = 6000 };

/* A frame that left its place in the pipe and is queued again later, if the connection is still the same. */
struct sim_late {
	struct sim_late	 *next, **link;
	struct sim_pipe	 *pipe;		/* NULL: it was freed */
	uint32_t	  life;
	struct sim_frame  frame;
};

static void queue(struct sim *, struct sim_pipe *, struct sim_frame);
static void echo(struct sim *, struct sim_pipe *, const struct sim_frame *);
static void delay_frame(struct sim *, struct sim_pipe *, const struct sim_frame *, int64_t);
static void arrive_late(struct sim *, void *, uint64_t);
static struct sim_frame *at(const struct sim_pipe *, uint32_t);
static struct sim_frame copy(const struct sim_frame *);

void
sim_pipe_init(struct sim_pipe *p, struct sim_node *to, uint32_t max)
{
	*p = (struct sim_pipe){ .to = to, .max = max };
}

void
sim_pipe_free(struct sim_pipe *p)
{
	sim_pipe_cut(p);
	free(p->frames);
	p->frames = NULL;
}

void
sim_pipe_open(struct sim_pipe *p)
{
	p->open = true;
	p->repeated = false;
	p->last_ms = p->echo_ms = 0;
	p->echo_left = 0;
}

void
sim_pipe_cut(struct sim_pipe *p)
{
	for (uint32_t i = 0; i < p->len; i++)
		free(at(p, i)->bytes);
	p->len = 0;
	p->open = false;
	p->life++;
}

enum sim_sent
sim_pipe_send(struct sim *sim, struct sim_pipe *p, const void *bytes, size_t len, uint64_t tag,
    uint32_t weight)
{
	const struct sim_faults *f = &sim->faults;
	struct sim_frame frame = { .bytes = (uint8_t *)(uintptr_t)bytes,
		.len = (uint32_t)len,
		.tag = tag,
		.weight = weight };

	if (!p->open)
		return SIM_UNREACHABLE;
	if (p->len >= p->max || sim_chance(sim, f->refuse))
		return SIM_FULL;
	if (sim_chance(sim, f->drop)) {
		SIM_TRACE(sim, "  net: dropped");
		return SIM_SENT;
	}
	if (sim_chance(sim, f->late)) {
		delay_frame(sim, p, &frame, sim->now_ms + 1 + (int64_t)sim_random(sim, LATE_MAX_MS));
		return SIM_SENT;
	}
	if (sim_chance(sim, f->cut_short)) {
		frame.len = (uint32_t)sim_random(sim, frame.len);
		frame.weight = 0;
		SIM_TRACE(sim, "  net: cut to %u bytes", frame.len);
	}
	queue(sim, p, copy(&frame));
	if (sim_chance(sim, f->repeat)) {
		SIM_TRACE(sim, "  net: repeated");
		queue(sim, p, copy(&frame));
		p->repeated = true;
	}
	echo(sim, p, &frame);
	if (p->len > 1 && sim_chance(sim, f->swap)) {
		struct sim_frame *a = at(p, p->len - 1), *b = at(p, (uint32_t)sim_random(sim, p->len - 1));
		const struct sim_frame was = *a;

		SIM_TRACE(sim, "  net: swapped");
		*a = *b;
		*b = was;
		b->at_ms = a->at_ms;
		a->at_ms = was.at_ms;
	}
	return SIM_SENT;
}

bool
sim_pipe_read(struct sim *sim, struct sim_pipe *p, struct sim_frame *out)
{
	if (sim_pipe_due_ms(p) > sim->now_ms)
		return false;
	*out = *at(p, 0);
	p->head = (p->head + 1) % p->cap;
	p->len--;
	return true;
}

int64_t
sim_pipe_due_ms(const struct sim_pipe *p)
{
	return p->len == 0 ? INT64_MAX : at(p, 0)->at_ms;
}

uint64_t
sim_pipe_weight(const struct sim_pipe *p, uint64_t tag)
{
	uint64_t sum = 0;

	if (p->repeated)
		return 0;
	for (uint32_t i = 0; i < p->len; i++)
		sum += at(p, i)->tag == tag ? at(p, i)->weight : 0;
	return sum;
}

void
sim_late_free(struct sim *sim)
{
	while (sim->late != NULL) {
		struct sim_late *l = sim->late;

		sim->late = l->next;
		free(l->frame.bytes);
		free(l);
	}
}

void
sim_late_drop(struct sim *sim, const struct sim_pipe *p)
{
	for (struct sim_late *l = sim->late; l != NULL; l = l->next) {
		if (l->pipe == p)
			l->pipe = NULL;
	}
}

/* Takes ownership of frame.bytes. No frame overtakes another: a slow one delays those after it. */
static void
queue(struct sim *sim, struct sim_pipe *p, struct sim_frame frame)
{
	int64_t at_ms = sim->now_ms + (int64_t)sim_random(sim, (uint64_t)sim->faults.latency_ms + 1);

	if (sim_chance(sim, sim->faults.stall))
		at_ms += (int64_t)sim_random(sim, STALL_MAX_MS);
	if (at_ms < p->last_ms)
		at_ms = p->last_ms;
	p->last_ms = frame.at_ms = at_ms;
	if (p->len == p->cap) {
		const uint32_t cap = p->cap == 0 ? 16 : p->cap * 2;
		struct sim_frame *frames = obj_alloc(cap * sizeof(*frames));

		for (uint32_t i = 0; i < p->len; i++)
			frames[i] = *at(p, i);
		free(p->frames);
		p->frames = frames;
		p->cap = cap;
		p->head = 0;
	}
	*at(p, p->len++) = frame;
	sim_wake(sim, p->to, at_ms);
}

/* A run of frames is repeated later, in the order it had: old answers to new requests. */
static void
echo(struct sim *sim, struct sim_pipe *p, const struct sim_frame *frame)
{
	if (p->echo_left == 0 && sim_chance(sim, sim->faults.echo)) {
		p->echo_left = 1 + (uint32_t)sim_random(sim, 6);
		p->echo_after_ms = 1 + (int64_t)sim_random(sim, LATE_MAX_MS);
		p->repeated = true;
	}
	if (p->echo_left == 0)
		return;
	p->echo_left--;
	const int64_t at_ms = sim->now_ms + p->echo_after_ms;
	p->echo_ms = at_ms > p->echo_ms ? at_ms : p->echo_ms + 1;
	delay_frame(sim, p, frame, p->echo_ms);
}

static void
delay_frame(struct sim *sim, struct sim_pipe *p, const struct sim_frame *frame, int64_t at_ms)
{
	struct sim_late *l = obj_alloc(sizeof(*l));

	*l = (struct sim_late){
		.pipe = p, .life = p->life, .frame = copy(frame), .next = sim->late, .link = &sim->late,
	};
	if (l->next != NULL)
		l->next->link = &l->next;
	sim->late = l;
	SIM_TRACE(sim, "  net: delayed");
	sim_at(sim, at_ms, arrive_late, l, 0);
}

/* Once the faults are over, what is still delayed is dropped. */
static void
arrive_late(struct sim *sim, void *arg, uint64_t n)
{
	struct sim_late *l = arg;

	(void)n;
	if (l->pipe != NULL && l->pipe->open && l->pipe->life == l->life && l->pipe->len < l->pipe->max
	    && !sim->faults_over) {
		SIM_TRACE(sim, "  net: a late frame arrives at %s", l->pipe->to->name);
		queue(sim, l->pipe, copy(&l->frame));
	}
	*l->link = l->next;
	if (l->next != NULL)
		l->next->link = l->link;
	free(l->frame.bytes);
	free(l);
}

static struct sim_frame *
at(const struct sim_pipe *p, uint32_t i)
{
	return &p->frames[(p->head + i) % p->cap];
}

static struct sim_frame
copy(const struct sim_frame *f)
{
	struct sim_frame c = *f;

	c.bytes = obj_memdup(f->bytes, f->len);
	return c;
}
