/* cli/manual.h - pages and completion scripts that the build writes from the tables of options. */
#ifndef MUSTER_MANUAL_H
#define MUSTER_MANUAL_H

#include <stdio.h>

/* manual_pages.c: roff for man(7). */
void manual_print_muster(FILE *out);		/* muster.1 */
void manual_print_musterd(FILE *out);		/* musterd.8 */
void manual_print_configuration(FILE *out);	/* muster.yaml.5 */

/* manual_shells.c: completion of muster and musterd. */
void manual_print_bash(FILE *out);
void manual_print_zsh(FILE *out);
void manual_print_fish(FILE *out);

#endif
