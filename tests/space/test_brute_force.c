/* Spaces against brute force, construct by construct: arithmetic and counters, latent objects, orders and the
 * relations of their objects, quotients, recursive definitions, objects that choices select. */
#include <criterion/criterion.h>

#include "core/space/engine/state.h"
#include "tests/space/brute_force.h"

static const char BRUTE_ARITHMETIC[] =
    "space arithmetic set A set B : A property w(A): int property ok(A, A): bool property vals(A): int list "
    "parameter k: int\n"
    "choice x(a: A): int in vals(a)\n"
    "choice y(a: A): { P = 3, Q = -2, R = 0 } alias PQ = P | Q\n"
    "counter total = sum of x(a) * w(a) over a in A where y(a) is PQ\n"
    "counter prod(b: B) = product of x(a) over a in A where a != b\n"
    "define top: int = max of x(a) - y(a) over a in A\n"
    "require total <= k && total != 4\n"
    "require forall b in B: prod(b) % 3 != 1\n"
    "require forall a, b in A: ok(a, b) -> x(a) + y(b) >= x(b) / 2 - 1\n"
    "require (exists a in A: y(a) is P && x(a) > 2) || top >= 6 || min of x(a) over a in B >= 2\n"
    "require forall a, b in A: x(a) in { 1, 4 } && b in B -> y(b) is not R || x(b) - 3 <= y(a) * 2\n"
    "require (x_sum(k) > 5) <-> y_any(k)\n"
    "define x_sum(z: Zero): int = sum of x(a) over a in B set Zero = 0..9 define y_any(z: Zero): bool = "
    "exists a in B: y(a) is Q\n";

static const char BRUTE_LATENT[] =
    "space latent set V set O property of(V): O property more(V): O list property w(O): int parameter k: "
    "int\n"
    "choice staged(v: V): { NO, YES }\n"
    "choice kind(o: O): { A, B, C }\n"
    "choice size(o: O): int in 1..3\n"
    "trigger forall v in V: when staged(v) is YES activate of(v)\n"
    "trigger forall v in V: when kind(of(v)) is C activate more(v)\n"
    "require forall o, p in O: kind(o) is A -> kind(p) is not A\n"
    "counter used = sum of size(o) * w(o) over o in O where kind(o) is not B\n"
    "require used <= k\n"
    "require exists o in O: kind(o) is C\n"
    "require max of size(o) over o in O >= 2\n"
    "require forall v in V: staged(v) is YES && size(of(v)) > 1 -> kind(of(v)) is not B\n";

static const char BRUTE_ORDER[] =
    "space order set S set O : S property latent(O): S property first(S, S): bool parameter k: int\n"
    "choice pick(o: O): { NO, YES }\n"
    "choice order(a: S, b: S): { BEFORE, AFTER, MERGED } antisymmetric BEFORE ~ AFTER\n"
    "trigger forall o in O: when pick(o) is YES activate latent(o)\n"
    "require forall a, b, c in S: order(a, b) is BEFORE && order(b, c) is BEFORE | MERGED -> order(a, c) is "
    "BEFORE\n"
    "require forall a, b, c in S: order(a, b) is MERGED && order(b, c) is MERGED -> order(a, c) is MERGED\n"
    "require forall a, b in S: first(a, b) -> order(a, b) is BEFORE\n"
    "counter merged = sum of 1 over a in S, b in S where order(a, b) is MERGED\n"
    "require merged <= k\n";

static const char BRUTE_QUOTIENT[] =
    "space classes set S set I : S set D : S disjoint I property latent(D): D parameter k: int\n"
    "choice pick(d: D): { NO, YES }\n"
    "choice order(a: S, b: S): { OUTER, INNER, MERGED } antisymmetric OUTER ~ INNER\n"
    "choice size(d: D): int in 2..3\n"
    "trigger forall d in D: when pick(d) is YES activate latent(d)\n"
    "quotient Around(i: I) = d: D where order(d, i) is OUTER modulo order is MERGED\n"
    "counter volume(i: I) = product of size(d) over d in Around(i)\n"
    "half counter loops(i: I) = sum of 1 over d in Around(i) where size(d) > 2\n"
    "require forall a, b, c in S: order(a, b) is MERGED && order(b, c) is MERGED -> order(a, c) is MERGED\n"
    "require forall i in I: volume(i) <= k && loops(i) <= 1\n"
    "require forall i in I: k > 5 -> exists d in Around(i): size(d) == 3\n"
    "require forall i in I, d in Around(i): pick(d) is NO || size(d) == 2\n"
    "require forall i in I, d in D: d in Around(i) -> size(d) <= k\n";

