/* The machine that runs a loop program on the host (interpret.c): its memory, and what it remembers of each
 * element (interpret_memory.c). Private to core/codegen. */
#ifndef THRESH_CODEGEN_INTERPRET_STATE_H
#define THRESH_CODEGEN_INTERPRET_STATE_H

#include "core/codegen/program.h"

enum { NOBODY = -1, SEVERAL = -2 };

struct shadow {
    int64_t writer, reader; /* item over all groups, or NOBODY, SEVERAL */
    int64_t write_epoch, read_epoch;
    bool set;
};

struct memory {
    const char *name;
    enum scalar_type type;
    int64_t elements;
    bool own; /* each work-item of a group has these elements for itself */
    double *data;
    struct shadow *shadow;
};

/* What groups that have parts of one result have made together so far. */
struct meeting {
    int64_t arrived; /* groups */
    double *value;   /* [items * registers * parts] */
    bool *set;
};

struct machine {
    const struct cg_program *p;
    struct arena *arena;
    struct memory *buffers, *regions;
    int64_t *digit;           /* [cg_variables()] */
    double **registers;       /* [n_insts] [items * registers * parts] */
    bool **set;               /* the same shape */
    double *stack;            /* of the expression being evaluated */
    struct meeting *meetings; /* [cg_group_slots()] of groups with parts */
    int64_t group[CG_AXES], item[CG_AXES];
    int64_t group_number, item_number, epoch;
    bool met, ended; /* this group has combined the parts of all groups; is not the last one of them */
    bool through;    /* goes on after faults */
    struct cg_check result;
};

/* Whether the machine stops: at its first fault, unless it goes through. */
bool cg_machine_failed(const struct machine *m);
/* Notes a fault, if it is the first. */
void cg_machine_fault(struct machine *m, enum cg_fault kind, uint32_t inst, const char *place,
                      int64_t element);
/* To the precision of the type. */
double cg_rounded(enum scalar_type type, double x);
/* The number of the meeting of a group: its number without the axis of the parts. */
int64_t cg_meeting_of(const struct machine *m, int64_t group);
/* An element that an instruction reads or writes, with the faults of that. */
double cg_read_memory(struct machine *m, uint32_t inst, struct memory *mem, int64_t at);
void cg_write_memory(struct machine *m, uint32_t inst, struct memory *mem, int64_t at, double x);

#endif
