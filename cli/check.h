/* cli/check.h - `muster check`. */
#ifndef MUSTER_CHECK_H
#define MUSTER_CHECK_H

/* argv[0] is "check". Returns the exit code: 0 good, 2 usage, 100 a bad file. */
int check_main(int argc, char **argv);

#endif
