/* What is wrong with a text, and where: each case is a program, its sizes and every message it gives, in
 * order. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/strbuf.h"
#include "core/lift/lift.h"

#define MATRIX "size M, N\ninput A: [[float]N]M\ninput x: [float]N\n"

enum { MAX_CASE_ERRORS = 5 };

struct error_case {
    const char *text, *sizes;
    const char *errors[MAX_CASE_ERRORS]; /* ends with NULL */
};

static const struct error_case error_cases[] = {
    {"size M\ninput A: [float]M\noutput map(sqrt, A",
     "M=4",
     {"k.lift:3:19: error: expected ')', found the end"}},
    {"input A [float]4\noutput A\n", "", {"k.lift:1:9: error: expected ':', found '['"}},
    {"size M\ninput A: [float]M\noutput $A\n", "M=4", {"k.lift:3:8: error: unexpected character '$'"}},
    {"size M\ninput A: [float]M\n",
     "M=4",
     {"k.lift:3:1: error: the program has no output; add one, such as: output map(fun x -> 2.0 * x, a)"}},
    {"bogus\ninput A: [foo]3\nouput A\noutput map(,A)\n",
     "",
     {"k.lift:1:1: error: expected size, input, output, let, fun or schedule, found 'bogus'",
      "k.lift:2:11: error: expected a type, found 'foo': types are float, double, half, int, bool and arrays "
      "such as [float]N",
      "k.lift:4:12: error: expected an expression, found ','"}},
    {"schedule structured\noutput 1.0\n",
     "",
     {"k.lift:1:10: error: not supported yet: structured (loops fixed by the text); write schedule open, or "
      "leave the line out: the search decides on the loops"}},
    {"input A: [float]4\noutput 1e999\n", "", {"k.lift:2:8: error: '1e999' is not a number"}},
    {MATRIX "output foo(A)\n", "M=4,N=4", {"k.lift:4:8: error: unknown function 'foo'"}},
    {MATRIX "output B\n", "M=4,N=4", {"k.lift:4:8: error: unknown name 'B'"}},
    {MATRIX "output map(x, A)\n", "M=4,N=4", {"k.lift:4:12: error: expected a function"}},
    {MATRIX "output map(fun r -> reduce(add, 0.0), A)\n",
     "M=4,N=4",
     {"k.lift:4:21: error: 'reduce' takes 3 arguments, not 2"}},
    {MATRIX "output map(fun a b c -> a, zip(x, x))\n",
     "M=4,N=4",
     {"k.lift:4:25: error: expected a tuple of 3, found (float, float)"}},
    {MATRIX "output add(1.0)\n", "M=4,N=4", {"k.lift:4:8: error: 'add' takes 2 arguments, not 1"}},
    {MATRIX "output zip(x)\n", "M=4,N=4", {"k.lift:4:8: error: 'zip' takes 2 arguments, not 1"}},
    {MATRIX "output reduce(sqrt, 0.0, x)\n",
     "M=4,N=4",
     {"k.lift:4:15: error: 'sqrt' takes 1 argument, not 2"}},
    {MATRIX "output map(add, x)\n", "M=4,N=4", {"k.lift:4:12: error: expected a tuple of 2, found float"}},
    {MATRIX "output zip(A, x)\n",
     "M=4,N=8",
     {"k.lift:4:8: error: zip needs arrays of equal length, not M = 4 and N = 8; choose equal sizes or other "
      "arrays"}},
    {MATRIX "output transpose(x)\n",
     "M=4,N=8",
     {"k.lift:4:8: error: transpose needs an array of arrays, not [float]N"}},
    {MATRIX "output map(fun v -> transpose(v), x)\n",
     "M=4,N=8",
     {"k.lift:4:21: error: transpose needs an array, not float"}},
    {MATRIX "output split(3, x)\n",
     "M=4,N=8",
     {"k.lift:4:8: error: split: the chunk length 3 does not divide the array length N = 8; choose sizes "
      "where it "
      "does"}},
    {MATRIX "output split(M - N, x)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: size M - N is 0; sizes must be at least 1"}},
    {MATRIX "output split(Q, x)\n", "M=4,N=4", {"k.lift:4:14: error: unknown size 'Q'; declare it: size Q"}},
    {MATRIX "output join(x)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: join needs an array of arrays, not [float]N"}},
    {MATRIX "output tail(A)\n", "M=1,N=4", {"k.lift:4:8: error: tail needs an array of at least 2 elements"}},
    {MATRIX "output reduce(fun (a, b) -> (a, b), 0.0, x)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: the function of reduce returns (float, float), but the initial value is float"}},
    {MATRIX "output get(2, (x, x))\n",
     "M=4,N=4",
     {"k.lift:4:8: error: no component 2 in a tuple of 2, ([float]N, [float]N); components are numbered from "
      "0"}},
    {MATRIX "output add(x, 1.0)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: add takes scalars, not [float]N; write map(add, zip(a, b)) for arrays, and join(a) "
      "before a reduction over several dimensions"}},
    {MATRIX "output unzip(x)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: unzip needs an array of tuples, not [float]N"}},
    {MATRIX "output x\n",
     "M=0,N=-4",
     {"k.lift:1:6: error: size 'M' is 0; sizes must be at least 1",
      "k.lift:1:9: error: size 'N' is -4; sizes must be at least 1"}},
    {MATRIX "output x\n", "M=4", {"k.lift:1:9: error: size 'N' has no value; add --size N=..."}},
    {MATRIX "output x\n", "M=4,N=4,K=4", {"error: unknown size 'K'; the program's sizes are M, N"}},
    {MATRIX "output x\n", "M=4,N=4,N=4", {"error: size 'N' is given twice; write --size N=... once"}},
    {MATRIX "output x\n",
     "M=4;N=4",
     {"error: 'M=4;N=4' is not a size; write NAME=NUMBER, such as --size M=512,N=512"}},
    {MATRIX "output x\n",
     "M=4,N=99999999999999999999",
     {"error: size 'N=99999999999999999999' does not fit into 64 bits; choose a smaller one"}},
    {MATRIX "output x\n",
     "M=4294967296,N=4294967296",
     {"k.lift:2:7: error: array [[float]N]M has 2^50 bytes or more; choose smaller sizes"}},
    {"size N\ninput A: [float](N * N)\noutput A\n",
     "N=9223372036854775807",
     {"k.lift:2:7: error: size N * N does not fit into 64 bits; choose smaller sizes"}},
    {"size N\ninput A: [float](N / 2)\noutput A\n",
     "N=7",
     {"k.lift:2:7: error: size N / 2 is not a whole number; choose sizes for which the division is exact"}},
    {"size N\ninput A: [float]N\ninput A: [float]N\ninput N: float\nlet add = 1.0\noutput A\n",
     "N=7",
     {"k.lift:3:7: error: 'A' is declared twice",
      "k.lift:4:7: error: 'N' is the name of a size; choose another name",
      "k.lift:5:5: error: 'add' is the name of a pattern or an operation; choose another name"}},
    {"input a: float\ninput b: double\noutput a + b\n",
     "",
     {"k.lift:3:10: error: add needs arguments of one type, not float and double; convert one of them, as "
      "in double(x)"}},
    {"input a: bool\noutput sqrt(a)\n",
     "",
     {"k.lift:2:8: error: sqrt does not take bool; write if c then 1.0 else 0.0, or of conditions && || "
      "!"}},
    {"input a: int\noutput sqrt(a)\n",
     "",
     {"k.lift:2:8: error: sqrt does not take int; convert the int: sqrt(float(x))"}},
    {"input a: float\noutput a % 2.0\n",
     "",
     {"k.lift:2:10: error: mod does not take float; convert to int, or write x - y * trunc(x / y)"}},
    {"input a: float\noutput shl(a, 1.0)\n",
     "",
     {"k.lift:2:8: error: shl does not take float; convert it: int(x)"}},
    {"input a: float\noutput if a && a > 0.0 then 1.0 else 0.0\n",
     "",
     {"k.lift:2:13: error: and does not take float; compare it: x != 0"}},
    {"input a: float\noutput if !a then 1.0 else 0.0\n",
     "",
     {"k.lift:2:11: error: not does not take float; compare it: x != 0"}},
    {"input a: float\noutput if a then 1.0 else 0.0\n",
     "",
     {"k.lift:2:11: error: a condition must be bool, not float; compare it: x != 0"}},
    {"input a: float\ninput k: int\noutput if a < 1.0 then a else k\n",
     "",
     {"k.lift:3:8: error: a selection needs arguments of one type, not float and int; convert one of them, "
      "as "
      "in float(x)"}},
    {"input a: float\noutput sum(if a < 1.0 then (a, a) else a)\n",
     "",
     {"k.lift:2:12: error: a selection needs two values of one type, not (float, float) and float"}},
    {MATRIX "output if N > 4 then x else x\n",
     "M=4,N=4",
     {"k.lift:4:8: error: a selection takes scalars and tuples of scalars, not [float]N; write map(fun (x, "
      "y) "
      "-> if c then x else y, zip(a, b)) for arrays"}},
    {"input a: float\noutput if 0.0 < a < 1.0 then a else 0.0\n",
     "",
     {"k.lift:2:19: error: a comparison of a comparison; write a < b && b < c"}},
    {"input a: float\noutput if a < 1.0 then a\n", "", {"k.lift:3:1: error: expected 'else', found the end"}},
    {"input a: float\noutput 1.0 + if a < 1.0 then a else 0.0\n",
     "",
     {"k.lift:2:14: error: expected an expression, found 'if'; as an operand it stands in parentheses"}},
    {"input a: float\noutput if a <\n  then a\nelse 0.0\ninput b: flaot\n",
     "",
     {"k.lift:3:3: error: expected an expression, found 'then'",
      "k.lift:5:10: error: expected a type, found 'flaot'; did you mean 'float'?"}},
    {"input a: [float]4 % 2\noutput a\n",
     "",
     {"k.lift:1:19: error: not a size; a size consists of whole numbers, size parameters and + - * /"}},
    {"input a: [float]4\noutput map(fun v -> v == true, a)\n",
     "",
     {"k.lift:2:23: error: eq does not take bool; write if c then 1.0 else 0.0, or of conditions && || !"}},
    {"input a: float\nfun floor(x) = x\noutput a\n",
     "",
     {"k.lift:2:5: error: 'floor' is the name of a pattern or an operation; choose another name"}},
    {"input a: int\noutput a + 0.5\n",
     "",
     {"k.lift:2:12: error: 0.5 is not an int; write a whole number, or convert the int: float(x)"}},
    {"fun f(x: float, y: float): float = { x * y }\ninput a: double\noutput f(a, 1.0)\n",
     "",
     {"k.lift:3:10: error: expected float, found double"}},
    {"fun f(x, y) = x * y\noutput f(1.0)\n", "", {"k.lift:2:8: error: 'f' takes 2 arguments, not 1"}},
    {"fun f(x) = f(x)\noutput f(1.0)\n",
     "",
     {"k.lift:1:12: error: 'f' is declared in terms of itself; there is no recursion"}},
    {"output map2(sqrt, 1.0)\n", "", {"k.lift:1:8: error: map needs an array, not float"}},
    {"output fun x -> x\n",
     "",
     {"k.lift:1:8: error: unexpected function; a function may only be the argument of a pattern or of "
      "another function"}},
    {"output add\n", "", {"k.lift:1:8: error: expected a value, found the function 'add'"}},
    {"output a = 1.0\noutput 2.0\n",
     "",
     {"k.lift:2:1: error: one of several outputs has no name; write: output NAME = ..."}},
    {"output a = 1.0\noutput a = 2.0\n", "", {"k.lift:2:8: error: output 'a' is declared twice"}},
    {"output max = 1.0\n",
     "",
     {"k.lift:1:8: error: 'max' is the name of a pattern or an operation; choose another name"}},
    {"output a = 1.0\ninput a: float\n",
     "",
     {"k.lift:2:7: error: input 'a' is declared after the output that is written to it; declare it before"}},
    {MATRIX "output x = map(fun r -> sum(r), A)\n",
     "M=4,N=8",
     {"k.lift:4:8: error: output 'x' is [float]M, but the input 'x' that it is written to is [float]N"}},
    {MATRIX "output y: [float]M = x\n", "M=4,N=8", {"k.lift:4:8: error: expected [float]M, found [float]N"}},
    {"input a: float\noutput a = 2 * a\n",
     "",
     {"k.lift:2:8: error: the input 'a' is passed by value and cannot be written; declare it as an array of "
      "one element, such as [float]1, or give the output another name"}},
    {"input a: interleaved [float]4\noutput a\n",
     "",
     {"k.lift:1:7: error: interleaved takes an array of tuples of scalars of one type, such as [(float, "
      "float)]N, not [float]4"}},
    {"input a: interleaved [(float, int)]4\noutput map(get(0), a)\n",
     "",
     {"k.lift:1:7: error: interleaved takes an array of tuples of scalars of one type, such as [(float, "
      "float)]N, not [(float, int)]4"}},
    {"input a: [(float, float)]4\noutput a: interleaved [(float, float)]4 = a\n",
     "",
     {"k.lift:2:8: error: the input 'a' is not interleaved; declare it so, or leave it out here"}},
    {"input a: [(float, int)]4 in 0.1..0.9\noutput a\n",
     "",
     {"k.lift:1:29: error: the range 0.1..0.9 contains fewer than two whole numbers; widen it"}},
    {MATRIX "output mapp(sqrt, x)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: unknown function 'mapp'; did you mean 'map'?"}},
    {MATRIX "output map(sqrt, X)\n", "M=4,N=4", {"k.lift:4:18: error: unknown name 'X'; did you mean 'x'?"}},
    {"size N\ninput x: [float]n\noutput x\n",
     "N=4",
     {"k.lift:2:17: error: unknown size 'n'; did you mean 'N'?"}},
    {"ouput 1.0\n",
     "",
     {"k.lift:1:1: error: expected size, input, output, let, fun or schedule, found 'ouput'; did you mean "
      "'output'?"}},
    {"fun f(x) = g(x)\nfun g(x) = x\noutput f(1.0)\n",
     "",
     {"k.lift:1:12: error: 'g' is declared below; move its declaration above this line"}},
    {MATRIX "output reduce(+, 0.0, x)\n",
     "M=4,N=4",
     {"k.lift:4:15: error: expected an expression, found '+'; the function is called add"}},
    {MATRIX "output map(v -> v, x)\n",
     "M=4,N=4",
     {"k.lift:4:14: error: expected ')', found '->'; a function is written fun x -> x + 1.0"}},
    {MATRIX "fun f(v) -> v\noutput map(f, x)\n",
     "M=4,N=4",
     {"k.lift:4:10: error: expected '=', found '->'; a function is declared as fun f(x) = x + 1.0"}},
    {MATRIX "y = x\noutput x\n",
     "M=4,N=4",
     {"k.lift:4:1: error: expected size, input, output, let, fun or schedule, found 'y'; a value is named by "
      "let x = ..."}},
    {"size N\ninput x: float[N]\noutput x\n",
     "N=4",
     {"k.lift:2:15: error: the length of an array type follows the brackets: [float]N"}},
    {MATRIX "output sum(A)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: add takes scalars, not [float]N; write map(add, zip(a, b)) for arrays, and join(a) "
      "before a reduction over several dimensions"}},
    {MATRIX "output sqrt(x)\n",
     "M=4,N=4",
     {"k.lift:4:8: error: sqrt takes scalars, not [float]N; write map(sqrt, a) for arrays, and join(a) "
      "before a reduction over several dimensions"}},
    {MATRIX "output map(sqrt, zip(x, x))\n",
     "M=4,N=4",
     {"k.lift:4:12: error: sqrt takes scalars, not (float, float); take the tuple apart: fun (a, b) -> ..."}},
    {MATRIX "output map(fun v -> v \xc3\x97 2.0, x)\n",
     "M=4,N=4",
     {"k.lift:4:23: error: unexpected character '\xc3\x97'"}},
    {MATRIX "output x\n", "", {"k.lift:1:6: error: sizes 'M', 'N' have no value; add --size M=...,N=..."}},
    {"input a: [float]4 in 2..0.5\noutput a\n",
     "",
     {"k.lift:1:22: error: the range 2..0.5 is empty: write the smaller number first"}},
    {"input a: [float]4 in 1..1\noutput a\n",
     "",
     {"k.lift:1:22: error: the range 1..1 is empty: write the smaller number first"}},
    {"input a: [half]4 in -1..1e5\noutput a\n",
     "",
     {"k.lift:1:21: error: the range -1..100000 exceeds half, whose largest number is 65504; choose smaller "
      "bounds"}},
    {"input a: [float]4 in 0..1e39\noutput a\n",
     "",
     {"k.lift:1:22: error: the range 0..1e+39 exceeds float, whose largest number is 3.40282347e+38; choose "
      "smaller bounds"}},
    {"input a: [double]4 in 0..1e999\noutput a\n", "", {"k.lift:1:26: error: '1e999' is not a number"}},
    {"input a: int in 0.5..1.5\noutput a\n",
     "",
     {"k.lift:1:17: error: the range 0.5..1.5 contains fewer than two whole numbers; widen it"}},
    {"input a: bool in 0..1\noutput a\n", "", {"k.lift:1:18: error: bool inputs have no range; remove it"}},
    {"input a: float in 0.1\noutput a\n", "", {"k.lift:2:1: error: expected '..', found 'output'"}},
    {"input a: float in x..2\noutput a\n", "", {"k.lift:1:19: error: unknown size 'x'; declare it: size x"}},
    {MATRIX "output slide(9, 1, x)\n",
     "M=2,N=4",
     {"k.lift:4:8: error: slide: the window of 9 elements is longer than the array, which has N = 4"}},
    {MATRIX "output slide(0, 1, x)\n",
     "M=2,N=4",
     {"k.lift:4:8: error: size 0 is 0; sizes must be at least 1"}},
    {MATRIX "output slide(2, 0, x)\n",
     "M=2,N=4",
     {"k.lift:4:8: error: size 0 is 0; sizes must be at least 1"}},
    {MATRIX "output pad(-1, 1, clamp, x)\n",
     "M=2,N=4",
     {"k.lift:4:8: error: size -1 is -1; it must be at least 0"}},
    {MATRIX "output pad(1, 1, x)\n", "M=2,N=4", {"k.lift:4:8: error: 'pad' takes 4 arguments, not 3"}},
    {MATRIX "output pad(1, 1, edge, x)\n",
     "M=2,N=4",
     {"k.lift:4:18: error: the third argument of pad must be clamp, mirror or wrap; a constant border is "
      "padConstant(l, r, v, a)"}},
    {MATRIX "output pad(5, 0, mirror, x)\n",
     "M=2,N=4",
     {"k.lift:4:8: error: pad: 5 elements cannot be mirrored: the array has N = 4"}},
    {MATRIX "output padConstant(1, 1, x, x)\n",
     "M=2,N=4",
     {"k.lift:4:26: error: the border of padConstant must be of type float, not [float]N"}},
    {MATRIX "output padConstant(1, 1, 0.0, zip(x, x))\n",
     "M=2,N=4",
     {"k.lift:4:8: error: padConstant needs an array of scalars, not [(float, float)]N; pad each component "
      "of its tuples"}},
    {MATRIX "output at(N, x)\n",
     "M=2,N=4",
     {"k.lift:4:11: error: index 4 is out of range: the array has N = 4 elements, numbered from 0"}},
    {MATRIX "output generate(N, fun i -> at(i - 1, x))\n",
     "M=2,N=4",
     {"k.lift:4:34: error: the index may be -1: out of range, as the array has N = 4 elements, numbered "
      "from 0"}},
    {MATRIX "output gather(fun i -> 2 * i, x)\n",
     "M=2,N=4",
     {"k.lift:4:26: error: the index may be 6: out of range, as the array has N = 4 elements, numbered from "
      "0"}},
    {MATRIX "output map(fun v -> at(v, x), x)\n",
     "M=2,N=4",
     {"k.lift:4:24: error: the index of at must be an int, not float"}},
    {MATRIX "input k: [int]N\noutput map(fun v -> at(v, x), k)\n",
     "M=2,N=4",
     {"k.lift:5:24: error: the index depends on data whose range is not known; state the range of the input, "
      "as in input idx: [int]N in 0..N-1, or write max(0, min(i, N - 1))"}},
    {MATRIX "input k: [int]M in 0..N\noutput map(fun v -> at(v, x), k)\n",
     "M=2,N=4",
     {"k.lift:5:24: error: the index may be 4: out of range, as the array has N = 4 elements, numbered from "
      "0"}},
    {MATRIX "input k: [int]M in 0..N-1\noutput k = map(fun v -> int(at(v, x)), k)\n",
     "M=2,N=4",
     {"k.lift:5:32: error: the index depends on data whose range is not known; state the range of the input, "
      "as in input idx: [int]N in 0..N-1, or write max(0, min(i, N - 1))"}},
    {"size N\ninput k: [int]N in N-3..1\noutput k\n",
     "N=8",
     {"k.lift:2:20: error: the range 5..1 is empty: choose other sizes"}},
    {"input k: [int]4 in -N..1\noutput k\n", "", {"k.lift:1:22: error: a negative size; write 0 - N"}},
    {MATRIX "output scatter(fun i -> 2 * i, x)\n",
     "M=2,N=4",
     {"k.lift:4:27: error: scatter: index 2 goes to place 4: out of range, as there are 4 places, numbered "
      "from 0"}},
    {MATRIX "output scatter(fun i -> i / 2, x)\n",
     "M=2,N=4",
     {"k.lift:4:27: error: scatter: indices 0 and 1 both go to place 0; its function must be a "
      "permutation"}},
    {MATRIX "input k: [int]N in 0..N-1\noutput scatter(fun i -> at(i, k), x)\n",
     "M=2,N=4",
     {"k.lift:5:25: error: the places of scatter depend on its index, numbers and sizes alone: by data two "
      "elements might go to one place; at(i, a) reads at an index by data"}},
    {MATRIX "output concat(x, A)\n",
     "M=2,N=4",
     {"k.lift:4:18: error: concat needs arrays of one element type, not [float]N and [[float]N]M"}},
    {MATRIX "output iterate(N, map(sqrt), x)\n",
     "M=2,N=4",
     {"k.lift:4:16: error: iterate is written out: its first argument must be a number from 1 to 64"}},
    {MATRIX "output iterate(2, x, x)\n",
     "M=2,N=4",
     {"k.lift:4:19: error: the second argument of iterate must be a function"}},
    {MATRIX "output [1.0, x]\n",
     "M=2,N=4",
     {"k.lift:4:14: error: the elements of an array are of one type, not float and [float]N"}},
    {MATRIX "output [\n", "M=2,N=4", {"k.lift:5:1: error: expected an expression, found the end"}},
    {"fun a(x) = add(x, x)\nfun b(x) = a(a(a(a(x))))\nfun c(x) = b(b(b(b(x))))\nfun d(x) = "
     "c(c(c(c(x))))\nfun e(x) = d(d(d(d(x))))\ninput v: float\noutput e(e(e(e(e(v)))))\n",
     "",
     {"k.lift:2:20: error: the program is too large once its functions are inlined; write fewer or smaller "
      "functions"}},
};

