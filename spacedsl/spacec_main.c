/* spacec IN.space -o OUT.c: compiles a space to C tables. Exit status: 0; 1 if OUT.c cannot be written; 2
 * after errors in the input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "spacedsl/model.h"

static int compile(const char *in, const char *out, struct arena *a, struct diag *d)
{
    struct source source = {.path = in};
    char *text = source_read_file(in, 16 << 20, &source.length, d);
    source.text = text;
    struct ast *ast = text ? spacedsl_parse(&source, a, d) : NULL;
    struct model *m = diag_failed(d) ? NULL : spacedsl_resolve(ast, a, d);
    int status = 2;
    if (m) {
        char *c = spacedsl_emit(m);
        status = file_write(&(struct file_text){out, c}, 1, d) ? 0 : 1;
        free(c);
    }
    diag_print(d, stderr);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    if (argc != 4 || strcmp(argv[2], "-o")) {
        fputs("usage: spacec IN.space -o OUT.c\n", stderr);
        return 2;
    }
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    int status = compile(argv[1], argv[3], a, d);
    arena_free(a);
    diag_free(d);
    return status;
}
