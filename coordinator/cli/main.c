/* thresh: the process around cli_main(). */
#include <stdlib.h>
#include <unistd.h>

#include "coordinator/cli/cli.h"
#include "core/base/file.h"

/* A result that standard output did not take is work that failed. */
static void finish_output(void)
{
    if (!cli_flush_output()) _exit(CLI_FAILED);
}

int main(int argc, char **argv)
{
    file_ignore_signals();
    atexit(finish_output);
    return cli_main(argc, argv);
}