/* What other languages have: the place and the beginning of the only message, which names a way. */
struct absent_case {
    const char *output, *column, *error, *way;
};
static const struct absent_case absent_cases[] = {
    {"window(3, 1, x)", "8", "'window' is not in the language", "slide(size, step, a)"},
    {"x |> window(3, 1) |> map(sum)", "13", "'window' is not", "slide("},
    {"padClamp(1, 1, x)", "8", "'padClamp' is not", "pad(l, r, clamp, a)"},
    {"flip(x)", "8", "'flip' is not", "reverse(a)"},
    {"permute(reverse, x)", "8", "'permute' is not in", "scatter(f, a)"},
    {"zeros(3)", "8", "'zeros' is not", "generate(n, fun i -> 0.0)"},
    {"cumsum(x)", "8", "'cumsum' is not in", "scan(add, 0.0, a)"},
    {"filter(f, x)", "8", "not supported yet: filter (", "if c then x"},
    {"append(x, x)", "8", "'append' is not", "concat(a, b)"},
    {"reduce(max, FLT_MAX, x)", "20", "'FLT_MAX' is not in the language", "highest is the largest"},
    {"mapGlb(sqrt, x)", "8", "not supported yet: mapGlb (", "write map: "},
    {"reduceSeq(add, 0.0, x)", "8", "not supported yet: reduceSeq (", "write reduce: "},
    {"toLocal(map(sqrt, x))", "8", "not supported yet: toLocal (", "leave it out"},
    {"asVector(4, x)", "8", "not supported yet: asVector (", "leave it out"},
    {"foldl(add, 0.0, x)", "8", "'foldl' is not in the language", "write reduce(f, initial, a)"},
    {"map(fun v -> powf(v, 2.0), x)", "21", "'powf' is not in the language", "pow(x, y)"},
    {"map(fun v -> v ^ 2.0, x)", "23", "'^' is not in the language", "pow(x, y)"},
    {"map(fun v -> v ** 2.0, x)", "23", "'**' is not in the language", "pow(x, y)"},
    {"map(fun v -> where(v, 0.0, 1.0), x)", "21", "'where' is not in the language", "if c then a else b"},
    {"map(fun v -> v ? 1.0 : 0.0, x)", "23", "'?' is not in the language", "if c then a else b"},
    {"map(fun v -> v and v, x)", "23", "'and' is not in the language", "a && b"},
    {"map(fun v -> not v, x)", "21", "'not' is not in the language", "!a"},
    {"map(fun v -> v & v, x)", "23", "'&' is not in the language", "a && b"},
    {"map(fun v -> v << 2, x)", "23", "'<<' is not in the language", "shl(x, n)"},
    {"map(fun v -> clamp(v, 0.0, 1.0), x)", "21", "'clamp' is not in the language", "max(low, min(x, high))"},
    {"x[0]", "9", "element i of an array", "at(i, a)"},
    {"map(fun r -> r[0], A)", "22", "element i of an array", "at(i, a)"},
    {"map(\\v -> v, x)", "12", "'\\' is not in the language", "fun x -> x + 1.0"},
    {"map(v => v, x)", "14", "'=>' is not in the language", "fun x -> x + 1.0"},
    {"map(lambda v: v, x)", "12", "'lambda' is not in the language", "fun x -> x + 1.0"},
    {"map(relu, x)", "12", "'relu' is not in the language", "max(x, 0.0)"},
    {"x;", "9", "';' is not in the language", "leave it out"},
    {"x // doubled", "10", "'//' is not in the language", "a comment begins with --"},
    {"map(fun v -> (v : float4), x)", "26", "not supported yet: float4 (vector types)", "write float"},
    {"map(fun v -> (v : f32), x)", "26", "'f32' is not in the language", "write float"},
    {"map(fun v -> toInt(v), x)", "21", "'toInt' is not in the language", "int(x)"},
    {"map(fun v -> long(v), x)", "21", "not supported yet: long (", "int(x)"},
};

