/* A formula for all values of one of its slots at once. What does not depend on that slot is computed once,
 * the rest node by node for all values, so that an operation is looked up once a node and not once a value.
 * For `x * (y + 1) <= 8` with y = 1 and x in { 1, 2, 8 }:
 *
 *     y + 1     2
 *     x * 2     2   4   16
 *     <= 8      1   1   0         x may be 1 or 2 */
#include "core/base/panic.h"
#include "core/space/count/private.h"

/* out[i] = result, where x and y are the i-th numbers of a and b. */
#define EACH(result)                                                                                         \
    for (uint32_t i = 0; i < n; i++) {                                                                       \
        int64_t x = a->x[a->varies ? i : 0], y = b->x[b->varies ? i : 0];                                    \
        (void)x;                                                                                             \
        out[i] = (result);                                                                                   \
    }                                                                                                        \
    break

static void apply(enum formula_op op, const struct count_column *a, const struct count_column *b,
                  int64_t *out, uint32_t n)
{
    switch (op) {
    case FORMULA_ADD:
        EACH(expression_add(x, y));
    case FORMULA_MUL:
        EACH(expression_mul(x, y));
    case FORMULA_MIN:
        EACH(x < y ? x : y);
    case FORMULA_MAX:
        EACH(x > y ? x : y);
    case FORMULA_DIV:
        EACH(y ? x / y : 0);
    case FORMULA_MOD:
        EACH(y ? x % y : 0);
    case FORMULA_EQ:
        EACH(x == y);
    case FORMULA_LE:
        EACH(x <= y);
    case FORMULA_AND:
        EACH(x && y);
    case FORMULA_OR:
        EACH(x || y);
    case FORMULA_NEG:
        EACH(-y);
    case FORMULA_NOT:
        EACH(!y);
    default:
        PANIC("operation %d is not of two operands", op);
    }
}

static int64_t number(const struct count_column *c, uint32_t i)
{
    return c->x[c->varies ? i : 0];
}

/* Operands come before their users. */
static void operate(const struct shape *sh, const struct shape_node *node, struct count_column *columns,
                    struct count_column *out, uint32_t n_values)
{
    const uint32_t *kids = sh->kids + node->first;
    const struct count_column *first = &columns[kids[0]];
    bool one = node->op == FORMULA_NEG || node->op == FORMULA_NOT;
    out->varies = false;
    for (uint32_t k = 0; k < node->n; k++)
        out->varies = out->varies || columns[kids[k]].varies;
    uint32_t n = out->varies ? n_values : 1;
    if (node->op == FORMULA_ITE) {
        for (uint32_t i = 0; i < n; i++)
            out->x[i] = number(&columns[kids[number(first, i) ? 1 : 2]], i);
    } else if (node->n > 1 || one) {
        apply(node->op, first, &columns[kids[one ? 0 : 1]], out->x, n);
        for (uint32_t k = 2; k < node->n; k++)
            apply(node->op, out, &columns[kids[k]], out->x, n);
    } else {
        *out = *first;
    }
}

/* A function of one slot, or a term of several. */
static void look_up(const struct shape_node *node, uint32_t open, uint32_t *values, uint64_t domain,
                    struct count_column *out)
{
    uint32_t n = 0, kept = values[open];
    out->varies = node->op == FORMULA_TERM || node->local == open;
    if (!out->varies) {
        out->x[0] = node->view.table[values[node->local]];
        return;
    }
    for (; domain; domain &= domain - 1) {
        values[open] = (uint32_t)__builtin_ctzll(domain);
        out->x[n++] = node->op == FORMULA_TERM ? term_value(node, values) : node->view.table[values[open]];
    }
    values[open] = kept;
}

uint64_t count_column(const struct shape *sh, uint32_t open, uint32_t *values, uint64_t domain,
                      struct count_column *columns)
{
    uint32_t n_values = (uint32_t)__builtin_popcountll(domain), i = 0;
    for (uint32_t k = 0; k < sh->n_nodes; k++) {
        const struct shape_node *node = &sh->nodes[k];
        struct count_column *out = &columns[k];
        if (node->op == FORMULA_CONST) {
            out->varies = false;
            out->x[0] = node->imm;
        } else if (node->op == FORMULA_FUNC || node->op == FORMULA_TERM) {
            look_up(node, open, values, domain, out);
        } else {
            operate(sh, node, columns, out, n_values);
        }
    }
    uint64_t keep = 0;
    for (uint64_t left = domain; left; left &= left - 1, i++)
        if (number(&columns[sh->n_nodes - 1], i)) keep |= left & -left;
    return keep;
}