static const char BRUTE_RECURSION[] =
    "space recursion set N property parent(N): N property kids(N): N list parameter k: int set Few = 0..1\n"
    "choice x(n: N): int in 0..(top(n) == n ? 2 : 1)\n"
    "choice use(n: N): { OWN, UP }\n"
    "counter crew(n: N) = sum of x(c) over c in kids(top(n))\n"
    "define value(n: N): int = use(n) is OWN ? x(n) : value(parent(n)) + 1\n"
    "define weight(n: N): int = x(n) + (sum of weight(c) over c in kids(n))\n"
    "define above(n: N): N = parent(parent(n))\n"
    "define top(n: N): N = (exists p in N: p == parent(n)) ? top(parent(n)) : n\n"
    "require forall n in N: x(n) in { x(top(n)), 0, k } || x(n) in x(top(n)) + 1..2\n"
    "counter deep = max of value(n) over n in N\n"
    "counter low = min of value(n) * 2 over n in N where use(n) is OWN\n"
    "counter total = sum of value(n) over n in N where value(n) > 1\n"
    "counter all = sum of weight(n) - total over n in N\n"
    "require deep <= k && total != 3 && (low > 0 || all > 2) && (forall n in N: crew(n) <= k)\n"
    "require forall n in N: weight(n) <= k + 2 && (x(above(n)) != 1 || x(n) in Few)\n";

/* Recursion over range sets that begin above 0, to numbers on both sides of them. */
static const char BRUTE_RANGES[] =
    "space ranges set Level = 2..4 set A property from(A): Level parameter k: int parameter by: int\n"
    "choice cut(l: Level): int in 0..2\n"
    "choice on(a: A): { NO, YES }\n"
    "define total(l: Level): int = 1 + cut(l) + total(l - 1)\n"
    "define other(l: Level): bool = cut(l) != 1 || other(l + by)\n"
    "define end(l: Level): Level = cut(l) == 2 ? l + 1 : end(l + by)\n"
    "define far(l: Level): int = cut(end(l)) + (cut(l) == 1 ? far(l + by) : far(l - 2))\n"
    "require forall l in Level: total(l) <= k + 3 && (other(l) || cut(2) == 0)\n"
    "require forall l, m in Level: end(l) == end(m) || far(l) + far(m) <= k\n"
    "require forall a in A: on(a) is YES -> end(from(a)) in Level || total(from(a) + by) < k\n";

static const char BRUTE_RELATION[] =
    "space related set S set O : S property latent(O): S property near(S, S): bool parameter k: int\n"
    "choice kind(s: S): { A, B, C }\n"
    "choice side(s: S): { LEFT, RIGHT }\n"
    "choice order(a: S, b: S): { BEFORE, AFTER, MERGED } antisymmetric BEFORE ~ AFTER\n"
    "trigger forall o in O: when kind(o) is C activate latent(o)\n"
    "require forall a, b, c in S: order(a, b) is BEFORE && order(b, c) is BEFORE | MERGED -> order(a, c) is "
    "BEFORE\n"
    "require forall a, b in S: order(a, b) is MERGED -> kind(a) == kind(b) && side(a) == side(b)\n"
    "require forall a, b in S: near(a, b) && kind(a) is A && side(b) is RIGHT -> order(a, b) is BEFORE\n"
    "require forall s in S: side(s) is LEFT -> kind(s) is not B\n"
    "counter left = sum of 1 over s in S where side(s) is LEFT\n"
    "require left <= k\n";

static const char BRUTE_PAIRS[] =
    "space pairs set S set O : S set T : S disjoint O property latent(O): T property rule(S, S): int\n"
    "choice kind(s: S): { A, B, C }\n"
    "choice pick(o: O): { NO, YES }\n"
    "choice link(a: T, b: T): { NONE, TO, FROM } antisymmetric TO ~ FROM\n"
    "trigger forall o in O: when pick(o) is YES activate latent(o)\n"
    "require forall a, b in S: rule(a, b) >= 1 && kind(a) is not B -> kind(b) is not A\n"
    "require forall a, b in T: rule(a, b) >= 2 && kind(a) is not A -> link(a, b) is TO\n"
    "require forall a, b in T: rule(a, b) == 3 && kind(b) is B -> link(a, b) is not TO\n";

