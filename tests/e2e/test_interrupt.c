/* What an interrupted search says and leaves: how to go on, and after a second signal no process. */
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/run.h"
#include "tests/mcts/plugin.h"

#define TRANSPOSE "experiments/spaces/transpose.space"

/* Until the file has text: half a minute at most. */
static void interrupt_wait(const char *path)
{
    struct stat st = {0};
    struct timespec pause = {.tv_nsec = 10000000};
    for (int i = 0; i < 3000 && (stat(path, &st) || !st.st_size); i++)
        nanosleep(&pause, NULL);
    cr_assert_gt(st.st_size, 0, "%s stays empty", path);
}

/* The search of the transpose space that is interrupted at its first evaluation. More options may follow;
 * they end with NULL. */
static struct e2e_run interrupt_search(const char *const *more)
{
    const char *args[E2E_MOST_ARGS] = {
        "--space",       TRANSPOSE, "--command", "sh -c 'sleep 0.1; echo 5' - {tile_rows}",
        "--evaluations", "460",     "--verbose"};
    size_t n = 7;
    while (*more)
        args[n++] = *more++;
    struct e2e_process p = e2e_start(&cli_tune, args);
    interrupt_wait(p.err);
    kill(p.pid, SIGINT);
    struct e2e_run r = e2e_finish(&p);
    cr_expect_eq(r.status, 130, "%d: %s", r.status, r.err);
    return r;
}

/* The last line of a text, and its end. */
static char *interrupt_last_line(char *text)
{
    size_t n = strlen(text);
    cr_assert(n > 0 && text[n - 1] == '\n', "%s", text);
    text[n - 1] = 0;
    char *line = strrchr(text, '\n');
    return line ? line + 1 : text;
}

/* What a shell makes of the words, a line each. The caller frees it. */
static char *interrupt_words(const char *words)
{
    char *command = NULL, *text = NULL;
    size_t n, room = 0;
    FILE *out = open_memstream(&command, &n);
    fprintf(out, "printf '%%s\\n' %s", words);
    fclose(out);
    FILE *in = popen(command, "r");
    cr_assert(in && getdelim(&text, &room, 0, in) > 0);
    pclose(in);
    free(command);
    return text;
}

/* The command as it was given, quoted for a shell, with --resume: which goes on. */
Test(interrupt, the_last_line_says_how_to_resume, .timeout = 120)
{
    static const char begin[] = "interrupted; resume with: thresh ";
    char folder[32], store[64], wanted[512];
    e2e_folder(folder);
    snprintf(store, sizeof store, "%s/it's.db", folder);
    struct e2e_run r = interrupt_search((const char *const[]){"--store", store, NULL});
    char *line = interrupt_last_line(r.err);
    cr_assert_eq(strncmp(line, begin, strlen(begin)), 0, "%s", line);
    cr_expect(strstr(r.out, "\nsearch tree  ") && !strstr(r.out, "0 evaluated"), "%s", r.out);
    char *words = interrupt_words(line + strlen(begin));
    snprintf(wanted, sizeof wanted,
             "tune\n--space\n%s\n--command\nsh -c 'sleep 0.1; echo 5' - {tile_rows}\n--evaluations\n460\n"
             "--verbose\n--store\n%s\n--resume\n",
             TRANSPOSE, store);
    cr_expect_str_eq(words, wanted);
    struct e2e_run again = interrupt_search((const char *const[]){"--store", store, "--resume", NULL});
    cr_expect_str_eq(interrupt_last_line(again.err), line);
    free(words);
    e2e_run_free(&r);
    e2e_run_free(&again);
    unlink(store);
    rmdir(folder);
}

Test(interrupt, without_a_store_nothing_is_kept, .timeout = 120)
{
    struct e2e_run r = interrupt_search((const char *const[]){NULL});
    cr_expect_str_eq(
        interrupt_last_line(r.err),
        "interrupted; the evaluations were not saved; with --store FILE.db a run can be resumed");
    e2e_run_free(&r);
}

/* A heuristic that hangs as soon as there is a file, and then makes another one. */
static struct mcts_plugin_file interrupt_hanging(const char *go, const char *hung)
{
    char path[32], source[1024], command[64];
    snprintf(source, sizeof source,
             "#define _POSIX_C_SOURCE 200809L\n#include <stdio.h>\n#include <unistd.h>\n"
             "#include \"mcts/heuristic.h\"\n"
             "static uint32_t hang(void *s, const struct mcts_view *v, double *score) {\n"
             "    (void)s; (void)v; *score = 0;\n    if (access(\"%s\", F_OK)) return 0;\n"
             "    FILE *out = fopen(\"%s\", \"w\");\n    if (out) fputs(\"hung\", out), fclose(out);\n"
             "    for (;;) pause();\n}\n"
             "extern const struct mcts_plugin thresh_heuristic;\n"
             "const struct mcts_plugin thresh_heuristic = {.abi = MCTS_PLUGIN_ABI,\n"
             "    .struct_size = sizeof(struct mcts_plugin), .name = \"hang\", .select = hang};\n",
             go, hung);
    e2e_file(path, source);
    snprintf(command, sizeof command, "cat %s", path);
    struct mcts_plugin_file f = mcts_plugin_build(command, "hang");
    unlink(path);
    return f;
}

/* The first program stays, with one of its own; once it is there the heuristic hangs. Whoever is left holds
 * the end of the pipe. */
Test(interrupt, a_second_signal_leaves_nobody, .timeout = 120)
{
    char folder[32], go[64], hung[64], command[256];
    int ends[2];
    e2e_folder(folder);
    snprintf(go, sizeof go, "%s/go", folder);
    snprintf(hung, sizeof hung, "%s/hung", folder);
    snprintf(command, sizeof command, "sh -c 'mkdir %s 2>&- && { sleep 1000 & wait; }; echo 5' - {tile_rows}",
             go);
    struct mcts_plugin_file lib = interrupt_hanging(go, hung);
    cr_assert_eq(pipe(ends), 0);
    struct e2e_process p =
        e2e_start(&cli_tune, (const char *const[]){"--space", TRANSPOSE, "--command", command, "--runners",
                                                   "2", "--heuristic", lib.library, NULL});
    close(ends[1]);
    interrupt_wait(hung);
    kill(p.pid, SIGINT);
    kill(p.pid, SIGTERM);
    struct e2e_run r = e2e_finish(&p);
    cr_expect(r.status == 143 || r.status == 130, "%d: %s", r.status, r.err);
    cr_expect(strstr(r.err, "ended immediately"), "%s", r.err);
    struct pollfd left = {ends[0], POLLIN, 0};
    cr_expect_eq(poll(&left, 1, 10000), 1, "a program is left");
    cr_expect(left.revents & POLLHUP);
    close(ends[0]);
    mcts_plugin_remove(&lib);
    e2e_run_free(&r);
    unlink(hung);
    rmdir(go);
    rmdir(folder);
}
