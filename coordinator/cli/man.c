/* Manual pages as roff (man macros), from the tables that --help prints. `thresh help --man tune` prints
 * thresh-tune(1), `thresh help --man` thresh(1); pages.sh writes all of them when thresh is built. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/cli/table.h"

/* Escapes what roff would interpret. */
static void print_text(FILE *out, struct cli_text text)
{
    for (int i = 0; i < text.length; i++) {
        char c = text.text[i];
        bool starts_line = i == 0 || text.text[i - 1] == '\n';
        if (starts_line && (c == '.' || c == '\'')) fputs("\\&", out);
        if (c == '\\')
            fputs("\\e", out);
        else if (c == '\'')
            fputs("\\(aq", out);
        else if (c == '-')
            fputs("\\-", out);
        else
            fputc(c, out);
    }
}

static void print_string(FILE *out, const char *text)
{
    print_text(out, (struct cli_text){text, (int)strlen(text)});
}

static void print_title(FILE *out, const char *suffix)
{
    fputs(".TH THRESH", out);
    if (*suffix) fputs("\\-", out);
    for (; *suffix; suffix++)
        fputc(toupper((unsigned char)*suffix), out);
    fprintf(out, " 1 \"\" \"%.*s\" \"User Commands\"\n", (int)strcspn(cli_version, "("), cli_version);
}

static void print_option(FILE *out, struct cli_option option)
{
    fputs(".TP\n\\fB", out);
    if (option.letter) fprintf(out, "\\-%c\\fR, \\fB", option.letter);
    print_string(out, "--");
    print_string(out, option.name);
    fputs("\\fR", out);
    if (option.argument) {
        fputs(" \\fI", out);
        print_string(out, option.argument);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    print_string(out, option.help);
    fputc('\n', out);
}

static void print_options(FILE *out, const struct cli_command *command)
{
    struct cli_section section;
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; cli_section(i, &section); i++) {
        if (!cli_section_applies(&section, command)) continue;
        fprintf(out, ".SS %s\n", section.title);
        for (unsigned key = section.first; key < section.end; key++)
            if (cli_takes(command, (enum cli_key)key))
                print_option(out, cli_option_of(command, (enum cli_key)key));
    }
    fputs(".SS Help\n", out);
    print_option(out, CLI_HELP_OPTION);
    print_option(out, CLI_VERSION_OPTION);
}

static void print_exit_status(FILE *out)
{
    fputs(".SH EXIT STATUS\n.TP\n0\nSuccess.\n.TP\n1\nThe work failed, for example because no valid "
          "implementation was found, the device was lost, or a result could not be written.\n"
          ".TP\n2\nBad usage or bad input.\n"
          ".TP\n130, 143, 129\nThe command was ended by SIGINT, SIGTERM or SIGHUP. After the first signal it "
          "prints what it has found; a second signal ends it immediately.\n",
          out);
}

/* Prints the lines unchanged, but for the label of the first one, by which the others are indented. */
static void print_examples(FILE *out, const char *examples)
{
    const char label[] = "Example: ";
    fputs(".SH EXAMPLES\n.nf\n", out);
    for (const char *line = examples; *line;) {
        int n = (int)strcspn(line, "\n");
        int indent = (int)strspn(line, " "), skip = (int)strlen(label);
        if (strncmp(line, label, strlen(label)) != 0 && indent < skip) skip = indent;
        print_text(out, (struct cli_text){line + skip, n - skip});
        fputc('\n', out);
        line += n + (line[n] == '\n');
    }
    fputs(".fi\n", out);
}

static void print_command(FILE *out, const struct cli_command *command)
{
    struct cli_text way, text, summary = cli_summary(command);
    bool title;
    print_title(out, command->name);
    fprintf(out, ".SH NAME\nthresh\\-%s \\- ", command->name);
    fputc(tolower((unsigned char)summary.text[0]), out);
    print_text(out, (struct cli_text){summary.text + 1, summary.length - 1});
    fputs("\n.SH SYNOPSIS\n", out);
    for (size_t i = 0; cli_usage(command, i, &way); i++) {
        fprintf(out, "%s\\fBthresh %s\\fR [\\fIOPTION\\fR...] ", i ? ".br\n" : "", command->name);
        print_text(out, way);
        fputc('\n', out);
    }
    fputs(".SH DESCRIPTION\n", out);
    for (size_t i = 0; cli_paragraph(command, i, &text, &title); i++) {
        fputs(title ? ".SS " : i ? ".PP\n" : "", out);
        print_text(out, text);
        fputc('\n', out);
    }
    print_options(out, command);
    print_exit_status(out);
    print_examples(out, cli_examples(command));
    fputs(".SH SEE ALSO\n.BR thresh (1)\n", out);
}

static void print_commands(FILE *out)
{
    const struct cli_family *family;
    fputs(".SH COMMANDS\n", out);
    for (size_t i = 0; (family = cli_family(i)); i++) {
        fprintf(out, ".SS %s\n", family->title);
        for (size_t k = 0; family->commands[k]; k++) {
            fprintf(out, ".TP\n.BR thresh\\-%s (1)\n", family->commands[k]->name);
            print_text(out, cli_summary(family->commands[k]));
            fputs(".\n", out);
        }
    }
}

static void print_thresh(FILE *out)
{
    print_title(out, "");
    fputs(
        ".SH NAME\nthresh \\- search for the fastest implementation of a numerical kernel\n"
        ".SH SYNOPSIS\n\\fBthresh\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] [\\fIARGUMENT\\fR...]\n.br\n"
        "\\fBthresh help\\fR [\\fICOMMAND\\fR]\n"
        ".SH DESCRIPTION\n"
        "A kernel is written in Lift, a small functional language. thresh searches its implementations on an "
        "OpenCL device with Monte Carlo tree search: it lowers each candidate to OpenCL, verifies its "
        "outputs and measures its time.\n",
        out);
    print_commands(out);
    print_exit_status(out);
    fputs(".SH FILES\n.TP\n\\fI$XDG_DATA_HOME/thresh/devices\\fR, \\fI~/.local/share/thresh/devices\\fR\n"
          "Device descriptions of the user, written by \\fBthresh device characterize\\fR.\n"
          ".SH ENVIRONMENT\n.TP\n.B THRESH_DEVICES\nThe folder with device descriptions, in place of all "
          "other folders.\n"
          ".TP\n.B COLUMNS\nThe width of help and progress if the terminal does not report its width.\n"
          ".TP\n.B CC\nThe compiler that \\fBthresh space compile\\fR runs (default cc).\n",
          out);
    print_examples(out, "thresh tune matmul.lift --size M=512,N=512,K=512 --evaluations 100\n"
                        "thresh explain thresh-out/best.json");
    fputs(".SH SEE ALSO\n", out);
    for (size_t i = 0; cli_command_at(i); i++)
        fprintf(out, ".BR thresh\\-%s (1)%s\n", cli_command_at(i)->name, cli_command_at(i + 1) ? "," : "");
}

void cli_print_man(FILE *out, const struct cli_command *command)
{
    if (command)
        print_command(out, command);
    else
        print_thresh(out);
}