/* Tabulated pairs and triples of choices with more than eight values. */
static const char BRUTE_WIDE[] =
    "space wide set A property most(A): int property pace(A): int parameter k: int\n"
    "choice x(a: A): int in 0..most(a)\n"
    "choice y(a: A): { P, Q, R }\n"
    "require forall a in A: y(a) is P -> x(a) % pace(a) == 1\n"
    "require forall a, b in A: a != b && y(a) is Q -> x(a) + x(b) >= k\n"
    "require forall a, b in A: a != b && y(a) is R -> x(a) * 2 != x(b) + pace(b)\n";

/* Quotients of which either side is open, and conditions that are wanted one way only. */
static const char BRUTE_DIVISION[] = "space division set A property most(A): int parameter k: int\n"
                                     "choice x(a: A): int in 1..most(a)\n"
                                     "choice use(a: A): { NO, YES }\n"
                                     "counter area = product of x(a) over a in A where use(a) is YES\n"
                                     "counter all = sum of x(a) over a in A\n"
                                     "require k / area <= 2\n"
                                     "require k * 2 / all >= 2\n"
                                     "require (area + k) / all <= 3\n"
                                     "require ((exists a in A: use(a) is YES) ? all : 2) <= k\n"
                                     "require ((forall a in A: x(a) > 1) ? 0 : area) <= 6\n";

/* A product of products that has to be large. */
static const char BRUTE_NESTED[] =
    "space nested set B set A property part(A): B property most(A): int parameter k: int\n"
    "choice x(a: A): int in 1..most(a)\n"
    "choice use(b: B): { NO, YES }\n"
    "counter volume(b: B) = product of x(a) over a in A where part(a) == b\n"
    "counter all = product of (use(b) is YES ? volume(b) : 1) over b in B\n"
    "require all >= k\n"
    "require forall b in B: use(b) is NO || volume(b) + all >= k + 4\n";

/* A formula that three latent objects guard shares its sum with one of which the root says that it holds. */
static const char BRUTE_GUARDED[] =
    "space guarded set S set Q set X set Y set Z property forced(S): bool property x(S): X property y(S): Y "
    "property z(S): Z parameter k: int parameter most: int\n"
    "choice pick(s: S): { NO, YES }\n"
    "choice size(q: Q): int in 0..2\n"
    "trigger forall s in S: when pick(s) is YES activate x(s), y(s), z(s)\n"
    "counter total = sum of size(q) over q in Q\n"
    "require forall s in S: forced(s) -> pick(s) is YES\n"
    "require forall q in Q: size(q) >= 2\n"
    "require forall x in X, y in Y, z in Z: total <= k\n"
    "require forall z in Z: total <= most\n";

/* The page's `axis`, with the dimension around another one in its run selected by `order`: before it is
 * known to be a forest, the recursion may go in circles. */
static const char BRUTE_SELECTION[] =
    "space selection set S set Few = 0..2 property near(S, S): bool property cost(Few): int parameter k: "
    "int\n"
    "property kin(S): S list\n"
    "choice code(s: S): { FUSED = 1, LCL = 10, WRG = 20 }\n"
    "choice order(a: S, b: S): { INNER, OUTER, APART } antisymmetric INNER ~ OUTER\n"
    "define around(d: S): S = first p in S: order(p, d) is OUTER\n"
    "  && !(exists q in S: order(p, q) is OUTER && order(q, d) is OUTER)\n"
    "define axis(d: S): int = code(d) is not FUSED ? code(d) : axis(around(d))\n"
    "define outermost(d: S): S = around(d) in S ? outermost(around(d)) : d\n"
    "define depth(d: S): int = max(0, max of depth(p) + 1 over p in S where order(p, d) is OUTER)\n"
    "define local(d: S): bool = code(d) is LCL || local(around(d))\n"
    "require forall d in S: code(d) is FUSED -> axis(d) >= k\n"
    "require forall d, e in S: near(d, e) -> outermost(d) == outermost(e) && axis(around(d)) != axis(e)\n"
    "require (exists d in S: local(d) && outermost(d) != d) || k < 2\n"
    "require forall d in S: cost(axis(d) / 10) <= 1 && (depth(d) < 2 || around(d) in kin(d))\n";

