// The ordinary spaces of spacedsl/spaces as Gecode models, constraint by constraint, counted by exhaustive search:
// smallest domain first, smallest value first, one thread.
//
//     count MODEL [SIZE]      prints {"solutions": N, "setup_s": T, "elapsed_s": T}
//
// MODEL: queens, queens_distinct (the same with Gecode's global constraint, which the .space file does not have),
// colouring (a grid of SIZE x SIZE nodes), blocked_stencil, gemm_tiles, reduction.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <gecode/int.hh>
#include <gecode/minimodel.hh>
#include <gecode/search.hh>
#include <initializer_list>

using namespace Gecode;

class Model : public Space {
public:
    IntVarArray x;
    Model(const char *name, int size);
    Model(Model &other) : Space(other) { x.update(*this, other.x); }
    Space *copy() override { return new Model(*this); }

private:
    void values(int i, std::initializer_list<int> list);
    void queens(int n, bool global);
    void colouring(int n);
    void blocked_stencil();
    void gemm_tiles();
    void reduction();
};

void Model::values(int i, std::initializer_list<int> list)
{
    IntArgs a(list);
    dom(*this, x[i], IntSet(a));
}

void Model::queens(int n, bool global)
{
    x = IntVarArray(*this, n, 0, n - 1);
    if (global) {
        distinct(*this, x);
        distinct(*this, IntArgs::create(n, 0, 1), x);
        distinct(*this, IntArgs::create(n, 0, -1), x);
        return;
    }
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++) {
            rel(*this, x[a] != x[b]);
            rel(*this, x[a] - x[b] != a - b);
            rel(*this, x[a] + a != x[b] + b);
        }
}

void Model::colouring(int n)
{
    x = IntVarArray(*this, n * n, 0, 2);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            if (k + 1 < n) rel(*this, x[i * n + k] != x[i * n + k + 1]);
            if (i + 1 < n) rel(*this, x[i * n + k] != x[(i + 1) * n + k]);
        }
}

void Model::blocked_stencil()
{
    x = IntVarArray(*this, 4, 0, 1024);
    IntVar block_x = x[0], block_y = x[1], tile = x[2], staged = x[3];
    IntArgs wide({1, 2, 4, 8, 16});
    for (int v = 32; v <= 1024; v += 32)
        wide << v;
    dom(*this, block_x, IntSet(wide));
    values(1, {1, 2, 4, 8, 16, 32});
    dom(*this, tile, 1, 10);
    dom(*this, staged, 0, 1);
    rel(*this, 32 <= block_x * block_y && block_x * block_y <= 1024);
    rel(*this, (staged == 1) >> ((block_x * tile + 2) * (block_y + 2) * 4 <= 49152));
    IntVar divisor = expr(*this, block_x * tile), whole(*this, 1024, 1024);
    rel(*this, whole % divisor == 0);
}

void Model::gemm_tiles()
{
    enum { TILE_M, TILE_N, TILE_K, THREADS_M, THREADS_N, VECTOR_N, STAGE_A, STAGE_B, PAD, UNROLL, COUNT };
    x = IntVarArray(*this, COUNT, 0, 1024);
    values(TILE_M, {16, 32, 64, 128});
    values(TILE_N, {16, 32, 64, 128});
    values(TILE_K, {8, 16, 32, 64});
    values(THREADS_M, {4, 8, 16, 32});
    values(THREADS_N, {4, 8, 16, 32});
    values(VECTOR_N, {1, 2, 4, 8});
    values(STAGE_A, {0, 1});
    values(STAGE_B, {0, 1});
    values(PAD, {0, 1, 4});
    values(UNROLL, {1, 2, 4, 8, 16});
    IntVar whole(*this, 1024, 1024);
    for (int i : {TILE_M, TILE_N, TILE_K})
        rel(*this, whole % x[i] == 0);
    rel(*this, x[TILE_M] % x[THREADS_M] == 0);
    rel(*this, x[TILE_N] % expr(*this, x[THREADS_N] * x[VECTOR_N]) == 0);
    rel(*this, x[TILE_K] % x[UNROLL] == 0);
    rel(*this, (x[STAGE_A] == 0 && x[STAGE_B] == 0) >> (x[PAD] == 0));
    rel(*this, x[STAGE_A] * (x[TILE_M] * (x[TILE_K] + x[PAD]) * 4) +
                       x[STAGE_B] * (x[TILE_K] * (x[TILE_N] + x[PAD]) * 4) <=
                   49152);
    rel(*this, 32 <= x[THREADS_M] * x[THREADS_N] && x[THREADS_M] * x[THREADS_N] <= 1024);
    rel(*this, (x[TILE_M] / x[THREADS_M]) * (x[TILE_N] / x[THREADS_N]) <= 64);
}

