/* Folders of campaigns. */
#include "tests/campaign/fixture.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

void campaign_test_write(const struct campaign_test *t, const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", t->folder, name);
    FILE *out = fopen(path, "w");
    cr_assert_not_null(out);
    fputs(text, out);
    cr_assert_eq(fclose(out), 0);
}

void campaign_test_begin(struct campaign_test *t, const char *yaml)
{
    e2e_folder(t->folder);
    snprintf(t->file, sizeof t->file, "%s/c.yaml", t->folder);
    campaign_test_write(t, "c.yaml", yaml);
    campaign_test_write(t, "k.lift",
                        "size N\ninput x: [float]N\ninput y: [float]N\n"
                        "output map(fun (a, b) -> 2.0 * a + b, zip(x, y))\n");
}

void campaign_test_end(const struct campaign_test *t)
{
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", t->folder);
    cr_expect_eq(system(command), 0);
}
