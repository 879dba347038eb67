/* thresh completion: a script with which bash or zsh completes commands, options and arguments.
 *
 * What completes an argument follows from how the tables write it: KERNEL.lift is a file that ends in .lift,
 * DIR a folder, knuth|chen|exact one of these words, SEL a device, NAME a heuristic, COMMAND a command. */
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/cli.h"
#include "coordinator/cli/table.h"
#include "core/base/strbuf.h"
#include "mcts/heuristic.h"

/* What can stand for an argument: words, and names of files, each with spaces between. */
struct candidates {
    struct strbuf words, endings;
    bool folders;
    bool named; /* a name and '=' stand before the file */
};

static void add_word(struct strbuf *b, const char *word, size_t n)
{
    if (b->length > 0) strbuf_add(b, " ");
    strbuf_addn(b, word, n);
}

static bool consists_of(const char *word, size_t n, const char *letters)
{
    return n > 0 && strspn(word, letters) >= n;
}

static bool is_word(const char *word, size_t n, const char *wanted)
{
    return strlen(wanted) == n && memcmp(word, wanted, n) == 0;
}

static void add_heuristics(struct strbuf *b)
{
    for (size_t i = 0; mcts_builtin(i); i++)
        add_word(b, mcts_builtin(i)->name, strlen(mcts_builtin(i)->name));
}

static void add_commands(struct strbuf *b)
{
    for (size_t i = 0; cli_command_at(i); i++)
        add_word(b, cli_command_at(i)->name, strlen(cli_command_at(i)->name));
}

static void add_candidate(struct candidates *c, const char *word, size_t n)
{
    static const char lower[] = "abcdefghijklmnopqrstuvwxyz", upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char optional[] = "[NAME=]";
    if (n > strlen(optional) && strncmp(word, optional, strlen(optional)) == 0) { /* [NAME=]FILE.npy */
        c->named = true;
        word += strlen(optional);
        n -= strlen(optional);
    }
    const char *dot = memchr(word, '.', n);
    if (dot && memchr(dot, ':', n - (size_t)(dot - word))) /* FILE.cl:NAME */
        n = (size_t)((const char *)memchr(dot, ':', n - (size_t)(dot - word)) - word);
    const char *equals = memchr(word, '=', n);
    size_t stem = dot ? (size_t)(dot - word) : n;
    if (dot && equals && equals < dot) { /* NAME=FILE.npy */
        size_t before = (size_t)(equals + 1 - word);
        c->named = true;
        word += before;
        n -= before;
        stem -= before;
    }
    if (consists_of(word, n, lower))
        add_word(&c->words, word, n);
    else if (dot && consists_of(word, stem, upper) && consists_of(dot + 1, n - stem - 1, lower))
        add_word(&c->endings, dot + 1, n - stem - 1);
    else if (is_word(word, n, "DIR"))
        c->folders = true;
    else if (is_word(word, n, "SEL"))
        add_word(&c->words, "gpu cpu", 7);
    else if (is_word(word, n, "NAME"))
        add_heuristics(&c->words);
    else if (is_word(word, n, "COMMAND"))
        add_commands(&c->words);
}

/* Reads an argument, or the positional ones, as the tables write them. */
static struct candidates read_candidates(const char *text)
{
    static const char between[] = " |,[]";
    struct candidates c = {0};
    for (text += strspn(text, between); *text; text += strspn(text, between)) {
        size_t n = strcspn(text, between);
        add_candidate(&c, text, n);
        text += n;
    }
    return c;
}

static void free_candidates(struct candidates *c)
{
    strbuf_free(&c->words);
    strbuf_free(&c->endings);
}

static const char *text_of(const struct strbuf *b)
{
    return b->text ? b->text : "";
}

/* ---- bash ---- */

static const char bash_head[] =
    "# bash completion of thresh; made by `thresh completion bash`.\n"
    "_thresh_words() { COMPREPLY+=($(compgen -W \"$1\" -- \"$cur\")); }\n"
    "_thresh_files() {\n"
    "    local ending\n"
    "    compopt -o filenames\n"
    "    mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -d -- \"$cur\")\n"
    "    for ending; do\n"
    "        mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -X \"!*.$ending\" -- \"$cur\")\n"
    "    done\n"
    "}\n"
    "_thresh() {\n"
    "    local cur=${COMP_WORDS[COMP_CWORD]} at=$((COMP_CWORD - 1)) assigns=\n"
    "    COMPREPLY=()\n"
    "    if [[ $cur == = ]]; then\n"
    "        cur= assigns=1\n"
    "    elif [[ ${COMP_WORDS[at]} == = ]]; then\n"
    "        at=$((at - 1)) assigns=1\n"
    "    fi\n"
    "    [[ $assigns && ${COMP_WORDS[at]} != -* ]] && ((at--))\n"
    "    [[ ${COMP_WORDS[at]} == = ]] && ((at--))\n"
    "    local prev=${COMP_WORDS[at]}\n"
    "    if ((COMP_CWORD == 1)); then\n";

static void print_bash_action(const struct candidates *c)
{
    if (c->words.length > 0) printf(" _thresh_words '%s';", c->words.text);
    if (c->folders || c->endings.length > 0) printf(" _thresh_files %s;", text_of(&c->endings));
}

static void print_bash_option(const struct cli_command *command, enum cli_key key)
{
    struct cli_option option = cli_option_of(command, key);
    if (!option.argument) return;
    struct candidates c = read_candidates(option.argument);
    printf("    %s:--%s", command->name, option.name);
    if (option.letter) printf(" | %s:-%c", command->name, option.letter);
    printf(")");
    print_bash_action(&c);
    printf(" return ;;\n");
    free_candidates(&c);
}

