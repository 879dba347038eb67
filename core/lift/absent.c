/* The table of what the language does not have. A row lists texts that have one answer:
 *
 *     `what` given    "slide" -> not supported yet: slide (overlapping windows); for windows that ...
 *     only `way`      "fold"  -> 'fold' is not in the language; write reduce(f, initial, a) */
#include "core/lift/absent.h"

#include <string.h>

#define SELECTION "write if c then a else b, or select(c, a, b)"
#define ELEMENTS                                                                                             \
    "at(i, a) is element i, head(a) the first, tail(a) the rest, split(k, a) the chunks, slide(n, s, a) "    \
    "the "                                                                                                   \
    "windows"
#define LOGIC "write a && b, a || b, !a, or as functions and(a, b), or(a, b), not(a)"
#define STATEMENTS "a program declares sizes, inputs and outputs, such as: output map(fun x -> 2.0 * x, a)"
#define COMMENTS "a comment begins with --"
#define VECTORS "write float: the search decides on vectors"
#define DECISIONS "the search decides on loops, work-items and memory, and --pin fixes its choices"
#define UNCHANGED "values do not change: reduce(add, 0.0, a) is a sum, let x = ... in ... names a value"

struct absent {
    enum absent_place place;
    const char *texts; /* with blanks between */
    const char *what;  /* PLANNED: what it is; NULL: another spelling */
    const char *way;   /* the nearest way today, or NULL */
};

