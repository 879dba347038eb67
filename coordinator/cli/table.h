/* The tables of options and subcommands, as help, manual pages, completion and error messages read them. */
#ifndef THRESH_CLI_TABLE_H
#define THRESH_CLI_TABLE_H

#include "coordinator/cli/cli.h"

struct cli_option {
    const char *name, *argument; /* argument: what it looks like, such as FILE.db; NULL: a flag */
    const char *help;
    char letter; /* of the short form; 0: none */
};
struct cli_option cli_option(enum cli_key key);
/* The option as a subcommand describes it. */
struct cli_option cli_option_of(const struct cli_command *command, enum cli_key key);
static inline bool cli_takes(const struct cli_command *command, enum cli_key key)
{
    return command->takes.has[key];
}
/* The options of every subcommand. */
#define CLI_HELP_OPTION ((struct cli_option){"help", NULL, "print this help", 'h'})
#define CLI_VERSION_OPTION ((struct cli_option){"version", NULL, "print the version of thresh", 'V'})

/* "; did you mean 'NAME'?" with the known name nearest to `name`; "" if none is near. The arena owns it. */
struct arena;
const char *cli_did_you_mean(struct arena *a, const char *name, const char *const *known, size_t n);

/* A section of --help: options first <= key < end. */
struct cli_section {
    const char *title;
    unsigned first, end;
};
bool cli_section(size_t i, struct cli_section *out); /* false: there are only i sections */
bool cli_section_applies(const struct cli_section *s, const struct cli_command *command);

/* Subcommands that belong together, in the order of help. */
enum { CLI_FAMILY_MOST = 6 };
struct cli_family {
    const char *title;
    const struct cli_command *commands[CLI_FAMILY_MOST + 1]; /* ends with NULL */
};
const struct cli_family *cli_family(size_t i); /* NULL: there are only i */
/* The i-th of all subcommands, in the order of help; NULL: there are only i. */
const struct cli_command *cli_command_at(size_t i);
/* The subcommand of that name; NULL after an error. */
const struct cli_command *cli_find_command(const char *name, struct diag *d);

/* Parts of cli_command.help: the first sentence without its full stop, the paragraphs, and the examples. */
struct cli_text {
    const char *text;
    int length; /* bytes */
};
struct cli_text cli_summary(const struct cli_command *command);
/* The i-th paragraph, from 0; *title: it is the title of a section. false: there are only i. */
bool cli_paragraph(const struct cli_command *command, size_t i, struct cli_text *out, bool *title);
const char *cli_examples(const struct cli_command *command);
/* The i-th way to call it, from cli_command.positional. false: there are only i. */
bool cli_usage(const struct cli_command *command, size_t i, struct cli_text *out);
/* Whether `name` is a verb of the subcommand. false after an error, which suggests a verb or lists them. */
bool cli_check_verb(const struct cli_command *command, const char *name, struct diag *d);

/* Prints the page of --help, and that of `thresh --help`. */
void cli_print_help(FILE *out, const struct cli_command *command);
void cli_print_overview(FILE *out);
/* Prints the manual page as roff; NULL: that of thresh itself. */
void cli_print_man(FILE *out, const struct cli_command *command);
/* After an interrupt: prints the command that resumes the run. argv: the command line from the subcommand on;
 * `program`: argv[0] of the process. */
void cli_print_resume(FILE *out, const struct cli_args *a, const char *program, int argc, char *const *argv);

#endif