void Model::reduction()
{
    enum { PASSES, GROUPS, GROUP_SIZE, SECOND_SIZE, VECTOR, UNROLL, COMBINE, COUNT };
    const int numbers = 16777216;
    x = IntVarArray(*this, COUNT, 0, 8192);
    dom(*this, x[PASSES], 1, 2);
    values(GROUPS, {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192});
    values(GROUP_SIZE, {32, 64, 128, 256, 512, 1024, 2048});
    values(SECOND_SIZE, {32, 64, 128, 256, 512, 1024, 2048});
    values(VECTOR, {1, 2, 4, 8, 16});
    dom(*this, x[UNROLL], 1, 8);
    dom(*this, x[COMBINE], 0, 2);
    IntVar whole(*this, numbers, numbers);
    IntVar items = expr(*this, x[GROUPS] * x[GROUP_SIZE]);
    IntVar strip = expr(*this, whole / items);
    rel(*this, whole % expr(*this, items * x[VECTOR]) == 0);
    rel(*this, expr(*this, min(strip, IntVar(*this, 4096, 4096))) % expr(*this, x[VECTOR] * x[UNROLL]) == 0);
    rel(*this, (x[PASSES] == 2) >> (x[GROUPS] <= 2 * x[SECOND_SIZE]));
    rel(*this, (x[PASSES] == 1) >> (x[SECOND_SIZE] == 32));
    rel(*this, max(x[GROUP_SIZE], x[SECOND_SIZE]) <= 1024);
    rel(*this, (x[PASSES] == 2) >> (x[GROUPS] >= min(IntVar(*this, 64, 64), strip)));
    rel(*this, (x[COMBINE] == 2) >> (x[GROUP_SIZE] <= 128));
}

Model::Model(const char *name, int size)
{
    if (!strcmp(name, "queens"))
        queens(size, false);
    else if (!strcmp(name, "queens_distinct"))
        queens(size, true);
    else if (!strcmp(name, "colouring"))
        colouring(size);
    else if (!strcmp(name, "blocked_stencil"))
        blocked_stencil();
    else if (!strcmp(name, "gemm_tiles"))
        gemm_tiles();
    else if (!strcmp(name, "reduction"))
        reduction();
    else {
        fprintf(stderr, "count: no model '%s'\n", name);
        exit(2);
    }
    branch(*this, x, INT_VAR_SIZE_MIN(), INT_VAL_MIN());
}

static double now_s()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: count MODEL [SIZE]\n");
        return 2;
    }
    double start = now_s();
    Model *root = new Model(argv[1], argc > 2 ? atoi(argv[2]) : 8);
    root->status();
    double ready = now_s();
    DFS<Model> search(root);
    delete root;
    unsigned long long solutions = 0;
    while (Model *s = search.next()) {
        solutions++;
        delete s;
    }
    printf("{\"solutions\": %llu, \"setup_s\": %.9f, \"elapsed_s\": %.9f}\n", solutions, ready - start,
           now_s() - ready);
    return 0;
}
