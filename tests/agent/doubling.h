/* Evaluators over y[i] = 2 x[i] on the CPU device, for kernels written by hand:
 *
 *     struct evaluator *ev = evaluate_start(2);
 *     evaluate_expect(ev, "y[i] = 3 * x[i];", 0, EVAL_WRONG_RESULT);
 */
#ifndef THRESH_TESTS_AGENT_DOUBLING_H
#define THRESH_TESTS_AGENT_DOUBLING_H

#include "agent/evaluate_state.h"

enum { EVALUATE_N = 1024 };

extern const char evaluate_good[]; /* the body of a right kernel */

/* global_bytes: the device's memory; 0: what it has. stop_fd: -1: none. */
struct evaluator *evaluate_start_on(int64_t global_bytes, unsigned runners, int stop_fd);
struct evaluator *evaluate_start(unsigned runners);
/* One buffer y, updated in place: y[i] = 2 y[i], compared bit for bit. */
struct evaluator *evaluate_start_updating(void);
/* A kernel of 64 work-groups of 16 with arguments x (const), y and its own index i; its text goes to `text`,
 * n bytes. */
struct cg_kernel evaluate_kernel(const char *body, struct cg_arg args[2], char *text, size_t n);
/* Evaluates it and waits. best_ns: 0: there is no best. */
struct evaluation evaluate_body(struct evaluator *ev, const char *body, double best_ns);
void evaluate_expect(struct evaluator *ev, const char *body, double best_ns, enum eval_status status);
/* Kills a runner while it has nothing to do; the evaluator has not noticed yet. */
void evaluate_kill_idle(struct evaluator *ev, unsigned slot);

#endif
