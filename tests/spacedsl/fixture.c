#include "tests/spacedsl/fixture.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/space/data.h"
#include "spacedsl/model.h"

static char *spacedsl_files_read(const char *path, struct diag *d)
{
    size_t n;
    char *text = source_read_file(path, 1 << 20, &n, d);
    cr_assert_not_null(text, "run from the root of the repository");
    return text;
}

struct spacedsl_files spacedsl_files_open(const char *space, const char *json)
{
    struct spacedsl_files f = {.arena = arena_new(), .diag = diag_new()};
    f.text = spacedsl_files_read(space, f.diag);
    f.json = json ? spacedsl_files_read(json, f.diag) : NULL;
    struct source src = {space, f.text, strlen(f.text)};
    const struct space_def *def = spacedsl_compile(&src, f.arena, f.diag);
    if (def) f.data = json ? space_data_from_json(json, f.json, def, f.diag) : space_data_new();
    f.space = f.data ? space_instantiate(def, f.data, f.diag) : NULL;
    diag_print(f.diag, stderr);
    cr_assert_not_null(f.space);
    f.root = space_root(f.space, NULL);
    cr_assert_not_null(f.root);
    return f;
}

void spacedsl_files_close(struct spacedsl_files *f)
{
    space_state_free(f->root);
    space_free(f->space);
    space_data_free(f->data);
    diag_free(f->diag);
    arena_free(f->arena);
    free(f->text);
    free(f->json);
}