/* Parses and binds a text, as a command does. */
static bool accepts(const char *text, const char *sizes, struct diag *d)
{
    struct arena *a = arena_new();
    struct source source = {"k.lift", text, strlen(text)};
    struct lift_size_value *values;
    struct lift_program *p = lift_parse(&source, a, d);
    int n = p ? lift_parse_sizes(sizes, &values, a, d) : -1;
    bool ok = n >= 0 && lift_bind(p, values, (unsigned)n, a, d);
    arena_free(a);
    cr_assert_eq(ok, !diag_failed(d));
    return ok;
}

static void check_error_case(const struct error_case *c)
{
    struct diag *d = diag_new();
    cr_expect_not(accepts(c->text, c->sizes, d), "accepted: %s", c->text);
    size_t n = 0;
    for (; c->errors[n]; n++) {
        const char *message = diag_message(d, n);
        cr_expect(message && !strcmp(message, c->errors[n]), "expected %s\n     got %s", c->errors[n],
                  message ? message : "nothing");
    }
    cr_expect_eq(diag_count(d), n, "%zu errors, not %zu: %s", diag_count(d), n, c->text);
    diag_free(d);
}

Test(lift_errors, each_is_located_and_said_once)
{
    for (size_t i = 0; i < sizeof error_cases / sizeof error_cases[0]; i++)
        check_error_case(&error_cases[i]);
}

