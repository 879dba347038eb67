/* Outputs that cannot be verified: message, JSON, exit status. */
#include "coordinator/cli/doubt.h"

#include "core/base/strbuf.h"

int cli_doubt_status(const struct cli_args *a, const struct verify_doubt *x, int status, struct diag *d)
{
    struct strbuf text = {0};
    bool fails = verify_doubtful(x) && !cli_given(a, CLI_ALLOW_NONFINITE);
    verify_doubt_text(x, &text);
    if (fails)
        diag_plain(d, "%s; --allow-nonfinite accepts such outputs", text.text);
    else if (text.length > 0)
        diag_plain_warning(d, "%s", text.text);
    strbuf_free(&text);
    return fails && status == CLI_OK ? CLI_FAILED : status;
}

void cli_add_doubt(json_t *o, const struct verify_doubt *x)
{
    json_object_set_new(o, "outputs", json_integer(x->outputs));
    json_object_set_new(o, "not_finite", json_integer(x->not_finite));
    json_object_set_new(o, "loose", json_integer(x->loose));
}