/* Latent objects: what is selected is live; what a condition chooses need not be. */
static const char BRUTE_SELECTION_LATENT[] =
    "space selected set V set O property of(V): O property w(O): int parameter k: int\n"
    "property mates(O): O list property next(O): O\n"
    "choice staged(v: V): { NO, YES }\n"
    "choice kind(o: O): { A, B, C }\n"
    "choice size(o: O): int in 1..3\n"
    "trigger forall v in V: when staged(v) is YES activate of(v)\n"
    "trigger forall o in O: when kind(o) is C && w(o) > 1 activate next(o)\n"
    "define big(n: O): O = first o in O: size(o) > 1 && o != n\n"
    "define pick(v: V): O = staged(v) is YES ? of(v) : next(of(v))\n"
    "define chain(o: O): int = w(o) + (kind(o) is C ? 0 : chain(big(o)))\n"
    "define last(o: O): O = kind(o) is A ? o : last(next(o))\n"
    "require forall v in V: kind(pick(v)) is not B && size(pick(v)) + w(pick(v)) <= k + 2\n"
    "require forall o in O: chain(o) != 3 && (kind(big(o)) is A | C || size(last(o)) < 3)\n"
    "require forall v in V: staged(v) is NO || size(big(of(v))) in { 2, k } || big(of(v)) in mates(pick(v))\n"
    "require exists v in V: big(pick(v)) == next(of(v)) || staged(v) is YES && size(last(pick(v))) >= 2\n"
    "counter heavy = sum of size(big(o)) over o in O where kind(last(o)) is A\n"
    "require heavy <= k + 3\n";

static void brute_fill_arithmetic(struct brute *b)
{
    brute_objects(b, "A", 3);
    for (uint32_t i = 0; i < 3; i++) {
        int64_t values[4], n = 2 + pcg32_below(&b->rng, 3);
        for (int k = 0; k < n; k++)
            values[k] = (int64_t)pcg32_below(&b->rng, 7) - 1;
        space_data_list(b->data, "vals", &i, 1, values, (size_t)n);
        space_data_int(b->data, "w", &i, 1, (int64_t)pcg32_below(&b->rng, 5) - 1);
        if (pcg32_below(&b->rng, 2)) space_data_member(b->data, "B", i);
        for (uint32_t k = 0; k < 3; k++)
            space_data_int(b->data, "ok", (uint32_t[]){i, k}, 2, pcg32_below(&b->rng, 2));
    }
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 10));
}

static void brute_fill_latent(struct brute *b)
{
    brute_objects(b, "V", 2);
    brute_objects(b, "O", 4);
    for (uint32_t i = 0; i < 2; i++) {
        int64_t more[2] = {2 + (int64_t)pcg32_below(&b->rng, 2), 2};
        space_data_int(b->data, "of", &i, 1, pcg32_below(&b->rng, 2));
        space_data_list(b->data, "more", &i, 1, more, pcg32_below(&b->rng, 2));
    }
    for (uint32_t i = 0; i < 4; i++)
        space_data_int(b->data, "w", &i, 1, pcg32_below(&b->rng, 3));
    space_data_parameter(b->data, "k", 1 + pcg32_below(&b->rng, 8));
}

static void brute_fill_order(struct brute *b)
{
    brute_objects(b, "S", 4);
    uint32_t o = pcg32_below(&b->rng, 4);
    space_data_member(b->data, "O", o);
    space_data_int(b->data, "latent", &o, 1, (o + 1 + pcg32_below(&b->rng, 3)) % 4);
    space_data_int(b->data, "first", (uint32_t[]){pcg32_below(&b->rng, 4), pcg32_below(&b->rng, 4)}, 2, 1);
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 13));
}

static void brute_fill_quotient(struct brute *b)
{
    brute_objects(b, "S", 4);
    uint32_t inst = pcg32_below(&b->rng, 4);
    space_data_member(b->data, "I", inst);
    for (uint32_t i = 0; i < 4; i++)
        if (i != inst) space_data_member(b->data, "D", i);
    uint32_t d = (inst + 1) % 4;
    space_data_int(b->data, "latent", &d, 1, (inst + 2) % 4);
    space_data_parameter(b->data, "k", 1 + pcg32_below(&b->rng, 12));
}

