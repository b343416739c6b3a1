/*
 * config/yaml_tree.h - YAML documents as trees, within limits: the one reader of YAML.
 *
 * What was read before a mistake stays readable. An alias is only another reference to a node, so a
 * document made of references does not grow; whoever follows them all has to count. Texts may be
 * secrets: they are wiped when the tree is freed.
 */
#ifndef MUSTER_YAML_TREE_H
#define MUSTER_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP, YAML_ALIAS };

struct yaml_value {
	enum yaml_kind		 kind;		/* YAML_ALIAS: only where limits.anchors is 0 */
	int			 line;		/* from 1 */
	bool			 plain;		/* a text without quotes */
	bool			 anchored, tagged;
	char			*text;		/* ends with NUL; libyaml's own allocation */
	size_t			 len;
	struct yaml_member	*members;	/* of a list or mapping */
	size_t			 count;
};

struct yaml_member {
	const struct yaml_value	*key;		/* NULL in a list */
	const struct yaml_value	*value;
};

struct yaml_limits {
	int	depth;		/* of lists and mappings */
	size_t	anchors;	/* 0: none is resolved */
	size_t	documents;	/* stop after that many that are not null; 0: never */
};

enum yaml_mistake { YAML_FINE, YAML_SYNTAX, YAML_TOO_DEEP, YAML_TOO_MANY_ANCHORS };

struct yaml_document {
	int			 line;
	size_t			 first;		/* of its values in the tree's */
	const struct yaml_value	*root;		/* NULL: its reading failed at once */
};

struct yaml_tree {
	enum yaml_mistake	 mistake;
	int			 mistake_line;
	char			 mistake_text[160];	/* of YAML_SYNTAX: nothing of the file */
	struct yaml_document	*documents;
	size_t			 ndocuments;
	struct yaml_value	**values;	/* every one, in the order of the file */
	size_t			 nvalues;
};

struct yaml_tree *yaml_tree_read(const char *text, size_t len, const struct yaml_limits *limits);
void yaml_tree_free(struct yaml_tree **tp);
/* Nothing, or a null by any of its YAML names, without quotes. */
bool yaml_value_null(const struct yaml_value *v);

#endif
