/* Fuzzing of the .space compiler and, for spaces that stay small, of instantiation: no text may crash them or
 * keep them busy. Errors are what most texts should give. Built with libFuzzer by `make fuzz`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "core/space/space.h"
#include "spacedsl/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Whether the formulas of an instance of two objects a set are few. */
static bool is_small(const struct space_def *def)
{
    int quantifiers = 0;
    bool small = def->n_nodes < 300 && def->n_choices < 6;
    for (int32_t i = 0; i < def->n_sets; i++)
        small =
            small && (!def->sets[i].range || def->sets[i].hi - def->sets[i].lo < 3) && def->sets[i].hi < 100;
    for (int32_t i = 0; i < def->n_nodes; i++) {
        uint8_t op = def->nodes[i].op;
        quantifiers += op >= SPACE_EXISTS && op <= SPACE_MAXOF;
    }
    for (int32_t i = 0; i < def->n_constraints; i++)
        small = small && def->constraints[i].n_vars < 4;
    for (int32_t i = 0; i < def->n_triggers; i++)
        small = small && def->triggers[i].n_vars < 4;
    return small && quantifiers < 6;
}

static void instantiate(const struct space_def *def, struct diag *d)
{
    struct space_data *data = space_data_new();
    for (int32_t i = 0; i < def->n_sets; i++) {
        if (def->sets[i].root != i || def->sets[i].range) continue;
        space_data_object(data, def->sets[i].name, "a");
        space_data_object(data, def->sets[i].name, "b");
    }
    for (int32_t i = 0; i < def->n_parameters; i++)
        space_data_parameter(data, def->parameters[i].name, 2);
    struct space *s = space_instantiate(def, data, d);
    struct space_state *root = s ? space_root(s, NULL) : NULL;
    uint32_t slot = root ? space_next_choice(root, NULL, 0) : UINT32_MAX;
    if (slot != UINT32_MAX) {
        space_mark mark = space_snapshot(root);
        if (!space_apply(root, (struct space_action){slot, space_first_value(root, slot)}, NULL))
            space_rollback(root, mark);
    }
    space_state_free(root);
    space_free(s);
    space_data_free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    if (memchr(bytes, 0, n)) return 0;
    struct arena *a = arena_new();
    struct diag *d = diag_new();
    struct source source = {"fuzz.space", arena_strndup(a, (const char *)bytes, n), n};
    struct ast *ast = spacedsl_parse(&source, a, d);
    struct model *m = diag_failed(d) ? NULL : spacedsl_resolve(ast, a, d);
    if (m) {
        free(spacedsl_emit(m));
        const struct space_def *def = spacedsl_model_def(m);
        if (is_small(def)) instantiate(def, d);
    }
    for (size_t i = 0; i < diag_count(d) && i < DIAG_MAX; i++)
        if (!diag_message(d, i)) abort();
    diag_free(d);
    arena_free(a);
    return 0;
}
