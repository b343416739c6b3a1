/* cli/status_table.h - the output of `muster status`. Pure except for the stream. */
#ifndef MUSTER_STATUS_TABLE_H
#define MUSTER_STATUS_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tree_status.h"

struct status_style {
	bool	utf8;		/* glyphs; otherwise ASCII */
	bool	colour;
};

void status_table_print(FILE *out, const struct tree_status *r, const char *run_dir,
    const struct status_style *style);
/* "9s", "5min 3s", "2h 5min", "3d 2h": two units at most. */
const char *status_duration(int64_t seconds, char *buf, size_t size);

#endif
