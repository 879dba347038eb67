/* Computed values that are staged: random leaves (descents.h) in which a copy computes a tile of the value.
 */
#include <criterion/criterion.h>

#include "tests/codegen/descents.h"

#define MATMUL "fun matmul(a, b) = map(fun r -> map(fun c -> dot(r, c), transpose(b)), a)\n"

Test(stored, a_product_in_a_product)
{
    check_staged("size M, N, K, L\ninput A: [[float]K]M\ninput B: [[float]L]K\ninput C: [[float]N]L\n" MATMUL
                 "let t = matmul(A, B)\noutput matmul(t, C)\n",
                 "M=8,N=4,K=4,L=6", "t", 20);
}

Test(stored, a_product_whose_rows_are_rounded_up)
{
    check_staged("size M, N, K, L\ninput A: [[float]K]M\ninput B: [[float]L]K\ninput C: [[float]N]L\n" MATMUL
                 "let t = matmul(A, B)\noutput matmul(t, C)\n",
                 "M=13,N=3,K=5,L=17", "t", 20);
}

/* atax in one kernel: each group computes all of y. */
Test(stored, a_vector_that_all_read)
{
    check_staged("size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"
                 "let y = map(fun row -> dot(row, x), A)\n"
                 "output map(fun column -> dot(column, y), transpose(A))\n",
                 "M=8,N=12", "y", 30);
}

Test(stored, an_expression_in_a_product)
{
    check_staged(
        "size M, N, K\ninput A: [[float]K]M\ninput a: [float]M\ninput B: [[float]N]K\n"
        "let scaled = map(fun (r, s) -> map(fun x -> if x > 0.0 then x * s else x - s, r), zip(A, a))\n"
        "output map(fun r -> map(fun c -> dot(r, c), transpose(B)), scaled)\n",
        "M=6,N=4,K=8", "scaled", 30);
}

#define BLUR2                                                                                                \
    "fun blur(a) = map2(fun w -> at(1, at(0, w)) + at(0, at(1, w)) + at(1, at(1, w)) + at(2, at(1, w)) "     \
    "+ at(1, at(2, w)), slide2(3, 1, pad2(1, 1, clamp, a)))\n"

/* The TAKE of t is in windows; the loads of x at constant places of others are in its copy. */
Test(stored, a_stencil_of_a_stencil)
{
    check_staged("size M, N\ninput x: [[float]N]M\n" BLUR2 "let t = blur(x)\n"
                 "output map2(fun w -> reduce(add, 0.0, join(w)), slide2(3, 1, pad2(1, 1, clamp, t)))\n",
                 "M=6,N=8", "t", 12);
}

Test(stored, a_window_of_sums_of_windows)
{
    check_staged("size N\ninput x: [float]N\n"
                 "fun blur(a) = map(fun w -> reduce(add, 0.0, w), slide(3, 1, padConstant(1, 1, 2.0, a)))\n"
                 "let t = blur(x)\noutput blur(t)\n",
                 "N=24", "t", 40);
}

/* The sums' index, 2 * i + d, has steps of 2. */
Test(stored, a_window_with_stride)
{
    check_staged("size N\ninput x: [float]2*N+1\n"
                 "let t = map(fun w -> reduce(max, -9.0, w), slide(2, 1, pad(0, 1, mirror, x)))\n"
                 "output map(fun w -> reduce(add, 0.0, w), slide(3, 2, t))\n",
                 "N=12", "t", 40);
}

Test(stored, a_component_of_a_tuple)
{
    check_staged(
        "size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"
        "let both = map(fun row -> reduce(fun ((s, q), v) -> (s + v, max(q, v)), (0.0, -99.0), row), A)\n"
        "output map(fun column -> reduce(fun (acc, (v, (s, q))) -> acc + v * q, 0.0, zip(column, both)), "
        "transpose(A))\n",
        "M=8,N=12", "both", 30);
}

/* The scores of attention are read by a maximum, a sum and an output, each in a dimension of its own; two of
 * them share what the copy of the first one computes. */
Test(stored, an_array_with_three_readers)
{
    check_staged(
        "size N, M, D\ninput Q: [[float]D]N\ninput K: [[float]D]M\ninput V: [[float]D]M\n"
        "output map(fun q -> let s = map(fun k -> dot(q, k), K) in\n"
        "                    let m = reduce(max, -1000.0, s) in\n"
        "                    let z = sum(map(fun x -> x - m, s)) in\n"
        "  map(fun column -> sum(map(fun (x, v) -> (x - m + z) * v, zip(s, column))), transpose(V)), Q)\n",
        "N=4,M=6,D=4", "s_3", 30);
}

/* The same without names. */
Test(stored, a_product_in_a_product_without_a_name)
{
    check_staged("size M, N, K, L\ninput A: [[float]K]M\ninput B: [[float]L]K\ninput C: [[float]N]L\n" MATMUL
                 "output matmul(matmul(A, B), C)\n",
                 "M=8,N=4,K=4,L=6", "t", 20);
}

Test(stored, two_time_steps)
{
    check_staged("size M, N\ninput x: [[float]N]M\n"
                 "fun box(a) = map2(fun w -> reduce(add, 0.0, join(w)), slide2(3, 1, pad2(1, 1, clamp, a)))\n"
                 "output iterate(2, box, x)\n",
                 "M=8,N=6", "t", 12);
}

/* The second step stays where it is read. */
Test(stored, the_first_of_three_time_steps)
{
    check_staged("size N\ninput x: [float]N\n"
                 "fun blur(a) = map(fun w -> reduce(add, 0.0, w), slide(3, 1, padConstant(1, 1, 2.0, a)))\n"
                 "output iterate(3, blur, x)\n",
                 "N=12", "t", 30);
}

Test(stored, rows_that_a_function_computes)
{
    check_staged("size M, N, K\ninput A: [[float]K]M\ninput B: [[float]K]N\ninput C: [[float]K]M\n"
                 "output map(fun (r, s) -> map(fun c -> dot(map(mult, zip(r, s)), c), B), zip(A, C))\n",
                 "M=6,N=4,K=8", "t", 30);
}
