/* The user's data of a campaign. They are read before a device is asked for: what is wrong with them is said
 * at once. An agent in this process uses the arrays; others read the same files, by the paths that they are
 * told, and compare a hash of the content.
 *
 *     --input x=data/x.npy     settings: "... input=x=x.npy files=6c62272e07bb0142"
 *
 * Settings have the name of the file alone, so that the same campaign may be run from another folder. */
#include <stdlib.h>
#include <string.h>

#include "coordinator/store.h"
#include "coordinator/tune_state.h"
#include "core/base/arena.h"
#include "core/base/diag.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

/* Checks names, reads the files and keeps their arrays where an agent in this process needs them. */
static bool load(struct tune *t, const struct lift_program *p, struct diag *d)
{
    const struct tune_options *o = &t->options;
    t->data = given_load(&o->data, p, d);
    if (!t->data) return false;
    t->data_text = given_text(&o->data, t->data, d);
    t->data_hash = given_hash(t->data);
    if (!o->listen && !o->fleet) return t->data_text != NULL;
    given_free(t->data);
    t->data = NULL;
    return t->data_text != NULL;
}

bool tune_read_files(struct tune *t, struct diag *d)
{
    const struct tune_options *o = &t->options;
    const struct source source = {o->path, o->text, strlen(o->text)};
    struct lift_size_value *values;
    if (!given_any(&o->data) && o->n_baselines == 0) return true;
    struct arena *a = arena_new();
    struct lift_program *p = lift_parse(&source, a, d);
    int n = p ? lift_parse_sizes(o->sizes ? o->sizes : "", &values, a, d) : -1;
    bool ok = n >= 0 && lift_bind(p, values, (unsigned)n, a, d) && tune_read_baselines(t, p, d) &&
              (!given_any(&o->data) || load(t, p, d));
    arena_free(a);
    return ok;
}

bool tune_note_data(struct tune *t, struct diag *d)
{
    int64_t run;
    struct store *store = session_store(t->session, &run);
    if (!store || !t->data_text || t->options.resume) return true;
    return store_event_add(store, run, 0, "data", t->data_text, d);
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

void tune_print_data(const struct given_files *f, struct strbuf *out)
{
    for (unsigned i = 0; i < f->n_inputs; i++)
        strbuf_printf(out, " input=%s=%s", f->inputs[i].name, file_name(f->inputs[i].path));
    for (unsigned i = 0; i < f->n_references; i++) {
        const char *name = f->references[i].name;
        strbuf_printf(out, " reference=%s%s%s", name ? name : "", name ? "=" : "",
                      file_name(f->references[i].path));
    }
    if (f->has_tolerance) strbuf_printf(out, " tolerance=%g", f->tolerance);
}

char *tune_settings_without_data(const char *settings)
{
    static const char *const names[] = {" input=", " reference=", " tolerance=", STORE_FILES};
    const char *description = strstr(settings, STORE_DESCRIPTION), *from = NULL;
    struct strbuf b = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *at = strstr(settings, names[i]);
        if (at && (!from || at < from)) from = at;
    }
    if (!from) return base_strdup(settings);
    strbuf_printf(&b, "%.*s%s", (int)(from - settings), settings, description ? description : "");
    return strbuf_take(&b);
}

void tune_free_data(struct tune *t)
{
    given_free(t->data);
    free(t->data_text);
}
