/* cli/draw.h - the picture that `muster status` shows. Pure but for the stream it writes to. */
#ifndef MUSTER_DRAW_H
#define MUSTER_DRAW_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "actors/metrics/roster.h"

struct draw_style {
	bool	utf8;		/* glyphs; otherwise ASCII */
	bool	colour;
};

void draw_status(FILE *out, const struct roster *r, const char *run_dir, const struct draw_style *style);
/* "9s", "5min 3s", "2h 5min", "3d 2h": two units at most. */
const char *draw_duration(int64_t seconds, char *buf, size_t size);

#endif
