/* The table of what the language does not have. A row lists texts that have one answer:
 *
 *     `what` given    "slide" -> not supported yet: slide (overlapping windows); for windows that ...
 *     only `way`      "fold"  -> 'fold' is not in the language; write reduce(f, initial, a) */
#include "core/lift/absent.h"

#include <string.h>

#define SELECTION                                                                                            \
    "max(a, b) and min(a, b) select the larger and the smaller value: max(x, 0.0) is x where it is "         \
    "positive and 0.0 elsewhere"
#define ELEMENTS "map visits every element, head(a) is the first, tail(a) the rest, split(k, a) the chunks"
#define ROTATIONS                                                                                            \
    "for windows that wrap around, make the rotations of a row with join, split, head and tail, as the "     \
    "example stencil.lift does"
#define LOGIC "of values that are 0.0 or 1.0, min(a, b) is 'and', max(a, b) is 'or', 1.0 - a is 'not'"
#define POWERS "write a product such as x * x, or exp(y * log(x)) where x > 0"
#define STATEMENTS                                                                                           \
    "a program declares sizes and inputs and has one output, such as: output map(fun x -> 2.0 * x, a)"
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
    {ABSENT_NAME, "slide slide2 slide3 slideND window windows stencil conv conv2d convolve",
     "overlapping windows", ROTATIONS},
    {ABSENT_NAME, "shift rotate roll", "rotations of an array", ROTATIONS},
    {ABSENT_NAME, "pad pad2 pad3 padClamp padConstant padConstant2 padConstant3", "borders of an array",
     "pass an input that has its border"},
    {ABSENT_NAME, "gather scatter permute reorder reorderStride stride reverse flip", "reordering by indices",
     "transpose, split and join reorder rows and columns; otherwise pass the input reordered"},
    {ABSENT_NAME, "iterate until", "repetition", "apply the function as often as needed: a |> f |> f |> f"},
    {ABSENT_NAME, "scan scanl scanr prefixSum cumsum", "prefix sums", "sum(a) gives the total"},
    {ABSENT_NAME, "filter partition compress", "selection of elements",
     "pass an input of 0.0 and 1.0 and multiply by it"},
    {ABSENT_NAME, "concat concatenate append", "concatenation of arrays",
     "pass them as one input [[float]N]2 and use join, or tune two programs"},
    {ABSENT_NAME, "generate iota range arange indices linspace arrayFromFunction", "arrays made from indices",
     "pass the values as an input"},
    {ABSENT_NAME, "zeros ones fill full", "constant arrays", "map(fun x -> 0.0, a) has the length of a"},
    {ABSENT_NAME, "take drop slice last init index nth at", "parts of an array by their index", ELEMENTS},
    {ABSENT_NAME, "sort argsort topk unique histogram bincount", "data-dependent reordering", NULL},
    {ABSENT_NAME, "argmax argmin", "reductions to a tuple",
     "reduce(max, x, a) gives the largest value, where x is no larger than any element"},
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
    {ABSENT_NAME, "zip3 zip4 zipN zipWith", NULL,
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
    {ABSENT_NAME, "select where cond ifelse ifThenElse clamp step", "selection by a condition", SELECTION},
    {ABSENT_WORD, "if then else elif case switch match when unless", "selection by a condition", SELECTION},
    {ABSENT_NAME, "lt gt le ge eq ne less greater equal isnan", "comparisons", SELECTION},
    {ABSENT_SIGN, "< > <= >= == != ===", "comparisons", SELECTION},
    {ABSENT_SIGN, "?", "conditions and open parameters", SELECTION},
    {ABSENT_SIGN, "&& || ! & |", "logic", LOGIC},
    {ABSENT_WORD, "and or not xor", "logic", LOGIC},
    {ABSENT_NAME, "and or not xor", "logic", LOGIC},
    /* arithmetic */
    {ABSENT_NAME, "pow powf pown power", "powers", POWERS},
    {ABSENT_SIGN, "^ **", "powers", POWERS},
    {ABSENT_NAME, "mod fmod rem", "remainders", NULL},
    {ABSENT_WORD, "mod rem", "remainders", NULL},
    {ABSENT_SIGN, "%", "remainders", NULL},
    {ABSENT_NAME, "floor ceil round trunc rint", "rounding", NULL},
    {ABSENT_NAME, "tan", NULL, "write sin(x) / cos(x)"},
    {ABSENT_NAME, "log2", NULL, "write log(x) * 1.44269504"},
    {ABSENT_NAME, "log10", NULL, "write log(x) * 0.43429448"},
    {ABSENT_NAME, "exp2", NULL, "write exp(x * 0.69314718)"},
    {ABSENT_NAME, "cbrt", NULL, "write exp(log(x) / 3.0) where x > 0"},
    {ABSENT_NAME, "asin acos atan atan2 sinh cosh asinh acosh atanh erf erfc gamma sign copysign hypot",
     "mathematical functions other than sqrt, rsqrt, exp, log, sin, cos and tanh", NULL},
    {ABSENT_NAME, "float double half int bool long uint cast convert toFloat toDouble toInt",
     "conversions between scalar types", "declare the inputs with one type"},
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
    {ABSENT_TYPE, "complex", "complex numbers", "pass real and imaginary parts as two inputs"},
    /* programs */
    {ABSENT_WORD, "structured", "loops fixed by the text",
     "write schedule open, or leave the line out: the search decides on the loops"},
    {ABSENT_DECL,
     "if for while do loop return void kernel __kernel __global global int float double half bool "
     "const static auto var val def function func define import include using module class "
     "struct typedef extern",
     NULL, STATEMENTS},
    {ABSENT_WORD, "lambda", NULL, "a function is written fun x -> x + 1.0"},
    {ABSENT_SIGN, "\\ => \xce\xbb", NULL, "a function is written fun x -> x + 1.0"},
    {ABSENT_SIGN, "// /* # #pragma #include", NULL, COMMENTS},
    {ABSENT_SIGN, ";", NULL, "a declaration ends where the next one begins: leave it out"},
    {ABSENT_SIGN, "@", NULL, "a matrix product is a map of maps of dot: see the example matmul.lift"},
    {ABSENT_SIGN, ":= += -= *= /= ++ <-", NULL, UNCHANGED},
    {ABSENT_SIGN, ">> <<", NULL, "x |> f |> g is g(f(x))"},
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
