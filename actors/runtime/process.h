/* actors/runtime/process.h - the process_* metrics of this actor. */
#ifndef MUSTER_PROCESS_H
#define MUSTER_PROCESS_H

void process_stats(void);

#endif
