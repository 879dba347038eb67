/* A YAML file as a tree of nodes that know where they are in the text:
 *
 *     struct campaign_yaml *y = campaign_yaml_new(&source, d);
 *     struct campaign_node root = campaign_yaml_root(y);
 *     for (size_t i = 0; i < campaign_node_count(root); i++)
 *         campaign_node_error(campaign_node_key(root, i), d, "unknown key '%s'", ...);
 *
 * Every scalar is a text: what it means is up to the reader. An alias is the node that its anchor marks, so a
 * file may name a list once and use it several times, and a node may contain itself: readers go down to a
 * fixed depth. */
#ifndef THRESH_CAMPAIGN_YAML_H
#define THRESH_CAMPAIGN_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/attr.h"
#include "core/base/diag.h"

struct campaign_yaml;

struct campaign_node {
    struct campaign_yaml *yaml; /* NULL: no node */
    int id;
};

enum campaign_kind { CAMPAIGN_TEXT, CAMPAIGN_LIST, CAMPAIGN_MAP };

/* Parses a text with one document. The source is borrowed. NULL after an error with its place. */
struct campaign_yaml *campaign_yaml_new(const struct source *source, struct diag *d);
void campaign_yaml_free(struct campaign_yaml *y); /* NULL is allowed */

/* No node if the file is empty. */
struct campaign_node campaign_yaml_root(struct campaign_yaml *y);
enum campaign_kind campaign_node_kind(struct campaign_node n);
/* "a text", "a list", "a map". */
const char *campaign_node_kind_name(struct campaign_node n);
/* Of a text: 0-terminated, owned by the tree. A text with a 0 byte in it ends there. */
const char *campaign_node_text(struct campaign_node n);
/* How many items a list or a map has; 0: of a text. */
size_t campaign_node_count(struct campaign_node n);
/* The i-th item of a list, or the i-th value of a map. */
struct campaign_node campaign_node_item(struct campaign_node n, size_t i);
/* The i-th key of a map. */
struct campaign_node campaign_node_key(struct campaign_node n, size_t i);
/* The value of a key; no node if the map has no such key. */
struct campaign_node campaign_node_get(struct campaign_node n, const char *key);
struct source_pos campaign_node_place(struct campaign_node n);
/* Adds an error at the node. Returns false. */
bool campaign_node_error(struct campaign_node n, struct diag *d, const char *fmt, ...) BASE_PRINTF(3, 4);

#endif