static void brute_fill_recursion(struct brute *b)
{
    brute_objects(b, "N", 4);
    for (uint32_t i = 0; i < 4; i++) {
        int64_t kids[3], n = 0;
        for (uint32_t k = i + 1; k < 4; k++)
            if (pcg32_below(&b->rng, 2)) kids[n++] = k;
        space_data_list(b->data, "kids", &i, 1, kids, (size_t)n);
        space_data_int(b->data, "parent", &i, 1, (int64_t)pcg32_below(&b->rng, i + 1) - 1);
    }
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 6));
}

static void brute_fill_ranges(struct brute *b)
{
    brute_objects(b, "A", 2);
    for (uint32_t i = 0; i < 2; i++)
        if (pcg32_below(&b->rng, 4)) space_data_int(b->data, "from", &i, 1, 2 + pcg32_below(&b->rng, 3));
    space_data_parameter(b->data, "by", pcg32_below(&b->rng, 2) ? 1 : -1);
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 6));
}

static void brute_fill_selection(struct brute *b)
{
    brute_objects(b, "S", 3);
    for (uint32_t i = 0; i < 3; i++) {
        int64_t kin[2] = {pcg32_below(&b->rng, 3), pcg32_below(&b->rng, 3)};
        space_data_list(b->data, "kin", &i, 1, kin, pcg32_below(&b->rng, 3));
        space_data_int(b->data, "cost", &i, 1, pcg32_below(&b->rng, 3));
    }
    for (uint32_t i = 0; i < 2; i++)
        space_data_int(b->data, "near", (uint32_t[]){pcg32_below(&b->rng, 3), pcg32_below(&b->rng, 3)}, 2, 1);
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 4));
}

static void brute_fill_selected(struct brute *b)
{
    brute_objects(b, "V", 2);
    brute_objects(b, "O", 3);
    for (uint32_t i = 0; i < 2; i++)
        space_data_int(b->data, "of", &i, 1, (int64_t)pcg32_below(&b->rng, 4) - 1);
    for (uint32_t i = 0; i < 3; i++) {
        int64_t mates[2] = {pcg32_below(&b->rng, 3), pcg32_below(&b->rng, 3)};
        space_data_list(b->data, "mates", &i, 1, mates, pcg32_below(&b->rng, 3));
        space_data_int(b->data, "next", &i, 1, i < 2 ? i + 1 + (int64_t)pcg32_below(&b->rng, 2 - i) : -1);
        space_data_int(b->data, "w", &i, 1, pcg32_below(&b->rng, 4));
    }
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 5));
}

static void brute_fill_relation(struct brute *b)
{
    brute_objects(b, "S", 3);
    uint32_t o = pcg32_below(&b->rng, 3);
    space_data_member(b->data, "O", o);
    space_data_int(b->data, "latent", &o, 1, (o + 1 + pcg32_below(&b->rng, 2)) % 3);
    for (int i = 0; i < 2; i++)
        space_data_int(b->data, "near", (uint32_t[]){pcg32_below(&b->rng, 3), pcg32_below(&b->rng, 3)}, 2, 1);
    space_data_parameter(b->data, "k", pcg32_below(&b->rng, 4));
}

static void brute_fill_pairs(struct brute *b)
{
    brute_objects(b, "S", 4);
    for (uint32_t o = 0; o < 2; o++) {
        space_data_member(b->data, "O", o);
        space_data_member(b->data, "T", 2 + o);
        space_data_int(b->data, "latent", &o, 1, 2 + (int64_t)o);
    }
    for (uint32_t i = 0; i < 12; i++) {
        uint32_t pair[2] = {i / 3, (i / 3 + 1 + i % 3) % 4};
        space_data_int(b->data, "rule", pair, 2, pcg32_below(&b->rng, 4));
    }
}

static void brute_fill_wide(struct brute *b)
{
    brute_objects(b, "A", 2);
    for (uint32_t i = 0; i < 2; i++) {
        space_data_int(b->data, "most", &i, 1, 8 + pcg32_below(&b->rng, 5));
        space_data_int(b->data, "pace", &i, 1, 2 + pcg32_below(&b->rng, 3));
    }
    space_data_parameter(b->data, "k", 12 + pcg32_below(&b->rng, 9));
}

