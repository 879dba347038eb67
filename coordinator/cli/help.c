/* thresh help, and the pages of --help: usage, what the subcommand does, its options by sections, examples.
 *
 *     Usage: thresh device [OPTION...] list|show|characterize [SEL]
 *     ...
 *     Output:
 *       -o, --out DIR             folder of the description
 *
 * Text is wrapped at the width of the terminal. Examples are not wrapped, so that they can be copied. */
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/table.h"
#include "core/base/terminal.h"

enum { NARROWEST = 40, WIDEST = 100, USUAL = 80, INDENT = 2, HELP_COLUMN = 28, COMMAND_COLUMN = 14 };

/* ---- the parts of a subcommand's help ---- */

/* Up to a full stop at the end of a word. */
struct cli_text cli_summary(const struct cli_command *command)
{
    const char *help = command->help;
    size_t n = strcspn(help, ".\v");
    while (help[n] == '.' && !strchr(" \n\v", help[n + 1]))
        n += 1 + strcspn(help + n + 1, ".\v");
    return (struct cli_text){help, (int)n};
}

bool cli_paragraph(const struct cli_command *command, size_t i, struct cli_text *out, bool *title)
{
    static const char mark[] = "# ";
    const char *text = command->help;
    for (; i > 0 && text[strcspn(text, "\n\v")] == '\n'; i--)
        text += strcspn(text, "\n") + 1;
    *title = strncmp(text, mark, strlen(mark)) == 0;
    if (*title) text += strlen(mark);
    *out = (struct cli_text){text, (int)strcspn(text, "\n\v")};
    return i == 0;
}

const char *cli_examples(const struct cli_command *command)
{
    const char *examples = strchr(command->help, '\v');
    return examples ? examples + 1 : "";
}

bool cli_usage(const struct cli_command *command, size_t i, struct cli_text *out)
{
    const char *way = command->positional, *end = strstr(way, " | ");
    for (; i > 0 && end; i--) {
        way = end + strlen(" | ");
        end = strstr(way, " | ");
    }
    *out = (struct cli_text){way, (int)(end ? (size_t)(end - way) : strlen(way))};
    return i == 0;
}

/* ---- sections ---- */

bool cli_section(size_t i, struct cli_section *out)
{
    static const struct {
        const char *title;
        unsigned first;
    } sections[] = {
#define X(title, first) {title, CLI_##first},
        CLI_SECTIONS(X)
#undef X
    };
    const size_t n = sizeof sections / sizeof sections[0];
    if (i >= n) return false;
    *out = (struct cli_section){sections[i].title, sections[i].first,
                                i + 1 < n ? sections[i + 1].first : CLI_KEY_COUNT};
    return true;
}

bool cli_section_applies(const struct cli_section *s, const struct cli_command *command)
{
    for (unsigned key = s->first; key < s->end; key++)
        if (cli_takes(command, (enum cli_key)key)) return true;
    return false;
}

/* ---- printing ---- */

static int text_width(FILE *out)
{
    unsigned columns = terminal_columns(fileno(out), USUAL);
    return (int)(columns < NARROWEST ? NARROWEST : columns > WIDEST ? WIDEST : columns);
}

static void print_spaces(FILE *out, int n)
{
    fprintf(out, "%*s", n, "");
}

