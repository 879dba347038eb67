/* Compiler attributes: the only header that names them. */
#ifndef THRESH_BASE_ATTR_H
#define THRESH_BASE_ATTR_H

#define BASE_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define BASE_NORETURN __attribute__((noreturn))
#define BASE_MUST_USE __attribute__((warn_unused_result))
#define BASE_HIDDEN __attribute__((visibility("hidden"))) /* not exported by -rdynamic */
#define BASE_INLINE static inline __attribute__((always_inline))
#define BASE_LIKELY(x) __builtin_expect(!!(x), 1)
#define BASE_UNLIKELY(x) __builtin_expect(!!(x), 0)

#endif
