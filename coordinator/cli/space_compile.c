/* thresh space compile: makes a shared object from a .space file.
 *
 *     $ thresh space compile tiles.space --out tiles.so
 *     $ thresh tune --space tiles.so --command ...
 *
 * The C compiler gets the tables of spacedsl_emit(), with the text of core/space/def.h in place of its
 * #include, so that no headers of thresh are needed. It writes beside FILE.so, which is renamed when it is
 * complete. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coordinator/cli/space.h"
#include "core/base/file.h"
#include "core/base/strbuf.h"
#include "spacedsl/model.h"

extern char **environ;

static const char definitions[] =
#include "space_def.inc"
    ;

/* The C text, which includes standard headers only. The caller frees it. */
static char *self_contained(const struct model *m)
{
    static const char include[] = "#include \"core/space/def.h\"\n";
    char *text = spacedsl_emit(m), *at = strstr(text, include);
    struct strbuf b = {0};
    strbuf_addn(&b, text, (size_t)(at - text));
    strbuf_add(&b, definitions);
    strbuf_add(&b, at + sizeof include - 1);
    free(text);
    return strbuf_take(&b);
}

/* Runs the compiler with the file as its standard input. */
static bool run_compiler(const char *compiler, const char *out, FILE *text, struct diag *d)
{
    const char *argv[] = {compiler, "-std=c11", "-O1", "-fPIC", "-shared", "-w", "-DTHRESH_SPACE_PLUGIN",
                          "-x",     "c",        "-o",  out,     "-",       NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fileno(text), STDIN_FILENO);
    int error = posix_spawnp(&child, compiler, &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error) {
        diag_plain(d,
                   "cannot run the C compiler '%s': %s; set the environment variable CC to another compiler",
                   compiler, strerror(error));
        return false;
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ok) diag_plain(d, "the C compiler '%s' failed (its messages are above)", compiler);
    return ok;
}

static bool compile_text(const char *text, const char *out, struct diag *d)
{
    const char *compiler = getenv("CC");
    FILE *file = tmpfile();
    size_t n = strlen(text);
    bool ok = file && fwrite(text, 1, n, file) == n && fflush(file) == 0 && fseek(file, 0, SEEK_SET) == 0;
    if (!ok)
        diag_plain(d, "cannot write a temporary file: %s", strerror(errno));
    else
        ok = run_compiler(compiler && *compiler ? compiler : "cc", out, file, d);
    if (file) fclose(file);
    return ok;
}

int space_compile_verb(const struct cli_args *a, struct cli_space *o, struct diag *d)
{
    const char *out = a->value[CLI_OUT];
    struct file_new f;
    if (!out) diag_plain(d, "missing --out FILE.so, the file to write");
    if (!o->model) diag_plain(d, "'%s' is already compiled", a->positional[1]);
    if (diag_failed(d) || !file_begin(&f, out, d)) return CLI_USAGE;
    char *text = self_contained(o->model);
    bool ok = compile_text(text, f.temporary ? f.temporary : out, d);
    free(text);
    if (ok)
        ok = file_end(&f, d);
    else
        file_drop(&f);
    if (ok && cli_given(a, CLI_JSON))
        cli_print_json(json_pack("{s:s,s:s}", "space", o->def->name, "out", out));
    else if (ok)
        printf("%s: space %s\n", out, o->def->name);
    return ok ? CLI_OK : CLI_FAILED;
}