/* Prints words from column `indent` on, where the cursor is, and ends the line. */
static void print_wrapped(FILE *out, struct cli_text text, int indent)
{
    int column = indent, width = text_width(out);
    for (int at = 0; at < text.length;) {
        int n = (int)strcspn(text.text + at, " ");
        if (at + n > text.length) n = text.length - at;
        if (column > indent && column + 1 + n >= width) {
            fputc('\n', out);
            print_spaces(out, column = indent);
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fprintf(out, "%.*s", n, text.text + at);
        column += n;
        at += n + (int)strspn(text.text + at + n, " ");
    }
    fputc('\n', out);
}

/* `left`, and the text from column `indent` on: on the same line if there is room, else on the next one. */
static void print_entry(FILE *out, const char *left, struct cli_text text, int indent)
{
    int n = fprintf(out, "%s", left);
    if (n + 2 > indent) fputc('\n', out);
    print_spaces(out, n + 2 > indent ? indent : indent - n);
    print_wrapped(out, text, indent);
}

static struct cli_text whole(const char *text)
{
    return (struct cli_text){text, (int)strlen(text)};
}

static void print_option(FILE *out, struct cli_option option)
{
    char left[128], letter[] = "    ";
    if (option.letter) snprintf(letter, sizeof letter, "-%c, ", option.letter);
    snprintf(left, sizeof left, "  %s--%s%s%s", letter, option.name, option.argument ? " " : "",
             option.argument ? option.argument : "");
    print_entry(out, left, whole(option.help), HELP_COLUMN);
}

static void print_sections(FILE *out, const struct cli_command *command)
{
    struct cli_section section;
    for (size_t i = 0; cli_section(i, &section); i++) {
        if (!cli_section_applies(&section, command)) continue;
        fprintf(out, "\n%s:\n", section.title);
        for (unsigned key = section.first; key < section.end; key++)
            if (cli_takes(command, (enum cli_key)key))
                print_option(out, cli_option_of(command, (enum cli_key)key));
    }
    fputs("\nHelp:\n", out);
    print_option(out, CLI_HELP_OPTION);
    print_option(out, CLI_VERSION_OPTION);
}

/* Paragraphs below a title are indented like options. */
static void print_description(FILE *out, const struct cli_command *command)
{
    struct cli_text text;
    bool title, titled = false, after_title = false;
    for (size_t i = 0; cli_paragraph(command, i, &text, &title); i++) {
        if (!after_title) fputc('\n', out);
        if (title) {
            fprintf(out, "%.*s:\n", text.length, text.text);
        } else {
            print_spaces(out, titled ? INDENT : 0);
            print_wrapped(out, text, titled ? INDENT : 0);
        }
        after_title = title;
        titled = titled || title;
    }
}

void cli_print_help(FILE *out, const struct cli_command *command)
{
    struct cli_text way;
    for (size_t i = 0; cli_usage(command, i, &way); i++)
        fprintf(out, "%s thresh %s [OPTION...] %.*s\n", i ? "      " : "Usage:", command->name, way.length,
                way.text);
    print_description(out, command);
    print_sections(out, command);
    fprintf(out, "\n%s\n", cli_examples(command));
}

void cli_print_overview(FILE *out)
{
    const struct cli_family *family;
    fputs("Usage: thresh COMMAND [OPTION...] [ARGUMENT...]\n\n", out);
    print_wrapped(out,
                  whole("thresh searches for the fastest implementation of a numerical kernel on an "
                        "OpenCL device. Start with 'thresh tune'."),
                  0);
    for (size_t i = 0; (family = cli_family(i)); i++) {
        fprintf(out, "\n%s:\n", family->title);
        for (size_t k = 0; family->commands[k]; k++) {
            char left[64];
            snprintf(left, sizeof left, "  %s", family->commands[k]->name);
            print_entry(out, left, cli_summary(family->commands[k]), COMMAND_COLUMN);
        }
    }
    fputs("\n'thresh help COMMAND' describes a command, 'thresh --version' prints the version.\n\n"
          "Example: thresh tune matmul.lift --size M=512,N=512,K=512 --evaluations 100\n",
          out);
}

/* ---- thresh help ---- */

/* A verb may follow the name: `thresh help space count` is about `thresh space`. */
static int run(const struct cli_args *a)
{
    struct diag *d = diag_new();
    const struct cli_command *command = a->n_positional ? cli_find_command(a->positional[0], d) : NULL;
    if (command && a->n_positional > 1) cli_check_verb(command, a->positional[1], d);
    if (diag_failed(d)) return cli_finish(d, CLI_USAGE);
    if (cli_given(a, CLI_MAN))
        cli_print_man(stdout, command);
    else if (command)
        cli_print_help(stdout, command);
    else
        cli_print_overview(stdout);
    return cli_finish(d, CLI_OK);
}

const struct cli_command cli_help = {
    .name = "help",
    .positional = "[COMMAND [VERB]]",
    .least = 0,
    .most = 2,
    .takes = {CLI_TAKES(MAN)},
    .help =
        "Describes thresh or one of its commands. A verb may follow the command: 'thresh help space count' "
        "describes 'thresh space'.\v"
        "Example: thresh help tune\n"
        "         thresh help --man tune > thresh-tune.1",
    .run = run,
};
