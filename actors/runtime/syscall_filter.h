/*
 * actors/runtime/syscall_filter.h - which system calls are left to this process (seccomp), from the
 * rows of syscall_table.h.
 */
#ifndef MUSTER_SYSCALL_FILTER_H
#define MUSTER_SYSCALL_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lifeline.h"

enum { SYSCALL_FILTER_MAX = 512 };

/*
 * The program for these sets (bits of enum syscall_set) in the process of that id; its length, 0 on a
 * machine that has no table. Pure.
 */
size_t syscall_filter_make(struct sock_filter out[SYSCALL_FILTER_MAX], unsigned sets, uint32_t pid);
/* Of a call that the table names; NULL: of none. Pure. */
const char *syscall_name(int number);

#endif
