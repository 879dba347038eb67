/* A folder in memory for the files that PoCL writes for each kernel. On a disk it waits for each of them to
 * be written, which costs more than a quarter of the evaluations of small kernels. */
#ifndef THRESH_AGENT_CACHE_H
#define THRESH_AGENT_CACHE_H

#include <stddef.h>
#include <sys/types.h>

enum { CACHE_PATH = 96 };

/* Makes a folder and writes its path (n bytes); "" if there is no file system in memory with room. */
void cache_make(char *path, size_t n);
/* The part of one runner, which is removed with it: so the folder stays small. "" if path is. */
void cache_part(const char *path, pid_t runner, char part[CACHE_PATH]);
/* Removes it with all that is in it; "" is allowed. */
void cache_remove(const char *path);

#endif
