/* spacec, the compiler of the space language:
 *
 *     spacec IN.space -o OUT.c             the space as constant tables
 *     spacec --header IN.space -o OUT.h    its names as C
 *
 * Exit status: 0; 1 if the output cannot be written; 2 after errors in the input or bad usage. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/file.h"
#include "spacedsl/model.h"

static int compile(const char *in, const char *out, bool header, struct arena *a, struct diag *d)
{
    struct source source = {.path = in};
    char *text = source_read_file(in, 16 << 20, &source.length, d);
    source.text = text;
    struct ast *ast = text ? spacedsl_parse(&source, a, d) : NULL;
    struct model *m = diag_failed(d) ? NULL : spacedsl_resolve(ast, a, d);
    char *c = !m ? NULL : header ? spacedsl_emit_header(m, d) : spacedsl_emit(m);
    int status = 2;
    if (c) status = file_write(&(struct file_text){out, c}, 1, d) ? 0 : 1;
    diag_print(d, stderr);
    free(c);
    free(text);
    return status;
}

int main(int argc, char **argv)
{
    bool header = argc > 1 && strcmp(argv[1], "--header") == 0;
    char **args = argv + header;
    if (argc - header != 4 || strcmp(args[2], "-o") != 0) {
        fputs("usage: spacec IN.space -o OUT.c\n"
              "       spacec --header IN.space -o OUT.h\n",
              stderr);
        return 2;
    }
    struct diag *d = diag_new();
    struct arena *a = arena_new();
    int status = compile(args[1], args[3], header, a, d);
    arena_free(a);
    diag_free(d);
    return status;
}