static void check_absent_case(const struct absent_case *c)
{
    char text[256], place[64];
    struct diag *d = diag_new();
    snprintf(text, sizeof text, MATRIX "fun f(v) = v\noutput %s\n", c->output);
    snprintf(place, sizeof place, "k.lift:5:%s: error: %s", c->column, c->error);
    cr_expect_not(accepts(text, "M=4,N=4", d), "accepted: %s", c->output);
    const char *message = diag_message(d, 0) ? diag_message(d, 0) : "nothing";
    cr_expect_eq(diag_count(d), 1, "%zu errors: %s", diag_count(d), c->output);
    cr_expect(!strncmp(message, place, strlen(place)), "expected %s\n     got %s", place, message);
    cr_expect(strstr(message, c->way), "no \"%s\" in %s", c->way, message);
    diag_free(d);
}

Test(lift_errors, what_other_languages_have_is_named)
{
    for (size_t i = 0; i < sizeof absent_cases / sizeof absent_cases[0]; i++)
        check_absent_case(&absent_cases[i]);
}

/* Names of other languages are free to be used. */
Test(lift_errors, absent_names_may_be_declared)
{
    struct diag *d = diag_new();
    bool ok = accepts("size N\ninput where: [float]N\nfun when(lambda, fmod) = lambda * fmod\n"
                      "let step = 2.0\nfun relu(elif) = max(elif, 0.0)\n"
                      "output map(fun flip -> relu(when(flip, step)), where)\n",
                      "N=4", d);
    cr_expect(ok, "%s", diag_message(d, 0));
    diag_free(d);
}