static const struct absent table[] = {
    /* patterns */
    {ABSENT_NAME, "slideND window windows sliding", NULL,
     "write slide(size, step, a), slide2 or slide3, after pad for windows at the border"},
    {ABSENT_NAME, "stencil conv conv2d convolve", NULL,
     "see the examples stencil_5point.lift and convolution.lift"},
    {ABSENT_NAME, "shift rotate roll", NULL, "write pad(l, r, wrap, a) and slide, or gather(f, a)"},
    {ABSENT_NAME, "padClamp padMirror padWrap padReflect padEdge", NULL,
     "write pad(l, r, clamp, a), mirror or wrap"},
    {ABSENT_NAME, "padZero padZeros", NULL, "write padConstant(l, r, 0.0, a)"},
    {ABSENT_NAME, "permute", NULL, "write scatter(f, a): element i goes to place f(i); or gather(f, a)"},
    {ABSENT_NAME, "reorder reorderStride strided", NULL, "write stride(s, a), reverse(a) or gather(f, a)"},
    {ABSENT_NAME, "flip reversed", NULL, "write reverse(a)"},
    {ABSENT_NAME, "until", "repetition as often as data says", "iterate(n, f, x) applies a function n times"},
    {ABSENT_NAME, "scanl prefixSum prefix_sum cumsum inclusiveScan", NULL, "write scan(add, 0.0, a)"},
    {ABSENT_NAME, "scanr", NULL, "write reverse(scan(f, z, reverse(a)))"},
    {ABSENT_NAME, "exclusiveScan", NULL, "write scan(f, z, a), whose element i is of elements 0 to i"},
    {ABSENT_NAME, "filter partition compress", "selection of elements",
     "keep all elements and write if c then x else 0.0"},
    {ABSENT_NAME, "concatenate append", NULL, "write concat(a, b)"},
    {ABSENT_NAME, "range arange linspace arrayFromFunction tabulate", NULL,
     "write iota(n), which is 0, 1, ..., n - 1, or generate(n, f)"},
    {ABSENT_NAME, "zeros ones fill full", NULL, "write generate(n, fun i -> 0.0)"},
    {ABSENT_NAME, "take drop slice last init index nth", "parts of an array by their index", ELEMENTS},
    {ABSENT_NAME, "sort argsort topk unique histogram bincount", "data-dependent reordering", NULL},
    {ABSENT_NAME, "inf infinity INFINITY FLT_MAX INT_MAX", NULL,
     "highest is the largest number of a type, lowest the smallest"},
    /* patterns that take decisions */
    {ABSENT_NAME,
     "mapGlb mapWrg mapLcl mapWarp mapLane mapGlobal mapWorkgroup mapLocal mapSeq mapSeqUnroll "
     "mapUnroll mapPar",
     "patterns that fix a decision", "write map: " DECISIONS},
    {ABSENT_NAME, "reduceSeq reduceSeqUnroll reduceUnroll reducePar", "patterns that fix a decision",
     "write reduce: " DECISIONS},
    {ABSENT_NAME, "toLocal toGlobal toPrivate", "patterns that fix a decision", "leave it out: " DECISIONS},
    {ABSENT_NAME, "asVector asVectorAligned asScalar vectorize", "patterns that fix a decision",
     "leave it out: the search decides on vectors"},
    {ABSENT_NAME, "fold foldl foldr foldLeft foldRight accumulate", NULL, "write reduce(f, initial, a)"},
    {ABSENT_NAME, "flatten concatMap", NULL, "write join(a)"},
    {ABSENT_NAME, "reshape view", NULL, "write split(k, a) and join(a)"},
    {ABSENT_NAME, "zip4 zipN zipWith", NULL,
     "zip takes any number of arrays: map(fun (a, b, c) -> a * b + c, zip(x, y, z))"},
    {ABSENT_NAME, "broadcast repeat replicate", NULL,
     "a function may use names declared outside it: map(fun row -> map(fun x -> x + b, row), A)"},
    {ABSENT_NAME, "fst first _1 _0", NULL, "write get(0, t), or take the tuple apart: fun (a, b) -> a"},
    {ABSENT_NAME, "snd second _2", NULL, "write get(1, t), or take the tuple apart: fun (a, b) -> b"},
    {ABSENT_NAME, "len length shape", NULL, "the size in the type of the input is a value: sum(x) / N"},
    {ABSENT_NAME, "transposeW permuteDims", NULL,
     "write transpose(a), for inner dimensions map(transpose, a)"},
    {ABSENT_NAME, "matmul gemm mm mv gemv", NULL,
     "a matrix product is a map of maps of dot: see the examples matmul.lift and gemv.lift"},
    /* selection, comparison, logic */
    {ABSENT_NAME, "where cond ifelse ifThenElse step", NULL, SELECTION},
    {ABSENT_NAME, "clamp", NULL, "write max(low, min(x, high))"},
    {ABSENT_NAME, "isnan isinf isfinite", NULL, "x != x where x is NaN, abs(x) > 3e38 where it is infinite"},
    {ABSENT_WORD, "elif case switch match when unless", NULL, SELECTION},
    {ABSENT_NAME, "less greater equal", NULL, "write a < b, a > b, a == b, or as functions lt, gt, eq"},
    {ABSENT_SIGN, "===", NULL, "write a == b"},
    {ABSENT_SIGN, "?", NULL, SELECTION},
    {ABSENT_SIGN, "& |", NULL, "of conditions write a && b, a || b, of integers bitand(a, b), bitor(a, b)"},
    {ABSENT_WORD, "and or not xor", NULL, LOGIC},
    {ABSENT_NAME, "xor", NULL, "of integers write bitxor(a, b), of conditions a && !b || !a && b"},
    /* arithmetic */
    {ABSENT_NAME, "powf pown power", NULL, "write pow(x, y)"},
    {ABSENT_SIGN, "^ **", NULL, "write pow(x, y), of integers bitxor(a, b)"},
    {ABSENT_NAME, "fmod rem", NULL, "of integers write a % b, of reals x - y * trunc(x / y)"},
    {ABSENT_WORD, "mod rem", NULL, "write a % b"},
    {ABSENT_NAME, "rint", NULL, "write round(x), which rounds halves away from zero"},
    {ABSENT_NAME, "cbrt", NULL, "write exp(log(x) / 3.0) where x > 0"},
    {ABSENT_NAME, "asinh acosh atanh erfc gamma lgamma copysign expm1 log1p",
     "mathematical functions other than those of the README", NULL},
    {ABSENT_NAME, "bool", NULL, "write x != 0"},
    {ABSENT_NAME, "long uint short char", "integers other than int", "write int(x)"},
    {ABSENT_NAME, "cast convert toFloat toDouble toInt", NULL,
     "write float(x), double(x), half(x) or int(x)"},
    {ABSENT_NAME, "mul times multiply", NULL, "write mult(a, b) or a * b"},
    {ABSENT_NAME, "plus", NULL, "write add(a, b) or a + b"},
    {ABSENT_NAME, "minus subtract", NULL, "write sub(a, b) or a - b"},
    {ABSENT_NAME, "divide", NULL, "write div(a, b) or a / b"},
    {ABSENT_NAME, "negate", NULL, "write neg(x) or -x"},
    {ABSENT_NAME, "mad", NULL, "write fma(a, b, c) or a * b + c"},
    {ABSENT_NAME, "square", NULL, "write x * x"},
    {ABSENT_NAME, "fabs fabsf", NULL, "write abs(x)"},
    {ABSENT_NAME, "fmax fmaxf maximum", NULL, "write max(a, b), for an array reduce(max, x, a)"},
    {ABSENT_NAME, "fmin fminf minimum", NULL, "write min(a, b), for an array reduce(min, x, a)"},
    {ABSENT_NAME, "relu", NULL, "write max(x, 0.0)"},
    {ABSENT_NAME, "leaky_relu leakyRelu", NULL, "write if x > 0.0 then x else 0.01 * x"},
    {ABSENT_NAME, "sigmoid", NULL, "write 1.0 / (1.0 + exp(-x))"},
    {ABSENT_NAME, "softmax", NULL, "see the example softmax.lift"},
    {ABSENT_NAME, "mean average", NULL, "write sum(a) / N"},
    {ABSENT_NAME, "prod product", NULL, "write reduce(mult, 1.0, a)"},
    {ABSENT_NAME, "norm", NULL, "write sqrt(sum(map(fun x -> x * x, a)))"},
    /* types */
    {ABSENT_TYPE,
     "float2 float3 float4 float8 double2 double3 double4 double8 double16 half2 half4 half8 "
     "half16 int2 int3 int4 int8 int16",
     "vector types", VECTORS},
    {ABSENT_TYPE, "float16", "vector types", VECTORS ", and half for numbers of 16 bits"},
    {ABSENT_TYPE, "bfloat16 bf16 fp8", "scalar types other than float, double, half, int and bool", NULL},
    {ABSENT_TYPE, "float32 f32 fp32 Float real single", NULL, "write float"},
    {ABSENT_TYPE, "float64 f64 fp64 Double", NULL, "write double"},
    {ABSENT_TYPE, "f16 fp16 Half", NULL, "write half"},
    {ABSENT_TYPE, "int32 i32 int32_t Int integer", NULL, "write int"},
    {ABSENT_TYPE, "Bool boolean", NULL, "write bool"},
    {ABSENT_TYPE, "long short char uint unsigned uchar ushort ulong size_t int64 i64 uint8 u8 u32 u64",
     "integers other than int", "write int"},
    {ABSENT_TYPE, "complex", "complex numbers", "compute with tuples (re, im), of type (float, float)"},
    /* programs */
    {ABSENT_WORD, "structured", "loops fixed by the text",
     "write schedule open, or leave the line out: the search decides on the loops"},
    {ABSENT_DECL,
     "for while do loop return void kernel __kernel __global global int float double half bool "
     "const static auto var val def function func define import include using module class "
     "struct typedef extern",
     NULL, STATEMENTS},
    {ABSENT_WORD, "lambda", NULL, "a function is written fun x -> x + 1.0"},
    {ABSENT_SIGN, "\\ => \xce\xbb", NULL, "a function is written fun x -> x + 1.0"},
    {ABSENT_SIGN, "// /* # #pragma #include", NULL, COMMENTS},
    {ABSENT_SIGN, ";", NULL, "a declaration ends where the next one begins: leave it out"},
    {ABSENT_SIGN, "@", NULL, "a matrix product is a map of maps of dot: see the example matmul.lift"},
    {ABSENT_SIGN, ":= += -= *= /= ++", NULL, UNCHANGED},
    {ABSENT_SIGN, ">> <<", NULL, "x |> f |> g is g(f(x)); of integers write shl(x, n), shr(x, n)"},
    {ABSENT_SIGN, ".", NULL, "x |> f is f(x), and get(0, t) a component of a tuple"},
    {ABSENT_SIGN, "\" '", NULL, "write names and numbers without quotes"},
};
enum { N_ABSENT = sizeof table / sizeof table[0] };

