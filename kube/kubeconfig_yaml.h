/*
 * kube/kubeconfig_yaml.h - the known keys of one YAML document; every error with file and line.
 *
 * The first error is kept in f->err; after it, results are empty and the caller need not check
 * until the end. Texts of the file are never part of an error, only names of keys.
 */
#ifndef MUSTER_KUBECONFIG_YAML_H
#define MUSTER_KUBECONFIG_YAML_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "config/yaml_tree.h"

struct yaml_file {
	char		*path;		/* for errors */
	char		*folder;	/* absolute; relative paths in the file start here */
	struct yaml_tree *tree;
	char		*err;
	size_t		 size;
	bool		*failed;	/* shared by all files of one loading */
};

/* False: not YAML, or two documents. An empty file is fine: it has no root. */
bool yaml_file_open(struct yaml_file *f, const char *path, const char *text, size_t len, char *err,
    size_t size, bool *failed);
void yaml_file_close(struct yaml_file *f);	/* wipes what was read */
const struct yaml_value *yaml_file_root(struct yaml_file *f);

/* NULL: not there, or null. map NULL: nothing is there. */
const struct yaml_value *yaml_get(struct yaml_file *f, const struct yaml_value *map, const char *key);
/* Another type is an error. */
const struct yaml_value *yaml_get_map(struct yaml_file *f, const struct yaml_value *map, const char *key);
const struct yaml_value *yaml_get_list(struct yaml_file *f, const struct yaml_value *map, const char *key);
const char *yaml_get_text(struct yaml_file *f, const struct yaml_value *map, const char *key);
bool yaml_get_flag(struct yaml_file *f, const struct yaml_value *map, const char *key);
/* The i-th item, up to NULL. */
const struct yaml_value *yaml_item(struct yaml_file *f, const struct yaml_value *list, size_t i);
/* The text of a scalar: one line without control characters; key is for the error. */
const char *yaml_text(struct yaml_file *f, const struct yaml_value *node, const char *key);
/* New reference; numbers and booleans as JSON writes them, everything else text. NULL after an error. */
json_t *yaml_json(struct yaml_file *f, const struct yaml_value *node);

/* node NULL: without a line. */
void yaml_refuse(struct yaml_file *f, const struct yaml_value *node, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