/* `head`, `repeated` n times, `tail`, bound to `sizes`; its first error must contain `expected`. */
static void check_long_with(const char *sizes, const char *head, const char *repeated, int n,
                            const char *tail, const char *expected)
{
    struct strbuf text = {0};
    strbuf_add(&text, head);
    for (int i = 0; i < n; i++)
        strbuf_add(&text, repeated);
    strbuf_add(&text, tail);
    struct diag *d = diag_new();
    cr_assert_not(accepts(text.text, sizes, d));
    cr_assert(strstr(diag_message(d, 0), expected), "%s", diag_message(d, 0));
    diag_free(d);
    strbuf_free(&text);
}

static void check_long(const char *head, const char *repeated, int n, const char *tail, const char *expected)
{
    check_long_with("", head, repeated, n, tail, expected);
}

Test(lift_errors, depth_is_bounded)
{
    check_long("output ", "(", 100000, "1.0", "nested deeper than 200 levels");
    check_long("output ", "- ", 100000, "1.0", "nested deeper than 200 levels");
    check_long("output ", "fun x -> ", 100000, "x", "nested deeper than 200 levels");
    check_long("input a: ", "[", 100000, "float", "nested deeper than 200 levels");
    check_long("output 1.0", " + 1.0", 100000, "", "more than 100 operators in a row");
    check_long("input a: [float]1", " + 1", 100000, "", "more than 100 operators in a row");
}

