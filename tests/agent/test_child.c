/* Child processes: what their processor time says. */
#include <criterion/criterion.h>
#include <time.h>
#include <unistd.h>

#include "agent/child.h"

static void child_works(int fd, void *ctx)
{
    (void)ctx;
    while (child_processor_ms(getpid()) < 30)
        continue;
    child_write(fd, "", 1);
    child_read(fd, &(char){0}, 1); /* until it is killed */
}

Test(agent_child, processor_time_is_what_the_child_worked)
{
    int fd;
    char c;
    pid_t pid = child_fork(&fd, child_works, NULL);
    cr_assert_gt(pid, 0);
    cr_assert(child_read(fd, &c, 1));
    double used = child_processor_ms(pid), own = child_processor_ms(getpid());
    cr_assert(used >= 30, "%g", used);
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    cr_assert(child_processor_ms(pid) < used + 25); /* it waits */
    cr_assert(child_processor_ms(getpid()) >= own);
    child_kill(pid, fd);
    cr_assert_eq(child_processor_ms(pid), 0);
}