static void brute_fill_division(struct brute *b)
{
    brute_objects(b, "A", 4);
    for (uint32_t i = 0; i < 4; i++)
        space_data_int(b->data, "most", &i, 1, 1 + pcg32_below(&b->rng, 3));
    space_data_parameter(b->data, "k", 4 + pcg32_below(&b->rng, 9));
}

static void brute_fill_nested(struct brute *b)
{
    brute_objects(b, "B", 3);
    brute_objects(b, "A", 6);
    for (uint32_t i = 0; i < 6; i++) {
        space_data_int(b->data, "part", &i, 1, pcg32_below(&b->rng, 3));
        space_data_int(b->data, "most", &i, 1, 2 + pcg32_below(&b->rng, 3));
    }
    space_data_parameter(b->data, "k", 4 + pcg32_below(&b->rng, 60));
}

static void brute_fill_guarded(struct brute *b)
{
    static const char *const gives[] = {"x", "y", "z"};
    uint32_t last = pcg32_below(&b->rng, 3);
    brute_objects(b, "S", 3);
    brute_objects(b, "Q", 4);
    brute_objects(b, "X", 1);
    brute_objects(b, "Y", 1);
    brute_objects(b, "Z", 1);
    for (uint32_t i = 0; i < 3; i++) {
        space_data_int(b->data, "forced", &i, 1, i != last);
        space_data_int(b->data, gives[i], &i, 1, 0);
    }
    space_data_parameter(b->data, "k", 7 + pcg32_below(&b->rng, 2));
    space_data_parameter(b->data, "most", 8);
}

static void brute_has_triples(const struct space *s)
{
    size_t wide = 0;
    for (size_t i = 0; i < s->n_shapes; i++)
        for (uint32_t k = 0; k < s->shapes[i].n_slots && s->shapes[i].kind == SHAPE_TRIPLE; k++)
            wide += s->shapes[i].sizes[k] > 8;
    cr_assert_gt(wide, 0);
}

static void brute_has_relation(const struct space *s)
{
    cr_assert_eq(s->n_squares, 1);
    cr_assert_not_null(s->squares[0].relation);
}

Test(space_brute_force, arithmetic)
{
    brute_run(BRUTE_ARITHMETIC, brute_fill_arithmetic, 60, NULL);
}

Test(space_brute_force, latent_objects)
{
    brute_run(BRUTE_LATENT, brute_fill_latent, 25, NULL);
}

Test(space_brute_force, order_triangles)
{
    brute_run(BRUTE_ORDER, brute_fill_order, 40, NULL);
}

Test(space_brute_force, quotients)
{
    brute_run(BRUTE_QUOTIENT, brute_fill_quotient, 12, NULL);
}

Test(space_brute_force, recursive_definitions)
{
    brute_run(BRUTE_RECURSION, brute_fill_recursion, 60, NULL);
}

Test(space_brute_force, recursion_over_ranges)
{
    brute_run(BRUTE_RANGES, brute_fill_ranges, 60, NULL);
}

Test(space_brute_force, selected_objects)
{
    brute_run(BRUTE_SELECTION, brute_fill_selection, 60, NULL);
}

Test(space_brute_force, selected_latent_objects)
{
    brute_run(BRUTE_SELECTION_LATENT, brute_fill_selected, 120, NULL);
}

/* A choice of two latent objects may lose its last value before either of them is live. */
Test(space_brute_force, pairs_of_latent_objects)
{
    brute_run(BRUTE_PAIRS, brute_fill_pairs, 100, NULL);
}

Test(space_brute_force, divisors)
{
    brute_run(BRUTE_DIVISION, brute_fill_division, 60, NULL);
}

Test(space_brute_force, products_of_products)
{
    brute_run(BRUTE_NESTED, brute_fill_nested, 60, NULL);
}

Test(space_brute_force, shared_formulas_of_latent_objects)
{
    brute_run(BRUTE_GUARDED, brute_fill_guarded, 12, NULL);
}

Test(space_brute_force, wide_choices)
{
    brute_run(BRUTE_WIDE, brute_fill_wide, 40, brute_has_triples);
}

Test(space_brute_force, relations)
{
    brute_run(BRUTE_RELATION, brute_fill_relation, 60, brute_has_relation);
}
