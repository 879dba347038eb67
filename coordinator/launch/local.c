/* Agents as processes of this machine. They are stopped with SIGTERM, which lets them return jobs. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/launch/launch_state.h"
#include "coordinator/limits.h"
#include "core/base/arena.h"

static bool start_agent(struct launch *l, struct launch_agent *a)
{
    char **words = launch_agent_words(l, l->program, l->key, l->options.device);
    return process_start(&a->process, words, PROCESS_NONE, PROCESS_KEPT);
}

static bool local_start(struct launch *l, struct diag *d)
{
    (void)d;
    l->n_agents = l->options.agents;
    l->agents = arena_array(l->arena, l->n_agents, sizeof *l->agents);
    for (unsigned i = 0; i < l->n_agents; i++)
        snprintf(l->agents[i].name, sizeof l->agents[i].name, "local %u", i + 1);
    launch_agents_turn(l, start_agent);
    return true;
}

static void local_turn(struct launch *l)
{
    launch_agents_turn(l, start_agent);
}

static void local_stop(struct launch *l)
{
    for (unsigned i = 0; i < l->n_agents; i++)
        if (l->agents[i].state == LAUNCH_RUNS) process_signal(&l->agents[i].process, SIGTERM);
    launch_agents_end(l, LIMIT_LEAVE_MS);
}

const struct launch_ops launch_local = {
    .start = local_start, .turn = local_turn, .stop = local_stop, .left = launch_agents_left};
