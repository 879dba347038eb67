/* Nodes of a YAML file, over the document interface of libyaml. libyaml counts characters from the start of
 * the text, without a byte order mark; places in diagnostics are byte offsets:
 *
 *     name: tübingen     character 8 is byte 9 */
#include "coordinator/campaign/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "core/base/arena.h"

enum { MESSAGE_BYTES = 1024 };

struct campaign_yaml {
    const struct source *source;
    yaml_document_t document;
};

/* ---- places ---- */

static size_t mark_of_order(const struct source *s)
{
    return s->length >= 3 && memcmp(s->text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
}

static bool continues_character(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

static struct source_pos place_of(const struct source *s, size_t character)
{
    size_t at = mark_of_order(s);
    for (; character > 0 && at < s->length; character--) {
        at++;
        while (at < s->length && continues_character(s->text[at]))
            at++;
    }
    return (struct source_pos){s, at};
}

/* ---- parsing ---- */

static bool report(const struct source *s, const yaml_parser_t *p, struct diag *d)
{
    bool bytes = p->error == YAML_READER_ERROR;
    size_t offset = p->problem_offset < s->length ? p->problem_offset : s->length;
    struct source_pos at = bytes ? (struct source_pos){s, offset} : place_of(s, p->problem_mark.index);
    diag_error(d, at, "YAML: %s%s%s", p->problem ? p->problem : "out of memory", p->context ? " " : "",
               p->context ? p->context : "");
    return false;
}

/* A file has one document. */
static bool ends(const struct source *s, yaml_parser_t *p, struct diag *d)
{
    yaml_document_t next;
    if (!yaml_parser_load(p, &next)) return report(s, p, d);
    const yaml_node_t *root = yaml_document_get_root_node(&next);
    if (root) diag_error(d, place_of(s, root->start_mark.index), "a campaign file has one document");
    bool alone = !root;
    yaml_document_delete(&next);
    return alone;
}

struct campaign_yaml *campaign_yaml_new(const struct source *source, struct diag *d)
{
    yaml_parser_t p;
    struct campaign_yaml *y = base_calloc(1, sizeof *y);
    y->source = source;
    if (!yaml_parser_initialize(&p)) {
        diag_plain(d, "out of memory");
        free(y);
        return NULL;
    }
    yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
    size_t mark = mark_of_order(source);
    yaml_parser_set_input_string(&p, (const unsigned char *)source->text + mark, source->length - mark);
    bool loaded = yaml_parser_load(&p, &y->document) != 0;
    bool ok =
        loaded ? !yaml_document_get_root_node(&y->document) || ends(source, &p, d) : report(source, &p, d);
    yaml_parser_delete(&p);
    if (ok) return y;
    if (loaded) yaml_document_delete(&y->document);
    free(y);
    return NULL;
}

void campaign_yaml_free(struct campaign_yaml *y)
{
    if (!y) return;
    yaml_document_delete(&y->document);
    free(y);
}

/* ---- nodes ---- */

static const yaml_node_t *node_of(struct campaign_node n)
{
    return yaml_document_get_node(&n.yaml->document, n.id);
}

struct campaign_node campaign_yaml_root(struct campaign_yaml *y)
{
    bool some = yaml_document_get_root_node(&y->document) != NULL;
    return (struct campaign_node){some ? y : NULL, 1};
}

enum campaign_kind campaign_node_kind(struct campaign_node n)
{
    const yaml_node_t *node = node_of(n);
    if (node->type == YAML_SEQUENCE_NODE) return CAMPAIGN_LIST;
    return node->type == YAML_MAPPING_NODE ? CAMPAIGN_MAP : CAMPAIGN_TEXT;
}

const char *campaign_node_kind_name(struct campaign_node n)
{
    static const char *const names[] = {"a text", "a list", "a map"};
    return names[campaign_node_kind(n)];
}

const char *campaign_node_text(struct campaign_node n)
{
    const yaml_node_t *node = node_of(n);
    return node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

size_t campaign_node_count(struct campaign_node n)
{
    const yaml_node_t *node = node_of(n);
    if (node->type == YAML_SEQUENCE_NODE)
        return (size_t)(node->data.sequence.items.top - node->data.sequence.items.start);
    if (node->type == YAML_MAPPING_NODE)
        return (size_t)(node->data.mapping.pairs.top - node->data.mapping.pairs.start);
    return 0;
}

struct campaign_node campaign_node_item(struct campaign_node n, size_t i)
{
    const yaml_node_t *node = node_of(n);
    int id = node->type == YAML_SEQUENCE_NODE ? node->data.sequence.items.start[i]
                                              : node->data.mapping.pairs.start[i].value;
    return (struct campaign_node){n.yaml, id};
}

struct campaign_node campaign_node_key(struct campaign_node n, size_t i)
{
    return (struct campaign_node){n.yaml, node_of(n)->data.mapping.pairs.start[i].key};
}

struct campaign_node campaign_node_get(struct campaign_node n, const char *key)
{
    size_t count = campaign_node_kind(n) == CAMPAIGN_MAP ? campaign_node_count(n) : 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(campaign_node_text(campaign_node_key(n, i)), key) == 0) return campaign_node_item(n, i);
    return (struct campaign_node){NULL, 0};
}

struct source_pos campaign_node_place(struct campaign_node n)
{
    return place_of(n.yaml->source, node_of(n)->start_mark.index);
}

bool campaign_node_error(struct campaign_node n, struct diag *d, const char *fmt, ...)
{
    char message[MESSAGE_BYTES];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    diag_error(d, campaign_node_place(n), "%s", message);
    return false;
}