static void print_bash_command(const struct cli_command *command)
{
    struct candidates c = read_candidates(command->positional);
    printf("    %s)\n        if [[ $cur == -* ]]; then\n            _thresh_words '", command->name);
    for (enum cli_key key = 0; key < CLI_KEY_COUNT; key++)
        if (cli_takes(command, key)) printf("--%s ", cli_option(key).name);
    printf("--help --version'\n        else\n           ");
    print_bash_action(&c);
    printf(" :\n        fi ;;\n");
    free_candidates(&c);
}

static void print_bash(void)
{
    struct strbuf commands = {0};
    add_commands(&commands);
    printf("%s        _thresh_words '%s --help --version'\n        return\n    fi\n"
           "    case ${COMP_WORDS[1]}:$prev in\n",
           bash_head, commands.text);
    for (size_t i = 0; cli_command_at(i); i++)
        for (enum cli_key key = 0; key < CLI_KEY_COUNT; key++)
            if (cli_takes(cli_command_at(i), key)) print_bash_option(cli_command_at(i), key);
    printf("    esac\n    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; cli_command_at(i); i++)
        print_bash_command(cli_command_at(i));
    printf("    esac\n}\ncomplete -F _thresh thresh\n");
    strbuf_free(&commands);
}

/* ---- zsh ---- */

/* Inside single quotes, in the brackets of _arguments. */
static void print_zsh_text(struct cli_text text)
{
    for (int i = 0; i < text.length; i++) {
        char c = text.text[i];
        if (c == '\'')
            printf("'\\''");
        else
            printf(strchr("[]:\\", c) ? "\\%c" : "%c", c);
    }
}

static void print_zsh_action(const struct candidates *c)
{
    if (c->words.length > 0 && c->endings.length == 0) {
        printf("(%s)", c->words.text);
    } else if (c->folders) {
        printf("_files -/");
    } else if (c->endings.length > 0) {
        printf("{%s_files -g \"*.(", c->named ? "compset -P \"*=\"; " : "");
        for (const char *e = c->endings.text; *e; e++)
            putchar(*e == ' ' ? '|' : *e);
        printf(")\"%s%s}", c->words.length > 0 ? "; compadd " : "", text_of(&c->words));
    }
}

/* One form of an option: `-o` or `--out=`. */
static void print_zsh_form(struct cli_option option, const char *dashes, const char *name, const char *end)
{
    printf(" \\\n            '%s%s%s%s[", strstr(option.help, "may be repeated") ? "*" : "", dashes, name,
           option.argument ? end : "");
    print_zsh_text((struct cli_text){option.help, (int)strlen(option.help)});
    printf("]");
    if (option.argument) {
        struct candidates c = read_candidates(option.argument);
        printf(":");
        print_zsh_text((struct cli_text){option.argument, (int)strlen(option.argument)});
        printf(":");
        print_zsh_action(&c);
        free_candidates(&c);
    }
    printf("'");
}

static void print_zsh_option(struct cli_option option)
{
    if (option.letter) print_zsh_form(option, "-", (char[]){option.letter, 0}, "");
    print_zsh_form(option, "--", option.name, "=");
}

static void print_zsh_command(const struct cli_command *command)
{
    struct candidates c = read_candidates(command->positional);
    printf("    %s)\n        _arguments -s", command->name);
    for (enum cli_key key = 0; key < CLI_KEY_COUNT; key++)
        if (cli_takes(command, key)) print_zsh_option(cli_option_of(command, key));
    print_zsh_option(CLI_HELP_OPTION);
    printf(" \\\n            '*:argument:");
    print_zsh_action(&c);
    printf("' ;;\n");
    free_candidates(&c);
}

static void print_zsh(void)
{
    printf("#compdef thresh\n# zsh completion of thresh; made by `thresh completion zsh`.\n_thresh() {\n"
           "    local -a commands=(\n");
    for (size_t i = 0; cli_command_at(i); i++) {
        printf("        '%s:", cli_command_at(i)->name);
        print_zsh_text(cli_summary(cli_command_at(i)));
        printf("'\n");
    }
    printf(
        "    )\n    if ((CURRENT == 2)); then\n        _describe command commands\n        return\n    fi\n"
        "    shift words\n    ((CURRENT--))\n    case $words[1] in\n");
    for (size_t i = 0; cli_command_at(i); i++)
        print_zsh_command(cli_command_at(i));
    printf("    esac\n}\n_thresh \"$@\"\n");
}

/* ---- the command ---- */

static int run(const struct cli_args *a)
{
    static const char *const shells[] = {"bash", "zsh"};
    static void (*const printers[])(void) = {print_bash, print_zsh};
    struct diag *d = diag_new();
    size_t i = 0;
    while (i < 2 && strcmp(a->positional[0], shells[i]) != 0)
        i++;
    if (i < 2)
        printers[i]();
    else
        diag_plain(d, "unknown shell '%s': must be bash or zsh", a->positional[0]);
    return cli_finish(d, CLI_OK);
}

const struct cli_command cli_completion = {
    .name = "completion",
    .positional = "bash|zsh",
    .least = 1,
    .most = 1,
    .help = "Prints a script that completes commands, options and arguments in a shell. `make install` "
            "installs both.\v"
            "Example: source <(thresh completion bash)\n"
            "         thresh completion zsh > ~/.zsh/completions/_thresh",
    .run = run,
};
