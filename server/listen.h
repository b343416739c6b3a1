/* server/listen.h - a listening socket for an address in text form. */
#ifndef MUSTER_SERVER_LISTEN_H
#define MUSTER_SERVER_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A listening socket for ":port", "host:port" or "[IPv6]:port"; -1 with the cause in why. *config:
 * waiting will not help (the address is taken, is not ours, or is not allowed).
 */
int listen_open(const char *address, const char **why, bool *config);
/* The address it really has, "127.0.0.1:40001" or "[::]:8080". */
void listen_address(int fd, char *buf, size_t size);
/*
 * That address in a file of a folder, for a configuration with port 0. Renamed into place, so that a
 * reader gets all of it. False with errno; path has the file that could not be written.
 */
enum { LISTEN_PATH_MAX = 4096 };
bool listen_write_address(
    const char *folder, const char *file, const char *bound, char path[LISTEN_PATH_MAX]);

#endif
