/*
 * actors/vpsie-claimer/token_files.h - the files of credential-dir, and the token that calls carry (contract
 * A7, D17).
 *
 * Files: `token`, or `clientId` and `clientSecret`; optionally `url`: the original's Secret, mounted.
 *
 * Rules
 * - The files are read once a second, by their paths: a mounted Secret replaces a symbolic link.
 * - clientId and clientSecret are exchanged for a token, refreshed before it expires, and after a 401.
 * - What is new is tried before it is used: a call with the new token, or the exchange. When the provider
 *   does not accept it, or a file cannot be used, the old token stays, with a warning that names the folder.
 * - No text here contains a part of a secret; secrets are wiped.
 */
#ifndef MUSTER_VPSIE_TOKEN_FILES_H
#define MUSTER_VPSIE_TOKEN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vpsie_claimer;
struct vpsie_credential;

enum { VPSIE_CREDENTIAL_ERROR_MAX = 512 };

/* header: "Authorization: Bearer " or "Vpsie-Auth: "; static. */
struct vpsie_credential *vpsie_credential_new(const char *dir, const char *header);
void vpsie_credential_free(struct vpsie_credential **cp);
/* Reads the files, and starts the call that has become due. */
void vpsie_credential_tick(struct vpsie_claimer *c, int64_t now_ms);
/* The header line, or NULL: there is no token yet. serial: for vpsie_credential_refused. */
const char *vpsie_credential_line(const struct vpsie_credential *c, uint64_t *serial);
/* A call with that token was answered by 401. */
void vpsie_credential_refused(struct vpsie_credential *c, uint64_t serial, int64_t now_ms);
/* The provider refused the token, and another one is being obtained: a call would be refused, too. */
bool vpsie_credential_renews(const struct vpsie_credential *c, int64_t now_ms);
/* The file `url`; "": there is none. */
const char *vpsie_credential_url(const struct vpsie_credential *c);
/* Why there is no token, or why a new one is not used; "": all is well. */
const char *vpsie_credential_error(const struct vpsie_credential *c);

#endif
