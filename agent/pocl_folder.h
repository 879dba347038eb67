/* The folder in which PoCL keeps compiled kernels. Without it PoCL has no device; when it is full, the
 * compiler fails or ends its process. Neither says why, so the folder is examined after a failure:
 *
 *     PoCL keeps compiled kernels in '/root/.cache/pocl/kcache' (from HOME), which cannot be written:
 *     Permission denied; set POCL_CACHE_DIR to another folder
 *
 * PoCL takes POCL_CACHE_DIR, or pocl/kcache in XDG_CACHE_HOME, in .cache of HOME or in /tmp. */
#ifndef THRESH_AGENT_POCL_FOLDER_H
#define THRESH_AGENT_POCL_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the platform of this name (CL_PLATFORM_NAME) is PoCL. */
bool pocl_folder_is_of(const char *platform);
/* Whether PoCL cannot write there; why (n bytes) names the folder, the reason and what to set. `given` is the
 * value of POCL_CACHE_DIR where the environment does not have it; NULL or "": none. Creates the folder where
 * it is missing, as PoCL does. */
bool pocl_folder_fault(const char *given, char *why, size_t n);
/* The same; appends "; " and the fault to the text in why (n bytes), where there is room. */
bool pocl_folder_explain(const char *given, char *why, size_t n);

#endif