Test(lift_errors, inlining_is_bounded)
{
    check_long("fun f(x) = x + x\ninput v: float\noutput f", "(f", 40, "(v)", "expected ')'");
    const char *doubling =
        "fun a(x) = x * x + x\nfun b(f, x) = f(f(f(f(f(f(x))))))\nfun c(x) = b(a, b(a, x))\n"
        "fun d(x) = b(c, b(c, x))\nfun e(x) = b(d, b(d, x))\ninput v: float\noutput b(e, v)\n";
    check_long("", doubling, 1, "", "too large once its functions are inlined");
    check_long("input x: [float]4\nfun d(f, k, a) = f(k + k, a)\noutput ", "d(", 20,
               "split))))))))))))))))))), 1, x)", "too large once its functions are inlined");
}

/* Each let doubles the text of a type or a size. */
Test(lift_errors, types_are_bounded)
{
    check_long("input x: [float]4\noutput let z = x in ", "let z = zip(z, z) in ", 45, "map(fun t -> 1.0, z)",
               "k.lift:2:239: error: the type is too large: more than 4096 parts");
    check_long("input x: float\noutput let z = x in ", "let z = (z, z) in ", 45, "x",
               "error: the type is too large: more than 4096 parts");
    check_long_with("N=1", "size N\ninput x: [float]N\noutput let z = x in ",
                    "let z = join(map(fun e -> z, z)) in ", 45, "z",
                    ":394: error: the type is too large: more than 4096 parts and size terms");
}

Test(lift_errors, many_are_counted)
{
    struct diag *d = diag_new();
    struct strbuf text = {0};
    for (int i = 0; i < 30; i++)
        strbuf_add(&text, "input 7\n");
    cr_assert_not(accepts(text.text, "", d));
    cr_assert_eq(diag_count(d), 30);
    diag_free(d);
    strbuf_free(&text);
}