/* Bytes of the longest of a row's texts that `text` is, or for a SIGN begins with. */
static size_t match(const struct absent *row, const char *text, size_t length)
{
    size_t longest = 0;
    for (const char *t = row->texts; *t; t += strspn(t, " ")) {
        size_t n = strcspn(t, " ");
        bool whole = row->place == ABSENT_SIGN || n == length;
        if (whole && n <= length && n > longest && !memcmp(t, text, n)) longest = n;
        t += n;
    }
    return longest;
}

static void report(struct diag *d, struct source_pos at, const struct absent *row, const char *text,
                   size_t length)
{
    const char *quote = row->place == ABSENT_SIGN ? "'" : "", *way = row->way ? row->way : "";
    if (row->what)
        diag_error(d, at, "not supported yet: %s%.*s%s (%s)%s%s", quote, (int)length, text, quote, row->what,
                   row->way ? "; " : "", way);
    else
        diag_error(d, at, "'%.*s' is not in the language; %s", (int)length, text, way);
}

size_t lift_absent(struct diag *d, struct source_pos at, enum absent_place place, const char *text,
                   size_t length)
{
    const struct absent *best = NULL;
    size_t longest = 0;
    for (int i = 0; i < N_ABSENT; i++) {
        size_t n = table[i].place == place ? match(&table[i], text, length) : 0;
        if (n <= longest) continue;
        longest = n;
        best = &table[i];
    }
    if (best && d) report(d, at, best, text, longest);
    return longest;
}
