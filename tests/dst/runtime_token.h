/* tests/dst/runtime_token.h - the one file that simulated actors read: a token. */
#ifndef MUSTER_DST_RUNTIME_TOKEN_H
#define MUSTER_DST_RUNTIME_TOKEN_H

/* What bytes_read_file gives, whatever the path is; "": there is no file. NULL: files are not simulated. */
extern const char *runtime_token_file;

#endif
